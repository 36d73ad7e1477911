"""What is measured of each flow's window, with what theory says of it: rows of `tables.SAWTOOTH`."""

import numpy as np
import pandas as pd

from tcp_models.linux_ccas import LEFT
from topics.time_series.window_series import FLOW
from topics.time_series.window_theory import Path, teeth_of

#: Quantity -> unit, and the verdict's tolerance for what theory leaves out, in percent of theory's ends (None without).
#: What is left of a window is rounded down to packets (2 % of 25). Growth is in whole packets. Peak and time between
#: losses: flows are neither all in step nor all in turn, and one overflow hits some of them. Vegas and BBR: samples,
#: and what other flows of the run do.
QUANTITIES = {
    "left by a loss": ("of the peak", 5),
    "peak": ("packets", 25),
    "growth": ("of theory's least", 15),
    "time between losses": ("s", 25),
    "queued as believed": ("packets", 10),
    "queued": ("packets", None),
    "Diff": ("packets", 10),
    "RTT taken for the empty path's": ("of the path's", 5),
    "cwnd at its least": ("% of samples", None),
    "time between ProbeRTTs": ("s", 10),
    "cwnd in ProbeRTT": ("packets", 5),
    "time in ProbeRTT": ("s", None),
}


def buffer_packets(run) -> float | None:
    """Return how many full packets the bottleneck's queue holds in a run, a row of ``tidy/runs.csv``; None if it isn't known."""
    if not pd.isna(run["queue_packets"]):
        return float(run["queue_packets"])
    known = run["queue_bytes"] > 0 and run["packet_bytes"] > 0
    return run["queue_bytes"] // run["packet_bytes"] if known else None


def shared_path(run, scenario, ccas, paths_ms) -> Path | None:
    """Return the bottleneck as theory sees it; None where theory doesn't say what a tooth's height and length are.

    It does so if flows of one CCA have one RTT, and if it is the full queue alone that drops their packets.

    Parameters
    ----------
    run, scenario : mapping
        Of ``tidy/runs.csv`` and ``tidy/scenarios.csv``.
    ccas : set of str
        Of the run's flows.
    paths_ms : set of float
        RTTs of their empty paths.
    """
    buffer = buffer_packets(run)
    lossy = run["loss_configured_percent"] > 0 or scenario["loss_reverse_percent"] > 0
    several = len(ccas) > 1 or len(paths_ms) > 1
    if several or lossy or buffer is None or not run["rate_mbps"] > 0 or not run["packet_bytes"] > 0:
        return None
    return Path(run["rate_mbps"], next(iter(paths_ms)), buffer, int(run["packet_bytes"]), int(run["flows"]))


def tooth_measures(teeth, paths) -> list[list]:
    """Return what each flow's teeth are like: means over them, of growth that of all over theory's least for all.

    Parameters
    ----------
    teeth : pandas.DataFrame
        `TEETH`.
    paths : dict
        Run (scenario, CCA, IP version, replication) -> `Path`, or None.
    """
    rows = []
    for key, group in teeth.groupby([*FLOW, "flow_cca"], sort=False, observed=True):
        flow, cca, path = dict(zip((*FLOW, "flow_cca"), key, strict=True)), key[-1], paths[key[:4]]
        both = group.dropna(subset=["growth_packets", "growth_least_packets"])
        least, most = both["growth_least_packets"].sum(), both["growth_most_packets"].sum()
        left, peaks, periods = LEFT.get(cca), (None, None), (None, None)
        if path is not None and cca in LEFT:
            ends = teeth_of(cca, path)
            peaks, periods = [tooth.peak_packets for tooth in ends], [tooth.period_s for tooth in ends]
        rows += [
            measure(flow, "left by a loss", len(group), group["left_ratio"].mean(), left, left),
            measure(flow, "peak", len(group), group["peak_packets"].mean(), *peaks),
            measure(flow, "time between losses", len(group), group["period_s"].mean(), *periods),
        ]
        if least > 0:
            rows.append(measure(flow, "growth", len(both), both["growth_packets"].sum() / least, 1.0, most / least))
    return rows


def measure(flow, quantity, n, measured, theory_low=None, theory_high=None) -> list:
    """Return a row of `SAWTOOTH`; `flow` is its identity, as `window_series.flows_of` yields it."""
    measured = float(measured) if np.isfinite(measured) else None
    return [*flow.values(), quantity, QUANTITIES[quantity][0], n, measured, theory_low, theory_high]
