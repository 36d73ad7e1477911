"""Build the kernels of successive commits; `bisecting` calls `python3 setup step NAME LINUX KERNEL FILE=SHA256...`.

The cache contains one source tree and one folder of objects per repository. For each commit, the files that differ are replaced, and `make`
rebuilds the objects that depend on them, as in a developer's tree. Therefore a step takes only seconds if little has changed. In contrast,
the base of a study's kernel (kernel_bases.py) is built from scratch, because other people rely on its bytes.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil

import build_outputs
import given_trees
import own_tree
from build_container import IN_CONTAINER, LONGEST_BASE_S, contained, copy_recipe, said_by
from build_words import why_not_built
from cache import cache_entry, digest, one_at_a_time, remove_tree, require_cache, require_space
from kernels import MAKEFILE, provide_compiler, read_once
from progress import SetupError
from study_files.kernels import CHECKOUT, recipe_digest

#: Disk space in GB for the tree and its objects.
SIZE_GB = 5
#: Pattern of the paths to files that a guest kernel doesn't use. Configuration files and Makefiles don't match, because a build reads all
#: of them.
UNUSED = re.compile(
    r"(?:Documentation|samples|sound|tools/perf|tools/testing|arch/(?!um/|x86/)[^/]+)/(?!(?:.*/)?(?:Kconfig[^/]*|Makefile|Kbuild)\Z)"
)
#: File next to the source tree that records the digest of each file in the tree.
STATE = "state.json"
#: Set-up's exit status for a commit from which no kernel can be built.
NOT_BUILT = 3
#: Commands that configure and build, only build, and strip. The tree's Makefiles can write only to the folder of objects.
CONFIGURE_AND_BUILD, BUILD = "sh /build/guest/build_base", "/build/guest/make_kernel linux"
STRIP = "rm -rf /build/objects/stripped && strip -o /build/objects/stripped /build/objects/linux"
#: Pattern of the paths of files that, together with the guest's options, determine the kernel's configuration; and file next to the objects
#: with a digest of all these files and options.
CONFIGURES = re.compile(r"(?:.*/)?Kconfig[^/]*|scripts/.*|Makefile|arch/(?:um|x86)/(?:.*/)?Makefile[^/]*")
CONFIGURED = "configured"
#: Pattern of output that shows that a build failed because of the machine, not because of the commit.
OF_THE_MACHINE = re.compile(
    "Killed|No space left on device|Cannot allocate memory|virtual memory exhausted|Disk quota exceeded|Resource temporarily unavailable|"
    "Too many open files|Input/output error|Read-only file system"
)


class NotBuiltError(SetupError):
    """No guest kernel can be built from a commit; the message states the reason."""


def provide_step(name, linux_file, kernel, sources) -> None:
    """Build the kernel of a commit, starting from the files that the previous build from the same repository left.

    Parameters
    ----------
    name : str
        Identifier of the kernel's content (`experiment.definitions.kernel_id`), which becomes the kernel's build number.
    linux_file : pathlib.Path
        Path to which the kernel is written.
    kernel : dict
        Definition of a kernel that states a Git revision (`study_files.kernels.completed_kernel`).
    sources : dict
        Path of each C file -> expected SHA-256.

    Raises
    ------
    NotBuiltError
        If the commit doesn't compile, or if a patch or option for the guest doesn't fit the commit.
    SetupError
        If the build failed for another reason.
    """
    contents = {path: read_once(path, sha256) for path, sha256 in sources.items()}
    repository = os.path.realpath(kernel["tree"])
    with contextlib.chdir(CHECKOUT):
        root = provide_compiler() / "root"
    key = digest(root.parent.name, recipe_digest(), repository)[:16]
    folder = cache_entry("kernels", f"steps-{key}")
    require_cache(folder.parent)
    with one_at_a_time(folder):
        folder.mkdir(exist_ok=True)
        require_space(folder, SIZE_GB if not (folder / STATE).exists() else 1, "building commits one after another")
        linux = _build(name, folder, root, kernel, contents)
    linux_file.parent.mkdir(parents=True, exist_ok=True)
    partial = linux_file.with_name(f".{linux_file.name}.{os.getpid()}")
    partial.write_bytes(linux)
    partial.chmod(0o755)
    partial.replace(linux_file)


def _build(name, folder, root, kernel, contents):
    source, objects, made, patched = (folder / part for part in ("source", "objects", "made", "patched"))
    for part in (made, patched, folder / "guest"):
        remove_tree(part)
    for part in (source, objects, made):
        part.mkdir(exist_ok=True)
    recipe = copy_recipe(folder / "guest")
    files = {path: one for path, one in given_trees.digests(kernel).items() if not UNUSED.match(path)}
    _patch(kernel, files, root, recipe, patched, made, contents)
    changed = {path.relative_to(patched) for path in patched.rglob("*") if path.is_file()}
    wanted = files | {str(path): f"patched {_sha256(patched / path)}" for path in changed}
    replace_files(kernel, wanted, source, patched, folder / STATE)
    command = contained(
        f"{source}:/build/source:ro", f"{made}:/build/made:ro", f"{objects}:/build/objects",
        recipe=recipe, seconds=LONGEST_BASE_S, root=root,
    )  # fmt: skip
    follows = sorted(f"{path} {one}" for path, one in wanted.items() if CONFIGURES.fullmatch(path))
    configures = digest(made / "kernel.config", *follows)
    is_configured = (folder / CONFIGURED).exists() and (folder / CONFIGURED).read_text() == configures
    (folder / CONFIGURED).unlink(missing_ok=True)
    build = f"{BUILD if is_configured else CONFIGURE_AND_BUILD} && {STRIP}"
    status, words = said_by([*command, root, *IN_CONTAINER, f"SAWTOOTH_KERNEL={name}", "sh", "-c", build])
    for path in contents:
        words = words.replace(f"net/sawtooth/{path.name}", str(path))
    if status:
        if OF_THE_MACHINE.search(words):
            raise SetupError(f"the machine ended a build: {OF_THE_MACHINE.search(words)[0]}.")
        raise NotBuiltError(why_not_built(words, contents, kernel))
    linux = build_outputs.read_linux(objects, name)
    (folder / CONFIGURED).write_text(configures)
    return linux


def _patch(kernel, files, root, recipe, patched, made, contents):
    """Copy to the folder ``patched`` the files of a commit that the guest's patches modify, and apply the patches there."""
    texts = [patch.read_bytes() for patch in sorted(recipe.rglob("*.patch"))]
    named = {*own_tree.named_files(texts), "arch/um/Kconfig", "net/Makefile"} & files.keys()
    patched.mkdir()
    given_trees.write_files(kernel, {path: files[path] for path in sorted(named)}, patched)
    binds = (f"{patched}:/build/source", f"{made}:/build/made")
    command = contained(*binds, recipe=recipe, seconds=LONGEST_BASE_S, root=root)
    version = kernel["version"].rpartition("-g")[0]
    status, words = said_by([*command, root, *IN_CONTAINER, "sh", "/build/guest/patch_base", version])
    if status:
        refused = re.search(r"^guest kernel: (.*)$", words, re.M)
        if not refused:
            raise SetupError(f"the guest's patches can't be applied: {words.strip()[-300:]}.")
        raise NotBuiltError(f"{refused[1]}.")
    for path in named:
        if not (patched / path).exists():
            del files[path]
    if contents:
        own = patched / "net/sawtooth"
        objects = " ".join(path.with_suffix(".o").name for path in contents)
        (own / "Makefile").write_text(MAKEFILE.format(objects=objects))
        for path, content in contents.items():
            (own / path.name).write_bytes(content)


def replace_files(kernel, wanted, source, patched, state) -> list[str]:
    """Turn a source tree into the tree of another commit, and return the paths that were written or removed.

    Unchanged files keep their dates, so that they aren't compiled again. Changed files are dated with the current time.

    Parameters
    ----------
    kernel : dict
        Definition of a kernel that states a Git revision.
    wanted : dict
        Path -> digest of the file in the new tree. The digest is a value from `given_trees.digests` or, for a file in ``patched``, the word
        "patched" and the file's SHA-256.
    source : pathlib.Path
        Source tree to change.
    patched : pathlib.Path
        Folder with the patched files of the new commit.
    state : pathlib.Path
        File with the digest of each file in the tree. It is written before and after the changes, so that after an interruption the next
        call can repair the tree.
    """
    had = json.loads(state.read_text()) if state.exists() else {}
    changed = sorted(path for path in had.keys() | wanted.keys() if had.get(path) != wanted.get(path))
    _write(state, had | dict.fromkeys(changed, ""))
    for path in changed:
        file = source / path
        if file.is_symlink() or not file.is_dir():
            file.unlink(missing_ok=True)
        elif path in wanted:
            # The new tree has no file below this path, so all that this folder contains has been or will be removed.
            shutil.rmtree(file)
    given = {path: wanted[path] for path in changed if path in wanted and not wanted[path].startswith("patched ")}
    given_trees.write_files(kernel, given, source)
    for path in changed:
        if wanted.get(path, "").startswith("patched "):
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(patched / path, source / path)
            shutil.copymode(patched / path, source / path)
    _write(state, wanted)
    return changed


def _write(state, files):
    partial = state.with_suffix(".partial")
    partial.write_text(json.dumps(files))
    partial.replace(state)


def _sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()
