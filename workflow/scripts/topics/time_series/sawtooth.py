"""The teeth of a flow's congestion window: the growth of each tooth, and the share of the window that remains after a loss.

A tooth is the period between two successive reductions of cwnd: recovery from the first reduction, then congestion avoidance until the
second. A period that contains a timeout or slow start is not a tooth, nor is the period before the first reduction or after the last one.

The first tooth after slow start isn't in the steady state, because it begins with the last congestion window of slow start. With CUBIC, the
second tooth isn't in the steady state either, because fast convergence compares the window at the beginning of this tooth with the last
window of slow start.
"""

from itertools import pairwise

import numpy as np
import pandas as pd

from topics.time_series.phases import AVOIDANCE, LOSS, RECOVERY, SLOW_START, phase_of_samples
from topics.time_series.tables import TEETH
from topics.time_series.window_series import flows_of

#: CCAs whose congestion window shows no teeth by design: they respond to delay or to a model of the path.
TOOTHLESS = ("bbr", "vegas", "nv", "cdg")
#: CCA -> number of teeth after slow start or a timeout that aren't in the steady state; 1 for other CCAs.
UNSTEADY = {"cubic": 2}
#: Minimum number of round trips for which the growth per RTT is calculated: over fewer, growth in whole packets is too coarse.
LEAST_ROUND_TRIPS = 3


def teeth(series) -> pd.DataFrame:
    """Return `TEETH` for all flows whose CCA produces teeth.

    ``series`` comes from `window_series.valid_series`, with rtt_ms and `phases.COLUMNS`.
    """
    rows = []
    series = series[~series["flow_cca"].isin(TOOTHLESS)]
    phase = np.asarray(phase_of_samples(series).astype(str))
    start = 0
    for key, samples in flows_of(series):
        end = start + len(samples)
        rows += [key | tooth for tooth in _flow_teeth(samples, phase[start:end], key["flow_cca"])]
        start = end
    return pd.DataFrame(rows, columns=TEETH.names)


def _flow_teeth(samples, phase, cca):
    """Yield the teeth of one flow, each as a dict with columns of `TEETH`; `phase` gives the phase of each sample."""
    time, cwnd, ssthresh, rtt = (
        samples[name].to_numpy(float) for name in ("time_s", "cwnd_packets", "ssthresh_packets", "rtt_ms")
    )
    since_start = -1
    for before, cut in pairwise(reductions(cwnd, ssthresh, phase)):
        since_start += 1
        inside = _avoidance(phase, before, cut)
        if inside is None:
            if {LOSS, SLOW_START} & set(phase[before:cut]):
                since_start = -1
            continue
        yield {
            "steady": since_start >= UNSTEADY.get(cca, 1),
            "mean_packets": np.average(cwnd[before:cut], weights=np.diff(time[before : cut + 1])),
            "begin_s": time[before], "end_s": time[cut], "avoidance_begin_s": time[inside],
            "trough_packets": cwnd[inside], "peak_packets": cwnd[cut - 1], "left_packets": ssthresh[cut],
            "left_ratio": ssthresh[cut] / cwnd[cut - 1], "period_s": time[cut] - time[before],
        } | _growth(time[inside:cut], cwnd[inside:cut], rtt[inside:cut])  # fmt: skip


def reductions(cwnd, ssthresh, phase) -> np.ndarray:
    """Return the index of the first sample after each reduction of cwnd; a flow's first sample is never returned.

    A reduction is visible as the beginning of recovery. If recovery ended before the next sample or the platform doesn't report recovery,
    a reduction is visible as a smaller cwnd than in the previous sample, together with a different ssthresh or with a cwnd that has fallen
    to ssthresh.
    """
    recovering = np.isin(phase, (RECOVERY, LOSS))
    begins = recovering[1:] & ~recovering[:-1]
    known, fell = ~np.isnan(ssthresh[1:]), cwnd[1:] < cwnd[:-1]
    other = ssthresh[1:] != ssthresh[:-1]
    down_to = (np.abs(cwnd[1:] - ssthresh[1:]) <= 1) & (cwnd[:-1] > ssthresh[1:] + 1)
    unseen = ~recovering[1:] & ~recovering[:-1] & known & fell & (other | down_to)
    return np.flatnonzero(begins | unseen) + 1


def _avoidance(phase, before, cut):
    """Return the index of the sample at which congestion avoidance begins between two reductions; None if no tooth lies between them."""
    between = phase[before:cut]
    if LOSS in between or SLOW_START in between or between[-1] != AVOIDANCE:
        return None
    other = np.flatnonzero(between != AVOIDANCE)
    inside = before + (other[-1] + 1 if len(other) else 0)
    return inside if cut - inside >= 2 else None


def _growth(time, cwnd, rtt):
    """Return the number of round trips in a tooth's congestion avoidance, and the growth of cwnd during these round trips.

    Both are counted up to the last step of cwnd, because growth after that step isn't visible: cwnd changes only in whole packets.
    """
    steps = np.flatnonzero(np.diff(cwnd)) + 1
    last = steps[-1] if len(steps) else 0
    round_trips = float(np.trapezoid(1000 / rtt[: last + 1], time[: last + 1])) if (rtt > 0).all() else np.nan
    growth = cwnd[last] - cwnd[0] if round_trips >= LEAST_ROUND_TRIPS else None
    return {"round_trips": round_trips, "growth_packets": growth}
