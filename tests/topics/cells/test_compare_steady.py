"""Steady parts compared with whole runs: values worked out by hand, runs without a steady part, and the words for the rule."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import tidy_tables
from topics.cells.compare_steady import STEADY_PAIRS, compare_steady
from topics.cells.section import rule_words, startup_sentence
from topics.cells.tables import STEADY

PARAMS = SimpleNamespace(confidence=0.95, significance=0.05)


@pytest.fixture
def runs():
    """Runs of two cells, four each: steady goodput is 10 % above that of the whole, with known deviations, and RTT is the same."""
    scenarios = tidy_tables.grid(delays_ms=(10, 50), losses_percent=(0,), flows=(2,))
    runs = tidy_tables.synthetic_study(scenarios, ["reno"], ["ipv4"], replications=4)["runs"]
    factors = np.tile([1.08, 1.10, 1.12, 1.10], 2)
    window = {"window_begin_ns": 1e8, "window_end_ns": 1.01e10, "steady_begin_ns": 2.6e9}
    steady = {"goodput_steady_mbps": factors * runs["goodput_mbps"], "rtt_steady_ms": runs["rtt_mean_ms"]}
    return runs.assign(**window, **steady, jain_steady_index=runs["jain_index"] + 0.005)


def rows_of(table, metric):
    return table[table["metric"] == metric].to_dict("records")


def test_difference_by_hand(runs):
    table = compare_steady(runs, PARAMS)
    assert list(table.columns) == STEADY.names
    first, _ = rows_of(table, "goodput_mbps")
    assert (first["n"], first["valid"], first["effect_unit"]) == (4, 4, "%")
    assert first["left_out_percent"] == pytest.approx(25)
    logs = np.log([1.08, 1.10, 1.12, 1.10])
    assert first["effect"] == pytest.approx(100 * np.expm1(logs.mean()))
    assert first["ci_low"] is None and "too few pairs for an interval" in first["note"]
    (rtt, _), (jain, _) = rows_of(table, "rtt_mean_ms"), rows_of(table, "jain_index")
    assert rtt["effect"] == 0 and pd.isna(rtt["ci_low"]) and "no spread to judge it by" in rtt["note"]
    assert jain["effect"] == pytest.approx(0.005)


def test_runs_without_a_steady_part_are_counted_and_not_compared(runs):
    runs.loc[0, ["goodput_steady_mbps", "rtt_steady_ms", "steady_begin_ns"]] = None
    first, second = rows_of(compare_steady(runs, PARAMS), "goodput_mbps")
    assert (first["n"], first["valid"], second["n"]) == (3, 4, 4)
    assert first["note"].startswith("1 of 4 runs has no steady part")
    assert first["whole_mean"] == pytest.approx(runs["goodput_mbps"].iloc[1:4].mean())
    runs.loc[:3, "goodput_steady_mbps"] = None
    first, _ = rows_of(compare_steady(runs, PARAMS), "goodput_mbps")
    assert first["n"] == 0 and np.isnan(first["effect"])


def test_what_no_run_has_and_shares_of_one_flow_are_left_out(runs):
    table = compare_steady(runs.assign(flows_under_test=1), PARAMS)
    assert set(table["metric"]) == {"goodput_mbps", "rtt_mean_ms", "retransmit_percent"}
    nothing = runs.assign(**{steady: None for _, steady, _ in STEADY_PAIRS})
    assert compare_steady(nothing, PARAMS).empty


def test_sentence_counts_cells_that_are_apart(runs):
    runs.loc[runs["scenario"] == runs["scenario"].iloc[0], "goodput_steady_mbps"] = 1.04 * runs["goodput_mbps"]
    table = compare_steady(runs, PARAMS)
    assert startup_sentence(table[table["metric"] == "goodput_mbps"], 5) == (
        "All numbers cover whole runs. Leaving out start-up changes goodput by more than 5 % in 1 of 2 cells (by +4.0 to +10.0 %)."
    )


def test_rule_in_words():
    assert rule_words({"rule": "share", "share": 0.25}) == "the first 25 % of the time that the flows have in common"
    assert rule_words({"rule": "mser", "share": 0.25}).startswith(
        "a start-up period (a multiple of 1/40 of the flows' common time)"
    )
