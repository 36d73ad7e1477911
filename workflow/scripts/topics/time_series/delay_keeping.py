"""What CCAs without teeth keep: Vegas its packets in the queue, BBR its looks for a smaller RTT."""

import numpy as np
import pandas as pd

from topics.time_series.phases import AVOIDANCE, PROBE_RTT, phase_of_samples
from topics.time_series.window_series import FLOW, flows_of

VEGAS_COLUMNS = (
    "samples", "base_rtt_ms", "queued_believed_packets", "queued_packets", "diff", "least_cwnd_percent",
)  # fmt: skip
PROBE_COLUMNS = ("begin_s", "end_s", "since_last_s", "least_cwnd_packets")


def vegas_queueing(series, paths_ms, ends_s, least_packets=2) -> pd.DataFrame:
    """Return what each Vegas flow keeps in the queue, in the second half of its time.

    In the first half it may still come down from slow start, by a packet a round trip.

    Parameters
    ----------
    series : pandas.DataFrame
        With `window_series.FLOW`, flow_cca, time_s, rtt_ms, rtt_min_ms, vegas_rtt_ms (baseRTT: `tcpv_rtt`), vegas_rtt_min_ms
        (the smallest of the latest round trip: `tcpv_minrtt`), and `phases.COLUMNS`.
    paths_ms : dict
        Scenario and flow -> RTT of its empty path.
    ends_s : dict
        Scenario -> end of the traffic, in s: samples after it aren't looked at.
    least_packets : int
        Window below which Vegas doesn't go.

    Returns
    -------
    pandas.DataFrame
        A row a flow: `FLOW`, flow_cca, samples (number), base_rtt_ms (the mean of what Vegas takes for the empty path's
        RTT), means of cwnd (1 - base / RTT), packets queued as the flow believes; of cwnd (1 - path / RTT), those that it
        really has there; of Linux' Diff, cwnd (min - base) / base as a whole number, and the share of samples with
        cwnd at `least_packets`, in percent.
    """
    rows = []
    series = series[(series["flow_cca"].astype(object) == "vegas").to_numpy()]
    for key, samples in flows_of(series):
        middle = (samples["time_s"].iloc[0] + min(ends_s[key["scenario"]], samples["time_s"].iloc[-1])) / 2
        calm = np.asarray(phase_of_samples(samples) == AVOIDANCE)
        samples = samples[calm & (samples["time_s"] >= middle) & (samples["time_s"] <= ends_s[key["scenario"]])]
        if samples.empty:
            continue
        cwnd, rtt, lowest, base, now = (
            samples[name].to_numpy(float)
            for name in ("cwnd_packets", "rtt_ms", "rtt_min_ms", "vegas_rtt_ms", "vegas_rtt_min_ms")
        )
        base = np.where(np.isnan(base), lowest, base)
        now = np.maximum(np.where(np.isnan(now), rtt, now), base)
        path_ms = paths_ms[key["scenario"], key["flow"]]
        values = (
            len(samples), base.mean(), (cwnd * (1 - base / np.maximum(rtt, base))).mean(),
            (cwnd * (1 - path_ms / np.maximum(rtt, path_ms))).mean(), np.floor(cwnd * (now - base) / base + 1e-9).mean(),
            100 * (cwnd <= least_packets).mean(),
        )  # fmt: skip
        rows.append(key | dict(zip(VEGAS_COLUMNS, values, strict=True)))
    return pd.DataFrame(rows, columns=[*FLOW, "flow_cca", *VEGAS_COLUMNS])


def probe_rtts(series) -> pd.DataFrame:
    """Return when each BBR flow was in ProbeRTT, and how small its window got there.

    Parameters
    ----------
    series : pandas.DataFrame
        With `window_series.FLOW`, flow_cca, time_s and `phases.COLUMNS`.

    Returns
    -------
    pandas.DataFrame
        A row a ProbeRTT: `FLOW`, flow_cca, begin_s, end_s, since_last_s (from the end of the one before; missing for the
        first) and least_cwnd_packets.
    """
    rows = []
    series = series[(series["flow_cca"].astype(object) == "bbr").to_numpy()]
    for key, samples in flows_of(series):
        probing = np.asarray(phase_of_samples(samples) == PROBE_RTT)
        # One that goes on in the last sample has no end.
        begins = np.flatnonzero(probing & ~np.r_[False, probing[:-1]])
        ends = np.flatnonzero(~probing & np.r_[False, probing[:-1]])
        time, cwnd, last = samples["time_s"].to_numpy(), samples["cwnd_packets"].to_numpy(float), None
        for begin, end in zip(begins, ends, strict=False):
            since = None if last is None else time[begin] - last
            values = (time[begin], time[end], since, cwnd[begin:end].min())
            rows.append(key | dict(zip(PROBE_COLUMNS, values, strict=True)))
            last = time[end]
    return pd.DataFrame(rows, columns=[*FLOW, "flow_cca", *PROBE_COLUMNS])
