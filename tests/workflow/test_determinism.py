"""The same seed gives the same bytes, for any user, in any place, beside any load."""

import hashlib
import json
import os
import subprocess
import sys
import threading

import pytest

from other_user import nobody

LOSSY = "100mbit-10ms-1pct-4flows"
#: Content digest of a testbed image -> SHA-256 of one run document that it gives. Another testbed, or another treatment of
#: the same specification, gives other bytes: name that in the changelog, and record them here anew.
RECORDED = {
    "sha256:25feca423f00eea236382d7def79e4ed54a2c63de823e7aaedd546590a73fec2": "8c8096bf6a0f922653f3e84bc0651a09d669b1e40a3a562b88995569b3515c5f"
}


@pytest.fixture
def one_run(specification, testbed, tmp_path):
    """The document of one lossy run of four flows."""
    output = tmp_path / "one.json.gz"
    done = testbed(specification(LOSSY, "vegas"), output)
    assert done.returncode == 0, done.stderr
    return output.read_bytes()


def test_again_in_another_directory(one_run, specification, testbed, tmp_path):
    folder = tmp_path / "a folder with a much longer name than the other one had and spaces"
    folder.mkdir()
    done = testbed(specification(LOSSY, "vegas"), folder / "again.json.gz", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "again.json.gz").read_bytes() == one_run


def test_beside_loaded_cores_and_other_runs(one_run, specification, testbed, tmp_path):
    """Every core is kept busy, and three other runs are under way."""
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]
    others = [
        threading.Thread(target=testbed, args=(specification(LOSSY, "reno", replication=1), tmp_path / f"o{i}.json.gz"))
        for i in range(3)
    ]
    try:
        for thread in others:
            thread.start()
        done = testbed(specification(LOSSY, "vegas"), tmp_path / "loaded.json.gz")
    finally:
        for thread in others:
            thread.join()
        for process in load:
            process.kill()
            process.wait()
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "loaded.json.gz").read_bytes() == one_run
    assert len({(tmp_path / f"o{i}.json.gz").read_bytes() for i in range(3)}) == 1


def test_as_another_user(one_run, specification, root):
    """An unprivileged user in a separate folder."""
    with nobody(root) as user:
        assert user.carry_out(specification(LOSSY, "vegas")) == one_run


def test_another_seed_gives_another_run(one_run, specification, testbed, tmp_path):
    done = testbed(specification(LOSSY, "vegas", replication=2), tmp_path / "two.json.gz")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "two.json.gz").read_bytes() != one_run


def test_replications_of_a_cell_without_loss_differ(smoke):
    one, two = (smoke.document_path("10mbit-20ms-0pct-1flow", "reno", "ipv4", r).read_bytes() for r in (1, 2))
    assert one != two


def test_bytes_are_those_that_were_recorded(smoke):
    """A change of a run's bytes is noticed here."""
    image = json.loads((smoke.folder / "envs/testbed.json").read_text())["content_digest"]
    if image not in RECORDED:
        pytest.skip(
            f"this image ({image[:19]}...) has another kernel or other tools than those whose bytes are recorded"
        )
    document = smoke.document_path(LOSSY, "reno", "ipv4", 1).read_bytes()
    assert hashlib.sha256(document).hexdigest() == RECORDED[image]
