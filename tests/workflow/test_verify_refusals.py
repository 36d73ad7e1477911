"""What `make verify` refuses to run or read, in one sentence, and what an interrupt leaves behind."""

import fcntl
import gzip
import json
import os
import shutil
import signal
import subprocess

import pytest

from guest_processes import alive, descendants, held_guest, nothing_goes_on, wait_for
from publishing.result_checks.manifest import MANIFEST
from received_results import NAME, SCENARIO, document_path, verifying


@pytest.mark.slow
@pytest.mark.parametrize(
    "section, values",
    [
        ("traffic", {"duration_s": 10**9}),
        ("traffic", {"bitrate_mbps": "1; touch /tmp/x"}),
        ("link", {"netem": "$(reboot)"}),
    ],
)
def test_a_hostile_specification_is_not_run(verify, received, section, values):
    """There is nothing else that could contradict it."""
    shutil.rmtree(received / "tidy")
    (received / MANIFEST).unlink()
    path = document_path(received)
    document = json.loads(gzip.decompress(path.read_bytes()))
    document["specification"]["scenario"][section].update(values)
    path.write_bytes(gzip.compress((json.dumps(document, separators=(",", ":")) + "\n").encode(), mtime=0))
    status, output = verify(received, "--runs", NAME)
    assert status == 1, output
    assert f"run {NAME}: won't be run: " in output
    assert "none of the requested runs can be repeated" in output


def test_a_study_that_the_workflow_would_refuse_is_refused(verify, received):
    provenance = received / "tidy/provenance.json"
    content = json.loads(provenance.read_text())
    content["study"]["replications"] = 10**12
    provenance.write_text(json.dumps(content))
    status, output = verify(received, "--no-reruns")
    assert status == 1, output
    assert "tidy/provenance.json has no study of this version: study: replications is 1000000000000" in output


def test_links_are_not_followed(verify, received, tmp_path):
    path = document_path(received)
    path.rename(tmp_path / "elsewhere.json.gz")
    path.symlink_to(tmp_path / "elsewhere.json.gz")
    status, output = verify(received, "--no-reruns")
    assert status == 1, output
    assert f"runs/{NAME}.json.gz is not a run document" in output


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--count", "0"], "N is '0'; allowed: whole numbers of at least 1."),
        (["--count", "17"], "has 16 runs; allowed: 1 to 16."),
        (["--seed", "one"], "SEED is 'one'; allowed: whole numbers of at least 0."),
        (
            ["--runs", f"{SCENARIO}/reno/ipv4/7"],
            f"has no run {SCENARIO}/reno/ipv4/7; the nearest names are {SCENARIO}/reno/ipv4/",
        ),
    ],
)
def test_a_call_that_makes_no_sense_is_refused_in_one_sentence(verify, smoke, arguments, sentence):
    status, output = verify(smoke.folder / "results/smoke", *arguments)
    assert status == 2
    assert output.startswith("sawtooth: ") and sentence in output
    assert len(output.splitlines()) == 1


def test_what_is_no_results_folder_is_refused_in_one_sentence(verify, smoke, tmp_path):
    (tmp_path / "empty/runs").mkdir(parents=True)
    for received, sentence in (
        (tmp_path / "nothing", "no such folder"),
        (smoke.folder / "Snakefile", "neither a folder nor a zip archive"),
        (smoke.folder / "results", "did you mean"),
        (tmp_path / "empty", "has no run document below `runs`"),
    ):
        status, output = verify(received)
        assert status == 2
        assert output.startswith("sawtooth: ") and sentence in output
        assert len(output.splitlines()) == 1


def test_results_that_a_workflow_is_at_work_on_are_left_alone(verify, received):
    with (received / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        status, output = verify(received, "--no-reruns")
    assert (status, output) == (2, f"sawtooth: a workflow is at work on {received}: wait until it has ended.\n")


def test_an_interrupt_leaves_nothing_behind(smoke, tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with nothing_goes_on():
        process = subprocess.Popen(
            verifying(smoke, smoke.folder / "results/smoke", "--count", "16"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, start_new_session=True,
        )  # fmt: skip
        for line in process.stdout:
            if "same bytes" in line:
                break
        # One of the other reruns is held in its middle: the whole can't end by itself.
        held_guest(process)
        under_way = descendants(process.pid)
        assert under_way and any(tmp_path.iterdir())
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 130, output
        assert "Traceback" not in output
        assert not list(tmp_path.iterdir())
        wait_for(lambda: not alive(under_way), "the end of the reruns' processes", limit_s=20)
