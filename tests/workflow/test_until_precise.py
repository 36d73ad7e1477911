"""A study that runs until it is precise enough: from a dry run, through a kill between looks, to verified results."""

import csv
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from guest_processes import alive, descendants, wait_for
from own_commands import own_command

UNTIL = "config/studies/until.yaml"
CALL = ("--cores", "1", "--configfile", UNTIL)
STUDY = (Path(__file__).parent / "until.yaml").read_text()

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def until(tmp_path_factory, checkout_in):
    """A checkout in which the study was killed after a look at a scenario's runs, and then continued to its end."""
    checkout = checkout_in(tmp_path_factory.mktemp("until") / "checkout")
    (checkout.folder / UNTIL).write_text(STUDY)
    results = checkout.folder / "results/until"
    planned = checkout.planned("--configfile", UNTIL)
    several = checkout.planned("--configfile", UNTIL, "--set-resources", "emulate_run:runs=4", "--keep-incomplete")

    def looks_taken():
        return sorted(
            path.relative_to(results / "logs/looks").as_posix() for path in results.glob("logs/looks/*/*.json")
        )

    workflow = checkout.start("--cores", "1", study=UNTIL)
    wait_for(lambda: "far/6.json" in looks_taken(), "a look at the runs", limit_s=300)
    processes = descendants(workflow.pid)
    os.killpg(workflow.pid, signal.SIGKILL)
    workflow.communicate()
    wait_for(lambda: not alive(processes), "the end of its runs", limit_s=20)
    before = {path: path.stat().st_ino for path in checkout.finished_runs(study="until")}
    _, printed = checkout.snakemake(*CALL)
    return checkout, {"planned": planned, "several": several, "before": before, "looks": looks_taken(), "said": printed}


def test_a_dry_run_plans_the_runs_up_to_the_first_look(until):
    planned = until[1]["planned"]
    assert (planned["emulate_run"], planned["take_look"]) == (12, 2)
    # The jobs of four and of two among six runs of a scenario: none goes on beyond the look, or in another scenario.
    several = until[1]["several"]
    assert several["emulate_runs"] == 4 and "emulate_run" not in several


def test_each_scenario_has_as_many_replications_as_it_needs(until):
    checkout, history = until
    numbers = {}
    for path in checkout.finished_runs(study="until"):
        *_, scenario, _, _, name = path.parts
        numbers.setdefault(scenario, []).append(int(name.partition(".")[0]))
    assert {scenario: sorted(of_scenario) for scenario, of_scenario in numbers.items()} == {
        "near": list(range(1, 7)),
        "far": list(range(1, 10)),
    }
    assert history["looks"] == ["far/6.json", "far/9.json", "near/6.json"]
    look = json.loads((checkout.folder / "results/until/logs/looks/far/6.json").read_text())
    assert look["goes_on"] and [mean["verdict"] for mean in look["means"]] == ["too wide"]
    with (checkout.folder / "results/until/tidy/runs.csv").open() as stream:
        runs = [(run["scenario"], int(run["replication"])) for run in csv.DictReader(stream)]
    assert runs == [(scenario, number) for scenario in ("near", "far") for number in sorted(numbers[scenario])]


def test_what_was_done_before_the_kill_stays(until):
    checkout, history = until
    assert 6 <= len(history["before"]) < 15
    # A run that ended in the same moment is whole but was not entered as done: it is carried out again.
    assert sum(path.stat().st_ino != before for path, before in history["before"].items()) <= 1
    assert (
        "(100 %)" in history["said"]
        and "far: after 9 replications 1 of 1 means are not precise; this was the last look" in history["said"]
    )


def test_the_seeds_are_those_of_a_fixed_number(until):
    checkout, _ = until
    study = checkout.study(UNTIL)
    fixed = (
        (checkout.folder / UNTIL)
        .read_text()
        .replace("replications: {until: {goodput_percent: 3}, at_least: 6, at_most: 9}", "replications: 9")
    )
    (checkout.folder / "fixed.yaml").write_text(fixed)
    assert study["replications"] == {"until": {"goodput_percent": 3}, "at_least": 6, "at_most": 9}
    # All documents of the one are documents of the other: only what there is too few of is to run.
    planned = checkout.planned("--configfile", "fixed.yaml")
    assert planned["emulate_run"] == 3 and "take_look" not in planned


def test_a_finished_study_has_nothing_to_do(until):
    for more in ((), ("--set-resources", "emulate_run:runs=4", "--keep-incomplete")):
        _, printed = until[0].snakemake(*CALL, *more)
        assert "Nothing to be done" in printed


def test_another_precision_asks_for_other_looks_and_repeats_no_run(until):
    checkout, _ = until
    (checkout.folder / "wider.yaml").write_text(STUDY.replace("goodput_percent: 3", "goodput_percent: 90"))
    planned = checkout.planned("--configfile", "wider.yaml")
    assert planned["take_look"] == 2 and "emulate_run" not in planned


def test_the_report_says_what_ended_each_scenario(until):
    folder = until[0].folder / "results/until"
    with (folder / "analysis/precision.csv").open() as stream:
        rows = {row["scenario"]: row for row in csv.DictReader(stream)}
    assert (rows["near"]["replications"], rows["near"]["verdict"]) == ("6", "precise")
    assert (rows["far"]["replications"], rows["far"]["verdict"]) == ("9", "too wide")
    assert float(rows["far"]["half_width"]) > 3 == float(rows["far"]["wanted"])
    page = (folder / "details.html").read_text()
    for words in ("no: too wide, ended by at_most", 'alike">yes</td>', "6 to 9 times", "after 6 to 9 replications"):
        assert words in page, words


def test_the_results_can_be_verified_with_their_tables(until):

    checkout, _ = until
    done = subprocess.run(
        own_command(checkout.folder, "publishing.verify_results", checkout.folder / "results/until", "--count", "1", "--seed", "1"),
        cwd=checkout.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "byte for byte" in done.stdout


def test_a_replication_that_was_taken_away_is_missed(until, tmp_path):
    checkout, _ = until
    shutil.copytree(
        checkout.folder / "results/until",
        tmp_path / "until",
        ignore=shutil.ignore_patterns("logs", "benchmarks", ".lock"),
    )
    (tmp_path / "until/runs/near/reno/ipv4/6.json.gz").unlink()
    done = subprocess.run(
        own_command(checkout.folder, "publishing.verify_results", tmp_path / "until", "--no-reruns"),
        cwd=checkout.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    assert "1 of the study's 15 runs have no document, for example near/reno/ipv4/6" in done.stdout


def test_a_report_with_gaps_is_of_the_runs_that_are_there(until):
    planned = until[0].planned("--configfile", UNTIL, "--config", "gaps=true")
    assert "emulate_run" not in planned and "take_look" not in planned
