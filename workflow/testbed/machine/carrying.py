"""Execution of a run, from its specification to its document: with a second try if needed, and written in one step."""

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
    """Outcome of a run with a document: the machine's fault in the first try, and the run's failure; each may be None."""

    first_fault: str | None
    failure: str | None


def carry_out(specification, output, log, limit_s=None, first_fault=None, **of_platform) -> Outcome:
    """Execute a run, write its document, and log the outcome in one last line.

    A run that fails by itself also has a document, which reports the failure (`failure`). A run that the machine ends gets a
    second try; if this is also ended from outside the guest, the run has no document and may be started again.

    Raises `GuestError` or `OSError` if there is no document. The log's last line reports this, too.

    Parameters
    ----------
    output : pathlib.Path
        File for the document; a file of that name is always complete.
    log : binary file
        Receives the guest's console and the outcome of the run.
    limit_s : float, optional
        Seconds of real time for each try; by default the platform's own limit.
    first_fault : str, optional
        The machine's fault in an earlier try, for the log.
    **of_platform
        Arguments that only some platforms accept (`boot`).
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
    # Facts that depend on the machine and the moment belong here and not in the document.
    note(
        log,
        f"run {specification.name}: {verdict}; "
        f"{specification.expected_s:g} s of traffic in {time.monotonic() - began:.1f} s on {platform.node()}"
        f"{on_second_try(first_fault)}",
    )
    return Outcome(first_fault, verdict if failure else None)


def second_try(platform_module, specification, limit_s, log) -> dict:
    """Execute a run again after the machine ended the first try; return its document, or the fault's document if this try fails too."""
    try:
        return platform_module.boot(specification, limit_s, log)
    except MachineFault as fault:
        if fault.document is None:
            raise
        return fault.document


def on_second_try(first_fault) -> str:
    """Return the remark about a second try for the last line of a run's log; empty if there was no second try."""
    return f"; on the second try; first try: {first_fault}" if first_fault else ""


def write_document(document, output) -> None:
    """Write a compressed run document in one atomic step, with the same bytes everywhere."""
    try:
        text = (json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n").encode()
    except UnicodeEncodeError:  # incomplete characters, written by a custom kernel
        raise GuestError("guest", "its document has text that is not valid UTF-8") from None
    for left in output.parent.glob(f".{output.name}.*.partial"):  # from a run that was killed while writing
        left.unlink(missing_ok=True)
    partial = output.with_name(f".{output.name}.{os.getpid()}.partial")
    try:
        with naming(output), partial.open("wb") as stream:
            # Without a file name and a time in the header.
            with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=stream, mtime=0) as compressed:
                compressed.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)


def is_done(specification, output) -> bool:
    """Return whether there is a complete document of exactly this run, written by this testbed and image.

    The result is true only if another execution would give the same bytes, or merely another measurement (platform ``host``).

    ``output`` is the document's file.
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
