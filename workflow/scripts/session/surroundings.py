"""Protect a workflow from the caller's environment and limits: harmful settings are removed where possible, otherwise reported."""

import os
import re
import resource
import shlex
import shutil
import sys
from collections.abc import Iterable, MutableMapping
from datetime import UTC, datetime
from pathlib import Path

#: Variables that Apptainer passes into containers, whose environment is otherwise empty. The workflow sets its own variables afterwards.
HANDED_IN = re.compile(r"(APPTAINER|SINGULARITY)(ENV_.*|_ENV|_ENV_FILE)")
#: Number of files that Snakemake, Apptainer and a guest have open at the same time, with a reserve.
OPEN_FILES = 256
#: Address space that must be available: a guest maps up to 6 GB at once, in addition to the programs themselves.
ADDRESS_SPACE_BYTES = 12 * 2**30


def leave_out_callers_variables(environ: MutableMapping[str, str] = os.environ) -> None:
    """Remove the variables through which Apptainer would pass the caller's environment to containers.

    PYTHONPATH is removed too: if a job starts Snakemake again, modules in PYTHONPATH would replace modules of Snakemake's environment.
    """
    for name in [name for name in environ if HANDED_IN.fullmatch(name) or name == "PYTHONPATH"]:
        del environ[name]


def hand_into_containers(environ: MutableMapping[str, str] = os.environ, **variables: object) -> None:
    """Set environment variables inside containers through Apptainer; the containers' environment is otherwise empty."""
    environ.update({f"APPTAINERENV_{name}": str(value) for name, value in variables.items()})


def put_first_in_path(folder: str | os.PathLike, environ: MutableMapping[str, str] = os.environ) -> None:
    """Put a folder first in the search path of programs."""
    environ["PATH"] = os.pathsep.join([str(folder), environ["PATH"]])


def module_problem(own: Iterable[str | os.PathLike], environ: MutableMapping[str, str] = os.environ) -> str | None:
    """Return a sentence about a module in PYTHONPATH that replaces a module of Snakemake's environment, or None.

    Set-up starts Snakemake in a way that prevents this; other ways (``python -m snakemake``) may not. ``own`` are the
    folders of the workflow's modules, which are allowed in PYTHONPATH.
    """
    given = {os.path.realpath(place) for place in environ.get("PYTHONPATH", "").split(os.pathsep) if place}
    foreign = given - set(map(os.path.realpath, own))
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and "." not in name and _place_of(file) in foreign:
            return f"PYTHONPATH puts {file} in the place of the environment's module {name}: unset PYTHONPATH."
    return None


def _place_of(file):
    """Return the folder in which Python found a module; for a package, the parent of its folder."""
    path = Path(file)
    return os.path.realpath(path.parent.parent if path.stem == "__init__" else path.parent)


def path_problem(folder: str | os.PathLike) -> str | None:
    """Return the reason why a checkout can't be in the given folder, or None.

    Snakemake passes the path to a shell in quotes, which a quote in the path would end, and to Apptainer, which splits the path at colons
    and commas.
    """
    character = re.search(r"""[^\w ./+@=~%#()\[\]{}!;&<>?*^|-]""", str(folder))
    if not character:
        return None
    name = repr(character[0]) if character[0].isprintable() else f"U+{ord(character[0]):04X}"
    return f"the checkout's path has the character {name}; allowed: letters, digits, spaces, and signs except quotes, $, `, \\, : and comma: move the checkout."


def limit_problem() -> str | None:
    """Return a sentence about a shell limit that makes all runs fail, or None.

    The limit on open files is raised if the system allows it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < OPEN_FILES and (hard == resource.RLIM_INFINITY or hard >= OPEN_FILES):
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, hard))
    elif soft != resource.RLIM_INFINITY and soft < OPEN_FILES:
        return f"the limit of open files is {hard}; allowed: at least {OPEN_FILES} (`ulimit -n {OPEN_FILES}`)."
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    if space != resource.RLIM_INFINITY and space < ADDRESS_SPACE_BYTES:
        return (
            f"the limit of address space is {space // 1024} KiB; allowed: at least {ADDRESS_SPACE_BYTES // 1024}, "
            "because a guest maps 6 GB at once (`ulimit -v unlimited`)."
        )
    return None


def require_apptainer(only_planned: bool, environ: MutableMapping[str, str] = os.environ) -> None:
    """Exit with a message if Apptainer is missing, unless jobs are only planned."""
    if not only_planned and shutil.which("apptainer", path=environ.get("PATH")) is None:
        sys.exit("sawtooth: apptainer is missing: run `make setup`, which installs it next to Snakemake.")


def clock_problem(folder: str | os.PathLike, made_of=("report", "workflow")) -> str | None:
    """Return a sentence about files whose modification time lies in the future, which indicates a wrong clock, or None.

    With a wrong clock, Snakemake would execute each job and delete the outputs, because they seem older than the inputs. ``folder`` is the
    results folder. The current time is the modification time that the file system gives to the folder's ``.lock``, because the file
    system's clock also dates all other files.
    """
    lock = os.path.join(folder, ".lock")
    os.utime(lock)
    now = os.stat(lock).st_mtime
    late = [(when, path, place) for place in (folder, *made_of) for when, path in _times(place) if when > now]
    if not late:
        return None
    newest, path, _ = max(late)
    more = f" (and {len(late) - 1} more files after now)" if late[1:] else ""
    places = " ".join(shlex.quote(str(place)) for place in dict.fromkeys(place for _, _, place in late))
    then, today = (datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") for seconds in (newest, now))
    return (
        f"the clock shows {today}, and {path} was written at {then}{more}: set the clock or, if the clock is right, give the files "
        f"the current time: `find {places} -newermt @{int(now)} -exec touch {{}} +`."
    )


def _times(folder):
    """Yield modification time (s since 1970) and path of each file below a folder."""
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    yield entry.stat(follow_symlinks=False).st_mtime, entry.path
