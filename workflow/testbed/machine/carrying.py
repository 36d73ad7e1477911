"""Carrying a run out, from its specification to its document: tried twice, written in one step."""

import gzip
import json
import os
import platform
import time
import zlib
from dataclasses import dataclass

from experiment.run_document import specification_of
from testbed.machine.environment import IMAGE_DESCRIPTION
from testbed.machine.machine import GuestError, MachineFault
from testbed.machine.messages import in_words, naming, note
from testbed.machine.platforms import platform_of


@dataclass(frozen=True)
class Outcome:
    """How a run that has a document went: ``first_fault``, what the machine did to a first try; ``failure``, why it was not carried out. Or None."""

    first_fault: str | None
    failure: str | None


def carry_out(specification, output, log, limit_s=None, first_fault=None, **of_platform) -> Outcome:
    """Carry a run out, write its document, and log how it went in one last line.

    A run that fails by itself has a document too, which says so (`failure`). One that the machine ends has a
    second try; if that is ended from outside as well it has none, and may be started again.

    Raises `GuestError` or `OSError` if there is no document. The log's last line says so too.

    Parameters
    ----------
    output : pathlib.Path
        Where the document goes; a file of that name is always whole.
    log : binary file
        Gets the guest's console and what happened to the run.
    limit_s : float, optional
        Real seconds for each try; by default the platform's own.
    first_fault : str, optional
        What a fault of the machine did to an earlier try, for the log.
    **of_platform
        What only some platforms know (`boot`).
    """
    platform_module = platform_of(specification)
    limit_s = limit_s or platform_module.wall_limit_s(specification)
    began = time.monotonic()
    try:
        try:
            document = platform_module.boot(specification, limit_s, log, **of_platform)
        except MachineFault as fault:
            first_fault = in_words(fault)
            note(log, f"first try: {first_fault}; trying again")
            document = second_try(platform_module, specification, limit_s, log)
        write_document(document, output)
    except (GuestError, OSError) as error:
        note(log, f"run {specification.name}: {in_words(error)}{on_second_try(first_fault)}")
        raise
    failure = document.get("failure")
    failed = [check["name"] for check in document["verdict"]["checks"] if not check["ok"]]
    verdict = f"INVALID: {', '.join(failed)}" if failed else "valid"
    if failure:
        verdict = in_words(GuestError(failure["step"], failure["cause"]))
    # What depends on the machine and the moment belongs here and not into the document.
    note(
        log,
        f"run {specification.name}: {verdict}; "
        f"{specification.expected_s:g} s of traffic in {time.monotonic() - began:.1f} s on {platform.node()}"
        f"{on_second_try(first_fault)}",
    )
    return Outcome(first_fault, verdict if failure else None)


def second_try(platform_module, specification, limit_s, log) -> dict:
    """Return the document of a run which the machine has ended once; if it ends alike, the one that says so."""
    try:
        return platform_module.boot(specification, limit_s, log)
    except MachineFault as fault:
        if fault.document is None:
            raise
        return fault.document


def on_second_try(first_fault) -> str:
    """Return what the last line of a log says of a run that took a second try."""
    return f"; on the second try, the first: {first_fault}" if first_fault else ""


def write_document(document, output) -> None:
    """Write a run document, compressed, in one atomic step; the same bytes everywhere."""
    try:
        text = (json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n").encode()
    except UnicodeEncodeError:  # halves of characters, by a kernel of somebody's own
        raise GuestError("guest", "its document has text that no file can have") from None
    for left in output.parent.glob(f".{output.name}.*.partial"):  # by a run that was killed while it wrote
        left.unlink(missing_ok=True)
    partial = output.with_name(f".{output.name}.{os.getpid()}.partial")
    try:
        with naming(output), partial.open("wb") as stream:
            # No file name and no time in the header.
            with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=stream, mtime=0) as compressed:
                compressed.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)


def is_done(specification, output) -> bool:
    """Tell whether a whole document of just this run, by this testbed and image, is there.

    It is true only if another execution would give the same bytes, or just another measurement (platform ``host``).

    ``output``:
    """
    try:
        document = json.loads(gzip.decompress(output.read_bytes()))
        environment = document["environment"]
        return (
            specification_of(document).document == specification.document
            and isinstance(document["verdict"]["valid"], bool)
            and environment["testbed_digest"] == platform_of(specification).digest(specification)
            and environment["image_digest"] == json.loads(IMAGE_DESCRIPTION.read_text())["content_digest"]
        )
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError):
        return False
