"""Carry out one run: ``python3 -m testbed --specification JSON --output FILE``.

The document is written in one step, so a file of that name is always whole; a
run that can't be carried out leaves none, says why in one line and exits with 1.
"""
import argparse
import gzip
import json
import os
import platform
import sys
import time
from pathlib import Path

import jsonschema

from . import uml
from .specification import RunSpecification

#: Real seconds a run may take: so many, and so many for each emulated second.
WALL_LIMIT_S = 120
WALL_LIMIT_PER_SECOND = 30
SCHEMA = Path(__file__).resolve().parent.parent / "schemas" / "run.schema.json"


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


def main(arguments=None):
    """Parse the command line, carry the run out and return the exit status."""
    parser = argparse.ArgumentParser(prog="testbed", description="Carry out one run.")
    parser.add_argument("--specification", required=True, help="the run's specification, a JSON object")
    parser.add_argument("--output", required=True, type=Path, help="the run document, gzip-compressed JSON")
    parser.add_argument("--wall-limit-s", type=float, help="real seconds after which the run is ended")
    options = parser.parse_args(arguments)

    specification = RunSpecification(json.loads(options.specification))
    duration_s = specification.traffic["duration_s"]
    limit_s = options.wall_limit_s or WALL_LIMIT_S + WALL_LIMIT_PER_SECOND * duration_s
    log = sys.stderr.buffer
    began = time.monotonic()
    try:
        document = uml.boot(specification, limit_s, log)
        check_document(document)
        write_document(document, options.output)
    except (uml.GuestError, OSError) as error:
        # One line, whatever a tool has written: it is the last of the log and what the workflow shows.
        print(f"run {specification.name}: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    wall_s = time.monotonic() - began
    failed = [check["name"] for check in document["verdict"]["checks"] if not check["ok"]]
    # What depends on the machine and the moment belongs here and not into the document.
    print(
        f"run {specification.name}: {'valid' if not failed else 'INVALID: ' + ', '.join(failed)}; "
        f"{duration_s} s emulated in {wall_s:.1f} s on {platform.node()}",
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
