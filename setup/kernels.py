"""Guest kernels of a study's own: `python3 setup kernel NAME LINUX DESCRIPTION [KERNEL] FILE=SHA256...`, called by the workflow.

All else of set-up happens in the checkout; this happens where the study's files are, in the folder that it is called from.

C files are built as a part of the kernel, for one that loads modules has other bytes. What a kernel is based on (the image's Linux,
another of Debian's, a tree of the user's) is built once and keeps its objects, so that a patch or a C file takes seconds. Compiler and
`patch` run in a container of its own, the image of envs/kernel.def, which has no network and sees of the machine only these files.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import environment
import images
import locked_packages
import toolbox
from cache import cache_dir, digest, made_once, remove_tree, require_space
from progress import SetupError, run_logged, say
from study_files.kernels import (
    CHECKOUT,
    LEFT_OUT,
    LOCK,
    NEWEST,
    OF_BASE,
    bases,
    digest_of_files,
    digests_of_files,
    recipe_digest,
)

#: The Makefile of net/sawtooth in the kernel's tree: objects, and where the headers of the kernel's own CCAs are.
MAKEFILE = "obj-y := {objects}\nccflags-y := -I$(srctree)/net/ipv4\n"
GUEST = CHECKOUT / "envs/guest"
#: Copy of the objects and links to the source, and the new kernel; a source tree with its objects.
SIZE_GB, BASE_SIZE_GB = 1, 3
#: What stands beside a base made of a source tree: the digest of each of its files, and the image and recipe that made it.
FILES, MADE_BY = "files.json", "made-by"
#: So many files may differ from another state of a tree; and which may not, for they are read when a base is made.
MOST_CHANGED = 2000
READ_BEFORE = re.compile(r"(^|/)(Kconfig[^/]*|Makefile[^/]*|Kbuild[^/]*)$|^scripts/|\.(sh|pl|py|awk|lds)$")
#: What make is at: "  LINK linux", and our own marks.
STEP = re.compile(r"  [A-Z]+ +\S+$|==> ")
#: What patch says of a file that it changes.
PATCHED = re.compile(r"patching file |Hunk #\d+ succeeded at ")
#: What a patch may change without being a part of any guest kernel; the trees that kernels are built in have little of it.
NO_PART = re.compile(
    r"(Documentation|samples|sound|tools|MAINTAINERS|CREDITS|\.mailmap|arch/(?!um/|x86/|Kconfig)[^/]+)(/|$)"
)
#: The first lines of what a failed build said.
LINES = 12


def provide_kernel(name, linux, description, sources, kernel=None) -> None:
    """Put a kernel and its description where the workflow wants them, built unless the cache has it.

    Parameters
    ----------
    name : str
        What names it by its content (`experiment.definitions.kernel_id`); it becomes the number of its build.
    linux, description : pathlib.Path
        The kernel, and a JSON file with all that it takes to build it again, the text of C files and patches among it.
    sources : dict
        Path of each C file -> the SHA-256 that it must have.
    kernel : dict, optional
        What it is based on, patches and options (`study_files.kernels.completed_kernels`); without one it is the image's.

    Raises
    ------
    SetupError
        A file has changed, can't be read, or isn't compiled; then with the compiler's words. A patch doesn't apply, an option
        isn't accepted, there is no such source; then with the first file or option.
    """
    kernel = kernel or {"base": "newest", "patches": [], "config": {}}
    patches = {Path(patch["path"]): patch["sha256"] for patch in kernel["patches"]}
    for path, sha256 in (*sources.items(), *patches.items()):
        if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
            raise SetupError(
                f"{path} has changed since the study was read, or is not the file that it names: call again."
            )
    with contextlib.chdir(CHECKOUT):
        compiler = provide_compiler()
    described = json.loads((compiler / "image.json").read_text())
    final = cache_dir() / "kernels" / digest(name, described["definition_key"], *map(str, (*sources, *patches)))[:16]
    with made_once(final) as partial:
        if partial is not None:
            base, changed = provide_base(kernel, compiler / "root")
            facts = [] if base == compiler / "root/build" else (base / "objects/base.facts").read_text().splitlines()
            require_space(partial, SIZE_GB, "a guest kernel of your own")
            build(name, compiler / "root", base, partial, sources, kernel, changed)
            described = {
                "kernel": name,
                "linux_sha256": hashlib.sha256((partial / "linux").read_bytes()).hexdigest(),
                **{
                    key: kernel[key]
                    for key in ("base", "tree", "version", "sha256", "recipe", "config")
                    if key in kernel
                },
                **({"base_facts": facts} if facts else {}),
                "patches": [_with_text(path, sha256) for path, sha256 in patches.items()],
                "files": [_with_text(path, sha256) for path, sha256 in sources.items()],
                "built_on": {
                    key: described[key] for key in ("linux_source", "linux_sha256", "packages", "definition_key")
                },
            }
            (partial / "kernel.json").write_text(json.dumps(described, indent=2) + "\n")
    for made, wanted in ((final / "linux", linux), (final / "kernel.json", description)):
        wanted.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(made, wanted)


def _with_text(path, sha256):
    return {"path": str(path), "sha256": sha256, "text": path.read_text(errors="replace")}


def provide_compiler() -> Path:
    """Return the folder of the image that kernels are built in, built unless it is there."""
    if images.missing_images([images.KERNEL]):
        images.check_sources()
        tools = toolbox.building_environment(environment.VENV)
        apptainer = toolbox.provide_apptainer(environment.VENV)
        images.build_image(images.KERNEL, apptainer, tools, environment.VENV / "bin/python")
    return images.cached_image(images.KERNEL)[1]


def provide_base(kernel, root) -> tuple[Path, dict[str, Path | None]]:
    """Return the folder with ``source`` and ``objects`` that a kernel is based on, made unless it is there, and what is to change there.

    That is, of a source tree of which another state was built before, path -> the file that takes the place of the base's, None for
    none; otherwise nothing. ``root`` is the image that it is built in, whose own Linux it may be.
    """
    if kernel.get("base") == NEWEST:
        return root / "build", {}
    if kernel["recipe"] != (here := recipe_digest()):
        raise SetupError(
            f"the study's kernels are made by the recipe {kernel['recipe'][:16]} and this checkout has {here[:16]} (envs/guest): "
            "have the checkout that the study is from, or leave the key recipe away."
        )
    what = f"Linux {kernel['version']}"
    key = digest(root.parent.name, recipe_digest(OF_BASE), kernel["sha256"], "tree" if "tree" in kernel else "package")[
        :16
    ]
    final = cache_dir() / "kernels" / f"base-{kernel['version']}-{key}"
    made_by = f"{root.parent.name} {recipe_digest(OF_BASE)}"
    if "tree" in kernel and not final.exists() and (near := nearest_base(kernel, made_by)):
        return near
    with made_once(final) as partial:
        if partial is not None:
            require_space(partial, BASE_SIZE_GB, what)
            (copy_tree if "tree" in kernel else fetch_source)(kernel, partial)
            (partial / "objects").mkdir()
            log = final.with_name(final.name + ".log")
            command = contained(f"{partial / 'source'}:/build/source", f"{partial / 'objects'}:/build/objects")
            try:
                run_logged([*command, str(root), "sh", "/build/guest/build_base"], log, what)
            except SetupError:
                refused = [
                    line for line in log.read_text(errors="replace").splitlines() if line.startswith("guest kernel: ")
                ]
                if not refused:
                    raise
                raise SetupError(f"{kernel.get('tree', what)}: {refused[-1].removeprefix('guest kernel: ')}.") from None
            (partial / MADE_BY).write_text(made_by)
    return final, {}


def nearest_base(kernel, made_by) -> tuple[Path, dict[str, Path | None]] | None:
    """Return the base of another state of a source tree that differs least, as `provide_base` does; None if all is to be built anew.

    That is so where a file changed that a guest's patches change, or configuration or Makefiles: those are read when a base is made.
    """
    tree, has, nearest = Path(kernel["tree"]), None, None
    for folder in sorted((cache_dir() / "kernels").glob("base-*")):
        if not (folder / FILES).exists() or (folder / MADE_BY).read_text() != made_by:
            continue
        has = has or digests_of_files(tree)
        had = json.loads((folder / FILES).read_text())
        changed = {path for path, sha256 in had.items() if has.get(path) != sha256} | (has.keys() - had.keys())
        # What no build reads is not kept.
        changed = {path for path in changed if path not in had or os.path.lexists(folder / "source" / path)}
        if len(changed) < (len(nearest[1]) if nearest else MOST_CHANGED) and not any(
            READ_BEFORE.search(path) or (path in had and not _is_as_it_was(folder / "source" / path, had[path]))
            for path in changed
        ):
            nearest = folder, {path: tree / path if path in has else None for path in sorted(changed)}
    if has and digest_of_files(has) != kernel["sha256"]:
        raise SetupError(f"{tree} has changed since the study was read: call again.")
    if nearest:
        say(
            f"{tree}: building what is not as it was in {nearest[0].name}, {len(nearest[1])} files and what includes them"
        )
    return nearest


def _is_as_it_was(path, sha256):
    return not path.is_symlink() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def fetch_source(kernel, partial) -> None:
    """Put the source of a package of Debian's, of which version and SHA-256 are given, into ``partial``/source."""
    locked = bases().get(kernel["base"], {})
    if {key: kernel[key] for key in locked} != locked:
        raise SetupError(
            f"the study's kernel is Linux {kernel['version']}, and {LOCK} has "
            + (f"{locked['version']}: have the checkout that the study is from." if locked else f"no {kernel['base']}.")
        )
    with contextlib.chdir(CHECKOUT):
        (package,) = locked_packages.provide(f"linux-{kernel['base']}").glob("*.deb")
    name = f"linux-source-{kernel['base']}"
    say(f"{name}: unpacking")
    work = partial / "unpacked"
    work.mkdir()
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as packed:
        subprocess.run(["tar", "-x", "-C", work, f"./usr/src/{name}.tar.xz"], stdin=packed.stdout, check=True)
    subprocess.run(["tar", "-xf", work / f"usr/src/{name}.tar.xz", "-C", work], check=True)
    (work / name).rename(partial / "source")
    shutil.rmtree(work)


def copy_tree(kernel, partial) -> None:
    """Copy a source tree of the user's, less what Git keeps beside it, into ``partial``/source."""
    say(f"{kernel['tree']}: copying")
    shutil.copytree(kernel["tree"], partial / "source", symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
    files = digests_of_files(partial / "source")
    if digest_of_files(files) != kernel["sha256"]:
        raise SetupError(f"{kernel['tree']} has changed since the study was read: call again.")
    (partial / FILES).write_text(json.dumps(files))


def contained(*binds) -> list[str]:
    """Return the command, less the image and what is to be done there, of a container for compiler and patch."""
    places = (*binds, f"{GUEST}:/build/guest:ro")
    return [
        str(CHECKOUT / environment.VENV / "bin/apptainer"), "--silent", "exec", "--userns", "--containall", "--no-home",
        "--net", "--network", "none", *(part for place in places for part in ("--bind", place)),
    ]  # fmt: skip


def build(name, root, base, partial, sources, kernel, changed) -> None:
    """Fill the directory ``partial`` with ``linux`` and its ``parameters``, built in the image ``root`` from a base's folder.

    ``changed`` is what is other than there (`provide_base`).
    """
    objects, own, patches = (partial / part for part in ("objects", "own", "patches"))
    # Dates are kept, or all would be compiled again.
    subprocess.run(["cp", "-a", "--reflink=auto", base / "objects", objects], check=True)
    own.mkdir()
    patches.mkdir()
    for path in sources:
        shutil.copyfile(path, own / path.name)
    (own / "Makefile").write_text(MAKEFILE.format(objects=" ".join(path.with_suffix(".o").name for path in sources)))
    for number, patch in enumerate(kernel["patches"]):
        (patches / f"{number:03}.patch").write_bytes(of_kernel(Path(patch["path"])))
    source = base / "source"
    if kernel["patches"] or "HZ" in kernel["config"] or changed:
        # Links: patch and sed put new files in the place of those that they change.
        source = partial / "source"
        if subprocess.run(["cp", "-al", base / "source", source], capture_output=True).returncode:
            remove_tree(source)  # the base is on another file system
            subprocess.run(["cp", "-a", base / "source", source], check=True)
        for path, file in changed.items():
            (source / path).unlink(missing_ok=True)
            if file is not None:
                (source / path).parent.mkdir(parents=True, exist_ok=True)
                # With today's date, after that of the objects.
                shutil.copyfile(file, source / path, follow_symlinks=False)
    binds = [
        f"{source}:/build/source{':ro' if source == base / 'source' else ''}",
        f"{objects}:/build/objects",
        f"{own}:/build/source/net/sawtooth:ro",
        f"{patches}:/build/patches:ro",
    ]
    if kernel["config"]:
        (partial / "kernel.config").write_text(configuration(base, kernel["config"]))
        (partial / "kernel.options").write_text("\n".join(option_lines(kernel["config"])) + "\n")
        binds += [
            f"{partial / 'kernel.config'}:/build/own.config:ro",
            f"{partial / 'kernel.options'}:/build/own.options:ro",
        ]
    tick = [str(kernel["config"]["HZ"])] if "HZ" in kernel["config"] else []
    command = [*contained(*binds), "--env", f"SAWTOOTH_KERNEL={name}", root, "sh", "/build/guest/build_own", *tick]
    made = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    words = made.stdout.decode(errors="replace")
    for path in sources:
        words = re.sub(rf"\S*net/sawtooth/{re.escape(path.name)}", lambda _, path=path: str(path), words)
    if made.returncode:
        raise SetupError(why_not_built(words, sources, kernel))
    # Warnings; of the rest make says at most what it is at, and patch which file.
    if warnings := "\n".join(
        line for line in words.splitlines() if line.strip() and not STEP.match(line) and not PATCHED.match(line)
    ):
        say(warnings)
    (objects / "stripped").rename(partial / "linux")
    (objects / "parameters").rename(partial / "parameters")
    for part in (objects, own, patches, partial / "source"):
        shutil.rmtree(part, ignore_errors=True)


def of_kernel(path) -> bytes:
    """Return a patch without what it changes in files that no guest kernel is built from."""
    parts = re.split(rb"^(?=diff --git |--- (?:a/|/dev/null)(?!.*\n(?!\+\+\+ )))", path.read_bytes(), flags=re.M)
    return b"".join(part for part in parts if not _is_no_part(part))


def _is_no_part(part):
    """Tell whether a part of a patch, one file's, is none of a kernel's."""
    names = re.findall(rb"^(?:---|\+\+\+) [ab]/(\S+)", part, re.M) or re.findall(rb"^diff --git a/(\S+)", part, re.M)
    return bool(names) and all(NO_PART.match(name.decode(errors="replace")) for name in names)


def option_lines(config) -> list[str]:
    """Return a study's options as lines of a configuration."""
    return [f"CONFIG_{option}={option_text(value)}" for option, value in config.items()]


def configuration(base, config) -> str:
    """Return the options of a kernel on a base: the base's with those of ``config`` in their place, but for the tick, which has no prompt."""
    own = base / "objects/kernel.config"
    lines = (own if own.exists() else base / "kernel.config").read_text().splitlines()
    kept = [line for line in lines if line.partition("=")[0].removeprefix("CONFIG_") not in config]
    return "\n".join([*kept, *(line for line in option_lines(config) if not line.startswith("CONFIG_HZ="))]) + "\n"


def option_text(value) -> str:
    """Return an option's value as a configuration has it: y, n, a number, or a text in quotes."""
    if isinstance(value, bool):
        return "yn"[not value]
    return str(value) if isinstance(value, int) or value in ("y", "n") else f'"{value}"'


def why_not_built(words, sources, kernel) -> str:
    """Return why a kernel was not built, from what its build said: a patch that does not apply, or the compiler's words."""
    if refused := re.search(r"^guest kernel: (.*)$", words, re.M):
        return f"Linux {kernel.get('version', 'of the image')}: {refused[1]}."
    patching = re.findall(r"^==> apply (\d+)\.patch$", words, re.M)
    if patching and "==> build" not in words:
        patch = kernel["patches"][int(patching[-1])]["path"]
        end = words.rpartition("==> apply ")[2]
        failed = re.search(r"patching file (\S+)\n(?:(?!patching file ).*\n)*?Hunk #(\d+) FAILED", end)
        missing = re.search(r"^\|?--- (?:a/)?(\S+)", end, re.M)
        where = (
            f"hunk {failed[2]} of {failed[1]}"
            if failed
            else f"{missing[1]} is not there"
            if missing
            else end.strip()[-300:]
        )
        return f"{patch} does not apply to Linux {kernel.get('version', 'of the image')}: {where}."
    what = ", ".join(map(str, [*sources, *(patch["path"] for patch in kernel["patches"])])) or "the kernel"
    return f"{what} can't be built into the guest kernel:\n{first_lines(words)}"


def first_lines(text) -> str:
    """Return the lines of a failed build from the first error on."""
    lines = [line for line in text.splitlines() if not line.startswith("make")]
    first = next((place for place, line in enumerate(lines) if re.search(r"\berror\b|undefined|multiple def", line)), 0)
    return "\n".join(lines[first : first + LINES])
