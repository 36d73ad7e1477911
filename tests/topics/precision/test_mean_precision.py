"""The precision of a mean: by hand, in a synthetic study, and in the words of the report."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import tidy_tables
from inference.mean_interval import mean_interval
from report_parts.material import ReportMaterial
from rule_files import carry_out
from run_tables.metrics import METRICS
from run_tables.reading import read_table
from study_files.study_design import StudyDesign
from study_files.study_replications import looks
from topics.precision import describe_precision
from topics.precision.mean_precision import mean_precision, precision_rows
from topics.precision.section import findings, precision_sentence, section, wanted_words
from topics.precision.tables import PRECISION

pytestmark = pytest.mark.filterwarnings("error")

GOODPUT, RTT, LOSS, RETRANSMITS = METRICS
RULE = {"until": {"goodput_percent": 2.0, "loss_points": 0.1}, "at_least": 10, "at_most": 20}
SCENARIOS = tidy_tables.grid(delays_ms=(10,), losses_percent=(1, 0), flows=(1,))


def test_half_a_width_is_in_percent_of_the_mean_or_in_points():
    values = [90.0, 95.0, 98.0, 102.0, 105.0, 110.0]
    mean, low, high = mean_interval(values, 0.96)
    judged = mean_precision(values, GOODPUT, 20, 0.96)
    assert (judged.mean, judged.low, judged.high) == (mean, low, high) == (100, low, high)
    assert judged.half_width == pytest.approx(max(high - 100, 100 - low))  # of a mean of 100 percent are units
    assert judged.verdict == "precise"
    assert mean_precision(values, GOODPUT, judged.half_width - 1e-9, 0.96).verdict == "too wide"
    loss = mean_precision([value / 100 for value in values], LOSS, 15, 0.96)
    assert loss.half_width == pytest.approx(judged.half_width / 100)


@pytest.mark.parametrize(
    "values, metric, resolution, verdict",
    [
        ([], GOODPUT, 0, "no value"),
        ([5.0], GOODPUT, 0, "too few values"),
        ([5.0, 5.0], GOODPUT, 0, "one measurement"),
        ([5.0, 5.001], GOODPUT, 0.01, "one measurement"),
        ([0.0] * 10, RETRANSMITS, 1, "one measurement"),
        ([0.0] * 10, LOSS, 0.001, "one measurement"),
        # Half a percent of the mean is nothing for so rare a count.
        ([0.0] * 9 + [1.0], RETRANSMITS, 1, "too wide"),
        ([100.0, 101, 99, 100, 102, 98, 30], GOODPUT, 0.01, "two kinds of run"),
        ([100.0, 101, 99, 100, 102, 98, 300], RTT, 0.01, "two kinds of run"),
        ([100.0, 101, 99, 100, 102], RTT, 0.01, "too few values"),
    ],
)
def test_why_a_mean_has_no_interval(values, metric, resolution, verdict):
    judged = mean_precision(values, metric, 0.5, 0.96, resolution)
    assert judged.verdict == verdict
    assert (judged.half_width is None) == (verdict != "too wide")


@pytest.mark.parametrize("n, verdict", [(6, "equal so far"), (28, "equal so far"), (29, "equal values")])
def test_values_that_are_equal_by_chance_are_precise_if_they_are_many(n, verdict):
    """Of 28 runs without loss, more than a tenth of all runs may have losses: 0.9^28 is above 5 %."""
    assert mean_precision([0.0] * n, LOSS, 0.1, 0.95, 0.001, copied=False).verdict == verdict


def test_runs_that_differ_in_another_metric_are_no_copies():
    tables = tidy_tables.synthetic_study(SCENARIOS, ["reno"], replications=10, spread=0.02)
    runs = tables["runs"].assign(loss_percent=0.0)
    rows = pd.DataFrame(precision_rows(runs, {"loss_points": 0.1}, 0.95))
    assert set(rows["verdict"]) == {"equal so far"}
    first = runs[runs["replication"] == 1]
    copies = pd.concat([first.assign(replication=number) for number in range(1, 11)], ignore_index=True)
    assert set(pd.DataFrame(precision_rows(copies, {"loss_points": 0.1}, 0.95))["verdict"]) == {"one measurement"}


def described(tmp_path, runs, replications=RULE):
    runs.to_csv(tmp_path / "runs.csv", index=False)
    outputs = SimpleNamespace(precision=tmp_path / "precision.csv")
    params = SimpleNamespace(replications=replications, confidence=0.95)
    carry_out(describe_precision.__name__, SimpleNamespace(runs=tmp_path / "runs.csv"), outputs, params)
    return read_table(outputs.precision, PRECISION)


def test_each_cell_and_metric_has_a_row_that_holds_the_truth(tmp_path):
    tables = tidy_tables.synthetic_study(SCENARIOS, ["reno", "bbr"], replications=20, spread=0.02, invalid_share=0.1)
    table = described(tmp_path, tables["runs"])
    assert len(table) == 2 * 2 * 2 * 2 and set(table["metric"]) == {"goodput_mbps", "loss_percent"}
    assert set(table["replications"]) == {20}
    valid = tables["runs"].groupby(["scenario", "cca", "ip_version"])["valid"].sum()
    keys = pd.MultiIndex.from_frame(table[["scenario", "cca", "ip_version"]])
    assert list(table["n"]) == list(valid.reindex(keys))
    # At 96 % about one of so few may miss the truth.
    truth = table.merge(tables["truth"], on=["scenario", "cca", "ip_version", "metric"], suffixes=("", "_true"))
    known = truth[truth["half_width"].notna()]
    held = (known["low"] <= known["mean_true"]) & (known["mean_true"] <= known["high"])
    assert len(known) >= 8 and (~held).sum() <= 2
    assert ((known["half_width"] <= known["wanted"]) == (known["verdict"] == "precise")).all()
    assert set(table["level_percent"]) == {96.03}


def material(table, replications=RULE):
    study = {"replications": replications, "scenarios": [], "ccas": ["reno"], "ip_versions": ["ipv4"], "study": "x"}
    scenarios = pd.DataFrame({"scenario": table["scenario"].unique()})
    tables = SimpleNamespace(precision=table, scenarios=scenarios)
    return ReportMaterial(tables, {}, StudyDesign(study), study, {"confidence": 0.95})


def test_the_report_says_how_many_are_precise_and_what_ended_the_others(tmp_path):
    tables = tidy_tables.synthetic_study(SCENARIOS, ["reno"], replications=20, spread=0.02)
    runs = tables["runs"]
    first, second = runs["scenario"].unique()
    # One scenario ended at its first look, the other had all.
    runs = runs[(runs["scenario"] == second) | (runs["replication"] <= 10)].reset_index(drop=True)
    runs.loc[runs["scenario"] == second, "goodput_mbps"] *= np.tile([0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15], 5)
    table = described(tmp_path, runs, RULE | {"until": {"goodput_percent": 2.0}})
    report = material(table, RULE | {"until": {"goodput_percent": 2.0}})
    (finding,) = findings(report)
    assert finding.text == (
        "2 of 4 means are as precise as required (goodput within 2 %), after 10 to 20 replications; "
        "the others ended at the largest allowed number."
    )
    shown = section(report)
    assert (shown["looks"], shown["level_percent"], shown["least_percent"]) == ("10, 14 and 20", "96.03", "93.8")
    verdicts = [row[-1].text for row in shown["table"]["rows"]]
    assert verdicts == ["yes", "yes"] + ["no: too wide, ended by at_most"] * 2
    json.dumps(shown["looks"])


def test_what_is_wanted_is_said_in_its_units():
    assert wanted_words({"replications": RULE}) == "goodput within 2 % and packet loss within 0.1 percentage points"


def test_a_look_and_the_table_say_the_same(tmp_path):
    runs = tidy_tables.synthetic_study(SCENARIOS, ["reno"], replications=20, spread=0.02)["runs"]
    table = described(tmp_path, runs)
    rows = list(precision_rows(runs, RULE["until"], 0.9603))
    assert [row["verdict"] for row in rows] == list(table["verdict"])
    assert looks({"replications": RULE}) == (10, 14, 20)


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [
        (
            [("too wide", 24), ("too wide", 6), ("precise", 6)],
            "1 of 3 means are as precise as required (goodput within 2 %), after 6 to 24 replications; 1 of the others ended at the largest "
            "allowed number, and 1 needs more.",
        ),
        (
            [("precise", 6), ("no value", 6)],
            "1 of 1 mean is as precise as required (goodput within 2 %), after 6 replications; 1 more mean is unknown, because no valid run "
            "has a value.",
        ),
        ([("no value", 24)], "No mean is known, because no valid run has a value."),
    ],
)
def test_the_sentence_counts_only_what_it_names(verdicts, text):
    study = {"replications": {"at_least": 6, "at_most": 24, "until": {"goodput_percent": 2}}}
    rows = [
        {"scenario": str(place), "verdict": verdict, "replications": n} for place, (verdict, n) in enumerate(verdicts)
    ]
    assert precision_sentence(pd.DataFrame(rows), study) == text
