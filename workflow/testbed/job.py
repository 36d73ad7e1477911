"""Execute the runs of one job of the workflow: ``python3 -m testbed.job``.

A job executes one run, or several runs if starting a job takes longer than a run, as on a cluster. Each run has its own seed,
document and log, so a restarted job executes only the missing runs.
"""

import argparse
import base64
import json
import os
import signal
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

from experiment.specification import RunSpecification
from testbed.machine.carrying import carry_out, is_done, on_second_try
from testbed.machine.identity import SIMULATOR, TESTBED, content_digest
from testbed.machine.machine import GuestError, WorkflowEnded
from testbed.machine.messages import in_words, note, tell


def specifications(conditions, runs, kernels=None, testbed_digest=None, programs=None) -> Iterator[RunSpecification]:
    """Yield the specification of each run of a job.

    Parameters
    ----------
    conditions : str
        Conditions of the runs: either a JSON object for all runs, with ``schema_version`` and ``scenario``, or the result of
        `packed_conditions`, with one object per run.
    runs : list
        CCA, IP version, replication and seed of each run.
    kernels : pathlib.Path, optional
        Folder with the study's custom kernels.
    testbed_digest : str, optional
        Digest of the program that executes the runs.
    programs : pathlib.Path, optional
        Folder with the archives of declared programs.
    """
    of_runs = [json.loads(conditions)] * len(runs) if conditions.startswith("{") else _unpacked(conditions)
    for of_run, (cca, ip_version, replication, seed) in zip(of_runs, runs, strict=True):
        document = {**of_run, "cca": cca, "ip_version": ip_version, "replication": replication, "seed": seed}
        yield RunSpecification(document, kernels, testbed_digest, programs)


def packed_conditions(of_runs) -> str:
    """Return the conditions of several runs as compressed JSON in Base64.

    The result is passed as a command-line argument, which Linux limits to 128 KiB. ``of_runs`` is a list of dicts.
    """
    return base64.b64encode(zlib.compress(json.dumps(of_runs).encode(), 9)).decode("ascii")


def _unpacked(conditions):
    return json.loads(zlib.decompress(base64.b64decode(conditions)))


def carry_out_if_missing(specification, folder, limit_s, job_log) -> bool:
    """Execute a run unless its document exists, and return whether the document exists afterwards.

    Failures and second tries are also reported on standard error. If the run itself fails, its document reports the failure.
    """
    run = f"run {specification.name}"
    document = folder / "runs" / f"{specification.name}.json.gz"
    log_file = folder / "logs" / "runs" / f"{specification.name}.log"
    if is_done(specification, document):
        note(job_log, f"{run}: already done")
        return True
    try:
        document.parent.mkdir(parents=True, exist_ok=True)
        document.unlink(missing_ok=True)  # damaged, or left by another run
        log_file.parent.mkdir(parents=True, exist_ok=True)
        first_fault = "the job was ended" if was_cut_off(log_file, run) else None
        with log_file.open("wb", buffering=0) as log:
            outcome = carry_out(specification, document, log, limit_s, first_fault)
    except WorkflowEnded:
        raise
    except (GuestError, OSError) as error:
        tell(f"{run}: {in_words(error)}")
        note(job_log, f"{run}: {in_words(error)}")
        return False
    if outcome.failure:
        again = f"to repeat the run, add --force {document} to the command"
        tell(
            f"{run}: {outcome.failure}; its seed is {specification.seed}; the study continues without this run; {again}"
        )
    elif outcome.first_fault:
        tell(f"{run}: succeeded on the second try; first try: {outcome.first_fault}")
    note(job_log, f"{run}: {outcome.failure or 'done'}{on_second_try(outcome.first_fault)}")
    return True


def was_cut_off(log_file, run) -> bool:
    """Return whether a run's log is incomplete, which means that an earlier try was killed or that its cluster node failed.

    The last line of a complete log begins with ``run``.
    """
    try:
        lines = log_file.read_bytes().splitlines() or [b""]
    except FileNotFoundError:
        return False
    return not lines[-1].startswith(f"{run}: ".encode())


def still_valid(testbed_digest, program) -> str | None:
    """Return ``testbed_digest``, or None if the testbed's modules have changed since the digest was computed.

    ``program`` is the SHA-256 of the modules' content at the time when the digest was computed.
    """
    return testbed_digest if program == content_digest(*TESTBED, SIMULATOR) else None


def main(arguments=None) -> int:
    """Parse the command line, execute the runs and return the exit status."""
    parser = argparse.ArgumentParser(prog="testbed.job", description="Execute the runs of a job.")
    parser.add_argument(
        "--conditions",
        required=True,
        help="conditions of the runs: one JSON object for all runs, or packed conditions for each run",
    )
    parser.add_argument(
        "--job",
        required=True,
        help="a JSON object with runs (a list of [CCA, IP version, replication, seed]), log (a path or null) and "
        "program (the SHA-256 of the modules for which --testbed-digest was computed)",
    )
    parser.add_argument("--folder", required=True, type=Path, help="results/<study>")
    parser.add_argument("--wall-limit-s", type=float, help="time limit for each try of a run, in seconds of real time")
    parser.add_argument("--testbed-digest", help="identity of the testbed; computed by default")
    options = parser.parse_args(arguments)
    job = json.loads(options.job)
    # A scheduler terminates jobs with this signal. Exiting with an exception releases the run's resources.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with open(job["log"] or os.devnull, "ab", buffering=0) as job_log:
            done = [
                carry_out_if_missing(specification, options.folder, options.wall_limit_s, job_log)
                for specification in specifications(
                    options.conditions,
                    job["runs"],
                    options.folder / "kernels",
                    still_valid(options.testbed_digest, job.get("program")),
                    options.folder / "programs",
                )
            ]
    except OSError as error:
        tell(in_words(error))
        return 1
    except (WorkflowEnded, KeyboardInterrupt):
        return 1  # no message, because the workflow has ended or the user has interrupted it
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
