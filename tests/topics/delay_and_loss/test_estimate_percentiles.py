"""Percentiles of delays: an interval, a bound or neither, as n allows, and none from copies."""

import numpy as np
import pandas as pd
import pytest

import tidy_tables
from topics.delay_and_loss.estimate_percentiles import estimate_percentiles, percentile_row
from topics.delay_and_loss.tables import DELAY_PERCENTILES


@pytest.mark.parametrize(
    "n, percentile, bounds, note",
    [
        (4, 50, "none", "an upper bound needs 5 runs, and an interval needs 6"),
        (5, 50, "upper bound", "an interval needs 6 runs"),
        (6, 50, "interval", ""),
        (58, 95, "none", "an upper bound needs 59 runs, and an interval needs 72"),
        (59, 95, "upper bound", "an interval needs 72 runs"),
        (72, 95, "interval", ""),
    ],
)
def test_what_n_allows(n, percentile, bounds, note):
    row = percentile_row(pd.Series(np.arange(1.0, n + 1)), percentile, 0.95)
    assert (row["bounds"], row["note"], row["n"]) == (bounds, note, n)
    assert (row["low"] is None) == (bounds != "interval") and (row["high"] is None) == (bounds == "none")
    assert row["held_percent"] is None or row["held_percent"] >= 95
    if bounds == "upper bound":
        assert row["high"] == n  # the largest value, and no less


def test_copies_are_one_measurement():
    row = percentile_row(pd.Series([20.0] * 99 + [20.0005]), 50, 0.95, 0.001)
    assert (row["bounds"], row["value"], row["n"]) == ("none", 20, 100)
    assert row["note"] == "all 100 values are one measurement repeated: n = 1"


def test_table_of_a_study():
    scenarios = tidy_tables.grid(delays_ms=(10, 50), losses_percent=(0,), flows=(2,))
    runs = tidy_tables.synthetic_study(scenarios, ["reno", "bbr"], ["ipv4"], replications=7)["runs"]
    runs.loc[runs["replication"] == 7, "valid"] = False
    table = estimate_percentiles(runs, 0.95)
    assert list(table.columns) == DELAY_PERCENTILES.names
    assert table["metric"].unique().tolist() == ["rtt_mean_ms", "rtt_steady_ms"]
    assert len(table) == 2 * 2 * 2 * 2
    first = table.iloc[0]
    values = runs[runs["valid"]].query("scenario == @first.scenario and cca == @first.cca")["rtt_mean_ms"]
    assert (first["percentile"], first["n"], first["low"], first["high"]) == (50, 6, values.min(), values.max())
    assert first["held_percent"] == pytest.approx(100 * (1 - 2 / 2**6))
    assert table.loc[table["percentile"] == 95, "value"].isna().all()


def test_a_study_without_delays_has_an_empty_table():
    runs = tidy_tables.synthetic_study(ccas=["reno"], replications=1)["runs"].assign(
        rtt_mean_ms=None, rtt_steady_ms=None
    )
    assert estimate_percentiles(runs, 0.95).empty
