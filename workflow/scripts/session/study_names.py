"""Find a study file by the study's name for `make STUDY=...`, and a study's results folder, before anything is set up.

This module uses only the standard library and no YAML parser: it finds the name in a file's line ``study: <name>``.
``python study_names.py --results FILE WORD...`` prints the results folder; the words are the arguments of Snakemake.
"""

import difflib
import os
import re
import sys
from pathlib import Path

DEFAULT = Path("config/config.yaml")
FOLDER = Path("config/studies")
RESULTS = Path("results")
#: Pattern for the line of a key of a study file, which may begin with a byte order mark.
LINE = r"^(?:\xef\xbb\xbf)?[\"']?%s[\"']? *: *[\"']?([a-z0-9.:-]+)"


def study_files() -> dict[str, Path]:
    """Return the files of this checkout's studies by name, the default study first; in `FOLDER`, the file's own name is also a key.

    If several files match a name, the file whose own name matches is returned, or otherwise the first file.
    """
    files = _files()
    of_studies = {name: file for file in reversed(files) if (name := _value("study", file))}
    of_files = {file.stem: file for file in reversed(files) if file != DEFAULT}
    names = dict.fromkeys(
        name for file in files for name in (_value("study", file), file.stem if file != DEFAULT else "")
    )
    return {name: of_files.get(name) or of_studies[name] for name in names if name}


def _files():
    return [file for file in (DEFAULT, *sorted(FOLDER.rglob("*.yaml"))) if file.is_file()]


def _value(key, file):
    """Return the value of a study file's key, without quotes; empty if the file can't be read or has no such line."""
    try:
        found = re.search(LINE.encode() % key.encode(), file.read_bytes(), re.MULTILINE)
    except OSError:
        return ""
    return found[1].decode() if found else ""


def file_of(name) -> Path:
    """Return the file of a study, given the study's name or the file's path, in which ``~`` stands for the user's folder.

    Some shells don't replace ``~`` in an argument such as ``STUDY=~/mine.yaml``.

    Raises `LookupError` with a sentence that lists the nearest names, or that names another file in `FOLDER` with the same study.
    """
    files = study_files()
    if name in files:
        _check_only_one(files[name])
        return files[name]
    path = os.path.expanduser(name)
    if name.endswith((".yaml", ".yml")) and os.path.isfile(path):
        _check_only_one(Path(path))
        return Path(path)
    if name.endswith((".yaml", ".yml")):
        raise LookupError(
            f"STUDY={name!r}: there is no such file, or it can't be read; `make studies` lists the studies that have a name."
        )
    near = difflib.get_close_matches(name, files, n=3, cutoff=0.5)
    meant = f" (nearest: {', '.join(near)})" if near else ""
    raise LookupError(
        f"STUDY={name!r}: there is no study of that name{meant}; `make studies` lists all, and the path of a YAML file is allowed."
    )


def _check_only_one(file):
    """Raise LookupError if another file of the checkout has the same study name, because the results of one would replace those of the other."""
    study, files = _value("study", file), _files()
    others = [other for other in files if not other.samefile(file) and _value("study", other) == study]
    if study and others and any(file.samefile(one) for one in files):
        raise LookupError(
            f"{file} and {others[0]} both define the study {study}, so they have the same results folder; "
            "give one of them a different name (key study)."
        )


def results_of(file, words=()) -> Path:
    """Return the results folder of a study file in a call of Snakemake.

    Parameters
    ----------
    file : str or pathlib.Path
        The study's file. If it can't be read, or has no line with the study's name, the folder is `RESULTS`.
    words : sequence of str
        Arguments of Snakemake; ``--configfile`` and ``--config`` replace the file, its name and its platform.
    """
    file = Path((_last(words, "--configfile", "--configfiles") or [file])[-1])
    given = dict(word.split("=", 1) for word in _last(words, "--config", "-C") if "=" in word)
    name, platform = (given.get(key, _value(key, file)).strip("\"'") for key in ("study", "platform"))
    return RESULTS / (f"{name}-{platform}" if platform not in ("", "null") else name)


def _last(words, *options):
    """Return the values that follow the last occurrence of any of the given options in a command."""
    values, is_read = [], False
    for word in words:
        option, has_value, value = word.partition("=")
        if option in options:
            values, is_read = [value] * bool(has_value), not has_value
        elif word.startswith("-"):
            is_read = False
        elif is_read:
            values.append(word)
    return values


def main() -> None:
    """Print the file of the study named in the call, or the results folder of a study file."""
    if sys.argv[1:2] == ["--results"] and len(sys.argv) > 2:
        print(results_of(sys.argv[2], sys.argv[3:]))
        return
    try:
        print(file_of(sys.argv[1]))
    except LookupError as error:
        sys.exit(f"sawtooth: {error.args[0]}")


if __name__ == "__main__":
    main()
