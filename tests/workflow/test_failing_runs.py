"""Runs that can't be executed and studies that can't be read: the messages, and what remains."""

import csv
import gzip
import json
from pathlib import Path

import pytest


def guests(marker):
    """Return the ids of guest kernels whose environment contains the marker."""
    processes = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"sawtooth/linux" in (process / "cmdline").read_bytes() and marker in (process / "environ").read_bytes():
                processes.append(int(process.name))
        except OSError:
            continue
    return processes


def seed_marker(specification):
    from experiment.specification import RunSpecification

    return f"SAWTOOTH_GUEST_SEED={RunSpecification(specification).substream('guest')}".encode()


def test_time_limit(specification, testbed, tmp_path):
    """A day of traffic, which no machine can execute in a second."""
    asked = specification(traffic={"duration_s": 86_400}, replication=2)
    asked["seed"] = 31_001
    done = testbed(asked, tmp_path / "x.json.gz", "--wall-limit-s", "1")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    cause = "step 'guest': did not end within its time limit of 1 s"
    assert last == f"run 10mbit-20ms-0pct-1flow/reno/ipv4/2: {cause}; on the second try; first try: {cause}"
    assert list(tmp_path.iterdir()) == []
    assert guests(seed_marker(asked)) == []


def test_iperf3_error(specification, testbed, tmp_path):
    """A CCA that the kernel doesn't have: iperf3 itself reports it, and so does the run's document, with the same bytes each time."""
    asked = specification()
    asked["cca"] = "hopeful"
    documents = []
    for name in ("x", "again"):
        done = testbed(asked, tmp_path / f"{name}.json.gz")
        assert done.returncode == 0
        last = done.stderr.strip().splitlines()[-1]
        cause = "step 'traffic': TrafficError: iperf3 client of flow 0"
        assert last.startswith(f"run 10mbit-20ms-0pct-1flow/hopeful/ipv4/1: {cause}")
        assert "congestion control" in last
        documents.append((tmp_path / f"{name}.json.gz").read_bytes())
    assert documents[0] == documents[1]
    document = json.loads(gzip.decompress(documents[0]))
    assert set(document) == {"schema_version", "specification", "environment", "failure", "verdict"}
    assert document["specification"] == asked
    assert document["environment"]["platform"] == "uml"
    assert document["failure"]["step"] == "traffic"
    (check,) = document["verdict"]["checks"]
    assert (document["verdict"]["valid"], check["name"], check["ok"]) == (False, "carried_out", False)
    assert check["observed"].startswith(cause)


def test_unwritable_output(specification, testbed, tmp_path):
    done = testbed(specification(traffic={"duration_s": 1}), tmp_path / "missing" / "x.json.gz")
    assert done.returncode != 0
    assert "missing" in done.stderr


def test_an_invalid_run_is_kept_with_its_reason(specification, testbed, tmp_path):
    """A CCA set by sysctl and refused: the run uses CUBIC, and its document says so."""
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
    assert failed["observed"].startswith("iperf3: cubic, kernel: cubic")


@pytest.mark.long
def test_failed_and_missing_runs_are_gaps_in_the_report(fresh):
    """Run, step and cause are named, nothing is tried again, and the study continues to its report; so it does with missing runs, if
    requested."""
    traffic = fresh.folder / "workflow/testbed/traffic/iperf3.py"
    asked = '["--congestion", cca]'
    assert asked in traffic.read_text()
    # A CCA that the kernel doesn't have, instead of CUBIC.
    wrong = '["--congestion", cca.replace("cubic", "hopeful")]'
    traffic.write_text(traffic.read_text().replace(asked, wrong))
    call = ("--cores", "all", "--configfile", "config/studies/mini.yaml")
    _, output = fresh.snakemake(*call)
    assert "sawtooth: run near/cubic/ipv4/1: step 'traffic': TrafficError: iperf3 client of flow 0" in output
    assert "the study continues without this run" in output
    log = (fresh.folder / "results/mini/logs/runs/near/cubic/ipv4/1.log").read_text()
    assert log.count("--- traffic") == 1
    assert "second try" not in log
    results = fresh.folder / "results/mini"
    assert (
        "4 of 8 runs are valid, and the other 4 failed the check of completion" in (results / "report.html").read_text()
    )

    (results / "runs/near/reno/ipv4/1.json.gz").unlink()
    fresh.snakemake(*call, "--config", "gaps=true")
    assert not (results / "runs/near/reno/ipv4/1.json.gz").exists()
    with (results / "tidy/runs.csv").open() as stream:
        because = {
            (run["scenario"], run["cca"], run["replication"]): run["invalid_because"] for run in csv.DictReader(stream)
        }
    assert len(because) == 8
    assert because["near", "reno", "1"] == "not carried out: there is no document"
    assert because["near", "reno", "2"] == ""
    page = (results / "report.html").read_text()
    assert "7 of 8 runs were carried out; 3 of 7 runs are valid, and the other 4 failed the check of completion" in page
    assert "Partial report." in page
    assert 'href="details.html#not-run"' in page
    listed = (results / "details.html").read_text().partition('id="not-run"')[2].partition("</details>")[0]
    assert "<code>near/reno/ipv4/1</code>" in listed and listed.count("<code>") == 1
    assert fresh.planned("--configfile", "config/studies/mini.yaml")["emulate_run"] == 1


def test_gaps_without_any_run(fresh):
    for given, sentence in (
        ("true", "results/mini/runs has no document of a run yet"),
        ("perhaps", "expected true or false"),
    ):
        output = fresh.refused("--configfile", "config/studies/mini.yaml", "--config", f"gaps={given}")
        assert f"sawtooth: --config gaps={given}: {sentence}" in output


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
    output = fresh.refused("--configfile", "config/studies/smoke.yaml")
    (sentence,) = (line for line in output.splitlines() if line.startswith("sawtooth: "))
    assert sentence.startswith("sawtooth: config/studies/smoke.yaml: ")
    assert message in sentence
    assert "Traceback" not in output
    assert not (fresh.folder / "results").exists()
