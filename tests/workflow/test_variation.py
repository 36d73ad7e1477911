"""A study whose replications draw their paths, through the whole workflow: each run is valid with its own values, and pairs share them."""

import gzip
import json
import shutil

import pandas as pd
import pytest

from study_files import study as studies

pytestmark = pytest.mark.long

STUDY = "config/studies/variation.yaml"


@pytest.fixture(scope="module")
def varied(run_beside):
    """A checkout in which the study was run, its resolved study, and its runs."""
    checkout, _ = run_beside("variation")
    return checkout, checkout.study(STUDY), pd.read_csv(checkout.folder / "results/variation/tidy/runs.csv")


def documents(varied):
    """Yield each run's factors, its specification, and its document."""
    checkout, study, _ = varied
    for run in studies.runs(study):
        path = checkout.document_path(*run, study="variation")
        yield run, studies.run_specification(study, *run), json.loads(gzip.decompress(path.read_bytes()))


def test_each_run_is_valid_and_its_own_values_were_read_back(varied):
    seen = set()
    for _, asked, document in documents(varied):
        assert document["specification"] == asked
        assert document["verdict"]["valid"], document["verdict"]
        placed, read = document["network"]["set"], document["network"]["read_back"]
        link = asked["scenario"]["link"]
        (bottleneck,) = placed["bottleneck"]["forward"]
        rate_bps = read["interfaces"][bottleneck]["qdiscs"]["htb"]["rate_bps"]
        assert rate_bps == pytest.approx(1e6 * link["rate_mbps"], abs=8)
        (netem,) = placed["netem"]["forward"]
        delay_ms = read["interfaces"][netem]["qdiscs"]["netem"]["delay_ms"]
        assert delay_ms == pytest.approx(link["delay_ms"]["forward"], rel=1e-6)
        assert 9.5 <= delay_ms <= 10.5 and delay_ms != 10
        seen.add((asked["scenario"]["id"], rate_bps, delay_ms))
        assert ("background" in document) == (asked["scenario"]["background"] == "server")
    # One path a replication and scenario, which all CCAs and IP versions share.
    assert len(seen) == 4


def test_the_tables_have_each_runs_own_values_and_the_scenarios_centre(varied):
    checkout, study, runs = varied
    for row in runs.itertuples():
        asked = studies.run_specification(study, row.scenario, row.cca, row.ip_version, row.replication)["scenario"]
        assert row.rate_mbps == asked["link"]["rate_mbps"]
        assert row.rtt_path_ms == pytest.approx(sum(asked["link"]["delay_ms"].values()))
        assert row.background == asked["background"]
    assert runs.groupby("scenario")["rtt_path_ms"].nunique().tolist() == [2, 2]
    scenarios = pd.read_csv(checkout.folder / "results/variation/tidy/scenarios.csv")
    assert scenarios["rtt_path_ms"].tolist() == [20, 20] and scenarios["rate_mbps"].tolist() == [10, 10]
    # In BDPs 10 Mbit/s and 20 ms hold 17 packets; the runs have their own.
    assert scenarios["queue_packets"].tolist() == [30, 17]
    assert scenarios["variation"].tolist() == [
        "RTT ±5 %, rate ±1 %, queue ±2 packets, flows start within a time longer by up to 20 ms",
        "RTT ±5 %, rate ±1 %, background traffic in 50 % of the replications",
    ]


def test_the_varied_runs_of_a_scenario_are_one_cell(varied):
    analysis = varied[0].folder / "results/variation/analysis"
    cells = pd.read_csv(analysis / "descriptive.csv")
    goodput = cells[cells["metric"] == "goodput_mbps"]
    assert len(goodput) == 2 * 2 * 2 and (goodput["n"] == 2).all()
    models = pd.read_csv(analysis / "models.csv")
    assert models.groupby(["scenario", "cca", "ip_version", "model"]).size().max() == 1


def test_the_report_says_of_which_population_it_speaks(varied):
    page = (varied[0].folder / "results/variation/details.html").read_text()
    assert "apply to paths like the one that the scenario describes" in page
    assert "RTT ±5 %, rate ±1 %, queue ±2 packets" in page


def test_other_draws_repeat_the_runs(varied):
    checkout = varied[0]
    text = (checkout.folder / STUDY).read_text()
    assert "rate_percent: 1" in text
    (checkout.folder / "others.yaml").write_text(text.replace("rate_percent: 1", "rate_percent: 2"))
    assert checkout.planned("--configfile", "others.yaml")["emulate_run"] == 16


def test_several_runs_a_job_make_the_same_documents(varied):
    checkout = varied[0]
    assert not checkout.planned("--configfile", STUDY)
    jobs = ("--set-resources", "emulate_run:runs=3", "--keep-incomplete", "--configfile", STUDY)
    path = checkout.document_path("dumbbell", "cubic", "ipv6", 2, study="variation")
    before = path.read_bytes()
    path.unlink()
    checkout.snakemake("--cores", "1", *jobs, "--until", "tidy_runs")
    assert path.read_bytes() == before


def test_a_run_is_stale_if_its_conditions_change_and_not_those_of_others_in_its_job(varied):
    """What a job of several runs records of each is what a job of one run looks for."""
    checkout = varied[0]
    jobs = ("--cores", "1", "--set-resources", "emulate_run:minutes=5", "--keep-incomplete", "--until", "tidy_runs")
    shutil.rmtree(checkout.folder / "results/variation/runs")
    checkout.snakemake(*jobs, "--configfile", STUDY)
    logs = list((checkout.folder / "results/variation/logs/jobs").glob("*.log"))
    assert logs and max(log.read_text().count(": done") for log in logs) == 16
    assert "emulate_run" not in checkout.planned("--configfile", STUDY)
    text = (checkout.folder / STUDY).read_text()
    (checkout.folder / "others.yaml").write_text(text.replace("rate_percent: 1", "rate_percent: 2", 1))
    planned = checkout.planned("--configfile", "others.yaml")["emulate_run"]
    assert planned == 16 // text.count("rate_percent: 1")
