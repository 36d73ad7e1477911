"""The paper's pooled tables: mode, normality, conclusion, and the notes where there are none."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import tidy_tables
from rule_files import carry_out
from run_tables.metrics import PUBLISHED_METRICS
from run_tables.reading import read_table
from topics.published import describe_pooled
from topics.published.describe_pooled import describe, hypothesis, mode
from topics.published.tables import POOLED, POOLED_TESTS

pytestmark = pytest.mark.filterwarnings("error")

_, RTT, LOSS, _ = PUBLISHED_METRICS


def pooled(folder, study=None, **options):
    """Return both tables as they are read, of a study or of one with these options."""
    tidy = tidy_tables.write_tidy(study or tidy_tables.synthetic_study(**options), folder)
    outputs = SimpleNamespace(pooled=folder / "pooled.csv", pooled_tests=folder / "pooled_tests.csv")
    carry_out(
        describe_pooled.__name__, SimpleNamespace(runs=tidy / "runs.csv"), outputs, SimpleNamespace(significance=0.05)
    )
    tables = []
    for path, declared in ((outputs.pooled, POOLED), (outputs.pooled_tests, POOLED_TESTS)):
        assert "nan" not in path.read_text() and "inf" not in path.read_text()
        tables.append(read_table(path, declared))
    return tables


ONE_CELL = {"scenarios": tidy_tables.grid(delays_ms=(10,), losses_percent=(1,), flows=(1,)), "ccas": ["reno"]}


@pytest.mark.parametrize(
    "values, decimals, expected, note",
    [
        ([997.81, 997.79, 12.0], 1, 997.8, "rounded to 0.1 Mbit/s, it occurs 2 times (66.7 %)"),
        ([5.0, 5.0, 7.0, 7.0, 1.0], 1, None, "none (rounded to 0.1 Mbit/s, 2 values occur 2 times each)"),
        ([1.0, 2.0, 3.0], 1, None, "none (rounded to 0.1 Mbit/s, every value occurs once)"),
        ([0.0, 0.0, 3.0], 0, 0.0, "counted as they are, it occurs 2 times (66.7 %)"),
        ([4.0], 0, 4.0, "counted as they are, it occurs 1 time (100.0 %)"),
        ([], 1, None, "no value"),
    ],
)
def test_mode_says_what_it_is(values, decimals, expected, note):
    assert mode(values, decimals, "Mbit/s") == (expected, note)


def test_mode_writes_no_negative_zero():
    assert math.copysign(1, mode([-0.001, 0.001, 3.0], 1, "ms")[0]) == 1


def test_description_of_the_weights_of_shapiro_and_wilk():
    # Shapiro and Wilk (1965); R 4: shapiro.test gives W = 0.78881, p-value = 0.006704; mean 172, sd 24.95.
    row = describe(pd.Series([148.0, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236]), RTT)
    assert (row["mean"], row["median"], row["n"]) == (172, 162, 11)
    assert row["sd"] == pytest.approx(24.95, abs=5e-3)
    assert (row["shapiro_w"], row["shapiro_p"]) == (pytest.approx(0.78881, abs=5e-6), pytest.approx(0.006704, abs=5e-7))
    assert (row["mode"], row["note"]) == (None, "")


@pytest.mark.parametrize(
    "values, empty, note",
    [
        ([], ["mean", "median", "mode", "sd", "shapiro_w", "shapiro_p"], "no valid run"),
        ([np.nan], ["mean", "sd", "shapiro_w"], "no valid run has a value"),
        ([3.0, np.nan], ["sd", "shapiro_w"], "1 of 2 valid runs have no value; one value: no standard deviation"),
        ([3.0, 4.0], ["shapiro_w", "shapiro_p"], "two values: a test of normality needs 3"),
        ([0.1] * 7, ["shapiro_w", "shapiro_p"], "all 7 values are equal: no test of normality"),
    ],
)
def test_what_cannot_be_computed_is_said(values, empty, note):
    row = describe(pd.Series(values, dtype=float), LOSS)
    assert all(row.get(name) is None for name in empty)
    assert row["note"].startswith(note)
    if len(values) == 7:
        assert (row["mean"], row["sd"], row["mode"]) == (0.1, 0.0, 0.1)


def test_normality_of_many_values_is_approximate():
    values = pd.Series(np.random.default_rng(1).normal(size=5001))
    assert describe(values, RTT)["note"] == "above n = 5,000 the p of Shapiro-Wilk is approximate"
    assert describe(values[:5000], RTT)["note"] == ""


def test_pooled_table_is_over_all_valid_runs_of_an_ip_version(tmp_path):
    study = tidy_tables.synthetic_study(replications=3, invalid_share=0.1)
    table, tests = pooled(tmp_path, study)
    valid = study["runs"][study["runs"]["valid"]]
    assert table[["metric", "ip_version"]].to_numpy().tolist() == [
        [metric.column, ip] for metric in PUBLISHED_METRICS for ip in ("ipv4", "ipv6")
    ]
    for row in table.to_dict("records"):
        values = valid.loc[valid["ip_version"] == row["ip_version"], row["metric"]]
        assert row["n"] == len(values)
        assert (row["mean"], row["median"]) == (pytest.approx(values.mean()), pytest.approx(values.median()))
        assert row["shapiro_p"] < 1e-6  # scenarios differ by a factor of 100
    # Truth: IPv6 gets 98.6 % of IPv4's goodput everywhere, which pooling doesn't see.
    assert tests["conclusion"].eq("H0 kept").all()
    assert tests["hypothesis"].eq("H0: TCP performs equally well over IPv4 and IPv6").all()
    assert (tests["p"] > 0.05).all()


@pytest.mark.parametrize("factor, rejected", [(0.5, ["H1", "H2", "H2", "H2"]), (2.0, ["H2", "H1", "H1", "H1"])])
def test_rejected_hypothesis_names_who_is_better(tmp_path, factor, rejected):
    study = tidy_tables.synthetic_study(**ONE_CELL, replications=30)
    runs = study["runs"]
    for metric in PUBLISHED_METRICS:
        runs[metric.column] = runs[metric.column].astype(float)
        runs.loc[runs["ip_version"] == "ipv6", metric.column] *= factor
    _, tests = pooled(tmp_path, study)
    assert tests["conclusion"].eq("H0 rejected").all()
    assert [text[:2] for text in tests["hypothesis"]] == rejected


def test_hypothesis_by_direction():
    assert hypothesis(90, 0.01, 10, 10, True, 0.05) == ("H0 rejected", "H1: TCP performs better over IPv4")
    assert hypothesis(90, 0.01, 10, 10, False, 0.05) == ("H0 rejected", "H2: TCP performs better over IPv6")
    assert hypothesis(90, 0.05, 10, 10, True, 0.05)[0] == "H0 kept"


def test_one_ip_version_no_valid_run_and_equal_values(tmp_path):
    table, tests = pooled(tmp_path / "one", replications=2, ip_versions=["ipv6"])
    assert table["ip_version"].eq("ipv6").all() and len(table) == 4
    assert tests["note"].eq("no value over IPv4").all() and tests["conclusion"].eq("").all()
    study = tidy_tables.synthetic_study(replications=2)
    study["runs"][[metric.column for metric in PUBLISHED_METRICS]] = 0
    assert pooled(tmp_path / "equal", study)[1]["note"].eq("all values are equal: no test").all()
    table, tests = pooled(tmp_path / "none", replications=2, invalid_share=1)
    assert table["note"].eq("no valid run").all() and table["n"].eq(0).all() and len(table) == 8
    assert tests["note"].eq("no value over IPv4 and IPv6").all()


def test_too_few_runs_for_a_test(tmp_path):
    _, tests = pooled(tmp_path, **ONE_CELL, replications=3)
    assert tests["note"].eq("no test: with 3 and 3 values p can't be below 0.1").all()
    assert tests["p"].isna().all()
