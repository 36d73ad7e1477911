"""Carrying a run out, from its specification to its document: checked, tried again, written in one step."""
import gzip
import json
import os
import platform
import time
import zlib
from pathlib import Path

import jsonschema

from . import uml
from .environment import IMAGE_DESCRIPTION, package_digest

#: A run that a fault of the machine ended is tried so many times in all.
TRIES = 2
SCHEMA = Path(__file__).resolve().parent.parent / "schemas" / "run.schema.json"


def carry_out(specification, output, log, limit_s=None):
    """Carry a run out, write its document, and log how it went in one last line.

    Parameters
    ----------
    specification : RunSpecification
    output : pathlib.Path
        Where the document goes; a file of that name is always whole.
    log : binary file
        Gets the guest's console and what happened to the run.
    limit_s : float, optional
        Real seconds for each try; by default `uml.wall_limit_s`.

    Returns
    -------
    str or None
        What a fault of the machine did to a first try, if the run took a second one.

    Raises
    ------
    GuestError, OSError
        If there is no document. The log's last line says so too.
    """
    limit_s = limit_s or uml.wall_limit_s(specification)
    began = time.monotonic()
    faults = []
    try:
        while True:
            try:
                document = uml.boot(specification, limit_s, log)
                break
            except uml.MachineFault as fault:
                if len(faults) + 1 == TRIES:
                    raise
                faults.append(one_line(fault))
                note(log, f"try {len(faults)} of {TRIES}: {faults[-1]}; trying again")
        check_document(document)
        write_document(document, output)
    except (uml.GuestError, OSError) as error:
        note(log, f"run {specification.name}: {one_line(error)}" + (f" (on try {TRIES} of {TRIES})" if faults else ""))
        raise
    failed = [check["name"] for check in document["verdict"]["checks"] if not check["ok"]]
    # What depends on the machine and the moment belongs here and not into the document.
    note(
        log,
        f"run {specification.name}: {'valid' if not failed else 'INVALID: ' + ', '.join(failed)}; "
        f"{specification.traffic['duration_s']} s emulated in {time.monotonic() - began:.1f} s on {platform.node()}"
        + (f"; on try {len(faults) + 1} of {TRIES}, the first: {faults[0]}" if faults else ""),
    )
    return faults[0] if faults else None


def one_line(error):
    """Return an error's text in one line, whatever a tool has written."""
    return " ".join(str(error).split())


def note(log, text):
    """Write a line to a run's log."""
    log.write(f"{text}\n".encode())
    log.flush()


def check_document(document):
    """Raise GuestError unless the document is what `run.schema.json` promises."""
    schema = json.loads(SCHEMA.read_text())
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(document))
    if error:
        raise uml.GuestError("document", f"{error.json_path}: {error.message[:300]}")


def write_document(document, output):
    """Write a run document, compressed, in one atomic step; the same bytes everywhere."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n"
    partial = output.with_name(f".{output.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as stream:
            # No file name and no time in the header.
            with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=stream, mtime=0) as compressed:
                compressed.write(text.encode())
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)


def is_done(specification, output):
    """Tell whether a whole document of just this run, by this testbed and image, is there.

    Parameters
    ----------
    specification : RunSpecification
    output : pathlib.Path

    Returns
    -------
    bool
        True only if another execution would give the same bytes.
    """
    try:
        document = json.loads(gzip.decompress(output.read_bytes()))
        environment = document["environment"]
        return (
            document["specification"] == specification.document
            and isinstance(document["verdict"]["valid"], bool)
            and environment["testbed_digest"] == package_digest()
            and environment["image_digest"] == json.loads(IMAGE_DESCRIPTION.read_text())["content_digest"]
        )
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError):
        return False
