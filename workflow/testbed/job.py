"""Carry out the runs of one job of the workflow: ``python3 -m testbed.job``.

A job has one run, or several of one scenario where a job costs more than a run (on
a cluster). The run stays the unit: it has its own seed, document and log, and a job
that is started again carries out those that aren't there.
"""
import argparse
import json
import os
import sys
from pathlib import Path

from .carrying import carry_out, is_done, note, one_line
from .specification import RunSpecification
from .uml import GuestError, WorkflowEnded


def specifications(conditions, runs):
    """Iterate over the specifications of a job's runs.

    Parameters
    ----------
    conditions : dict
        What they share: ``schema_version``, ``study`` and ``scenario``.
    runs : list
        Of each run CCA, IP version, replication and seed.
    """
    for cca, ip_version, replication, seed in runs:
        yield RunSpecification(
            {
                **conditions,
                "cca": cca,
                "ip_version": ip_version,
                "replication": replication,
                "seed": seed,
            }
        )


def carry_out_if_missing(specification, folder, limit_s, job_log):
    """Carry out one run unless its document is there; return whether it is there now.

    What a user should see goes to standard error: a failure, and a second try.
    """
    document = folder / "runs" / f"{specification.name}.json.gz"
    log_file = folder / "logs" / "runs" / f"{specification.name}.log"
    if is_done(specification, document):
        note(job_log, f"run {specification.name}: was there")
        return True
    try:
        document.parent.mkdir(parents=True, exist_ok=True)
        log_file.parent.mkdir(parents=True, exist_ok=True)
        with log_file.open("wb") as log:
            first_try = carry_out(specification, document, log, limit_s)
    except WorkflowEnded:
        raise
    except (GuestError, OSError) as error:
        report(f"run {specification.name}: {one_line(error)}", job_log)
        return False
    if first_try:
        report(f"run {specification.name}: succeeded on the second try; the first: {first_try}", job_log)
    else:
        note(job_log, f"run {specification.name}: done")
    return True


def report(text, job_log):
    """Tell the user and the job's log, which may be the thing that can't be written."""
    print(text, file=sys.stderr, flush=True)
    try:
        note(job_log, text)
    except OSError as error:
        print(f"{job_log.name}: {error.strerror}", file=sys.stderr)


def main(arguments=None):
    """Parse the command line, carry the runs out and return the exit status."""
    parser = argparse.ArgumentParser(prog="testbed.job", description="Carry out runs of one scenario.")
    parser.add_argument("--conditions", required=True, help="what the runs' specifications share, a JSON object")
    parser.add_argument(
        "--job", required=True, help="a JSON object: runs, a list of [CCA, IP version, replication, seed]; log, a path or null"
    )
    parser.add_argument("--folder", required=True, type=Path, help="results/<study>")
    parser.add_argument("--wall-limit-s", type=float, help="real seconds after which a try of a run is ended")
    options = parser.parse_args(arguments)
    job = json.loads(options.job)
    with open(job["log"] or os.devnull, "ab") as job_log:
        try:
            done = [
                carry_out_if_missing(specification, options.folder, options.wall_limit_s, job_log)
                for specification in specifications(json.loads(options.conditions), job["runs"])
            ]
        except WorkflowEnded:
            return 1  # nobody is there to be told
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
