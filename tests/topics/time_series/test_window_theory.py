"""Theory of teeth: against closed forms, a simulation packet by packet, and by the verdicts it leads to."""

import numpy as np
import pandas as pd
import pytest

from run_tables.tidy_tables import RUN as RUN_KEYS
from topics.time_series.tables import SAWTOOTH
from topics.time_series.window_measures import buffer_packets, shared_path, tooth_measures
from topics.time_series.window_theory import Path, cubic_growth_packets, cubic_origins, teeth_of
from topics.time_series.window_verdicts import ABOVE, AS_THEORY, BELOW, UNDECIDED, compare_with_theory, verdict

DEEP = Path(rate_mbps=1, base_rtt_ms=2, buffer_packets=66, frame_bytes=1514, flows=1)
RUN = {
    "scenario": "s", "cca": "reno", "ip_version": "ipv4", "replication": 1, "packet_bytes": 1514.0, "queue_packets": np.nan, "queue_bytes": 100_000.0, "rate_mbps": 1.0,
    "loss_configured_percent": 0.0, "flows": 3.0,
}  # fmt: skip
SCENARIO = {"loss_reverse_percent": 0.0}


def test_a_full_queue_and_the_packet_that_leaves_are_the_height_of_a_tooth():
    # 1 Mbit/s x 2 ms = 0.17 packets of 1,514 bytes are on the path.
    assert DEEP.full_packets == pytest.approx(66 + 1 + 2 / 12.112)
    in_step, in_turn = teeth_of("reno", DEEP)
    assert in_step == in_turn
    assert in_step.peak_packets == pytest.approx(DEEP.full_packets + 1)


def fluid(cca_growth, path, left, seconds=2000.0, step_s=0.005):
    """Simulate a lone window whose loss is known, and repaired, a round trip after the queue is full; return peak and period."""
    window, time, losses, peaks, hold = path.full_packets / 2, 0.0, [], [], 0.0
    while time < seconds:
        rtt = float(path.rtt_ms(window)) / 1000
        time += step_s
        if hold > 0:
            hold -= step_s
            continue
        window += cca_growth * step_s / rtt
        if window >= path.full_packets + cca_growth:
            losses.append(time)
            peaks.append(window)
            window, hold = window * left, rtt
    return np.mean(peaks[2:]), np.mean(np.diff(losses[2:]))


@pytest.mark.parametrize("path", [DEEP, Path(10, 40, 33, 1514, 1), Path(10, 40, 8, 1514, 1)])
def test_renos_tooth_is_that_of_a_simulation(path):
    peak, period = fluid(1.0, path, 0.5, seconds=400)
    assert teeth_of("reno", path)[0].peak_packets == pytest.approx(peak, rel=0.02)
    assert teeth_of("reno", path)[0].period_s == pytest.approx(period, rel=0.05)


def test_flows_in_turn_are_higher_and_slower_than_in_step():
    for cca in ("reno", "cubic"):
        in_step, in_turn = teeth_of(cca, Path(1, 2, 66, 1514, 3))
        assert in_step.peak_packets < in_turn.peak_packets
        assert in_step.period_s < in_turn.period_s
    in_step, in_turn = teeth_of("reno", Path(1, 2, 66, 1514, 3))
    # Windows in turn at a loss: peak, 5/6 and 4/6 of it for three of Reno.
    assert (in_turn.peak_packets - 1) * (1 + 5 / 6 + 4 / 6) == pytest.approx(DEEP.full_packets)
    assert (in_step.peak_packets - 1) * 3 == pytest.approx(DEEP.full_packets)


@pytest.mark.parametrize(("origin", "seconds", "rtt_s"), [(20, 5, 0.2), (30, 6, 0.75), (14, 4, 0.5)])
def test_cubics_growth_solves_its_equation(origin, seconds, rtt_s):
    begin, window, step = 14.0, 14.0, 1e-4
    k = np.cbrt(max(origin - begin, 0) / 0.4)
    for now in np.arange(0, seconds, step):
        target = max(origin, begin) + 0.4 * (now - k) ** 3
        window += step * max(target - window, 0) / rtt_s
    assert cubic_growth_packets(begin, origin, seconds, rtt_s, 0) == pytest.approx(window - begin, rel=0.01)


def test_cubic_is_no_slower_than_reno_would_be():
    assert cubic_growth_packets(10, 11, 0.5, 0.01, 50) == pytest.approx(0.529 * 50, rel=0.01)


def test_fast_convergence_aims_at_less():
    assert cubic_origins(100) == pytest.approx((85, 100), rel=0.001)


def test_buffer_in_bytes_holds_full_frames():
    assert buffer_packets(RUN) == 66
    assert buffer_packets(RUN | {"packet_bytes": 322.0}) == 310
    assert buffer_packets(RUN | {"queue_packets": 33.0}) == 33
    assert buffer_packets(RUN | {"queue_bytes": np.nan}) is buffer_packets(RUN | {"packet_bytes": np.nan}) is None


def test_where_theory_doesnt_say_how_long_teeth_are():
    assert shared_path(RUN, SCENARIO, {"reno"}, {2.0}) == Path(1.0, 2.0, 66.0, 1514, 3)
    assert shared_path(RUN, SCENARIO, {"reno", "cubic"}, {2.0}) is None
    assert shared_path(RUN, SCENARIO, {"reno"}, {2.0, 4.0}) is None
    assert shared_path(RUN | {"loss_configured_percent": 1.0}, SCENARIO, {"reno"}, {2.0}) is None
    assert shared_path(RUN | {"queue_bytes": np.nan}, SCENARIO, {"reno"}, {2.0}) is None
    assert shared_path(RUN | {"rate_mbps": np.nan}, SCENARIO, {"reno"}, {2.0}) is None


def test_a_tooth_without_a_path_is_measured_all_the_same():
    tooth = {name: RUN[name] for name in RUN_KEYS} | {
        "flow": 0, "flow_cca": "reno", "left_ratio": 0.5, "peak_packets": 20.0, "period_s": 5.0,
        "growth_packets": 9.0, "growth_least_packets": 10.0, "growth_most_packets": 10.0,
    }  # fmt: skip
    rows = tooth_measures(pd.DataFrame([tooth]), {("s", "reno", "ipv4", 1): None})
    table = pd.DataFrame(rows, columns=SAWTOOTH.names).set_index("quantity")
    assert table.loc["peak", "measured"] == 20
    assert pd.isna(table.loc["peak", "theory_low"])
    assert table.loc["left by a loss", "theory_low"] == 0.5
    assert table.loc["growth", "measured"] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(4, 6, AS_THEORY), (2, 6, UNDECIDED), (11, 12, ABOVE), (1, 2, BELOW), (2, 12, UNDECIDED), (3, 10, AS_THEORY)],
)
def test_verdict_is_where_the_interval_lies(low, high, expected):
    assert verdict(low, high, 3, 10) == expected


def judged(values, low=8.0, high=11.0, coarse=0.0):
    """Return how the times between losses of a flow's runs lie to theory."""
    rows = [
        ("s", "reno", "ipv4", replication, 0, "reno", "time between losses", "s", 5, value, low, high)
        for replication, value in enumerate(values, 1)
    ]
    table = pd.DataFrame(rows, columns=SAWTOOTH.names)
    return compare_with_theory(table, {"s": "S"}, {("s", "reno", "ipv4"): coarse}, 0.95).iloc[0]


def test_verdict_allows_for_the_tolerance():
    assert judged([9.0, 9.1, 9.2])["verdict"] == AS_THEORY
    assert judged([13.0, 13.1, 13.2])["verdict"] == AS_THEORY  # 11 s and 25 %
    assert judged([14.0, 14.1, 14.2])["verdict"] == ABOVE
    assert judged([5.0, 5.1, 5.2])["verdict"] == BELOW
    row = judged([5.0, 9.0, 20.0])
    assert (row["verdict"], row["flows_as_theory"], row["runs"]) == (UNDECIDED, 1, 3)


def test_one_run_has_a_verdict_but_no_interval():
    row = judged([9.0])
    assert row["verdict"] == AS_THEORY
    assert pd.isna(row["ci_low"])
    assert row["note"] == "one run: no interval"


def test_samples_too_far_apart_give_no_verdict():
    row = judged([9.0, 9.1], coarse=0.2)
    assert row["verdict"] == ""
    assert "too far apart" in row["note"]


def test_without_theory_there_is_no_verdict():
    assert judged([9.0, 9.1], np.nan, np.nan)["verdict"] == ""
