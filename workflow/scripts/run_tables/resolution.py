"""The resolution of a run's metrics: the smallest difference that a metric can show.

Without randomness (a lone flow, no loss), replications differ only in the start time of the traffic, and therefore in which packet is the
last in the measurement window. Within the resolution, all such replications give the same value.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from experiment.packet_sizes import HEADER_BYTES, MTU_BYTES
from testbed.readings.deliveries import START_UP

# iperf3 reports mean round-trip times in whole microseconds.
RTT_RESOLUTION_MS = 0.001
# Number of ends of the measurement window; at each end, a packet may fall inside or outside.
ENDS_OF_WINDOW = 2
#: Payload of a full packet in bytes, used if the kernel's segment size is unknown.
PAYLOAD_BYTES = MTU_BYTES - HEADER_BYTES["ipv4"]
# Ticks per second; CPU times in /proc/stat are in ticks.
TICKS_PER_S = 100

#: Columns of ``tidy/runs.csv`` with a known resolution.
RESOLVED = (
    "goodput_mbps",
    "rtt_mean_ms",
    "loss_percent",
    "retransmit_percent",
    "published_loss_percent",
    "jain_index",
    "transfer_s",
)


def resolutions(runs: pd.DataFrame, metric: str) -> pd.Series:
    """Return the resolution of a metric in each run, in the metric's unit; unknown resolutions are missing.

    - Goodput: one packet of each flow at each end of the measurement window. Jain's index and transfer time: the resulting change.
    - Round-trip time: the last digit that iperf3 reports; for messages, one exchange at the end.
    - Share of packets: one packet.
    - Busy share of the cores: one tick.
    - Count: 1.

    ``metric`` is the metric's column in ``runs``.
    """
    if metric in ("rtt_mean_ms", "rtt_first_stream_ms"):
        exchange = runs["rtt_mean_ms"].astype(float) ** 2 / (1e3 * runs["duration_s"].astype(float))
        return exchange.where(runs["application"] == "round-trip", RTT_RESOLUTION_MS)
    if metric in ("loss_percent", "retransmit_percent", "published_loss_percent"):
        packets = runs["packets_sent"].astype(float)
        return (100 / packets).where(packets > 0)
    if metric == "cpu_busy_percent":
        return 100 / (TICKS_PER_S * runs["duration_s"].astype(float))
    if metric == "throughput_per_stream_mbps":
        return _of_a_flow(runs)
    if metric in ("goodput_mbps", "goodput_steady_mbps"):
        left = 1 - START_UP if metric == "goodput_steady_mbps" else 1
        return _of_a_flow(runs) * runs["flows_under_test"].astype(float) / left
    if metric not in ("transfer_s", "jain_index"):
        return pd.Series(1.0, index=runs.index)
    share = (
        _of_a_flow(runs)
        * runs["flows_under_test"].astype(float)
        / runs["goodput_mbps"].astype(float).where(runs["goodput_mbps"] > 0)
    )
    if metric == "transfer_s":
        return share * runs["transfer_s"].astype(float)
    return jain_resolution(runs["jain_index"].astype(float), share)


def jain_resolution(index, share) -> pd.Series:
    """Return the resolution of Jain's index, given the resolution of the flows' goodputs as a fraction of the mean goodput.

    If each goodput x has an error of at most r, |dJ| <= 2 J / sum(x) * sum |1 - x sum(x) / sum(x^2)| r. The mean of these absolute values
    is at most their root mean square, sqrt(1 - J). If all goodputs are equal, |dJ| is r^2 divided by the squared mean.
    """
    return 2 * index * np.sqrt((1 - index).clip(lower=0)) * share + share**2


def _of_a_flow(runs):
    """Return the resolution of a flow's goodput in Mbit/s."""
    window_s = (runs["window_end_ns"] - runs["window_begin_ns"]).astype(float) / 1e9
    window_s = window_s.where(window_s > 0, runs["duration_s"].astype(float))
    payload = runs["mss_bytes"].astype(float).where(runs["protocol"] != "udp", runs["message_bytes"].astype(float))
    return ENDS_OF_WINDOW * 8e-6 * payload.fillna(PAYLOAD_BYTES) / window_s


def resolution_of(runs: pd.DataFrame, metric: str) -> float:
    """Return the coarsest resolution of a metric in the given runs, or 0 if no resolution is known."""
    return coarsest(resolutions(runs, metric))


def copied_runs(runs: pd.DataFrame, cells: Sequence[str]) -> pd.Series:
    """Return for each run whether the runs of its cell repeat one measurement in every metric with a known resolution.

    A single metric isn't enough, because its values can be equal by chance, such as a loss of 0 in all runs.

    Parameters
    ----------
    runs : pandas.DataFrame
        Valid runs, as in ``tidy/runs.csv``.
    cells : sequence of str
        Columns that identify a cell.
    """
    same = pd.Series(True, runs.index)
    for metric in RESOLVED:
        if metric in runs:
            values = runs[metric].astype(float).groupby([runs[column] for column in cells])
            spread = values.transform("max") - values.transform("min")
            same &= ~(spread > 0) | (spread < resolutions(runs, metric))  # also True if there are no values
    return same.groupby([runs[column] for column in cells]).transform("all")


def coarsest(steps: pd.Series) -> float:
    """Return the coarsest of the given resolutions, or 0 if none is known.

    A caller can compute `resolutions` once for an entire table, and then call this function for parts of the table.
    """
    step = steps.max()
    return 0.0 if pd.isna(step) else float(step)
