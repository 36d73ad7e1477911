"""How finely metrics are measured: by hand, and where something isn't known."""

import math

import pandas as pd
import pytest

from run_tables.metrics import DESCRIBED_METRICS
from run_tables.resolution import resolution_of, resolutions

pytestmark = pytest.mark.filterwarnings("error")

RUN = {
    "window_begin_ns": 1_000_000_000, "window_end_ns": 9_000_000_000, "duration_s": 10.0, "flows": 4, "mss_bytes": 1448.0,
    "packets_sent": 8000,
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
