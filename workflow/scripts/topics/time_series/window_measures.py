"""Measures of each flow's congestion window, with the values that theory predicts: rows of `tables.SAWTOOTH`."""

import numpy as np
import pandas as pd

from tcp_models.linux_ccas import LEFT
from tcp_models.window_laws import ACKNOWLEDGED_AT_ONCE, left_packets
from topics.time_series.window_theory import TheoryPath, steady_tooth
from wording.number_format import rounded

#: Quantity -> unit, and the verdict's tolerance for effects outside the theory, as a percentage of the ends of the range (None if there
#: is no verdict).
QUANTITIES = {
    "left by a loss": ("of the peak", 3),
    "peak": ("packets", 3),
    "mean over a tooth": ("packets", 3),
    "growth": ("packets per round trip", 3),
    "time between losses": ("s", 3),
    "queued as believed": ("packets", 3),
    "queued": ("packets", None),
    "Diff": ("packets", 3),
    "RTT assumed for the empty path": ("of the path's", 3),
    "cwnd at its least": ("% of samples", None),
    "time between ProbeRTTs": ("s", 3),
    "cwnd in ProbeRTT": ("packets", 3),
    "time in ProbeRTT": ("s", 3),
    "bandwidth estimate": ("Mbit/s", 3),
    "cwnd in ProbeBW": ("packets", 3),
    "queue in ProbeBW": ("BDP", 3),
}
#: Minimum number of teeth for a meaningful mean.
LEAST_TEETH = 2
#: If a buffer holds fewer than this number of bursts, its overflow depends on the bursts and not on the number of packets in flight.
LEAST_BURSTS = 3


def buffer_packets(run) -> float | None:
    """Return the capacity of the bottleneck's queue in full packets, or None if it is unknown; ``run`` is a row of ``tidy/runs.csv``."""
    if not pd.isna(run["queue_packets"]):
        return float(run["queue_packets"])
    known = run["queue_bytes"] > 0 and run["packet_bytes"] > 0
    return run["queue_bytes"] // run["packet_bytes"] if known else None


def path_of(run, scenario, flows, is_disturbed=False) -> TheoryPath | str:
    """Return the bottleneck as a `TheoryPath`, or a text that says why theory doesn't describe the teeth on this path.

    Parameters
    ----------
    run, scenario : mapping
        Rows of ``tidy/runs.csv`` and ``tidy/scenarios.csv``.
    flows : pandas.DataFrame
        The run's rows of ``tidy/flows.csv``.
    is_disturbed : bool
        Whether the scenario is one of `topic.disturbed_scenarios`.
    """
    sized = run["packet_bytes"] > 0 and run["mss_bytes"] > 0
    buffer = buffer_packets(run)
    random_loss = run["loss_configured_percent"] > 0 or scenario["loss_reverse_percent"] > 0
    jitter = scenario["jitter_forward_ms"] > 0 or scenario["jitter_reverse_ms"] > 0
    obstacles = (
        (len(flows) > 1, "several flows: the window of a flow depends on the other flows"),
        (is_disturbed, "other traffic shares the path, or the flow has a limited rate or pauses"),
        (random_loss, "random loss: teeth end for reasons other than a full queue"),
        (jitter, "jitter: packets overtake one another"),
        (str(run["platform"]).startswith("ns3"), "the theory is for Linux, but this is ns-3"),
        (scenario["topology"] != "dumbbell", "the queue is in the sender, which learns of the drops"),
        (scenario["netem"] != "receiving-side", "the queue also holds the packets on the path"),
        (scenario["discipline"] != "drop-tail", "active queue management: the queue drops or marks before it is full"),
        (bool(scenario["segmentation_offload"]), "segmentation offload: a queue of super-packets"),
        (scenario["bitrate_mbps"] > 0, "the sender is limited to a rate"),
        (bool(scenario["host_options"]), "the hosts' TCP settings aren't the kernel's defaults"),
        (bool(scenario["link_options"]), "the path changes, is policed, or has other options"),
        (not sized, "the size of a packet isn't known"),
        (not flows["rtt_path_ms"].iloc[0] > 0, "the path has no delay"),
        (not run["rate_mbps"] > 0 or buffer is None, "the bottleneck has no rate or no limit in packets"),
    )
    for there, words in obstacles:
        if there:
            return words
    packet, segment = int(run["packet_bytes"]), int(run["mss_bytes"])
    return TheoryPath(run["rate_mbps"], flows["rtt_path_ms"].iloc[0], int(buffer), packet, segment)


def tooth_measures(key, teeth, path) -> list[list]:
    """Return the measures of a flow's steady teeth, which are means over teeth.

    For Reno, there is also the growth per round trip: the total growth divided by the total number of round trips.

    Parameters
    ----------
    key : dict
        The columns that identify the flow, as `window_series.flows_of` yields them.
    teeth : pandas.DataFrame
        `TEETH` of the flow.
    path : TheoryPath or str
        Result of `path_of`.
    """
    # If there are no teeth at all, the column isn't boolean.
    cca, steady = key["flow_cca"], teeth[teeth["steady"].astype(bool)]
    if cca == "cubic":
        # Teeth with and without fast convergence may alternate, so only an even number of teeth is used.
        steady = steady.iloc[len(steady) % 2 :]
    note = _why_no_teeth(path, len(steady), len(teeth)) if cca in LEFT else ""
    peaks, means, periods, left = (None, None), (None, None), (None, None), (None, None)
    if cca in LEFT and not note:
        theory = steady_tooth(cca, path)
        means, periods = [theory.mean_packets] * 2, [theory.period_s] * 2
        # The acknowledgement that reveals the loss may also increase cwnd, depending on delayed acknowledgements.
        peaks = theory.peak_packets, theory.peak_packets + 1
    if cca in LEFT and len(steady):
        # cwnd may have grown by one more packet since the sample.
        left = [
            np.mean([left_packets(cca, int(peak) + unseen) / peak for peak in steady["peak_packets"]])
            for unseen in (0, 1)
        ]
    rows = [
        measure(key, "left by a loss", len(steady), steady["left_ratio"].mean(), *left),
        measure(key, "peak", len(steady), steady["peak_packets"].mean(), *peaks, note),
        measure(key, "mean over a tooth", len(steady), _weighted_mean(steady), *means, note),
        measure(key, "time between losses", len(steady), steady["period_s"].mean(), *periods, note),
    ]
    grown = steady.dropna(subset=["growth_packets"])
    if cca == "reno" and len(grown):
        growth = grown["growth_packets"].sum() / grown["round_trips"].sum()
        # Up to one packet less than a burst may be held back, waiting for the rest of the burst or for a delayed acknowledgement.
        burst = ACKNOWLEDGED_AT_ONCE if isinstance(path, str) else path.burst_packets
        rows.append(measure(key, "growth", len(grown), growth, 1 - (burst - 1) / _weighted_mean(grown), 1.0))
    return rows


def _why_no_teeth(path, steady, teeth):
    """Return, in words, why theory doesn't describe a flow's teeth; "" if it does."""
    few = (
        f"too few steady teeth: {steady} of {teeth}; at least {LEAST_TEETH} are needed" if steady < LEAST_TEETH else ""
    )
    return why_no_theory(path) or few


def why_no_theory(path) -> str:
    """Return, in words, why theory doesn't describe a flow's congestion window; "" if it does. ``path`` comes from `path_of`."""
    if isinstance(path, str):
        return path
    if path.buffer_packets >= LEAST_BURSTS * path.burst_packets:
        return ""
    return (
        f"a buffer of {path.buffer_packets} packets is shorter than {LEAST_BURSTS} bursts: "
        f"Linux sends {rounded(path.burst_packets, 2)} packets at once"
    )


def _weighted_mean(teeth):
    """Return the mean congestion window in packets, weighted by the durations of the teeth."""
    return np.average(teeth["mean_packets"], weights=teeth["period_s"]) if len(teeth) else np.nan


def measure(flow, quantity, n, measured, theory_low=None, theory_high=None, note="") -> list:
    """Return a row of `SAWTOOTH`; `flow` identifies the flow, as `window_series.flows_of` yields it."""
    measured = float(measured) if np.isfinite(measured) else None
    return [*flow.values(), quantity, QUANTITIES[quantity][0], n, measured, theory_low, theory_high, note]
