"""Describe kernel source trees (folders, archives and revisions in Git repositories) by version and SHA-256.

Standard library only: set-up and the scripts in the analysis image need it too.
"""

import hashlib
import os
import re
from pathlib import Path

from study_files import git_trees, tree_archives
from testbed.machine.given_file import GivenFileError, given_bytes
from wording.missing_files import absence

#: Maximum size of a file in a source tree, in bytes.
LARGEST_TREE_FILE_BYTES = 2**27
#: Folder that stores digests of source trees, because computing a digest takes seconds.
DIGESTS = Path(".snakemake/tree-digests")
#: Files that state the version of a tree and whether guests can be built from it.
VERSION_FILES = ("Makefile", "arch/um/Kconfig")
#: Entries in a tree that aren't part of the kernel.
LEFT_OUT = {".git"}


def tree_digest(tree) -> str:
    """Return the SHA-256 of a source tree's paths, contents and link targets, excluding Git's own files.

    Digests are stored in `DIGESTS` and reused as long as the sizes, modification times, modes and inode numbers of all files stay the same.
    """
    files = sorted(_files(str(tree)))
    seen = hashlib.sha256()
    for path in files:
        status = os.lstat(path)
        seen.update(
            f"{path}\0{status.st_mode}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ino}\n".encode(
                errors="surrogateescape"
            )
        )
    return _remembered(seen.hexdigest(), lambda: digest_of_files(digests_of_files(tree)))


def _remembered(name, compute):
    """Return the text in a file in `DIGESTS`; if the file is missing, or is empty because the disk was full, compute and store the text."""
    known = DIGESTS / name
    if known.exists() and (text := known.read_text()):
        return text
    text = compute()
    if DIGESTS.parent.is_dir():
        DIGESTS.mkdir(exist_ok=True)
        partial = known.with_name(f"{name}.{os.getpid()}")
        partial.write_text(text)
        partial.replace(known)
    return text


def files_of_tree(tree) -> list[str]:
    """Return the sorted paths of all regular files and symbolic links in a source tree."""
    return sorted(os.path.relpath(path, tree) for path in _files(str(tree)))


def digests_of_files(tree) -> dict[str, str]:
    """Return the digests of the files in a source tree, sorted by path.

    The digest of a regular file is its SHA-256, preceded by ``program`` if the file is executable. The digest of a symbolic link is
    ``link``, followed by the SHA-256 of the link's target.
    """
    digests = {}
    for path in files_of_tree(tree):
        file = Path(tree, path)
        if file.is_symlink():
            digests[path] = f"link {hashlib.sha256(os.readlink(file).encode(errors='surrogateescape')).hexdigest()}"
        else:
            sha256 = hashlib.sha256(content_in_tree(file)).hexdigest()
            digests[path] = f"program {sha256}" if file.stat().st_mode & 0o100 else sha256
    return digests


def digest_of_files(digests) -> str:
    """Return the SHA-256 that identifies a source tree, computed from the result of `digests_of_files`."""
    lines = (f"{sha256} {path}\n" for path, sha256 in digests.items())
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()


def _files(folder):
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name in LEFT_OUT:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path)
            elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                yield entry.path


def tree_version(tree) -> str:
    """Return the version of a Linux source tree from its Makefile, such as 7.3.0-rc1.

    Raises
    ------
    ValueError
        If a guest kernel can't be built from the tree. The message gives the reason.
    """
    texts = {path: _text(tree / path) for path in VERSION_FILES if (tree / path).is_file()}
    version = version_of(texts, f"{tree}/")
    for built in (".config", "include/config"):
        if (tree / built).exists():
            raise ValueError(
                f"{tree / built}: the tree was built in place, so it can't be built in another folder: run `make mrproper` in it, or use a worktree of it (git worktree add)"
            )
    return version


def version_of(texts, where) -> str:
    """Return the version of a Linux source tree.

    Parameters
    ----------
    texts : dict
        Texts of the tree's `VERSION_FILES` by path.
    where : str
        Prefix of paths in error messages.

    Raises
    ------
    ValueError
        If a guest kernel can't be built from the tree. The message gives the reason.
    """
    for needed in VERSION_FILES:
        if needed not in texts:
            raise ValueError(f"{where}{needed}: no such file; a guest kernel needs a Linux tree with arch/um")
    if "config UML_TIME_TRAVEL_SUPPORT" not in texts["arch/um/Kconfig"]:
        raise ValueError(
            f"{where}arch/um/Kconfig: no option UML_TIME_TRAVEL_SUPPORT (Linux has it since 5.3), without which a guest has "
            "no virtual clock"
        )
    parts = [
        re.search(rf"^{name} *=[ \t]*({word}) *$", texts["Makefile"], re.M | re.A)
        for name, word in (
            ("VERSION", r"\d+"),
            ("PATCHLEVEL", r"\d+"),
            ("SUBLEVEL", r"\d+"),
            ("EXTRAVERSION", r"[\w.+-]*"),
        )
    ]
    if not all(parts[:3]):
        raise ValueError(f"{where}Makefile: no VERSION, PATCHLEVEL and SUBLEVEL")
    return ".".join(part[1] for part in parts[:3]) + (parts[3][1] if parts[3] else "")


def described_tree(tree, revision=None) -> dict[str, str]:
    """Return the ``version`` and ``sha256`` of a source tree and, for a revision, the object ID of the commit as ``revision``.

    Parameters
    ----------
    tree : str
        Path of a folder or archive with the tree or, if ``revision`` is given, of a Git repository.
    revision : str, optional
        Branch, tag or commit.

    Raises
    ------
    ValueError
        If a guest kernel can't be built from the tree. The message starts with the affected key.
    """
    if revision is None and tree_archives.is_archive(tree):
        if why := absence(tree):
            raise ValueError(f"tree is {tree}; {why}")
        return _said_of(f"tree is {tree}", _described_archive, tree)
    if not os.path.isdir(tree):
        wanted = (
            "a Git repository"
            if revision is not None
            else f"a folder or an archive ({', '.join(tree_archives.ENDINGS)})"
        )
        raise ValueError(f"tree is {tree}; {absence(tree, 'folder') or f'it is not a folder; allowed: {wanted}'}")
    if revision is not None:
        return _said_of(f"revision is {revision}, of {tree}", _described_revision, tree, revision)
    if not os.path.exists(os.path.join(tree, "Makefile")) and git_trees.is_repository(tree):
        raise ValueError(
            f"tree is {tree}; it is a Git repository without files: name a revision as well, such as revision: v7.2"
        )
    return _said_of(f"tree is {tree}", lambda: {"version": tree_version(Path(tree)), "sha256": tree_digest(Path(tree))})


def _said_of(what, describe, *arguments):
    try:
        return describe(*arguments)
    except git_trees.IncompleteError as error:
        raise git_trees.IncompleteError(f"{what}; {error}") from None
    except ValueError as error:
        raise ValueError(f"{what}; {error}") from None


def _described_revision(tree, revision):
    commit = git_trees.commit_of(tree, revision)
    texts = {path: git_trees.text_of(tree, commit, path, LARGEST_TREE_FILE_BYTES) for path in VERSION_FILES}
    version = version_of({path: text for path, text in texts.items() if text is not None}, f"{tree}: ")
    sha256 = git_trees.tree_sha256(git_trees.tree_of(tree, commit))
    # As in the kernel's own scripts, the commit is appended, so that two revisions of the same version have different names.
    return {"revision": commit, "version": f"{version}-g{commit[:12]}", "sha256": sha256}


def _described_archive(archive):
    sha256 = tree_archives.archive_sha256(archive)

    def version():
        return version_of(tree_archives.texts_of(archive, VERSION_FILES, LARGEST_TREE_FILE_BYTES), f"{archive}: ")

    return {"version": _remembered(f"version-{sha256}", version), "sha256": sha256}


def _text(file):
    return content_in_tree(file).decode(errors="replace")


def content_in_tree(file) -> bytes:
    """Return the content of a file in a source tree (a folder); raise OSError, which names the file, if it can't be read or is too large."""
    try:
        return given_bytes(file, LARGEST_TREE_FILE_BYTES)
    except GivenFileError as error:
        error.filename = str(file)
        error.strerror += (
            " in a source tree (move the file, or name a Git revision, of which only committed files are read)"
        )
        raise
