"""Measure how flows respond in one phase of a changing path.

The measures are the time until the rate is used, the queueing delay, the losses, and the time until the CCAs know the RTT.
"""

from itertools import pairwise

import numpy as np
import pandas as pd

from experiment.flow_groups import REVERSE

#: A path counts as used once goodput reaches this share of its capacity, averaged over this number of RTTs, but over at least this time
#: (s).
USED, USED_RTTS, USED_LEAST_S = 0.9, 4, 0.2
#: A CCA counts as knowing the base RTT if the minimum RTT that it keeps deviates from the base RTT by at most this share.
NEAR = 0.05
#: CCA -> column with the minimum RTT that the CCA keeps.
LEAST_RTT = {"bbr": "bbr_rtt_min_ms", "vegas": "vegas_rtt_ms"}
#: Columns to read from the time series.
SOCKET_COLUMNS = [
    "flow",
    "path",
    "flow_cca",
    "time_s",
    "bytes_acked",
    "sacked_packets",
    "retransmits",
    *LEAST_RTT.values(),
]
QUEUE_COLUMNS = ["time_s", "drops", "delay_ms"]


def delivered_bytes(samples, mss_bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return the sample times of a run in s, and the number of bytes that all flows had delivered by each time.

    ``samples`` are the samples of the run's sockets. A socket that was closed has no more samples, but its data count.
    """
    delivered = (samples["bytes_acked"].fillna(0) + samples["sacked_packets"].fillna(0) * mss_bytes).to_numpy(float)
    at_s = samples["time_s"].to_numpy(float)
    times, total = np.unique(at_s), 0.0
    for rows in samples.groupby([*_sockets(samples)]).indices.values():
        latest = np.searchsorted(at_s[rows], times, side="right") - 1
        total += np.where(latest < 0, 0.0, delivered[rows][latest])
    # Selective acknowledgements may be revoked (RFC 2018, section 8), but the delivered amount can't decrease.
    return times, np.maximum.accumulate(np.broadcast_to(total, times.shape))


def _sockets(samples):
    """Return the keys of the samples' sockets: the flow and, for MPTCP, the path (otherwise 0)."""
    return samples["flow"], samples["path"].fillna(0)


def of_forward_flows(samples, flows) -> pd.DataFrame:
    """Return the samples of those flows in a run that send in the direction of the path's capacity.

    ``flows`` are the run's rows of ``tidy/flows.csv``.
    """
    return samples[~samples["flow"].isin(flows.loc[flows["direction"] == REVERSE, "flow"])]


def measures_of(phase, samples, queue) -> dict[str, float]:
    """Return `tables.MEASURES` for one phase of a run; unknown measures are nan.

    Parameters
    ----------
    phase : phases.Phase
    samples, queue : pandas.DataFrame
        The run's time series of sockets and of the bottleneck's queue.
    """
    times, delivered = delivered_bytes(samples, phase.run.segment_bytes)
    waiting = queue[(queue["time_s"] >= phase.begin_s) & (queue["time_s"] < phase.end_s)]
    drops = queue[queue["time_s"] < phase.end_s]["drops"].max() - queue[queue["time_s"] <= phase.begin_s]["drops"].max()
    return {
        "utilisation_percent": utilisation_percent(phase, times, delivered),
        "used_s": used_s(phase, times, delivered),
        "queue_mean_ms": waiting["delay_ms"].mean(),
        "queue_max_ms": waiting["delay_ms"].max(),
        "queue_drops": drops,
        "retransmits": _sent_again(samples, phase),
        "believed_s": believed_s(phase, samples) if phase.longer else np.nan,
    }


def utilisation_percent(phase, times, delivered) -> float:
    """Return the data delivered during a phase, as a percentage of the path's capacity (`share_percent`); nan while the path is down."""
    return np.nan if phase.down else share_percent(phase, times, delivered)


def share_percent(phase, times, delivered, begin_s=None, end_s=None) -> float:
    """Return the data delivered during a phase, as a percentage of the path's capacity.

    ``begin_s`` and ``end_s`` limit the calculation to part of the phase. Data and capacity are counted from the first to the last sample.
    The result is nan if the capacity is unlimited or there are fewer than two samples. ``times`` and ``delivered`` come from
    `delivered_bytes`.
    """
    begin_s, end_s = phase.begin_s if begin_s is None else begin_s, phase.end_s if end_s is None else end_s
    inside = np.flatnonzero((times >= begin_s) & (times <= end_s))
    if len(inside) < 2:
        return np.nan
    first, last = inside[0], inside[-1]
    share = phase.run.capacity.share_percent(delivered[last] - delivered[first], *_ns(times[[first, last]]))
    return np.nan if share is None else share


def _ns(times):
    return [round(1e9 * at_s) for at_s in times]


def used_s(phase, times, delivered) -> float:
    """Return the time in s until the phase's rate was used (see `tables.MEASURES`); nan if it was never used.

    The result is also nan if the path is down, its rate follows a trace, or its rate is unlimited. ``times`` and ``delivered`` come from
    `delivered_bytes`.
    """
    if phase.down or phase.traced or phase.run.capacity.is_unlimited():
        return np.nan
    over_s = max(USED_RTTS * phase.rtt_path_ms / 1e3, USED_LEAST_S)
    ends = times[(times >= phase.begin_s + over_s) & (times <= phase.end_s)]
    got = np.interp(ends, times, delivered) - np.interp(ends - over_s, times, delivered)
    for at_s, got_bytes in zip(ends, got, strict=True):
        if got_bytes >= USED * phase.run.capacity.known_bytes(*_ns([at_s - over_s, at_s])):
            return float(at_s - phase.begin_s)
    return np.nan


def believed_s(phase, samples) -> float:
    """Return the time in s until the minimum RTT kept by every flow's CCA was within `NEAR` of the base RTT; nan if it never was."""
    latest = []
    for cca, column in LEAST_RTT.items():
        own = samples[samples["flow_cca"] == cca]
        for _, flow in own[(own["time_s"] >= phase.begin_s) & (own["time_s"] < phase.end_s)].groupby("flow"):
            near = flow[(flow[column] / phase.rtt_path_ms - 1).abs() <= NEAR]["time_s"]
            latest.append(near.iloc[0] - phase.begin_s if len(near) else np.nan)
    return float(max(latest)) if latest and not np.isnan(latest).any() else np.nan


def _sent_again(samples, phase):
    """Return the number of segments that all flows retransmitted in a phase."""
    counts = [
        before["retransmits"].groupby([*_sockets(before)]).max().sum()
        for before in (samples[samples["time_s"] < at_s] for at_s in (phase.begin_s, phase.end_s))
    ]
    (again,) = (end - begin for begin, end in pairwise(counts))
    return again
