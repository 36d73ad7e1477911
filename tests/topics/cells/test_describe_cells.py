"""Descriptive statistics calculated by hand, and the notes where there are none."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import tidy_tables
from rule_files import carry_out
from run_tables.metrics import DESCRIBED_METRICS
from run_tables.reading import read_table
from topics.cells import describe_cells
from topics.cells.tables import DESCRIPTIVE

pytestmark = pytest.mark.filterwarnings("error")

#: Columns that may be empty of a cell with which nothing is wrong.
OFTEN_EMPTY = ("note", "collapses", "mean_worst")
#: Columns that are empty only where a note says why.
STATISTICS = [column.name for column in DESCRIPTIVE if column.empty and column.name not in OFTEN_EMPTY]


def test_description_by_hand():
    row = describe_cells.describe(pd.Series([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]), 8, 0.95)
    assert (row["n"], row["mean"], row["median"], row["min"], row["max"]) == (8, 5, 4.5, 2, 9)
    assert row["sd"] == pytest.approx(math.sqrt(32 / 7))
    assert row["note"] == ""


@pytest.mark.parametrize(
    "values, runs, empty, note",
    [
        ([], 5, STATISTICS, "no valid run among 5"),
        ([3.0], 1, ["ci_low", "sd", "shapiro_w"], "one value: no interval"),
        ([3.0, 4.0], 2, ["shapiro_w", "shapiro_p"], "two values: a test of normality needs 3"),
        ([0.1] * 7, 7, ["shapiro_w", "shapiro_p"], "all 7 values are equal"),
        ([math.nan, 3.0, 4.0, 6.0], 4, [], "1 of 4 valid runs have no value"),
        ([math.nan, math.nan], 2, STATISTICS, "2 of 2 valid runs have no value"),
    ],
)
def test_what_can_not_be_computed_is_said(values, runs, empty, note):
    row = describe_cells.describe(pd.Series(values, dtype=float), runs, 0.95)
    assert note in row["note"]
    assert all(row.get(name) is None for name in empty)
    assert not any(isinstance(value, float) and math.isnan(value) for value in row.values())


@pytest.mark.parametrize(
    "values, resolution, words",
    [([0.1] * 7, 0.0, "equal"), ([9.5, 9.5004, 9.5009], 0.001, "within the resolution of the measurement")],
)
def test_repeated_measurements_are_one(values, resolution, words):
    row = describe_cells.describe(pd.Series(values), len(values), 0.95, resolution)
    assert (row["n"], row["measurements"]) == (len(values), 1)
    assert row["ci_low"] is None and "shapiro_w" not in row
    assert f"all {len(values)} values are {words}: one measurement repeated" in row["note"]
    wider = describe_cells.describe(pd.Series([9.5, 9.5004, 9.5011] * 2), 6, 0.95, 0.001)
    assert wider["measurements"] == 6 and wider["ci_low"] < 9.5004 < wider["ci_high"]


@pytest.mark.parametrize("apart", [31.0, 70.0, 300.0])
def test_runs_apart_are_counted_and_leave_the_mean_without_an_interval(apart):
    values = pd.Series([100.0, 101, 99, 102, apart, 100, 100.5, 99.5])
    row = describe_cells.describe(values, 8, 0.95, 0.001)
    assert (row["apart"], row["ci_low"]) == (1, None)
    assert row["mean"] == values.mean()
    assert "1 of 8 runs is an outlier" in row["note"]
    assert describe_cells.describe(values[:4], 4, 0.95, 0.001)["apart"] == 0


def test_study_knows_the_resolution_of_its_runs(tmp_path):
    study = tidy_tables.synthetic_study(tidy_tables.grid(delays_ms=(10,), flows=(1,)), ["reno"], replications=4)
    runs = study["runs"]
    packet_mbps = 8e-6 * runs["mss_bytes"] / runs["duration_s"]
    runs["goodput_mbps"] = 900 + packet_mbps * runs["replication"].map({1: 0.0, 2: 1.0, 3: 1.5, 4: 0.5})
    goodput = describe_study(study, tmp_path).query("metric == 'goodput_mbps'")
    assert (goodput["measurements"] == 1).all() and goodput["ci_low"].isna().all()


def test_above_5000_values_p_is_called_approximate():
    values = pd.Series(np.random.default_rng(1).standard_normal(5001))
    row = describe_cells.describe(values, 5001, 0.95)
    assert "above n = 5000 the p of Shapiro-Wilk is approximate" in row["note"]
    assert row["shapiro_p"] is not None


def describe_study(study, folder):
    tidy = tidy_tables.write_tidy(study, folder)
    out = folder / "descriptive.csv"
    params = SimpleNamespace(confidence=0.95)
    carry_out(
        describe_cells.__name__, SimpleNamespace(runs=tidy / "runs.csv"), SimpleNamespace(descriptive=out), params
    )
    return read_table(out, DESCRIPTIVE)


def test_only_valid_runs_count_and_every_gap_has_its_note(tmp_path):
    scenarios = tidy_tables.grid(delays_ms=(10,), flows=(1,))
    study = tidy_tables.synthetic_study(scenarios, ["reno", "cubic"], replications=4)
    runs = study["runs"]
    first = (runs["cca"] == "reno") & (runs["scenario"] == scenarios["scenario"][0])
    runs.loc[first & (runs["replication"] > 1), "valid"] = False
    runs.loc[first & (runs["replication"] > 1), "goodput_mbps"] = 1e9
    runs.loc[runs["cca"].eq("cubic") & runs["ip_version"].eq("ipv6"), "valid"] = False
    table = describe_study(study, tmp_path)
    assert len(table) == 2 * 2 * 2 * len(DESCRIBED_METRICS)
    reno = table[(table["cca"] == "reno") & (table["scenario"] == scenarios["scenario"][0])]
    assert (reno["n"] == 1).all()
    assert (reno["max"] < 1e6).all()
    lost = table[(table["cca"] == "cubic") & (table["ip_version"] == "ipv6")]
    assert (lost["n"] == 0).all()
    assert (lost["note"] == "no valid run among 4").all()
    gaps = table[STATISTICS].isna().any(axis=1)
    assert (table.loc[gaps, "note"] != "").all()


@pytest.mark.parametrize(("worst", "bound"), [(0.0, 6.0), (100.0, 46.0), (None, None)])
def test_missing_runs_are_said_and_bounded(worst, bound):
    """Six of ten runs with a mean of 10. With the worst value for the other four the mean is (60 + 4 x worst) / 10."""
    known = pd.Series([8.0, 10.0, 12.0, 9.0, 11.0, 10.0])
    row = describe_cells.describe(known, 10, 0.95, worst=worst)
    assert (row["runs"], row["n"], row["mean"], row.get("mean_worst")) == (10, 6, 10.0, bound)
    assert "4 of 10 runs missing" in row["note"]
    whole = describe_cells.describe(known, 6, 0.95, worst=worst)
    assert "mean_worst" not in whole and whole["note"] == ""


def test_intervals_hold_the_true_mean_about_as_often_as_they_say(tmp_path):
    study = tidy_tables.synthetic_study(replications=8, seed=7)
    table = describe_study(study, tmp_path)
    both = table.merge(study["truth"], on=["scenario", "cca", "ip_version", "metric"])
    goodput = both[both["metric"] == "goodput_mbps"]
    held = (goodput["ci_low"] <= goodput["mean_y"]) & (goodput["mean_y"] <= goodput["ci_high"])
    # 144 cells at 95 %: 90 to 99 % is within 2.7 standard deviations.
    assert 0.90 <= held.mean() <= 0.99
