"""Search the commits between GOOD and BAD with `git bisect`.

Git searches in a separate repository that uses the objects of the user's repository, which is only read. Each call begins the
search again and reuses existing kernels and runs, so the separate repository needn't be kept.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from study_files import git_trees

GOOD, BAD, SKIP = "good", "bad", "skip"
#: Exit status of `git bisect` if a common ancestor of GOOD and BAD is bad.
BAD_ANCESTOR = 3


@dataclass(frozen=True)
class Search:
    """Progress of a search.

    Attributes
    ----------
    next : str or None
        The commit to be judged next.
    found : str or None
        The first bad commit.
    candidates : list of str
        The commits that may be the first bad commit, newest first, if skipped commits prevent a decision.
    """

    next: str | None = None
    found: str | None = None
    candidates: tuple[str, ...] = ()


class BadAncestorError(git_trees.GitError):
    """A common ancestor of GOOD and BAD is bad, so GOOD contains a fix."""


class History:
    """The history of a repository, searched in a separate bare repository.

    Parameters
    ----------
    repository : str or pathlib.Path
        The user's repository; the bare repository uses its objects.
    folder : pathlib.Path
        Folder of the bare repository; replaced if it exists.
    """

    def __init__(self, repository, folder: Path):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        form = git_trees.git(repository, "rev-parse", "--show-object-format").decode().strip()
        git_trees.git(folder, "init", "--quiet", "--bare", f"--object-format={form}", "--template=")
        (folder / "objects/info").mkdir(parents=True, exist_ok=True)
        (folder / "objects/info/alternates").write_text(f"{self._path(repository, 'objects')}\n")
        shallow = self._path(repository, "shallow")
        if shallow.exists():
            shutil.copy(shallow, folder / "shallow")

    @staticmethod
    def _path(repository, name):
        path = git_trees.git(repository, "rev-parse", "--git-path", name).decode().rstrip("\n")
        return Path(repository, path).resolve()

    def count(self, good, bad) -> int:
        """Return the number of commits that may be the first bad commit."""
        return int(git_trees.git(self.folder, "rev-list", "--count", bad, f"^{good}"))

    def common(self, good, bad) -> list[str]:
        """Return the latest common ancestors of two commits; only ``good`` if it is an ancestor of ``bad``."""
        try:
            return git_trees.git(self.folder, "merge-base", "--all", good, bad).decode().split()
        except git_trees.GitError:
            # Git fails if there is no common ancestor.
            return []

    def beginnings(self, good, bad) -> list[str]:
        """Return the commits without a parent that are ancestors of ``bad`` but not of ``good``."""
        return git_trees.git(self.folder, "rev-list", "--max-parents=0", bad, f"^{good}").decode().split()

    @property
    def shallow_words(self) -> str:
        """Text about missing parents of commits, in parentheses; empty if the repository isn't a shallow clone."""
        is_shallow = (self.folder / "shallow").exists()
        return " (this clone is shallow: `git fetch --unshallow` completes it)" if is_shallow else ""

    def parents(self, commit) -> list[str]:
        """Return the parents of a commit; the list is empty if the history begins with this commit."""
        return git_trees.git(self.folder, "rev-list", "--parents", "-n", "1", commit).decode().split()[1:]

    def possible(self) -> tuple[str, ...]:
        """Return the commits that may be the first bad commit after the verdicts so far, newest first."""
        names = ("refs/bisect/bad", "--not", "--glob=refs/bisect/good-*")
        return tuple(git_trees.git(self.folder, "rev-list", *names).decode().split())

    def subject(self, commit) -> str:
        """Return the first line of a commit's message."""
        return git_trees.git(self.folder, "show", "-s", "--format=%s", commit).decode(errors="replace").strip()

    def about(self, commit) -> str:
        """Return the author and the date of a commit."""
        return git_trees.git(self.folder, "show", "-s", "--format=%an, %as", commit).decode(errors="replace").strip()

    def begin(self, good, bad) -> Search:
        """Begin a search; raise `git_trees.GitError` with Git's message on failure."""
        # Without this, Git would have no commit to return to.
        git_trees.git(self.folder, "update-ref", "--no-deref", "HEAD", bad)
        return self._told("start", "--no-checkout", bad, good)

    def tell(self, commit, verdict) -> Search:
        """Pass a verdict (`GOOD`, `BAD` or `SKIP`) to Git and continue.

        Raises
        ------
        BadAncestorError
            The commit is bad, and it is a common ancestor of GOOD and BAD.
        git_trees.GitError
            Git failed; the message is Git's.
        """
        return self._told(verdict, commit)

    def _told(self, *arguments):
        done = subprocess.run(
            ["git", "-C", self.folder, "bisect", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
            env=git_trees.environment(self.folder),
        )  # fmt: skip
        words = done.stdout.decode(errors="replace")
        if found := re.search(r"^([0-9a-f]{40,64}) is the first bad commit$", words, re.M):
            return Search(found=found[1])
        _, could_be, rest = words.partition("The first bad commit could be any of:\n")
        if could_be:
            return Search(candidates=tuple(re.findall(r"^([0-9a-f]{40,64})$", rest, re.M)))
        if done.returncode:
            problem = (done.stderr.decode(errors="replace").strip() or words.strip()).splitlines()
            kind = BadAncestorError if done.returncode == BAD_ANCESTOR else git_trees.GitError
            raise kind(" ".join(problem[:3]) or f"git bisect ended with {done.returncode}")
        return Search(next=git_trees.commit_of(self.folder, "BISECT_HEAD"))
