"""Find a study file by the study's name for `make STUDY=...`, before anything is set up.

This module uses only the standard library and no YAML parser: it finds the name in a file's line ``study: <name>``.
"""

import difflib
import os
import re
import sys
from pathlib import Path

DEFAULT = Path("config/config.yaml")
FOLDER = Path("config/studies")


def study_files() -> dict[str, Path]:
    """Return the files of this checkout's studies by name, the default study first; in `FOLDER`, the file's own name is also a key."""
    files = [DEFAULT, *sorted(FOLDER.rglob("*.yaml"))]
    return {name: file for file in files if file.is_file() for name in _names(file)}


def _names(file):
    """Return the names of a study file: the name of its study and, in `FOLDER` and its subfolders, also the name of the file."""
    name = re.search(rb"^study: *[\"']?([a-z0-9.-]+)", file.read_bytes(), re.MULTILINE)
    names = [name[1].decode()] if name else []
    return dict.fromkeys([*names, file.stem] if FOLDER in file.parents else names)


def file_of(name) -> Path:
    """Return the file of a study, given the study's name or the file's path.

    Raises `LookupError` with a sentence that lists the nearest names.
    """
    files = study_files()
    if name in files:
        return files[name]
    if name.endswith((".yaml", ".yml")) and os.path.isfile(name):
        return Path(name)
    if name.endswith((".yaml", ".yml")):
        raise LookupError(
            f"STUDY={name!r}: there is no such file, or it can't be read; `make studies` lists the studies that have a name."
        )
    near = difflib.get_close_matches(name, files, n=3, cutoff=0.5)
    meant = f" (nearest: {', '.join(near)})" if near else ""
    raise LookupError(
        f"STUDY={name!r}: there is no study of that name{meant}; `make studies` lists all, and the path of a YAML file is allowed."
    )


def main() -> None:
    """Print the file of the study named in the call."""
    try:
        print(file_of(sys.argv[1]))
    except LookupError as error:
        sys.exit(f"sawtooth: {error.args[0]}")


if __name__ == "__main__":
    main()
