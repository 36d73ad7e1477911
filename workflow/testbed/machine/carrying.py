"""Execute a run, try once more if the machine ended the first try, and write the run's document atomically."""

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
    """Outcome of a run that has a document.

    Attributes
    ----------
    first_fault : str or None
        Machine fault that ended the first try.
    failure : str or None
        Failure of the run, which the document reports.
    """

    first_fault: str | None
    failure: str | None


def carry_out(specification, output, log, limit_s=None, first_fault=None, **of_platform) -> Outcome:
    """Execute a run, write its document, and log the outcome as the last line.

    If the run itself fails, its document reports the failure (`failure`). If the machine ends the run, there is a second try. If the second
    try is also ended from outside the guest, no document is written, and the run may be started again.

    Parameters
    ----------
    output : pathlib.Path
        File for the document, which is written atomically.
    log : binary file
        Log for the guest's console and the outcome of the run.
    limit_s : float, optional
        Time limit for each try, in s of real time; by default the platform's limit.
    first_fault : str, optional
        Machine fault that ended an earlier try, for the log.
    **of_platform
        Further arguments for ``boot``, which only some platforms accept.

    Raises
    ------
    GuestError, OSError
        If there is no document. The log's last line gives the reason.
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
    # Facts that depend on the machine or the time of execution belong in the log, not in the document.
    note(
        log,
        f"run {specification.name}: {verdict}; "
        f"{specification.expected_s:g} s of traffic in {time.monotonic() - began:.1f} s on {platform.node()}"
        f"{on_second_try(first_fault)}",
    )
    return Outcome(first_fault, verdict if failure else None)


def second_try(platform_module, specification, limit_s, log) -> dict:
    """Execute a run again after the machine ended the first try, and return the run's document.

    If the machine ends this try too, the document reports the fault. Raises `MachineFault` if the fault has no document.
    """
    try:
        return platform_module.boot(specification, limit_s, log)
    except MachineFault as fault:
        if fault.document is None:
            raise
        return fault.document


def on_second_try(first_fault) -> str:
    """Return a remark about the second try for the last line of a run's log, or an empty string if there was no second try."""
    return f"; on the second try; first try: {first_fault}" if first_fault else ""


def write_document(document, output) -> None:
    """Write a compressed run document atomically; the same document gives the same bytes on every machine."""
    try:
        text = (json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n").encode()
    except UnicodeEncodeError:  # incomplete characters, written by a custom kernel
        raise GuestError("guest", "the run document has text that is not valid UTF-8") from None
    for left in output.parent.glob(f".{output.name}.*.partial"):  # from a run that was killed while writing
        left.unlink(missing_ok=True)
    partial = output.with_name(f".{output.name}.{os.getpid()}.partial")
    try:
        with naming(output), partial.open("wb") as stream:
            # The gzip header contains neither a file name nor a time.
            with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=stream, mtime=0) as compressed:
                compressed.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)


def is_done(specification, output) -> bool:
    """Return whether the file ``output`` is the complete document of exactly this run, written by this testbed and image.

    If so, executing the run again would give the same bytes or, on platform ``host``, only another measurement.
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
