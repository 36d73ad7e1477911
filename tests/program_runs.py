"""Runs of declared programs in the guest: a sender, paths, and the parts of a document that tests read."""

import contextlib
import shutil
import subprocess
from pathlib import Path

import stacks
from run_tables.group_metrics import groups_of_run
from run_tables.tidy_rows import factors

LINK = {"rate_mbps": 10, "delay_ms": {"forward": 20, "reverse": 20}}
PROGRAMS = Path(__file__).parent / "programs"
SENDER = {
    "path": "sender.py", "protocol": "udp", "reports_bytes": "bytes",
    "server": "{folder}/sender.py serve {cca} {server_address} {port} {seconds} {bytes} {seed}",
    "client": "{folder}/sender.py get {cca} {server_address} {port} well",
}  # fmt: skip


def group_rows(document):
    return {row["group"]: row for row in groups_of_run(document, factors(document))[0]}


def findings(document):
    return next(check["observed"] for check in document["verdict"]["checks"] if check["name"] == "programs")


def documents_of_three_tries(asked, testbed, tmp_path):
    """Execute a run three times, twice on a machine with other work; return the resulting documents."""
    documents = set()
    for number in range(3):
        load = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(4 * (number > 0))]
        try:
            done = testbed(asked, tmp_path / f"{number}.json.gz", "--programs", str(tmp_path / "programs"))
        finally:
            for one in load:
                one.kill()
                one.wait()
        assert done.returncode == 0, done.stderr[-2000:]
        documents.add((tmp_path / f"{number}.json.gz").read_bytes())
    return documents


def put_stack(name, root, folder):
    """Put a stack of the examples, built unless the cache has it, into a folder."""
    with contextlib.chdir(root):
        built = stacks.provide_stack(name)
    folder.mkdir(exist_ok=True)
    (shutil.copytree if built.is_dir() else shutil.copy)(built, folder / name)


def place(name):
    """Put a program of the tests into the user's folder, and return its path there."""
    return Path(shutil.copy(PROGRAMS / name, name))
