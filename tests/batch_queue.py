"""A small batch system with PBS's commands: jobs wait in a folder, and a separate worker process executes them.

Called by links named qsub, qstat and qdel, with the folder in BATCH_SPOOL; ``python batch_queue.py worker FOLDER [LOST]`` executes
jobs one after another until it is stopped, and loses job number LOST like a failing node.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

#: Environment variables of a job: none from the user who submitted it.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def write(path, value):
    """Replace a file atomically, because others may read it at any time."""
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps(value))
    partial.rename(path)


def submit(spool, *words):
    """Add a job to the queue and print its number."""
    *options, script = words
    asked = [value for option, value in zip(options, options[1:], strict=False) if option == "-l"]
    number = 1 + sum(1 for _ in spool.glob("*.json"))
    write(spool / f"{number}.json", {
        "state": "Q", "asked": asked, "script": Path(script).read_text(), "folder": os.getcwd(), "home": os.environ["HOME"],
    })  # fmt: skip
    print(f"{number}.standin")


def tell(spool, *words):
    """Print a job's state as ``qstat -x -f`` does."""
    path = spool / f"{words[-1].partition('.')[0]}.json"
    if not path.exists():
        sys.exit(f"qstat: Unknown Job Id {words[-1]}")
    job = json.loads(path.read_text())
    print(f"Job Id: {words[-1]}\n    job_state = {job['state']}")
    if "exit_status" in job:
        print(f"    Exit_status = {job['exit_status']}")


def cancel(spool, *numbers):
    """End jobs."""
    for number in numbers:
        (spool / f"{number.partition('.')[0]}.cancel").touch()


def work(spool, lost=""):
    """Execute jobs in order of submission."""
    while True:
        waiting = sorted(spool.glob("*.json"), key=lambda path: int(path.stem))
        for path in waiting:
            job = json.loads(path.read_text())
            if job["state"] == "Q":
                carry_out(path, job, is_lost=path.stem == lost)
                break
        else:
            time.sleep(0.1)


def carry_out(path, job, is_lost):
    """Run one job like a batch system: from a copy of its script, in the submitter's folder, without the submitter's environment."""
    script = path.with_suffix(".sh")
    script.write_text(job["script"])
    write(path, job | {"state": "R"})
    with path.with_suffix(".out").open("w") as output:
        process = subprocess.Popen(
            ["bash", script], cwd=job["folder"], env=ENVIRONMENT | {"HOME": job["home"]}, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        begun = time.monotonic()
        while process.poll() is None:
            if path.with_suffix(".cancel").exists() or is_lost and time.monotonic() > begun + 1:
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.05)
    status = process.returncode
    write(path, job | {"state": "F", "exit_status": status if status >= 0 else 256 - status})


if __name__ == "__main__":
    name = Path(sys.argv[0]).name
    if name == "batch_queue.py":
        work(Path(sys.argv[2]), *sys.argv[3:])
    else:
        {"qsub": submit, "qstat": tell, "qdel": cancel}[name](Path(os.environ["BATCH_SPOOL"]), *sys.argv[1:])
