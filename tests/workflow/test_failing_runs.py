"""Runs that can't be carried out: what is said, and what is left."""
import os
import signal
import time
from pathlib import Path

import pytest

SMOKE = ("--configfile", "config/studies/smoke.yaml")
NAME = "10mbit-20ms-0pct-1flow/reno/ipv4/1"


def shared_memory():
    return {path.name for path in Path("/dev/shm").iterdir()}


def guests(marker):
    """Return the ids of guest kernels whose environment holds the marker."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"sawtooth/linux" in (process / "cmdline").read_bytes() and marker in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def seed_marker(specification):
    from testbed.specification import RunSpecification

    return f"SAWTOOTH_GUEST_SEED={RunSpecification(specification).substream('guest')}".encode()


def test_time_limit(specification, testbed, tmp_path):
    before = shared_memory()
    asked = specification(traffic={"duration_s": 30}, replication=2)
    asked["seed"] = 31_001
    done = testbed(asked, tmp_path / "x.json.gz", "--wall-limit-s", "1")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last == "run 10mbit-20ms-0pct-1flow/reno/ipv4/2: step 'guest': did not end within its time limit of 1 s"
    assert list(tmp_path.iterdir()) == []
    assert guests(seed_marker(asked)) == []
    assert shared_memory() <= before


def test_iperf3_error(specification, testbed, tmp_path):
    """A CCA that the kernel doesn't have: iperf3 itself says so."""
    asked = specification()
    asked["cca"] = "hopeful"
    done = testbed(asked, tmp_path / "x.json.gz")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("run 10mbit-20ms-0pct-1flow/hopeful/ipv4/1: step 'traffic': TrafficError: iperf3 client of flow 0")
    assert "congestion control" in last
    assert list(tmp_path.iterdir()) == []


def test_guest_crash(specification, testbed, tmp_path):
    import threading

    asked = specification("100mbit-10ms-1pct-4flows", traffic={"duration_s": 60})
    asked["seed"] = 31_002
    marker, result = seed_marker(asked), []
    thread = threading.Thread(target=lambda: result.append(testbed(asked, tmp_path / "x.json.gz")))
    thread.start()
    deadline = time.monotonic() + 60
    while not (killed := guests(marker)):
        assert time.monotonic() < deadline, "no guest kernel was started"
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(min(killed), signal.SIGKILL)
    thread.join()
    (done,) = result
    assert done.returncode == 1
    assert "left no document" in done.stderr.strip().splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
    assert guests(marker) == []


def test_unwritable_output(specification, testbed, tmp_path):
    done = testbed(specification(traffic={"duration_s": 1}), tmp_path / "missing" / "x.json.gz")
    assert done.returncode != 0
    assert "missing" in done.stderr


def test_an_invalid_run_is_kept_with_its_reason(specification, testbed, tmp_path):
    """A CCA set by sysctl and refused: the run is CUBIC's, and says so."""
    import gzip
    import json

    asked = specification(
        cca="vegas", traffic={"duration_s": 2}, transport={"cca_set_by": "sysctl", "restricted_ccas": "refused"}
    )
    done = testbed(asked, tmp_path / "x.json.gz")
    assert done.returncode == 0, done.stderr
    assert "INVALID: cca" in done.stderr
    verdict = json.loads(gzip.decompress((tmp_path / "x.json.gz").read_bytes()))["verdict"]
    assert verdict["valid"] is False
    (failed,) = (check for check in verdict["checks"] if not check["ok"])
    assert (failed["name"], failed["expected"]) == ("cca", "vegas on every connection")
    assert failed["observed"].startswith("iperf3: cubic; ss: cubic")


def test_a_failing_run_fails_its_job_and_keeps_its_log(fresh):
    """In the workflow: the message names run, step and cause; nothing counts as done; the others go on."""
    study = fresh.folder / "config/studies/smoke.yaml"
    study.write_text(study.read_text().replace("ccas: [reno, vegas]", "ccas: [reno]"))
    traffic = fresh.folder / "workflow/testbed/traffic.py"
    text = traffic.read_text()
    # iperf3 refuses this duration, on IPv6 only.
    wrong = '"--time", str(traffic["duration_s"] if specification.ip_version == "ipv4" else 99_999_999)'
    assert '"--time", str(traffic["duration_s"])' in text
    traffic.write_text(text.replace('"--time", str(traffic["duration_s"])', wrong))
    arguments = ("--cores", "all", "--configfile", "config/studies/smoke.yaml", "--config", "replications=1")
    status, output = fresh.snakemake(*arguments, check=False)
    assert status != 0
    assert "run 10mbit-20ms-0pct-1flow/reno/ipv6/1: step 'traffic': TrafficError: iperf3 client of flow 0" in output
    assert fresh.document_path("10mbit-20ms-0pct-1flow", "reno", "ipv4", 1).exists()
    assert not fresh.document_path("10mbit-20ms-0pct-1flow", "reno", "ipv6", 1).exists()
    log = fresh.folder / "results/smoke/logs/runs/10mbit-20ms-0pct-1flow/reno/ipv6/1.log"
    assert "--- traffic" in log.read_text()
    assert not (fresh.folder / "results/smoke/report.html").exists()


def test_a_killed_workflow_resumes(fresh, smoke):
    """Killed with -9 in the middle of runs: the next call goes on, and nothing half-written counts."""
    process = fresh.start("--cores", "2")
    fresh.finished_runs(at_least=3)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert len(fresh.finished_runs()) < 16
    fresh.snakemake("--cores", "all", *SMOKE)
    assert len(fresh.finished_runs()) == 16
    for path in fresh.finished_runs():
        assert path.read_bytes() == (smoke.folder / path.relative_to(fresh.folder)).read_bytes(), path


def test_two_workflows_in_one_folder(fresh):
    """The second one says so and leaves; the first one is not disturbed."""
    first = fresh.start("--cores", "1", "--config", "replications=1")
    fresh.finished_runs(at_least=1)
    status, output = fresh.snakemake("--cores", "1", *SMOKE, "--config", "replications=1", check=False)
    assert status != 0
    assert "sawtooth: another workflow is at work on results/smoke" in output
    printed, _ = first.communicate(timeout=300)
    assert first.returncode == 0, printed[-2000:]
    assert (fresh.folder / "results/smoke/report.html").exists()


def test_interrupted_with_control_c(fresh):
    """SIGINT ends the workflow and its runs; no guest goes on, nothing half-written counts."""
    process = fresh.start("--cores", "2")
    fresh.finished_runs(at_least=1)
    # As a terminal does it: to the whole group in the foreground.
    os.killpg(process.pid, signal.SIGINT)
    process.wait(timeout=60)
    assert process.returncode != 0
    assert not list((fresh.folder / "results/smoke/runs").rglob("*.partial"))
    left = 16 - len(fresh.finished_runs())
    # A run that ended in the same moment, one a core, is whole but was not entered as done: it counts as not done.
    assert left <= fresh.planned(*SMOKE)["emulate_run"] <= left + 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("replications: 2", "replicatons: 2", "replicatons"),
        ("ccas: [reno, vegas]", "ccas: [reno, las-vegas]", "las-vegas"),
        ("forward: 1, reverse: 0", "forward: 120, reverse: 0", "120"),
        ("rate_mbps: 10,", "rate_mbps: 0,", "rate_mbps"),
        ("packets: 33", "packets: 0", "packets"),
        ("delay_ms: 20", "delay_ms: -20", "-20"),
        ("ip_versions: [ipv4, ipv6]", "ip_versions: []", "ip_versions"),
        ("study: smoke", "study: smoke/../..", "smoke/../.."),
        ("study: smoke", "study: smoke;ls", "smoke;ls"),
    ],
)
def test_bad_input_is_one_sentence_before_any_run(fresh, old, new, message):
    study = fresh.folder / "config/studies/smoke.yaml"
    assert old in study.read_text()
    study.write_text(study.read_text().replace(old, new))
    status, output = fresh.snakemake("--cores", "1", "--configfile", "config/studies/smoke.yaml", check=False)
    assert status != 0
    (sentence,) = (line for line in output.splitlines() if line.startswith("sawtooth: "))
    assert sentence.startswith("sawtooth: config/studies/smoke.yaml: ")
    assert message in sentence
    assert "Traceback" not in output
    assert not (fresh.folder / "results").exists()
