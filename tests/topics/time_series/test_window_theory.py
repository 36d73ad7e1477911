"""Theory of teeth: against closed forms and recorded flows, and by the verdicts that it leads to."""

import numpy as np
import pandas as pd
import pytest

from run_tables.run_keys import RUN as RUN_KEYS
from tcp_models.window_laws import CubicWindow, converged_w_max, left_packets
from topics.time_series.sawtooth import teeth
from topics.time_series.tables import SAWTOOTH
from topics.time_series.window_measures import buffer_packets, path_of, tooth_measures
from topics.time_series.window_theory import TheoryPath, _next_tooth, bbr_window_packets, steady_tooth
from topics.time_series.window_verdicts import ABOVE, AS_THEORY, BELOW, UNDECIDED, compare_with_theory, verdict
from window_flows import LONE_FLOWS as RECORDED_CELLS
from window_flows import lone_flow

RUN = {
    "scenario": "s", "cca": "reno", "ip_version": "ipv4", "replication": 1, "mss_bytes": 1448.0, "packet_bytes": 1514.0,
    "queue_packets": np.nan, "queue_bytes": 100_000.0, "rate_mbps": 1.0,
    "loss_configured_percent": 0.0, "platform": "uml",
}  # fmt: skip
SCENARIO = {
    "host_options": "",
    "link_options": "",
    "discipline": "drop-tail",
    "loss_reverse_percent": 0.0, "jitter_forward_ms": 0.0, "jitter_reverse_ms": 0.0,
    "frame_overhead_bytes": 0, "topology": "dumbbell", "netem": "receiving-side", "segmentation_offload": False, "bitrate_mbps": np.nan,
}  # fmt: skip
FLOW = pd.DataFrame({"flow": [0], "rtt_path_ms": [2.0]})


def path(rate_mbps=10, base_rtt_ms=40, buffer_packets=33):
    return TheoryPath(rate_mbps, base_rtt_ms, buffer_packets, 1514, 1448)


def test_whole_packets_on_the_path_and_in_the_queue_fit():
    # 10 Mbit/s x 40 ms = 33.02 packets of 1,514 bytes; of 50 ms 41.3.
    assert path().fitting_packets == 33 + 33
    assert path(base_rtt_ms=50).fitting_packets == 41 + 33


def test_burst_is_a_millisecond_of_the_rate():
    assert path(100, 20).burst_packets == pytest.approx(1.2 * 8256 / 1024, rel=0.01)
    assert path(10, 20).burst_packets == 2
    # A short path: 64 KiB / 2^(2 ms / 512 us) more.
    assert path(10, 2).burst_packets == pytest.approx(1.2 * 826 / 1024 + 8192 / 1514, rel=0.01)


def test_renos_tooth_by_hand():
    """Windows of 33 to 66 packets, each for one round trip, whose length the queue determines; a loss occurs at 67."""
    packet_s = 1514 * 8 / 10e6
    # (window, time): recovery, growth, a round trip until the loss is known by three packets after it.
    spells = [
        (50, 67 * packet_s),
        *((window, max(0.040, window * packet_s)) for window in range(33, 67)),
        (67, 69 * packet_s),
    ]
    period = sum(spell for _, spell in spells)
    tooth = steady_tooth("reno", path())
    assert tooth.peak_packets == 67
    assert tooth.period_s == pytest.approx(period, rel=0.001)
    assert tooth.mean_packets == pytest.approx(sum(window * spell for window, spell in spells) / period, rel=0.001)


def test_cubics_tooth_on_a_short_path_is_renos_friend():
    """RFC 9438, section 4.3: 0.3 W packets at 0.53 per round trip, far sooner than K = cbrt(0.3 W / C)."""
    short = path(30, 5, 24)
    peak = short.fitting_packets + 1
    round_trips = (peak - int(0.7 * peak)) / (3 * 0.3 / 1.7)
    packet_s = 1514 * 8 / 30e6
    assert steady_tooth("cubic", short).period_s == pytest.approx(round_trips * 0.85 * peak * packet_s, rel=0.15)
    assert steady_tooth("cubic", short).period_s < 0.2 * np.cbrt(0.3 * peak / 0.4)


def test_cubics_tooth_on_a_long_path_is_cubic():
    """The curve in whole packets: from 0.7 W_max to W_max, whose flat top begins cbrt(1 / C) s before K; plus two round trips."""
    long = path(100, 50, 413)
    window, w_max = CubicWindow(700, 1000, 0.05), 1000
    k_s, now_s = np.cbrt(300 / 0.4), 0.0
    while window.packets < w_max:
        now_s += window.step_packets(8000) / 8000
        window.acknowledge(window.step_packets(8000), now_s)
    assert now_s == pytest.approx(k_s - np.cbrt(1 / 0.4), abs=0.15)
    # With fast convergence: 0.85 of the peak is the origin, and the curve goes beyond.
    origin, peak = 0.85 * long.fitting_packets, long.fitting_packets
    beyond_s = np.cbrt((origin - 0.7 * peak) / 0.4) + np.cbrt((peak - origin) / 0.4)
    first, after, _ = _next_tooth("cubic", long, peak + 1, int(origin), 0.0)
    assert first.period_s == pytest.approx(beyond_s, rel=0.03)
    assert after > peak + 1


def test_cubics_flat_top_is_wide_in_whole_packets():
    """W_max 100, from 70: K is 4.22 s, and the curve is within a packet of the top from 1.36 s before K to 1.36 s after it."""
    window, at = CubicWindow(70, 100, 0.05), {}
    for tick in range(5, 6501, 5):
        window.acknowledge(2, tick / 1000)
        at[tick] = window.packets
    # A few tenths of a second behind the curve: a packet takes up to 100 acknowledged ones, and there are 400 a second.
    assert at[2000] < 99 < at[3200] == at[5400] == 100
    assert at[6500] == pytest.approx(100 + 0.4 * (6.55 - np.cbrt(75)) ** 3, abs=2)


def test_fast_convergence_aims_at_less():
    assert converged_w_max(100, 101) == 85
    assert converged_w_max(100, 100) == 100


@pytest.mark.parametrize(
    ("cca", "packets", "left"), [("reno", 51, 25), ("cubic", 51, 35), ("cubic", 2, 2), ("reno", 3, 2)]
)
def test_loss_leaves_whole_packets(cca, packets, left):
    assert left_packets(cca, packets) == left


def test_bbrs_window_is_two_bdps_and_what_comes_at_once():
    # 2 x 33.02, 3 aggregated and 3 x 2 packets, an even number, and 2 more in one of eight phases.
    assert bbr_window_packets(path()) == 76 + 0.25
    # 2 x 412.8, 3 and 3 x 7 packets.
    assert bbr_window_packets(path(100, 50)) == 850 + 0.25


@pytest.mark.parametrize(("cell", "cca"), RECORDED_CELLS)
def test_recorded_lone_flows_are_as_theory(cell, cca):
    """Runs of cells that nothing was fitted to (see tests/data/README.md)."""
    samples, of_path = lone_flow(cell, cca)
    key = {name: samples[name].iloc[0] for name in (*RUN_KEYS, "flow", "flow_cca")}
    rows = pd.DataFrame(tooth_measures(key, teeth(samples), of_path), columns=SAWTOOTH.names).set_index("quantity")
    for quantity in ("time between losses", "mean over a tooth", "peak"):
        row = rows.loc[quantity]
        assert row["n"] >= 2
        assert 0.97 * row["theory_low"] <= row["measured"] <= 1.03 * row["theory_high"], quantity


def test_buffer_in_bytes_holds_full_frames():
    assert buffer_packets(RUN) == 66
    assert buffer_packets(RUN | {"packet_bytes": 322.0}) == 310
    assert buffer_packets(RUN | {"queue_packets": 33.0}) == 33
    assert buffer_packets(RUN | {"queue_bytes": np.nan}) is buffer_packets(RUN | {"packet_bytes": np.nan}) is None


def test_path_is_that_of_a_lone_flow_behind_a_full_queue():
    assert path_of(RUN, SCENARIO, FLOW) == TheoryPath(1.0, 2.0, 66, 1514, 1448)


@pytest.mark.parametrize(
    ("run", "scenario", "flows", "words"),
    [
        ({}, {}, 3, "several flows"),
        ({"loss_configured_percent": 1.0}, {}, 1, "random loss"),
        ({}, {"loss_reverse_percent": 1.0}, 1, "random loss"),
        ({}, {"jitter_forward_ms": 1.0}, 1, "jitter"),
        ({"platform": "ns3:3.44"}, {}, 1, "ns-3"),
        ({}, {"topology": "cable"}, 1, "in the sender"),
        ({}, {"netem": "both-ends"}, 1, "on the path"),
        ({}, {"segmentation_offload": True}, 1, "super-packets"),
        ({}, {"bitrate_mbps": 5.0}, 1, "limited to a rate"),
        ({}, {"host_options": "pacing up to 5 Mbit/s"}, 1, "defaults"),
        ({}, {"link_options": "rate 5 Mbit/s from 2 s on"}, 1, "changes"),
        ({"queue_bytes": np.nan}, {}, 1, "no limit"),
        ({"rate_mbps": np.nan}, {}, 1, "no rate"),
        ({"mss_bytes": np.nan}, {}, 1, "size of a packet"),
    ],
)
def test_where_theory_doesnt_apply_it_says_why(run, scenario, flows, words):
    path = path_of(RUN | run, SCENARIO | scenario, pd.concat([FLOW] * flows))
    assert isinstance(path, str) and words in path


def test_theory_is_silent_beside_other_traffic_and_without_delay():
    assert "other traffic" in path_of(RUN, SCENARIO, FLOW, is_disturbed=True)
    assert path_of(RUN, SCENARIO, FLOW.assign(rtt_path_ms=0.0)) == "the path has no delay"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(4, 6, AS_THEORY), (2, 6, UNDECIDED), (11, 12, ABOVE), (1, 2, BELOW), (2, 12, UNDECIDED), (3, 10, AS_THEORY)],
)
def test_verdict_is_where_the_interval_lies(low, high, expected):
    assert verdict(low, high, 3, 10) == expected


def judged(values, low=8.0, high=11.0, coarse=0.0, note=""):
    """Return the position of the times between losses of a flow's runs relative to theory."""
    rows = [
        ("s", "reno", "ipv4", replication, 0, "reno", "time between losses", "s", 5, value, low, high, note)
        for replication, value in enumerate(values, 1)
    ]
    table = pd.DataFrame(rows, columns=SAWTOOTH.names)
    return compare_with_theory(table, {"s": "S"}, {("s", "reno", "ipv4"): coarse}, 0.95).iloc[0]


def test_verdict_allows_for_the_tolerance():
    assert judged([9.0, 9.1, 9.2])["verdict"] == AS_THEORY
    assert judged([11.29, 11.3, 11.31])["verdict"] == AS_THEORY  # 11 s and 3 %
    assert judged([11.39, 11.4, 11.41])["verdict"] == ABOVE
    assert judged([7.69, 7.7, 7.71])["verdict"] == BELOW
    row = judged([5.0, 9.0, 20.0])
    assert (row["verdict"], row["flows_as_theory"], row["runs"]) == (UNDECIDED, 1, 3)


def test_one_run_has_a_verdict_but_no_interval():
    row = judged([9.0])
    assert row["verdict"] == AS_THEORY
    assert pd.isna(row["ci_low"])
    assert row["note"] == "one run: an interval needs 6"


def test_samples_too_far_apart_give_no_verdict():
    row = judged([9.0, 9.1], coarse=0.2)
    assert row["verdict"] == ""
    assert "too far apart" in row["note"]


def test_without_theory_there_is_no_verdict():
    row = judged([9.0, 9.1], np.nan, np.nan, note="several flows")
    assert (row["verdict"], row["note"], row["mean"]) == (
        "",
        "several flows; 2 runs: an interval needs 6",
        pytest.approx(9.05),
    )


def test_cell_without_a_value_says_why():
    row = judged([np.nan], np.nan, np.nan, note="too few steady teeth")
    assert (row["verdict"], row["note"]) == ("", "too few steady teeth")
    assert pd.isna(row["mean"])
