"""Names and paths of the stacks that `make stack` builds from `examples/`."""

from pathlib import Path

from study_files.kernels import CHECKOUT

#: Folder that contains one folder per stack, with its source and its lock file.
SOURCES = CHECKOUT / "examples"
#: Files that identify the folder of a stack: the lock files of Rust, Go and pip, and the list of programs from Debian's packages.
LOCKS, PIPS, PROGRAMS = ("Cargo.lock", "go.sum"), "requirements.txt", "programs.txt"
#: Folder in which a study expects the stacks, relative to the working directory.
PLACE = Path("my")


def stack_names() -> list[str]:
    """Return the names of the stacks in alphabetical order."""
    return sorted(
        folder.name
        for folder in SOURCES.glob("*/")
        if any((folder / lock).is_file() for lock in (*LOCKS, PIPS, PROGRAMS))
    )


def stack_at(path) -> str | None:
    """Return the name of the stack that `make stack` builds at a path, or None for any other path."""
    name = Path(path).name
    return name if Path(path) == PLACE / name and name in stack_names() else None


def how_to_build(path) -> str:
    """Return a sentence with the command that builds the stack at a path, preceded by a space, or "" for any other path."""
    stack = stack_at(path)
    return f" `make stack STACK={stack}` builds it." if stack else ""
