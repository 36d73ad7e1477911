"""The resolution of metrics: by hand, and where an input isn't known."""

import math

import numpy as np
import pandas as pd
import pytest

from run_tables.metrics import DESCRIBED_METRICS
from run_tables.resolution import jain_resolution, resolution_of, resolutions
from tcp_models.fairness_index import jain_index

pytestmark = pytest.mark.filterwarnings("error")

RUN = {
    "window_begin_ns": 1_000_000_000, "window_end_ns": 9_000_000_000, "duration_s": 10.0, "flows_under_test": 4, "mss_bytes": 1448.0,
    "packets_sent": 8000, "protocol": "tcp", "application": "iperf3", "message_bytes": 131_072, "goodput_mbps": 40.0,
    "jain_index": 0.9, "rtt_mean_ms": 20.0, "transfer_s": 5.0,
}  # fmt: skip


def runs(**changes):
    return pd.DataFrame([RUN | changes])


def test_resolution_by_hand():
    # A packet of each of four flows at both ends of 8 s: 8 x 1,448 x 8 bits.
    assert resolution_of(runs(), "goodput_mbps") == pytest.approx(8 * 1448 * 8 / 8 / 1e6)
    assert resolution_of(runs(), "throughput_per_stream_mbps") == pytest.approx(2 * 1448 * 8 / 8 / 1e6)
    assert resolution_of(runs(), "rtt_mean_ms") == 0.001
    assert resolution_of(runs(), "loss_percent") == 100 / 8000
    assert resolution_of(runs(), "retransmits") == 1


def test_of_udp_a_packet_is_a_message_and_of_a_round_trip_the_last_is_cut_off():
    udp = runs(protocol="udp", mss_bytes=math.nan, message_bytes=128)
    assert resolution_of(udp, "goodput_mbps") == pytest.approx(8 * 128 * 8 / 8 / 1e6)
    # 10 s of exchanges of 50 us are 200,000.
    trips = runs(application="round-trip", rtt_mean_ms=0.05)
    assert resolution_of(trips, "rtt_mean_ms") == pytest.approx(0.05 / 200_000)


def test_a_transfer_and_the_cores_times():
    # 0.011584 of 40 Mbit/s are not known, and so as much of 5 s; a tick is 0.1 % of 10 s.
    assert resolution_of(runs(), "transfer_s") == pytest.approx(5 * 0.011584 / 40)
    assert resolution_of(runs(), "cpu_busy_percent") == pytest.approx(0.1)


def test_jains_index_is_never_further_off_than_its_resolution():
    rng = np.random.default_rng(3)
    for spread in (0.0, 0.01, 0.3, 1.0):
        flows = np.exp(spread * rng.standard_normal(6))
        off = 1e-4 * flows.mean()
        others = [jain_index(flows + off * signs) for signs in rng.choice([-1, 1], (500, 6))]
        index = jain_index(flows)
        bound = jain_resolution(pd.Series([index]), 1e-4).iloc[0]
        assert max(abs(other - index) for other in others) <= bound * (1 + 1e-3) + 1e-15
        # And not far more than what can happen.
        worst = index * 2e-4 * np.abs(1 - flows * flows.sum() / (flows**2).sum()).mean()
        assert bound < 2 * worst + 2e-8


def test_resolution_of_what_is_not_known():
    # Without a window of all flows the duration, without a segment size a full packet's.
    unknown = runs(window_begin_ns=math.nan, window_end_ns=math.nan, mss_bytes=math.nan)
    assert resolution_of(unknown, "goodput_mbps") == pytest.approx(8 * 1460 * 8 / 10 / 1e6)
    assert resolutions(runs(packets_sent=math.nan), "loss_percent").isna().all()
    assert resolution_of(runs(packets_sent=math.nan), "loss_percent") == 0
    assert resolution_of(runs()[:0], "goodput_mbps") == 0


@pytest.mark.parametrize("metric", DESCRIBED_METRICS, ids=lambda metric: metric.column)
def test_every_metric_has_a_resolution(metric):
    assert resolution_of(runs(), metric.column) > 0
