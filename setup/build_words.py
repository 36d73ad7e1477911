"""Find the compiler's warnings, and the reason why a build failed, in the output of the build of a guest kernel."""

import re

import own_tree

#: Number of lines quoted from the output of a failed build.
LINES = 12
#: Pattern of the progress lines that make ("  LINK linux") and the build scripts print.
STEP = re.compile(r"  [A-Z]+ +\S+$|==> ")
#: Pattern of GCC's message that the profile of the guest's Linux (envs/guest/kernel.profile) has no counts for a changed function. The
#: message has no option, so GCC can't omit it. It begins with the places of inclusion or the name of a function, and ends with lines of
#: source code ("  559 | MODULE_VERSION") and notes.
OF_PROFILE = re.compile(
    r"(?:^(?:In file included from |\s+from |\S+: (?:In function |At top level)).*\n)*"
    r"^.*: warning: Missing counts for called function .*$"
    r"(?:\n(?:\s+\d* \|.*|\S+: note: .*)$)*\n?",
    re.M,
)


def why_not_built(words, sources, kernel) -> str:
    """Return the reason why the build of a kernel failed: a patch that doesn't apply, or the compiler's message.

    Parameters
    ----------
    words : str
        Output of the build.
    sources : iterable of pathlib.Path
        C files to be built into the kernel.
    kernel : dict
        Definition of the kernel (`study_files.kernels.completed_kernels`).
    """
    if refused := re.search(r"^guest kernel: (.*)$", words, re.M):
        return f"Linux {kernel.get('version', 'of the image')}: {refused[1]}."
    patching = re.findall(r"^==> apply (\d+)(?:-(\d+))?\.patch$", words, re.M)
    if patching and "==> build" not in words:
        place, number = patching[-1]
        patch = kernel["patches"][int(place)]["path"] + (f", patch {int(number)} of the series," if number else "")
        end = words.rpartition("==> apply ")[2]
        failed = re.search(r"patching file (\S+)(?: \([^\n]*\))?\n(?:(?!patching file ).*\n)*?Hunk #(\d+) FAILED", end)
        missing = re.search(r"^\|?--- (?:[^/\s]+/)?(\S+)", end, re.M)
        if failed:
            where = f"hunk {failed[2]} of {failed[1]}"
        elif missing:
            is_allowed = own_tree.is_allowed(missing[1])
            where = f"{missing[1]} {'is not there' if is_allowed else 'has a name that is not supported; allowed: letters, digits and _.+@=-/'}"
        elif "Cannot rename file" in end:
            where = "it moves a file that the source of guest kernels doesn't contain"
        else:
            where = end.strip()[-300:]
        return f"{patch} does not apply to Linux {kernel.get('version', 'of the image')}: {where}."
    what = ", ".join(map(str, [*sources, *(patch["path"] for patch in kernel["patches"])])) or "the kernel"
    return f"{what} can't be built into the guest kernel:\n{first_lines(words)}"


def warnings_in(words) -> str:
    """Return the warnings in the output of a successful build: all lines that neither report progress nor concern the guest's profile."""
    lines = OF_PROFILE.sub("", words).splitlines()
    return "\n".join(line for line in lines if line.strip() and not STEP.match(line))


def first_lines(text) -> str:
    """Return up to `LINES` lines from the output of a failed build, starting at the first error."""
    lines = [line for line in text.splitlines() if not line.startswith("make")]
    first = next((place for place, line in enumerate(lines) if re.search(r"\berror\b|undefined|multiple def", line)), 0)
    return "\n".join(lines[first : first + LINES])
