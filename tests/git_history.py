"""Git repositories created by tests; their commits have the same names each time."""

import os
import subprocess
from pathlib import Path

#: Author and dates of the commits, without any of the machine's own settings.
FIXED = {
    "GIT_AUTHOR_NAME": "A Person", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "A Person", "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
}  # fmt: skip
#: Without these, a large commit starts a garbage collection, which changes the repository minutes later, while a test looks at it.
QUIET = ("-c", "gc.auto=0", "-c", "maintenance.auto=false")


def git(folder, *arguments) -> str:
    """Return the output of a Git command in a folder."""
    done = subprocess.run(
        ["git", *QUIET, "-C", folder, *arguments], capture_output=True, text=True, env=os.environ | FIXED
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def repository(folder: Path) -> Path:
    """Create an empty repository in a new folder."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def commit(folder: Path, files: dict[str, str | None], message: str) -> str:
    """Write files (path -> text, None removes one), commit them and return the commit's name."""
    for path, text in files.items():
        if text is None:
            (folder / path).unlink()
            continue
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def mails(folder: Path, number: int) -> bytes:
    """Return the last commits as mails, as `git format-patch` writes them."""
    return f"{git(folder, 'format-patch', '--stdout', f'-{number}')}\n".encode()


def contents_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return everything in a folder, for a later comparison: path -> change time in ns and content."""
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in folder.rglob("*")
    }
