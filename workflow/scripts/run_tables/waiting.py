"""The waiting time of packets in a run: time in the queue if the queue was sampled, otherwise RTT minus the path's minimum RTT."""

import numpy as np
import pandas as pd

#: Names of the two measures. The first includes only queueing; the second also includes jitter, late packets and periods with a longer path
#: delay.
QUEUEING, ABOVE = "Queueing delay", "RTT above the path's shortest"


def waiting(runs) -> tuple[str, pd.Series]:
    """Return the name of the measure of waiting time that is used for all runs, and the mean waiting time of each run in ms.

    Parameters
    ----------
    runs : pandas.DataFrame
        Rows of ``tidy/runs.csv``.
    """
    valid = runs[runs["valid"]]
    sampled = valid["queueing_mean_ms"].notna() | valid["rtt_above_ms"].isna()
    if sampled.all() and valid["queueing_mean_ms"].notna().any():
        return QUEUEING, runs["queueing_mean_ms"].astype(float)
    return ABOVE, runs["rtt_above_ms"].astype(float)


def drain_rates_mbps(runs) -> pd.Series:
    """Return the rate in Mbit/s at which a full queue would drain in each run; missing unless the capacity is the link's constant rate."""
    rate, capacity = runs["rate_mbps"].astype(float), runs["capacity_mbps"].astype(float)
    return rate.where((rate > 0) & (np.isclose(capacity, rate) | np.isclose(capacity, rate * runs["paths"])))
