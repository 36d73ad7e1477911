"""Effects of a path that goes down, measured in samples worked out by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import RUNS
from tidy_tables import completed
from topics.failover.measure_failovers import failover_cells, measure_run
from topics.failover.path_series import acked_by_path, path_ideal_mbps
from topics.failover.section import findings

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


def test_a_path_that_was_never_joined_and_an_outage_before_the_first_sample():
    never = measure_run(acked_by_path(samples()[lambda table: table["path"] == 1]), SCENARIO)
    assert np.isnan(never["return_s"]) and never["standstill_s"] == 1.5
    early = SCENARIO | {"outage_at_s": 0.1, "outage_for_s": 0.2}
    assert measure_run(acked_by_path(samples()[lambda table: table["time_s"] > 0]), early)["return_s"] == pytest.approx(
        0.2
    )


def test_what_comes_after_an_outage_doesnt_begin_before_its_end():
    late = SCENARIO | {"outage_at_s": 4.0, "outage_for_s": 6.5}
    # Only path 1 until 10.5 s, and both paths from then on.
    assert measure_run(acked_by_path(samples(returns_s=10.5)), late)["after_mbps"] == pytest.approx(2)


def test_the_ideal_is_that_of_the_path_that_goes_down():
    run = {"ideal_goodput_mbps": 33.25, "capacity_mbps": 35.0}
    unlike = SCENARIO | {"path_rate_mbps": "5 30", "capacity_most_mbps": 35.0}
    assert path_ideal_mbps(run, unlike) == pytest.approx(0.95 * 30)


def test_paths_of_one_rate_have_no_rates_in_the_table():
    # An empty field of a text column is read as "".
    alike = SCENARIO | {"path_rate_mbps": "", "capacity_most_mbps": 20.0}
    assert path_ideal_mbps({"ideal_goodput_mbps": 19.0, "capacity_mbps": 20.0}, alike) == pytest.approx(0.95 * 10)


def test_findings_count_runs_in_which_the_path_is_not_used_again():
    cell = {
        "scenario": "down",
        "scenario_label": "Outage",
        "outage_path": 2.0,
        "paths": 2,
        "outage_for_s": 3.0,
        "standstill_s": 0.6,
    }
    cells = pd.DataFrame([cell | {"return_s": 1.2, "returned": 1, "n": 6}])
    (finding,) = findings(SimpleNamespace(tables=SimpleNamespace(failovers=cells)))
    assert finding.text.endswith("it takes 1.20 s until it is used; in 5 of 6 runs, it is not used again.")
    never = cells.assign(return_s=np.nan, returned=0)
    (finding,) = findings(SimpleNamespace(tables=SimpleNamespace(failovers=never)))
    assert finding.text.endswith("(means of the cells); in 6 of 6 runs, it is not used again.")


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
