"""Quantities of runs that claims are about and that follow from several columns."""

import math

import pandas as pd
import pytest

from topics.claims.run_quantities import resolution_of_runs, value_of_runs, with_completions

#: One flow of 3.794 Mbit/s over 40 ms with segments of 1,448 bytes: 13.1 segments per RTT.
RUN = {
    "scenario": "a", "cca": "reno", "ip_version": "ipv4", "replication": 1, "goodput_mbps": 13.1 * 1448 * 8 / 40e3,
    "flows_under_test": 1, "rtt_mean_ms": 40.0, "mss_bytes": 1448.0, "packets_sent": 20_000, "queue_drops": 50,
    "link_drops": 150.0, "recoveries": 50,
}  # fmt: skip


def value(quantity, **changes):
    return value_of_runs(pd.DataFrame([RUN | changes]), quantity)[0]


def test_constant_of_the_square_root_law():
    assert value("square_root_constant") == pytest.approx(13.1 * 0.1)
    assert value("square_root_constant_of_halvings") == pytest.approx(13.1 * 0.05)
    # Four flows with the same rate each.
    four = {"flows_under_test": 4, "goodput_mbps": 4 * RUN["goodput_mbps"]}
    assert value("square_root_constant", **four) == pytest.approx(1.31)


def test_losses_of_both_places_per_halving():
    assert value("losses_per_halving") == 4
    assert value("losses_per_halving", link_drops=math.nan) == 1


def test_what_is_not_known_has_no_value():
    assert math.isnan(value("losses_per_halving", recoveries=0))
    assert math.isnan(value("square_root_constant", packets_sent=0))
    assert math.isnan(value("completion_mean_ms"))


def test_completion_is_the_mean_of_all_web_objects():
    key = {name: RUN[name] for name in ("scenario", "cca", "ip_version", "replication")}
    objects = pd.DataFrame([key | {"group": "web", "object": n, "completion_ms": 100.0 + 20 * n} for n in range(3)])
    runs = pd.DataFrame([RUN, RUN | {"replication": 2}])
    objects.loc[2, "completion_ms"] = 170.0
    assert list(with_completions(runs, objects)["completion_mean_ms"].fillna(-1)) == [130, -1]
    assert list(with_completions(runs, objects)["completion_p50_ms"].fillna(-1)) == [120, -1]
    assert list(with_completions(runs, objects)["completion_longest_ms"].fillna(-1)) == [170, -1]
    never = objects.assign(completion_ms=[100.0, math.nan, 140.0])
    assert with_completions(runs, never)["completion_mean_ms"].isna().all()
    assert with_completions(runs)["completion_mean_ms"].isna().all()


def test_resolution_is_one_event():
    """One fast recovery more changes the constant by what the resolution says, as nearly as a derivative does."""
    runs = pd.DataFrame([RUN])
    step = value("square_root_constant_of_halvings", recoveries=51) - value("square_root_constant_of_halvings")
    assert resolution_of_runs(runs, "square_root_constant_of_halvings")[0] == pytest.approx(step, rel=0.02)
    step = value("losses_per_halving", queue_drops=51) - value("losses_per_halving")
    assert resolution_of_runs(runs, "losses_per_halving")[0] == pytest.approx(step)
    assert resolution_of_runs(runs, "convergence_s").isna().all()
    assert resolution_of_runs(runs, "retransmits")[0] == 1
