"""How finely a run's metrics are measured: values that are closer than this can't be told apart.

Where nothing is random (a flow alone, no loss) replications differ in when the traffic starts, and so in which packet is the
last one inside the window. Such runs are one measurement, however often it is repeated.
"""

import pandas as pd

# iperf3 gives mean round-trip times in whole microseconds.
RTT_RESOLUTION_MS = 0.001
# A packet may be in the window or not at both of its ends.
ENDS_OF_WINDOW = 2
#: Payload of a full packet where the kernel's segment size isn't known.
PAYLOAD_BYTES = 1460


def resolutions(runs: pd.DataFrame, metric: str) -> pd.Series:
    """Return the resolution of a metric in each run, in the metric's unit.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``tidy/runs.csv``.
    metric : str
        Column of a metric.

    Returns
    -------
    pandas.Series of float
        Of a goodput a packet of each flow at both ends of the window; of a round-trip time what iperf3 prints; of a share of
        the packets one of them; of a count one. Missing where it isn't known.
    """
    if metric in ("rtt_mean_ms", "rtt_first_stream_ms"):
        return pd.Series(RTT_RESOLUTION_MS, index=runs.index)
    if metric in ("loss_percent", "retransmit_percent"):
        packets = runs["packets_sent"].astype(float)
        return (100 / packets).where(packets > 0)
    if metric in ("goodput_mbps", "throughput_per_stream_mbps"):
        window_s = (runs["window_end_ns"] - runs["window_begin_ns"]).astype(float) / 1e9
        window_s = window_s.where(window_s > 0, runs["duration_s"].astype(float))
        flows = runs["flows"].astype(float) if metric == "goodput_mbps" else 1.0
        payload = runs["mss_bytes"].astype(float).fillna(PAYLOAD_BYTES)
        return ENDS_OF_WINDOW * flows * 8e-6 * payload / window_s
    return pd.Series(1.0, index=runs.index)


def resolution_of(runs: pd.DataFrame, metric: str) -> float:
    """Return the coarsest resolution of a metric in some runs, 0 where none is known."""
    coarsest = resolutions(runs, metric).max()
    return 0.0 if pd.isna(coarsest) else float(coarsest)
