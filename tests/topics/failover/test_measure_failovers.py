"""Effects of a path that goes down, measured in samples worked out by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import RUNS
from tidy_tables import completed
from topics.failover.measure_failovers import failover_cells, measure_run
from topics.failover.path_series import acked_by_path

SCENARIO = {
    "scenario": "down", "paths": 2, "outage_path": 2.0, "outage_at_s": 4.0, "outage_for_s": 2.0, "duration_s": 12.0,
    "platform": "uml", "rate_mbps": 1.25,
}  # fmt: skip


def samples(returns_s=7.0):
    """Return samples every half second: 1 Mbit/s on each path, path 2 silent from 4 s until it returns, path 1 from 4 to 5 s."""
    rows, sums = [], {1: 0.0, 2: 0.0}
    for step in range(25):
        time_s = step / 2
        for path, silent in ((1, 4.0 < time_s <= 5.0), (2, 4.0 < time_s < returns_s)):
            if step and not silent:
                sums[path] += 62_500
            rows.append({"flow": 0, "path": float(path), "time_s": time_s, "bytes_acked": sums[path]})
    return pd.DataFrame(rows)


def test_a_run_by_hand():
    measured = measure_run(acked_by_path(samples()), SCENARIO)
    assert measured["before_mbps"] == pytest.approx(2)
    assert measured["during_mbps"] == pytest.approx(1)
    assert measured["after_mbps"] == pytest.approx(2)
    # Up again at 6 s, used at the sample at 7 s; nothing at all between the samples at 4 and at 5.5 s.
    assert measured["return_s"] == 1
    assert measured["standstill_s"] == 1.5


def test_a_path_that_never_returns_has_no_time_of_return():
    measured = measure_run(acked_by_path(samples(returns_s=99)), SCENARIO)
    assert np.isnan(measured["return_s"])
    assert measured["after_mbps"] == pytest.approx(1)


def test_cells_are_means_of_valid_runs_and_count_those_that_returned():
    keys = {
        "scenario": "down",
        "cca": "reno",
        "ip_version": "ipv4",
        "scenario_label": "label",
        "ideal_goodput_mbps": 2.4,
        "capacity_mbps": 2.5,
    }
    runs = [keys | {"replication": n, "valid": n < 4, "outage_drops": 10.0 * n} for n in (1, 2, 3, 4)]
    measured = {
        ("down", "reno", "ipv4", n): measure_run(acked_by_path(samples(returns_s)), SCENARIO)
        for n, returns_s in ((1, 7.0), (2, 8.0), (3, 99.0))
    }
    scenarios = completed(pd.DataFrame([SCENARIO]), SCENARIOS)
    cell = failover_cells(completed(pd.DataFrame(runs), RUNS), scenarios, measured, 0.95).iloc[0]
    assert (cell["n"], cell["returned"], cell["outage_drops"], cell["path_ideal_mbps"]) == (
        3,
        2,
        20,
        pytest.approx(1.2),
    )
    assert cell["return_s"] == pytest.approx(1.5)
    # The mean of 1 and 2 s; two runs have no interval.
    assert math.isnan(cell["return_s_low"]) and math.isnan(cell["return_s_high"])
