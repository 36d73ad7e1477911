"""Read a user's source tree for a build: a folder, a revision in a Git repository, or an archive.

Nothing is written to a source tree. The tree is copied once, and the copy is compared with the digest that was computed when the study was
read.
"""

import hashlib
import os
import shutil
from pathlib import Path

import own_tree
from progress import SetupError, run_quietly, say
from study_files import git_trees, tree_archives
from study_files.kernel_trees import (
    LARGEST_TREE_FILE_BYTES,
    VERSION_FILES,
    content_in_tree,
    digest_of_files,
    digests_of_files,
    files_of_tree,
)


def lists_files(kernel) -> bool:
    """Return whether a kernel's source tree is a folder or a Git revision, whose files can be hashed without unpacking an archive."""
    return "tree" in kernel and ("revision" in kernel or not tree_archives.is_archive(kernel["tree"]))


def digests(kernel) -> dict[str, str]:
    """Return the digest of each file in a kernel's source tree, sorted by path.

    For a folder, `digests_of_files` computes the digests. For a Git revision, a file's digest consists of its Git mode and object ID.
    """
    if "revision" in kernel:
        return _of_git(kernel, git_trees.files_of, kernel["revision"])
    return digests_of_files(kernel["tree"])


def check_unchanged(kernel, files) -> None:
    """Raise SetupError if a source tree has changed since the study was read; ``files`` is the current result of `digests`."""
    if "revision" in kernel:
        sha256 = git_trees.tree_sha256(_of_git(kernel, git_trees.tree_of, kernel["revision"]))
    else:
        sha256 = digest_of_files(files)
    if sha256 != kernel["sha256"]:
        raise SetupError(f"{kernel['tree']} has changed since the study was read: run the command again.")


def is_plain_file(file_digest) -> bool:
    """Return whether a digest from `digests` belongs to a regular file that isn't executable."""
    return file_digest.startswith(f"{git_trees.REGULAR} ") or " " not in file_digest


def is_as_it_was(path, file_digest) -> bool:
    """Return whether a path is a regular file whose digest is still the given one from `digests`."""
    if path.is_symlink() or not path.is_file():
        return False
    mode, _, name = file_digest.rpartition(" ")
    content = path.read_bytes()
    return (git_trees.content_digest(content, name) if mode in (git_trees.REGULAR, git_trees.PROGRAM) else hashlib.sha256(content).hexdigest()) == name  # fmt: skip


def write_files(kernel, files, folder) -> None:
    """Copy files of a kernel's source tree to a folder; raise SetupError if a file has changed.

    ``files`` contains the result of `digests` for these files.
    """
    if "revision" in kernel:
        _of_git(kernel, git_trees.write_files, files, folder, LARGEST_TREE_FILE_BYTES)
        return
    for path, file_digest in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(kernel["tree"]) / path, folder / path, follow_symlinks=False)
        if not is_as_it_was(folder / path, file_digest):
            raise SetupError(f"{kernel['tree']} has changed since the study was read: run the command again.")


def copy_tree(kernel, source) -> dict[str, str]:
    """Copy a source tree to a new folder without Git's own files, and return its `digests` (an empty dict for an archive)."""
    if "revision" in kernel:
        return _copy_revision(kernel, source)
    if tree_archives.is_archive(kernel["tree"]):
        _unpack(kernel, source)
        return {}
    say(f"{kernel['tree']}: copying")
    tree = Path(kernel["tree"])
    for path in files_of_tree(tree):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        if (tree / path).is_symlink():
            (source / path).symlink_to(os.readlink(tree / path))
        else:
            shutil.copy(tree / path, source / path, follow_symlinks=False)
    files = digests_of_files(source)
    check_unchanged(kernel, files)
    return files


def _copy_revision(kernel, source):
    say(f"{kernel['tree']}: copying {kernel['revision'][:12]}")
    files = digests(kernel)
    check_unchanged(kernel, files)
    source.mkdir()
    _of_git(kernel, git_trees.write_files, files, source, LARGEST_TREE_FILE_BYTES)
    return files


def _unpack(kernel, source):
    """Unpack the source tree in an archive to the new folder ``source``; the tree is the archive's root or one of its top-level folders."""
    archive, work = Path(kernel["tree"]), source.with_name("unpacked")
    say(f"{archive}: unpacking")
    work.mkdir()
    # The archive is copied, so that the bytes that are hashed are the ones that are unpacked.
    copy = work.with_name(f"archive-{archive.name}")
    shutil.copyfile(archive, copy)
    if tree_archives.archive_sha256(copy) != kernel["sha256"]:
        raise SetupError(f"{archive} has changed since the study was read: run the command again.")
    try:
        run_quietly(["tar", "-xf", copy, "-C", work, "--no-same-owner", "--no-same-permissions"])
    except SetupError as error:
        raise SetupError(f"{archive} can't be unpacked; it may be incomplete ({error}).") from None
    copy.unlink()
    folders = [work, *sorted(path for path in work.iterdir() if path.is_dir() and not path.is_symlink())]
    max(folders, key=lambda folder: sum((folder / path).is_file() for path in VERSION_FILES)).rename(source)
    shutil.rmtree(work, ignore_errors=True)


def _of_git(kernel, function, *arguments):
    try:
        return function(kernel["tree"], *arguments)
    except git_trees.GitError as error:
        raise SetupError(f"{kernel['tree']}: {error}.") from None


def copy_folders(kernel, folders, target) -> None:
    """Copy the regular files in the given folders of a source tree, but not in their subfolders, to the same paths below ``target``.

    The copies of executable files are executable.
    """
    for folder in folders:
        (target / folder).mkdir(parents=True)
    if "revision" in kernel:
        files = _of_git(kernel, git_trees.files_of, kernel["revision"], *folders)
        plain = {path: one for path, one in files.items() if not one.startswith(git_trees.LINK)}
        wanted = {path: one for path, one in plain.items() if str(Path(path).parent) in folders}
        _of_git(kernel, git_trees.write_files, wanted, target, LARGEST_TREE_FILE_BYTES)
        return
    if tree_archives.is_archive(kernel["tree"]):
        members = tree_archives.members_in(kernel["tree"], folders, LARGEST_TREE_FILE_BYTES)
    else:
        members = _files_in(Path(kernel["tree"]), folders)
    for path, content, is_program in members:
        (target / path).write_bytes(content)
        (target / path).chmod(0o755 if is_program else 0o644)


def _files_in(tree, folders):
    for folder in folders:
        for name in sorted(os.listdir(tree / folder)) if (tree / folder).is_dir() else ():
            path = f"{folder}/{name}"
            if own_tree.is_plain(tree, path):
                yield path, content_in_tree(tree / path), os.access(tree / path, os.X_OK)
