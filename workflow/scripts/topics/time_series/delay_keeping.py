"""What CCAs without teeth keep: Vegas its packets in the queue, BBR its looks for a smaller RTT.

Series are samples as `window_series.valid_series` yields them, measures rows of `tables.SAWTOOTH`.
"""

import numpy as np
import pandas as pd

from tcp_models.linux_ccas import BBR_PROBE_RTT_EVERY_S, BBR_PROBE_RTT_PACKETS, VEGAS_ALPHA_PACKETS, VEGAS_BETA_PACKETS
from topics.time_series.phases import AVOIDANCE, PROBE_RTT, phase_of_samples
from topics.time_series.window_measures import measure
from topics.time_series.window_series import flows_of

#: Window below which Vegas doesn't go.
VEGAS_LEAST_PACKETS = 2


def vegas_measures(series, paths_ms, ends_s) -> list[list]:
    """Return what each Vegas flow keeps in the queue, in the second half of its time.

    In the first half it may still come down from slow start, by a packet a round trip.

    Parameters
    ----------
    series : pandas.DataFrame
        With rtt_ms, rtt_min_ms, vegas_rtt_ms (baseRTT: `tcpv_rtt`), vegas_rtt_min_ms (the smallest of the latest round
        trip: `tcpv_minrtt`), and `phases.COLUMNS`. Where Vegas has no measurement of its own TCP's are taken.
    paths_ms : dict
        Scenario and flow -> RTT of its empty path.
    ends_s : dict
        Scenario -> end of the traffic, in s: samples after it aren't looked at.
    """
    rows, band = [], (VEGAS_ALPHA_PACKETS, VEGAS_BETA_PACKETS)
    for key, samples in flows_of(series[series["flow_cca"] == "vegas"]):
        path_ms, end_s = paths_ms[key["scenario"], key["flow"]], ends_s[key["scenario"]]
        middle = (samples["time_s"].iloc[0] + min(end_s, samples["time_s"].iloc[-1])) / 2
        calm = np.asarray(phase_of_samples(samples) == AVOIDANCE)
        samples = samples[calm & samples["time_s"].between(middle, end_s)]
        if samples.empty:
            continue
        cwnd, rtt, lowest, base, now = (
            samples[name].to_numpy(float)
            for name in ("cwnd_packets", "rtt_ms", "rtt_min_ms", "vegas_rtt_ms", "vegas_rtt_min_ms")
        )
        base = np.where(np.isnan(base), lowest, base)
        now = np.maximum(np.where(np.isnan(now), rtt, now), base)
        believed = cwnd * (1 - base / np.maximum(rtt, base))
        # A whole number in Linux.
        diff = np.floor(cwnd * (now - base) / base + 1e-9)
        rows += [
            measure(key, "queued as believed", len(samples), believed.mean(), *band),
            measure(key, "Diff", len(samples), diff.mean(), *band),
            measure(key, "queued", len(samples), (cwnd * (1 - path_ms / np.maximum(rtt, path_ms))).mean()),
            measure(key, "RTT taken for the empty path's", len(samples), base.mean() / path_ms, 1.0, 1.0),
            measure(key, "cwnd at its least", len(samples), 100 * (cwnd <= VEGAS_LEAST_PACKETS).mean()),
        ]
    return rows


def probe_rtts(samples) -> pd.DataFrame:
    """Return when a BBR flow was in ProbeRTT, and how small its window got there: begin_s, end_s, least_cwnd_packets.

    One that goes on in the last sample has no end and is left out.
    """
    probing = np.asarray(phase_of_samples(samples) == PROBE_RTT)
    begins = np.flatnonzero(probing & ~np.r_[False, probing[:-1]])
    ends = np.flatnonzero(~probing & np.r_[False, probing[:-1]])
    time, cwnd = samples["time_s"].to_numpy(), samples["cwnd_packets"].to_numpy(float)
    rows = [(time[begin], time[end], cwnd[begin:end].min()) for begin, end in zip(begins, ends, strict=False)]
    return pd.DataFrame(rows, columns=["begin_s", "end_s", "least_cwnd_packets"], dtype=float)


def probe_measures(series) -> list[list]:
    """Return when each BBR flow looks for a smaller RTT, from the end of one look to the beginning of the next."""
    rows, every_s, floor = [], BBR_PROBE_RTT_EVERY_S, BBR_PROBE_RTT_PACKETS
    for key, samples in flows_of(series[series["flow_cca"] == "bbr"]):
        probes = probe_rtts(samples)
        if len(probes) > 1:
            between = (probes["begin_s"] - probes["end_s"].shift()).dropna()
            rows.append(measure(key, "time between ProbeRTTs", len(between), between.mean(), every_s, every_s))
        if len(probes):
            lasted, cwnd = probes["end_s"] - probes["begin_s"], probes["least_cwnd_packets"]
            rows.append(measure(key, "cwnd in ProbeRTT", len(probes), cwnd.mean(), floor, floor))
            rows.append(measure(key, "time in ProbeRTT", len(probes), lasted.mean()))
    return rows
