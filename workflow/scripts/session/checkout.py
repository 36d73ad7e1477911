"""The workflow's commit, which containers read from their environment, and the paths of the workflow's files."""

import hashlib
import os
import shlex
import subprocess
from datetime import UTC, datetime
from pathlib import Path

#: Variable with the commit of the results to reproduce, in the form "commit seconds clean|changed" (- for unknown parts).
STATED_COMMIT = "SAWTOOTH_STATED_COMMIT"


def publish_commit(folder, environ=os.environ) -> None:
    """Set SAWTOOTH_COMMIT, _COMMIT_DATE (a day, UTC) and _DIRTY (1 if files have changed) in the containers' environment.

    An unpacked bundle (`make bundle`) contains its commit. Without git or outside a checkout,
    the variables stay unset, but SOURCE_DATE_EPOCH can still set the date. Apptainer passes variables
    named APPTAINERENV_<name> into containers, whose environment is otherwise empty.
    """
    for name in ("COMMIT", "COMMIT_DATE", "DIRTY"):
        environ.pop(f"APPTAINERENV_SAWTOOTH_{name}", None)
    if stated := environ.get(STATED_COMMIT):
        commit, seconds, state = (None if word == "-" else word for word in stated.split())
        changed = state != "clean"
    else:
        commit, changed, seconds = bundled_commit(Path(folder)) or checked_out_commit(folder)
    if commit:
        environ["APPTAINERENV_SAWTOOTH_COMMIT"] = commit
        environ["APPTAINERENV_SAWTOOTH_DIRTY"] = "1" if changed else "0"
    seconds = environ.get("SOURCE_DATE_EPOCH") or seconds or ""
    if seconds.isdecimal():
        day = datetime.fromtimestamp(int(seconds), UTC).date()
        environ["APPTAINERENV_SAWTOOTH_COMMIT_DATE"] = day.isoformat()


def seen_from_here(root: Path, path: str) -> str:
    """Return a path that leads from the working directory to a file of the checkout.

    ``path`` is relative to the checkout. It is returned unchanged if it leads to the same file from the working directory, or would lead there
    if the file existed.
    """
    place, here = root / path, Path(path)
    if not here.exists() and not place.exists():
        place, here = place.parent, here.parent
    return path if here.exists() and place.exists() and here.samefile(place) else str(root / path)


def paths_below(root: Path, folder: str, pattern: str) -> list[str]:
    """Return the files in a folder of the checkout that match a pattern, as sorted paths relative to the checkout."""
    return sorted(str(path.relative_to(root)) for path in (root / folder).glob(pattern))


def in_command(path: str) -> str:
    """Return a path quoted for a rule's shell command, with braces doubled because Snakemake would take them for placeholders."""
    return shlex.quote(path).replace("{", "{{").replace("}", "}}")


def bundled_commit(folder) -> tuple[str, bool, str] | None:
    """Return an unpacked bundle's commit, whether files differ from the commit, and the commit's date in seconds since 1970.

    None if the folder isn't a bundle. Files differ if they differed when they were packed, or if they have changed since.
    """
    try:
        commit, seconds, state = (folder / "bundle/commit").read_text().split()
        lines = (folder / "bundle/SHA256SUMS").read_text(errors="replace").split("\n")
        packed = [line.split("  ", 1) for line in lines if line]
    except (OSError, ValueError):
        return None
    workflow = [(digest, folder / name) for digest, name in packed if not name.startswith("bundle/")]
    edited = any(
        not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != digest for digest, file in workflow
    )
    return commit, state != "clean" or edited, seconds


def checked_out_commit(folder) -> tuple[str | None, str | None, str | None]:
    """Return a git checkout's commit, its list of changed files, and the commit's date in seconds since 1970; None for unknown parts."""
    commit = git(folder, "rev-parse", "HEAD")
    if not commit:
        return None, None, None
    changed = git(folder, "status", "--porcelain", "--untracked-files=no")
    return commit, changed, git(folder, "show", "-s", "--format=%ct", commit)


def git(folder, *arguments) -> str | None:
    """Return the output of git, or None if git is missing or fails."""
    try:
        # A hook or an IDE may have set GIT_DIR, which takes precedence over the folder.
        environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        command = ["git", "-C", str(folder), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
