"""What flows do in a phase of their path: how soon they use its rate, what they queue and lose, what they believe of it."""

from itertools import pairwise

import numpy as np

#: Share of what a path can deliver from which on it is used, and the time over which that is looked at, in RTTs and at least in s.
USED, USED_RTTS, USED_LEAST_S = 0.9, 4, 0.2
#: How far the least RTT that a CCA believes in may be from the path's.
NEAR = 0.05
#: Column of a CCA's own least RTT.
LEAST_RTT = {"bbr": "bbr_rtt_min_ms", "vegas": "vegas_rtt_ms"}
#: Columns of the time series that are read.
SOCKET_COLUMNS = ["flow", "flow_cca", "time_s", "bytes_acked", "sacked_packets", "retransmits", *LEAST_RTT.values()]
QUEUE_COLUMNS = ["time_s", "drops", "delay_ms"]


def delivered_mbit(samples, mss_bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return (times in s, what had been delivered of all flows by then in Mbit) of a run's samples of its sockets."""
    delivered = samples["bytes_acked"].fillna(0) + samples["sacked_packets"].fillna(0) * mss_bytes
    total = delivered.groupby(samples["time_s"]).sum().sort_index()
    # Selective acknowledgements may be forgotten (RFC 2018, section 8), deliveries are not.
    return total.index.to_numpy(float), np.maximum.accumulate(total.to_numpy(float) * 8e-6)


def measures_of(phase, samples, queue, run) -> dict[str, float]:
    """Return `tables.MEASURES` of a phase of a run; what there is none of is missing.

    Parameters
    ----------
    phase : phases.Phase
    samples, queue : pandas.DataFrame
        The run's time series of sockets and of the bottleneck's queue.
    run : dict
        Its row of ``tidy/runs.csv``.
    """
    times, delivered = delivered_mbit(samples, run["mss_bytes"])
    waiting = queue[(queue["time_s"] >= phase.begin_s) & (queue["time_s"] < phase.end_s)]
    drops = queue[queue["time_s"] < phase.end_s]["drops"].max() - queue[queue["time_s"] <= phase.begin_s]["drops"].max()
    payload = run["mss_bytes"] / run["packet_bytes"]
    begin_s, end_s = max(phase.begin_s, times[0]), min(phase.end_s, times[-1])
    got = np.interp(end_s, times, delivered) - np.interp(begin_s, times, delivered)
    known = phase.rates[0][1] is not None and not phase.down and end_s > begin_s
    return {
        "utilisation_percent": 100 * got / (phase.capacity_mbit(begin_s, end_s) * payload) if known else np.nan,
        "used_s": used_s(phase, times, delivered, payload) if known and not phase.traced else np.nan,
        "queue_mean_ms": waiting["delay_ms"].mean(),
        "queue_max_ms": waiting["delay_ms"].max(),
        "queue_drops": drops,
        "retransmits": _sent_again(samples, phase),
        "believed_s": believed_s(phase, samples) if phase.longer else np.nan,
    }


def used_s(phase, times, delivered, payload) -> float:
    """Return after how many s of a phase its rate was used (see `tables.MEASURES`); missing if it never was.

    Parameters
    ----------
    times, delivered : numpy.ndarray, shape (n,)
        Of samples, in s, and what had been delivered by then, in Mbit.
    payload : float
        Share of the rate that payload can have.
    """
    over_s = max(USED_RTTS * phase.rtt_path_ms / 1e3, USED_LEAST_S)
    for at_s in times[(times >= phase.begin_s + over_s) & (times <= phase.end_s)]:
        got, before = np.interp([at_s, at_s - over_s], times, delivered)
        if got - before >= USED * payload * phase.capacity_mbit(at_s - over_s, at_s):
            return float(at_s - phase.begin_s)
    return np.nan


def believed_s(phase, samples) -> float:
    """Return after how many s of a phase all flows whose CCA keeps a least RTT had that of the path, within `NEAR`."""
    latest = []
    for cca, column in LEAST_RTT.items():
        own = samples[samples["flow_cca"] == cca]
        for _, flow in own[(own["time_s"] >= phase.begin_s) & (own["time_s"] < phase.end_s)].groupby("flow"):
            near = flow[(flow[column] / phase.rtt_path_ms - 1).abs() <= NEAR]["time_s"]
            latest.append(near.iloc[0] - phase.begin_s if len(near) else np.nan)
    return float(max(latest)) if latest and not np.isnan(latest).any() else np.nan


def _sent_again(samples, phase):
    """Return how many segments all flows sent again in a phase."""
    counts = [
        samples[samples["time_s"] < at_s].groupby("flow")["retransmits"].max().sum()
        for at_s in (phase.begin_s, phase.end_s)
    ]
    (again,) = (end - begin for begin, end in pairwise(counts))
    return again
