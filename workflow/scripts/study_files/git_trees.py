"""Find, list and read the Linux source tree of a revision in a Git repository, without writing to the repository.

Git reads only its refs and its object store (`git rev-parse`, `ls-tree`, `cat-file`): no checkout, index, filters or hooks are involved.
Standard library only: set-up and the scripts in the analysis image need it too.
"""

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

#: Git's modes for a regular file, an executable file and a symbolic link.
REGULAR, PROGRAM, LINK = "100644", "100755", "120000"


class GitError(ValueError):
    """A Git command failed; the message gives the reason but doesn't name the repository."""


class IncompleteError(GitError):
    """A repository lacks an object or has a damaged object, so nothing can be said about its commits."""


def git(repository, *arguments: str, stdin=None) -> bytes:
    """Run a Git command in a repository, and return its output.

    Parameters
    ----------
    repository : str or pathlib.Path
        Folder with ``.git``, or a bare repository; parent folders are not searched.
    *arguments : str
        Git subcommand and its arguments.
    stdin : file, optional
        Standard input of the command; empty by default.

    Raises
    ------
    GitError
        If Git is not installed, or if the command fails; in the latter case, the message is Git's.
    """
    try:
        done = subprocess.run(
            ["git", "-C", repository, *arguments], stdin=stdin or subprocess.DEVNULL, capture_output=True,
            env=environment(repository),
        )  # fmt: skip
    except FileNotFoundError:
        raise GitError("git is needed to read a revision, and is not installed here") from None
    if done.returncode:
        raise GitError(_reason(done.stderr) or f"git {arguments[0]} failed (exit status {done.returncode})")
    return done.stdout


def environment(repository) -> dict[str, str]:
    """Return environment variables that prevent Git commands from writing, fetching or using another repository.

    A bare repository may be used even if the user's settings contain ``safe.bareRepository = explicit``, because the repository is always
    named explicitly.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    above = os.path.dirname(os.path.realpath(repository))
    fixed = {"GIT_CEILING_DIRECTORIES": above, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    setting = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.bareRepository", "GIT_CONFIG_VALUE_0": "all"}
    return kept | fixed | setting | {"GIT_NO_LAZY_FETCH": "1", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C"}


def _reason(words):
    """Return Git's reason for a failure (warnings may precede it) and, if the repository belongs to another user, the command that allows it."""
    lines = [line.strip() for line in words.decode(errors="replace").splitlines() if line.strip()]
    reason = next((line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")), *lines[:1] or [""])
    allowing = next((f"; this allows it: {line}" for line in lines if line.startswith("git config ")), "")
    return reason[:300] + allowing


def is_repository(folder) -> bool:
    """Return whether a folder is itself a Git repository (a bare repository or a folder with ``.git``)."""
    try:
        git(folder, "rev-parse", "--git-dir")
    except (GitError, OSError):
        return False
    return True


def commit_of(repository, revision) -> str:
    """Return the object ID of the commit or tree that a revision names.

    Raises
    ------
    GitError
        If the revision doesn't exist.
    """
    git(repository, "rev-parse", "--git-dir")  # raises GitError if this isn't a repository
    for kind in ("commit", "tree") if not revision.startswith("-") else ():
        try:
            return git(repository, "rev-parse", "--verify", "--quiet", f"{revision}^{{{kind}}}").decode().strip()
        except GitError:
            continue
    raise GitError("it has no such revision; allowed: a branch, tag or commit that `git log` in the repository accepts")


def tree_of(repository, commit) -> str:
    """Return the object ID of a commit's tree, which is a digest of all files."""
    return git(repository, "rev-parse", "--verify", f"{commit}^{{tree}}").decode().strip()


def tree_sha256(tree) -> str:
    """Return the SHA-256 that identifies a kernel's source, computed from the object ID of its Git tree."""
    return hashlib.sha256(f"git tree {tree}\n".encode()).hexdigest()


def files_of(repository, commit, *below: str) -> dict[str, str]:
    """Return the Git mode and object ID of each file and symbolic link in a commit.

    Parameters
    ----------
    repository : str or pathlib.Path
        As in `git`.
    commit : str
        Object ID of a commit or tree.
    *below : str
        Paths of folders or files to list; by default, the entire tree is listed.

    Returns
    -------
    dict
        Strings ``"mode ID"`` by path, sorted by path.
    """
    listed = git(repository, "ls-tree", "-r", "-z", "--full-tree", commit, "--", *below)
    files = {}
    for entry in listed.split(b"\0")[:-1]:
        what, _, path = entry.partition(b"\t")
        mode, _, name = what.decode().split(" ")
        if mode in (REGULAR, PROGRAM, LINK):
            files[os.fsdecode(path)] = f"{mode} {name}"
    return dict(sorted(files.items()))


def content_digest(content, name) -> str:
    """Return the Git object ID of a file's content, computed with the same hash algorithm as another object ID (``name``)."""
    algorithm = "sha1" if len(name) == 40 else "sha256"
    return hashlib.new(algorithm, b"blob %d\0" % len(content) + content).hexdigest()


def contents(repository, names: Iterable[str], largest: int) -> Iterator[tuple[str, bytes]]:
    """Yield the object ID and the content of each file, in the order of the object IDs in ``names``.

    Raises
    ------
    GitError
        If a file is missing or larger than ``largest`` bytes, or if its content doesn't match its object ID.
    """
    names = list(names)
    with tempfile.TemporaryFile() as asked:
        asked.write("".join(f"{name}\n" for name in names).encode())
        asked.seek(0)
        with subprocess.Popen(
            ["git", "-C", repository, "cat-file", "--batch", "--buffer"], stdin=asked, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=environment(repository),
        ) as process:  # fmt: skip
            try:
                for name in names:
                    yield name, _next_content(process.stdout, name, largest)
            finally:
                process.stdout.close()
                process.terminate()


def _next_content(stream, name, largest):
    head = stream.readline().decode(errors="replace").split()
    if len(head) != 3 or head[:2] != [name, "blob"]:
        raise IncompleteError(f"its file {name} is missing (the clone is partial or damaged)")
    if int(head[2]) > largest:
        raise GitError(f"its file {name} has {int(head[2]):,} bytes; allowed: up to {largest:,}")
    content = stream.read(int(head[2]))
    stream.read(1)
    if content_digest(content, name) != name:
        raise IncompleteError(f"its file {name} is damaged: its content has a different digest")
    return content


def text_of(repository, commit, path, largest) -> str | None:
    """Return the text of a file in a commit, or None if no regular file exists at this path."""
    mode, _, name = files_of(repository, commit, path).get(path, "").partition(" ")
    if mode not in (REGULAR, PROGRAM):
        return None
    ((_, content),) = contents(repository, [name], largest)
    return content.decode(errors="replace")


def write_files(repository, files: dict[str, str], folder: Path, largest: int) -> None:
    """Write files from a commit to a folder, and replace existing files.

    Symbolic links are written last, so that no file is written through a link.

    Parameters
    ----------
    repository : str or pathlib.Path
        As in `git`.
    files : dict
        Result of `files_of`, or part of this result.
    folder : pathlib.Path
        Target folder, which must not contain symbolic links other than those written by this function.
    largest : int
        Maximum size of a file in bytes.

    Raises
    ------
    GitError
        As in `contents`, or if a path leads out of the folder.
    """
    for path in files:
        if path.startswith("/") or {"", ".", "..", ".git"} & set(path.split("/")):
            raise GitError(f"its file {path!r} has a name that no source tree has")
    ordered = sorted(files.items(), key=lambda one: one[1].startswith(LINK))
    names = [what.partition(" ")[2] for _, what in ordered]
    for (path, what), (_, content) in zip(ordered, contents(repository, names, largest), strict=True):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        if what.startswith(LINK):
            file.symlink_to(os.fsdecode(content))
        else:
            file.write_bytes(content)
            file.chmod(0o755 if what.startswith(PROGRAM) else 0o644)
