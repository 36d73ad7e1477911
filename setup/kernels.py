"""Build a study's custom guest kernels; the workflow calls `python3 setup kernel NAME LINUX DESCRIPTION [KERNEL] FILE=SHA256...`.

This command works in the caller's folder, where the study's files are; most other commands of set-up work in the checkout.

C files are built into the kernel, because support for loadable modules would change the kernel itself. A kernel's base (the image's Linux,
another version from Debian, or a user's source tree) is built once and its objects are kept, so that adding a patch or a C file takes
seconds. The compiler and `patch` run in a separate container of the image built from envs/kernel.def. This container has no network and no
access to other files of the machine.

A build runs code from other people: patches can add Makefiles, and a source tree contains Makefiles and scripts. Therefore a build can
write only to the folder of objects. The build's inputs are read once and hashed, the source tree is read-only (own_tree.py), and the output
files are checked (build_outputs.py).
"""

import base64
import contextlib
import hashlib
import json
import re
import shutil
from pathlib import Path

import build_outputs
import given_trees
import images
import own_tree
from build_container import IN_CONTAINER, LONGEST_S, contained, copy_recipe, provide_builder, said_by
from build_words import warnings_in, why_not_built
from cache import cache_entry, digest, made_once, remove_tree, require_space
from kernel_bases import FACTS, provide_base
from progress import SetupError, run_quietly, say
from study_files.kernel_trees import digest_of_files, digests_of_files
from study_files.kernels import CHECKOUT, LARGEST_PATCH_BYTES, recipe_digest
from study_files.patch_mails import NO_PART, named_paths, patches_in
from testbed.machine.given_file import given_bytes

#: The Makefile of net/sawtooth in the kernel's tree, with the objects to build and the folder with the headers of the kernel's own CCAs.
MAKEFILE = "obj-y := {objects}\nccflags-y := -I$(srctree)/net/ipv4\n"
#: Disk space in GB for a copy of the objects and for the new kernel.
SIZE_GB = 1
#: Key of an image -> digest of its unmodified kernel source, for images whose source could be modified by builds of earlier versions.
SHARED_BY_LINKS = {"c807df1f56ceb29b": "285d924f32eba7165c7fe9cf7dcd0af4f99fc04aceddffbe5889fb32ecdca6b5"}
#: Folders of drivers that are removed from a base's source tree if nothing in them is compiled, and the files that stay there
#: (envs/kernel.def, envs/guest/trim_base).
DRIVERS, OF_BUILD = re.compile(r"drivers/(?:net/)?[^/]+/"), re.compile(r"(?:.*/)?(?:Kconfig[^/]*|Makefile|Kbuild)")
#: Pattern of the places at which a patch is split into the changes to each file.
PART = re.compile(rb"^(?=diff --git |--- \S.*\n\+\+\+ \S.*\n@@ )", re.M)
#: Lines of a change before its hunks, the first line of a hunk, and a line after which the rest of a change is kept.
BEFORE_HUNKS = re.compile(rb"diff |index |---|\+\+\+|(?:old|new|deleted) |(?:dis)?similarity |rename |copy |Binary ")
HUNK, BINARY = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@"), b"GIT binary patch"


def provide_kernel(name, linux_file, description, sources, kernel=None) -> None:
    """Copy a kernel and its description to the paths that the workflow expects; if the kernel isn't cached, build it first.

    Parameters
    ----------
    name : str
        Identifier of the kernel's content (`experiment.definitions.kernel_id`), which becomes the kernel's build number.
    linux_file : pathlib.Path
        Path to which the kernel is written.
    description : pathlib.Path
        Path to which a JSON file is written. The file describes everything needed to build the kernel again, including the text of C files
        and patches.
    sources : dict
        Path of each C file -> expected SHA-256.
    kernel : dict, optional
        The kernel's base, patches and options (`study_files.kernels.completed_kernels`). The default is the image's Linux without patches.

    Raises
    ------
    SetupError
        If a file has changed or can't be read, if a source is missing, if a patch doesn't apply, if an option isn't accepted, or if a C
        file doesn't compile. The message names the first problematic file or option, or quotes the compiler.
    """
    kernel = kernel or {"base": "newest", "patches": [], "config": {}}
    patches = {Path(patch["path"]): patch["sha256"] for patch in kernel["patches"]}
    contents = {path: read_once(path, sha256) for path, sha256 in (*sources.items(), *patches.items())}
    with contextlib.chdir(CHECKOUT):
        compiler = provide_compiler()
    described = json.loads((compiler / "image.json").read_text())
    made_of = json.dumps([name, kernel, [[str(path), sha256] for path, sha256 in sources.items()]], sort_keys=True)
    key = digest("own objects", described["definition_key"], recipe_digest(), made_of)[:16]
    final = cache_entry("kernels", f"own-{key}")
    with made_once(final) as partial:
        if partial is not None:
            check_untouched(compiler, described["definition_key"])
            base, changed = provide_base(kernel, compiler / "root")
            facts = [] if base == compiler / "root/build" else json.loads((base / FACTS).read_text())
            require_space(partial, SIZE_GB, "a guest kernel of your own")
            linux = build(
                name,
                compiler / "root",
                base,
                partial,
                {path: contents[path] for path in sources},
                kernel,
                changed,
                contents,
            )
            (partial / "linux").write_bytes(linux)
            (partial / "linux").chmod(0o755)
            described = {
                "kernel": name,
                "linux_sha256": hashlib.sha256(linux).hexdigest(),
                **{
                    key: kernel[key]
                    for key in ("base", "tree", "revision", "version", "sha256", "recipe", "config")
                    if key in kernel
                },
                **({"base_facts": facts} if facts else {}),
                "patches": [_with_text(path, sha256, contents[path]) for path, sha256 in patches.items()],
                "files": [_with_text(path, sha256, contents[path]) for path, sha256 in sources.items()],
                "built_on": {
                    key: described[key] for key in ("linux_source", "linux_sha256", "packages", "definition_key")
                },
            }
            (partial / "kernel.json").write_text(json.dumps(described, indent=2) + "\n")
    for made, wanted in ((final / "linux", linux_file), (final / "kernel.json", description)):
        wanted.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(made, wanted)


def read_once(path, sha256) -> bytes:
    """Return the content of a C file or patch; raise SetupError if the content's SHA-256 differs from the given one.

    The file is read only once, so that the hashed bytes are also the bytes that are compiled and published.
    """
    try:
        content = given_bytes(path, LARGEST_PATCH_BYTES)
    except OSError as error:
        raise SetupError(f"{path} can't be read ({error.strerror}).") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise SetupError(
            f"{path} has changed since the study was read, or is not the file that the study names: run the command again."
        )
    return content


def _with_text(path, sha256, content):
    try:
        text = {"text": content.decode()}
    except UnicodeDecodeError:
        text = {"base64": base64.b64encode(content).decode()}
    return {"path": str(path), "sha256": sha256, **text}


def check_untouched(compiler, definition_key) -> None:
    """Raise SetupError if the kernel source in an image listed in `SHARED_BY_LINKS` was modified; this is checked once per cache."""
    expected = SHARED_BY_LINKS.get(definition_key[:16])
    if expected is None:
        return
    with made_once(cache_entry("kernels", f"untouched-{definition_key[:16]}")) as partial:
        if partial is not None and digest_of_files(digests_of_files(compiler / "root/build/source")) != expected:
            raise SetupError(
                f"the kernel's source in {compiler} was changed by a build of an earlier version, so no kernel is built from it: "
                f"delete {compiler} and run the command again; the image is then rebuilt, which takes minutes."
            )


def provide_compiler() -> Path:
    """Return the folder of the image in which kernels are built; if the image isn't cached, build it first."""
    return provide_builder(images.KERNEL)


def build(name, root, base, partial, sources, kernel, changed, contents) -> bytes:
    """Build a kernel, and return its bytes.

    Parameters
    ----------
    name : str
        The kernel's build number.
    root : pathlib.Path
        Root folder of the image in which the kernel is built.
    base : pathlib.Path
        Folder of the kernel's base.
    partial : pathlib.Path
        Folder for intermediate files.
    sources : dict
        Path of each C file -> content.
    kernel : dict
        The kernel's base, patches and options.
    changed : dict
        Files that must be replaced in the base (`provide_base`).
    contents : dict
        Path of each C file and patch -> content.
    """
    work = partial / "work"
    objects, own, patches, options, tree = (work / part for part in ("objects", "own", "patches", "options", "tree"))
    for folder in (own, patches, options, tree):
        folder.mkdir(parents=True)
    recipe = copy_recipe(work / "guest")
    # The copies keep their dates; otherwise everything would be compiled again.
    run_quietly(["cp", "-a", "--reflink=auto", base / "objects", objects])
    for path, content in sources.items():
        (own / path.name).write_bytes(content)
    (own / "Makefile").write_text(MAKEFILE.format(objects=" ".join(path.with_suffix(".o").name for path in sources)))
    source = base / "source"
    files = patch_files([contents[Path(patch["path"])] for patch in kernel["patches"]], source)
    for file, text in files.items():
        (patches / file).write_bytes(text)
    texts = [*files.values()]
    tick = [str(kernel["config"]["HZ"])] if "HZ" in kernel["config"] else []
    had = own_tree.copy_files(
        source, {*own_tree.named_files(texts), *(["arch/um/Kconfig"] if tick else []), *changed}, tree
    )
    if changed:
        # These files are dated now, later than the objects, so they are compiled again.
        given_trees.write_files(kernel, changed, tree)
    if texts or tick:
        command = contained(
            f"{tree}:/build/source", f"{patches}:/build/patches:ro", recipe=recipe, seconds=LONGEST_S, root=root
        )
        status, words = said_by([*command, root, *IN_CONTAINER, "sh", "/build/guest/patch_own", *tick])
        if status:
            raise SetupError(why_not_built(words, sources, kernel))
    binds = [
        f"{file}:/build/source{'/' * bool(path)}{path}:ro" for file, path in own_tree.mounts(source, tree, had, work)
    ]
    binds += [f"{own}:/build/source/net/sawtooth:ro", f"{objects}:/build/objects", f"{options}:/build/options:ro"]
    if kernel["config"]:
        (options / "own.config").write_text(configuration(base, kernel["config"]))
        (options / "own.options").write_text("\n".join(option_lines(kernel["config"])) + "\n")
    command = [*contained(*binds, recipe=recipe, seconds=LONGEST_S, root=root), root, *IN_CONTAINER]
    status, words = said_by([*command, f"SAWTOOTH_KERNEL={name}", "sh", "/build/guest/build_own"])
    for path in sources:
        words = re.sub(rf"\S*net/sawtooth/{re.escape(path.name)}", lambda _, path=path: str(path), words)
    if status:
        raise SetupError(why_not_built(words, sources, kernel))
    if warnings := warnings_in(words):
        say(warnings)
    linux = build_outputs.read_linux(objects, name)
    remove_tree(work)
    return linux


def patch_files(patches, source) -> dict[str, bytes]:
    """Return the patches that change files of a guest kernel, decoded, by the names under which they are applied, in order.

    Parameters
    ----------
    patches : list of bytes
        Contents of the kernel's patches, each a patch or a series as mails.
    source : pathlib.Path
        Source tree of the kernel's base.
    """
    files = {}
    for place, series in enumerate(map(patches_in, patches)):
        for number, text in enumerate(series, 1):
            name = f"{place:03}-{number:03}.patch" if len(series) > 1 else f"{place:03}.patch"
            files[name] = of_kernel(text, source)
    return {name: text for name, text in files.items() if text}


def of_kernel(patch, source) -> bytes:
    """Return a patch (bytes) without text and without its changes to files that a guest kernel doesn't use.

    A diff that the text quotes is left out: GNU `patch` would apply it, because it removes indentation. The result is empty if the patch
    changes no other file, because GNU `patch` refuses a text without changes. ``source`` is the source tree of the kernel's base.
    """
    _, *changes = parts_of(patch)
    return b"".join(without_text(part) for part in changes if not _is_no_part(part, source)) if changes else patch


def without_text(part) -> bytes:
    """Return the changes to a file (`parts_of`) without the text that follows them.

    >>> without_text(b"--- a/f\\n+++ b/f\\n@@ -1 +1 @@\\n-1\\n+2\\n-- \\n2.47\\n")
    b'--- a/f\\n+++ b/f\\n@@ -1 +1 @@\\n-1\\n+2\\n'
    """
    lines, end, old, new, has_hunk = part.splitlines(keepends=True), 0, 0, 0, False
    for end, line in enumerate(lines):
        if old > 0 or new > 0:
            # Editors remove the space of an empty line. If any other character begins a line, the hunk is damaged, which `patch` reports.
            old -= line[:1] in b" -\r\n"
            new -= line[:1] in b" +\r\n"
            if line[:1] not in b" +-\\\r\n":
                return part
        elif hunk := HUNK.match(line):
            old, new = (1 if count is None else int(count) for count in hunk.groups())
            has_hunk = True
        elif line.startswith(BINARY):
            return part
        elif not line.startswith(b"\\") and (has_hunk or not BEFORE_HUNKS.match(line)):
            return b"".join(lines[:end])
    return part


def parts_of(patch) -> list[bytes]:
    """Split a patch (bytes) into the text before the first change (possibly empty), and the changes to each file.

    In Git's format, the header of a change and the change itself are two parts, which name the same files.
    """
    return PART.split(patch)


def _is_no_part(part, source):
    """Return whether a part of a patch changes only a file that a guest kernel doesn't use."""
    names = named_paths([part])
    return bool(names) and all(NO_PART.match(name) or _is_trimmed(name, source) for name in names)


def _is_trimmed(name, source):
    """Return whether a file belongs to a folder of drivers without source files in a base's tree, and doesn't control the build."""
    folder = DRIVERS.match(name)
    if not folder or OF_BUILD.fullmatch(name) or not (source / folder[0]).is_dir():
        return False
    return not any((source / folder[0]).rglob("*.[chS]"))


def option_lines(config) -> list[str]:
    """Return a study's kernel options as lines of a kernel configuration."""
    return [f"CONFIG_{option}={option_text(value)}" for option, value in config.items()]


def configuration(base, config) -> str:
    """Return a kernel configuration in which the options in ``config`` replace the base's options.

    The tick rate (HZ) is omitted, because a configuration file can't set this option.
    """
    own = base / "made/kernel.config"
    lines = (own if own.exists() else base / "kernel.config").read_text().splitlines()
    kept = [line for line in lines if line.partition("=")[0].removeprefix("CONFIG_") not in config]
    return "\n".join([*kept, *(line for line in option_lines(config) if not line.startswith("CONFIG_HZ="))]) + "\n"


def option_text(value) -> str:
    """Return the value of an option in the notation of a kernel configuration: y, n, a number, or a text in quotes."""
    if isinstance(value, bool):
        return "yn"[not value]
    return str(value) if isinstance(value, int) or value in ("y", "n") else f'"{value}"'
