"""A study with an A/A arm through the whole workflow: control runs are made, compared and published, and used nowhere else."""

import os
import subprocess
import sys

import pandas as pd
import pytest

pytestmark = pytest.mark.long

STUDY = "config/studies/controls.yaml"


@pytest.fixture(scope="module")
def controlled(run_beside):
    """A checkout in which the study was run."""
    return run_beside("controls")[0]


@pytest.fixture(scope="module")
def results(controlled):
    return controlled.folder / "results/controls"


def test_control_runs_have_seeds_and_a_table_of_their_own(results):
    runs, controls = (pd.read_csv(results / "tidy" / name) for name in ("runs.csv", "controls.csv"))
    assert list(runs.columns) == list(controls.columns)
    assert sorted(runs["replication"].unique()) == [*range(1, 7)] and sorted(controls["replication"].unique()) == [
        *range(7, 13)
    ]
    assert len(runs) == len(controls) == 24 and controls["valid"].all()
    assert not set(runs["seed"]) & set(controls["seed"])
    assert controls.groupby(["scenario", "replication"])["seed"].nunique().eq(1).all()
    for table in ("flows.csv", "checks.csv"):
        assert set(pd.read_csv(results / "tidy" / table)["replication"]) == set(range(1, 7))
    assert pd.read_csv(results / "analysis/descriptive.csv")["n"].max() == 6


def test_each_cell_was_compared_with_itself(results):
    tests = pd.read_csv(results / "analysis/aa_tests.csv")
    assert tests.groupby("comparison").size().to_dict() == {"IPv6 against IPv4": 16, "CCA against CCA": 16}
    assert (tests["pairs"] == 6).all()
    runs, controls = (pd.read_csv(results / "tidy" / name) for name in ("runs.csv", "controls.csv"))
    row = tests[(tests["metric"] == "goodput_mbps") & (tests["scenario"] == "lossy")].iloc[0]
    for table, column in ((runs, "mean"), (controls, "mean_control")):
        cell = table[(table[["scenario", "cca", "ip_version"]] == row[["scenario", "cca", "ip_version"]]).all(axis=1)]
        assert row[column] == pytest.approx(cell["goodput_mbps"].mean())
    assert tests.loc[tests["scenario"] == "lossy", "p"].notna().any()
    summary = pd.read_csv(results / "analysis/aa_summary.csv")
    assert summary.loc[summary["metric"] == "all", "comparisons"].tolist() == [16, 16]


def test_the_report_prints_it_beside_the_findings(results):
    page = (results / "details.html").read_text()
    assert "When cells are run again with other seeds and compared with themselves, a difference is found in" in page
    assert 'id="controls"' in page and "Controls: each cell compared with itself" in page
    assert "make 4 cells. Each cell was run 6 times, so there are 24 runs" in page


def test_nothing_is_to_be_done_again_and_more_replications_keep_the_controls(controlled):
    assert not controlled.planned("--configfile", STUDY)
    # What was a control run is a replication then, and nothing of it is made anew.
    more = controlled.planned("--configfile", STUDY, "--config", "replications=12")
    assert more["emulate_run"] == 4 * 12


def test_received_controls_are_verified(controlled, results):
    environment = os.environ | {"PYTHONPATH": "workflow/scripts:workflow"}
    command = [sys.executable, "-m", "publishing.verify_results", str(results), "--runs", "lossy/cubic/ipv6/12"]

    def verify():
        return subprocess.run(command, cwd=controlled.folder, env=environment, capture_output=True, text=True)

    done = verify()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "48 rows" in done.stdout
    table = results / "tidy/controls.csv"
    whole = table.read_text()
    try:
        table.write_text(whole.replace(whole.splitlines()[-1].split(",")[-1], "0" * 64))
        done = verify()
        assert done.returncode == 1 and "lossy/cubic/ipv6/12" in done.stdout
    finally:
        table.write_text(whole)
