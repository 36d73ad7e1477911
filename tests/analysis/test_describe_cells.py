"""Descriptive statistics against values from elsewhere, and what is said where there are none."""

import math
from types import SimpleNamespace

import describe_cells
import numpy as np
import pandas as pd
import pytest
import tidy_tables
from hypothesis_tests.normality import shapiro_wilk
from run_tables.metrics import DESCRIBED_METRICS
from run_tables.tidy_columns import DESCRIPTIVE, read_table

pytestmark = pytest.mark.filterwarnings("error")


def test_interval_of_nist_handbook():
    # NIST/SEMATECH e-Handbook, 1.3.5.2, ZARR13.DAT: N = 195, mean 9.261460, s = 0.02278881,
    # limits 9.258242 and 9.264679. Any sample with this N, mean and s has these limits.
    z = np.arange(195.0)
    values = 9.261460 + 0.02278881 * (z - z.mean()) / z.std(ddof=1)
    mean, low, high = describe_cells.mean_interval(values, 0.95)
    assert mean == pytest.approx(9.261460, abs=1e-9)
    assert (low, high) == (pytest.approx(9.258242, abs=1e-6), pytest.approx(9.264679, abs=1e-6))


def test_interval_of_students_sleep_data():
    # Differences of Student (1908); R's example(t.test), paired:
    # 95 percent confidence interval 0.7001142 2.4598858, mean 1.58.
    differences = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    mean, low, high = describe_cells.mean_interval(differences, 0.95)
    assert mean == pytest.approx(1.58)
    assert (low, high) == (pytest.approx(0.7001142, abs=5e-8), pytest.approx(2.4598858, abs=5e-8))


def test_interval_widens_with_confidence():
    values = [1.0, 2.0, 4.0]
    narrow = describe_cells.mean_interval(values, 0.90)
    wide = describe_cells.mean_interval(values, 0.99)
    assert wide[1] < narrow[1] < narrow[2] < wide[2]


def test_interval_needs_two_values():
    with pytest.raises(ValueError, match="needs 2 values or more, there are 1"):
        describe_cells.mean_interval([1.0], 0.95)


def test_shapiro_wilk_of_the_paper():
    # Weights of 11 men, Shapiro and Wilk (1965), W = 0.79; R 4: shapiro.test gives
    # W = 0.78881, p-value = 0.006704.
    weights = pd.Series([148.0, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236])
    w, p = shapiro_wilk(weights)
    assert w == pytest.approx(0.78881, abs=5e-6)
    assert p == pytest.approx(0.006704, abs=5e-7)


@pytest.mark.parametrize("shift, scale", [(0, 1), (1e6, 1), (900, 1e-9), (-5, 1e9)])
def test_shapiro_wilk_of_three_values_by_hand(shift, scale):
    # n = 3 is exact (Royston, 1995, AS R94): W = ((x3 - x1)^2 / 2) / SS, here 4.5 / (14/3), and
    # p = 6/pi (asin sqrt W - asin sqrt 3/4). Neither depends on location or scale.
    values = pd.Series([1.0, 2.0, 4.0]) * scale + shift
    w, p = shapiro_wilk(values)
    expected_w = 4.5 / (14 / 3)
    expected_p = 6 / math.pi * (math.asin(math.sqrt(expected_w)) - math.asin(math.sqrt(0.75)))
    loose = 1e-4 if scale == 1e-9 else 1e-6  # 900 + 1e-9 has only 4 digits left
    assert (w, p) == (pytest.approx(expected_w, abs=loose), pytest.approx(expected_p, abs=loose))


def test_description_by_hand():
    row = describe_cells.describe(pd.Series([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]), 8, 0.95)
    assert (row["n"], row["mean"], row["median"], row["min"], row["max"]) == (8, 5, 4.5, 2, 9)
    assert row["sd"] == pytest.approx(math.sqrt(32 / 7))
    assert row["note"] == ""


@pytest.mark.parametrize(
    "values, runs, empty, note",
    [
        ([], 5, describe_cells.STATISTICS, "no valid run among 5"),
        ([3.0], 1, ["ci_low", "sd", "shapiro_w"], "one value: no interval"),
        ([3.0, 4.0], 2, ["shapiro_w", "shapiro_p"], "two values: a test of normality needs 3"),
        ([0.1] * 7, 7, ["shapiro_w", "shapiro_p"], "all 7 values are equal"),
        ([math.nan, 3.0, 4.0, 6.0], 4, [], "1 of 4 valid runs have no value"),
        ([math.nan, math.nan], 2, describe_cells.STATISTICS, "2 of 2 valid runs have no value"),
    ],
)
def test_what_can_not_be_computed_is_said(values, runs, empty, note):
    row = describe_cells.describe(pd.Series(values, dtype=float), runs, 0.95)
    assert note in row["note"]
    assert all(row[name] is None for name in empty)
    assert not any(isinstance(value, float) and math.isnan(value) for value in row.values())


def test_equal_values_have_an_interval_of_no_width():
    row = describe_cells.describe(pd.Series([0.1] * 7), 7, 0.95)
    assert row["mean"] == row["ci_low"] == row["ci_high"] == 0.1
    assert row["sd"] == 0


def test_above_5000_values_p_is_called_approximate():
    values = pd.Series(np.random.default_rng(1).standard_normal(5001))
    row = describe_cells.describe(values, 5001, 0.95)
    assert "above n = 5000 the p of Shapiro-Wilk is approximate" in row["note"]
    assert row["shapiro_p"] is not None


def describe_study(study, folder):
    tidy = tidy_tables.write_tidy(study, folder)
    out = folder / "descriptive.csv"
    describe_cells.main(
        SimpleNamespace(runs=tidy / "runs.csv"),
        SimpleNamespace(descriptive=out),
        SimpleNamespace(confidence=0.95),
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
    gaps = table[describe_cells.STATISTICS].isna().any(axis=1)
    assert (table.loc[gaps, "note"] != "").all()


def test_intervals_hold_the_true_mean_about_as_often_as_they_say(tmp_path):
    study = tidy_tables.synthetic_study(replications=8, seed=7)
    table = describe_study(study, tmp_path)
    both = table.merge(study["truth"], on=["scenario", "cca", "ip_version", "metric"])
    goodput = both[both["metric"] == "goodput_mbps"]
    held = (goodput["ci_low"] <= goodput["mean_y"]) & (goodput["mean_y"] <= goodput["ci_high"])
    # 144 cells at 95 %: 90 to 99 % is within 2.7 standard deviations.
    assert 0.90 <= held.mean() <= 0.99


def test_same_table_same_bytes(tmp_path):
    study = tidy_tables.synthetic_study(replications=3)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        describe_study(study, tmp_path / name)
    one, two = (tmp_path / name / "descriptive.csv" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
