"""Measure CCAs whose congestion window shows no sawtooth: the packets that Vegas keeps queued, and BBR's probes for the minimum RTT.

Series are samples from `window_series.valid_series`; measures are rows of `tables.SAWTOOTH`.
"""

import numpy as np
import pandas as pd

from run_tables.run_keys import RUN
from tcp_models.linux_ccas import BBR_PROBE_RTT_EVERY_S, BBR_PROBE_RTT_PACKETS, VEGAS_ALPHA_PACKETS, VEGAS_BETA_PACKETS
from topics.time_series.phases import AVOIDANCE, PROBE_BW, PROBE_RTT, phase_of_samples
from topics.time_series.window_measures import measure, why_no_theory
from topics.time_series.window_series import flows_of
from topics.time_series.window_theory import bbr_window_packets, probe_rtt_s

#: Minimum congestion window of Vegas, in packets.
VEGAS_LEAST_PACKETS = 2
#: A congestion window that hasn't changed for this many round trips has settled; until then, Vegas changes it in every round trip.
REST_ROUND_TRIPS = 3
OF_VEGAS = ("queued as believed", "Diff", "queued", "RTT assumed for the empty path", "cwnd at its least")


def vegas_measures(series, paths_ms, ends_s) -> list[list]:
    """Return the measures `OF_VEGAS` of each Vegas flow, computed from the samples in which the flow has settled.

    Linux truncates Diff to a whole number, so an exact value of almost `VEGAS_BETA_PACKETS` + 1 is still within bounds. The number of
    packets in the queue is Diff divided by the ratio of the RTT to the base RTT.

    Parameters
    ----------
    series : pandas.DataFrame
        Columns rtt_ms, rtt_min_ms, vegas_rtt_ms (baseRTT: `tcpv_rtt`), vegas_rtt_min_ms (the minimum RTT in the latest round trip:
        `tcpv_minrtt`), and `phases.COLUMNS`. If Vegas's measurement is missing, TCP's measurement is used.
    paths_ms : dict
        Run and flow -> the flow's base RTT.
    ends_s : dict
        Scenario -> end of the traffic in s; later samples are ignored.
    """
    rows = []
    for key, samples in flows_of(series[series["flow_cca"] == "vegas"]):
        path_ms, end_s = paths_ms[tuple(key[name] for name in (*RUN, "flow"))], ends_s[key["scenario"]]
        samples = samples[samples["time_s"] <= end_s]
        samples = samples[is_settled(samples)]
        if samples.empty:
            note = f"not settled: the window was never constant for {REST_ROUND_TRIPS} round trips and never changed direction"
            rows += [measure(key, name, 0, np.nan, note=note) for name in OF_VEGAS]
            continue
        cwnd, rtt, lowest, base, now = (
            samples[name].to_numpy(float)
            for name in ("cwnd_packets", "rtt_ms", "rtt_min_ms", "vegas_rtt_ms", "vegas_rtt_min_ms")
        )
        base = np.where(np.isnan(base), lowest, base)
        now = np.maximum(_least_of_round_trip(samples["time_s"], np.where(np.isnan(now), rtt, now), rtt), base)
        # Linux uses integer arithmetic.
        diff = np.floor(cwnd * (now - base) / base + 1e-9)
        share = (base / now).mean()
        values = (
            ((cwnd * (1 - base / now)).mean(), VEGAS_ALPHA_PACKETS * share, (VEGAS_BETA_PACKETS + 1) * share),
            (diff.mean(), VEGAS_ALPHA_PACKETS, VEGAS_BETA_PACKETS),
            ((cwnd * (1 - path_ms / np.maximum(rtt, path_ms))).mean(), None, None),
            (base.mean() / path_ms, 1.0, 1.0),
            (100 * (cwnd <= VEGAS_LEAST_PACKETS).mean(), None, None),
        )
        rows += [measure(key, name, len(samples), *value) for name, value in zip(OF_VEGAS, values, strict=True)]
    return rows


def _least_of_round_trip(time_s, values, rtt_ms):
    """Return, for each sample, the minimum value in the round trip before this sample.

    The sample itself may have been taken before the minimum RTT of its round trip occurred.
    """
    window = pd.Timedelta(np.median(rtt_ms), "ms")
    return pd.Series(values, pd.to_timedelta(time_s, "s")).rolling(window, closed="both").min().to_numpy()


def is_settled(samples) -> np.ndarray:
    """Return a mask of the samples in which a Vegas flow has settled.

    After slow start and after each loss, the congestion window moves towards its target by one packet per round trip. The flow has settled
    once the window hasn't changed for `REST_ROUND_TRIPS` round trips, or once the window changes in the opposite direction.
    """
    time, cwnd, rtt = (samples[name].to_numpy(float) for name in ("time_s", "cwnd_packets", "rtt_ms"))
    calm = np.asarray(phase_of_samples(samples) == AVOIDANCE)
    settled = np.zeros(len(samples), bool)
    there, changed_s, direction = False, np.inf, 0.0
    for at in range(len(samples)):
        if not calm[at]:
            there, changed_s, direction = False, np.inf, 0.0
            continue
        step = np.sign(cwnd[at] - cwnd[at - 1]) if at and calm[at - 1] else 0.0
        if step or changed_s == np.inf:
            there |= bool(step * direction < 0)
            changed_s, direction = time[at], step or direction
        there |= bool(time[at] - changed_s > REST_ROUND_TRIPS * rtt[at] / 1000)
        settled[at] = there
    return settled


def _recovers(samples):
    """Return a mask of the samples that were taken during loss recovery."""
    return samples["state"].isin(("recovery", "loss")).to_numpy()


def probe_rtts(samples) -> pd.DataFrame:
    """Return a BBR flow's spells in ProbeRTT, with the columns begin_s, end_s and least_cwnd_packets (minimum congestion window).

    A spell that hasn't ended by the last sample is excluded.
    """
    probing = np.asarray(phase_of_samples(samples) == PROBE_RTT)
    begins = np.flatnonzero(probing & ~np.r_[False, probing[:-1]])
    ends = np.flatnonzero(~probing & np.r_[False, probing[:-1]])
    # The congestion window is smaller during loss recovery, so these samples don't count.
    cwnd = np.where(_recovers(samples), np.inf, samples["cwnd_packets"].to_numpy(float))
    time = samples["time_s"].to_numpy()
    rows = [(time[begin], time[end], cwnd[begin:end].min()) for begin, end in zip(begins, ends, strict=False)]
    return pd.DataFrame(rows, columns=["begin_s", "end_s", "least_cwnd_packets"], dtype=float).replace(np.inf, np.nan)


def bbr_measures(series, paths) -> list[list]:
    """Return the measures of each BBR flow in ProbeRTT, between successive ProbeRTTs, and in ProbeBW.

    Parameters
    ----------
    series : pandas.DataFrame
        Columns rtt_ms, bbr_bw_mbps and `phases.COLUMNS`.
    paths : dict
        Run -> `TheoryPath`, or a text with the reason why theory doesn't apply.
    """
    rows, every_s, floor = [], BBR_PROBE_RTT_EVERY_S, BBR_PROBE_RTT_PACKETS
    for key, samples in flows_of(series[series["flow_cca"] == "bbr"]):
        path = paths[tuple(key[name] for name in RUN)]
        note = why_no_theory(path)
        known = not note
        probes = probe_rtts(samples)
        if len(probes) > 1:
            between = (probes["begin_s"] - probes["end_s"].shift()).dropna()
            rows.append(measure(key, "time between ProbeRTTs", len(between), between.mean(), every_s, every_s))
        if len(probes):
            lasted, cwnd = probes["end_s"] - probes["begin_s"], probes["least_cwnd_packets"]
            rows.append(measure(key, "cwnd in ProbeRTT", len(probes), cwnd.mean(), floor, floor))
            stay = probe_rtt_s(path) if known else (None, None)
            rows.append(measure(key, "time in ProbeRTT", len(probes), lasted.mean(), *stay, note))
        steady = samples[np.asarray(phase_of_samples(samples) == PROBE_BW) & ~_recovers(samples)]
        if len(steady):
            window = bbr_window_packets(path) if known else None
            rate = path.rate_mbps * path.mss_bytes / path.frame_bytes if known else None
            # The packets of the window in excess of the BDP may be queued.
            waiting = (0.0, window / (path.packets_per_s * path.base_rtt_s) - 1) if known else (None, None)
            queue = steady["rtt_ms"].mean() / path.base_rtt_ms - 1 if known else np.nan
            rows += [
                measure(key, "bandwidth estimate", len(steady), steady["bbr_bw_mbps"].mean(), rate, rate, note),
                measure(key, "cwnd in ProbeBW", len(steady), steady["cwnd_packets"].mean(), window, window, note),
                measure(key, "queue in ProbeBW", len(steady), queue, *waiting, note),
            ]
    return rows
