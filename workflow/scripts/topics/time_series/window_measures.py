"""What is measured of each flow's window, with what theory says of it: a row a run, flow and quantity."""

import numpy as np
import pandas as pd

from tcp_models.linux_ccas import (
    BBR_PROBE_RTT_EVERY_S,
    BBR_PROBE_RTT_PACKETS,
    LEFT,
    VEGAS_ALPHA_PACKETS,
    VEGAS_BETA_PACKETS,
)
from tcp_models.wire_theory import frame_bytes
from topics.time_series.tables import SAWTOOTH
from topics.time_series.window_series import FLOW
from topics.time_series.window_theory import Path, teeth_of
from wording.number_format import is_missing

#: Quantity -> unit.
UNITS = {
    "left by a loss": "of the peak",
    "peak": "packets",
    "growth": "of theory's least",
    "time between losses": "s",
    "queued as believed": "packets",
    "queued": "packets",
    "Diff": "packets",
    "RTT taken for the empty path's": "of the path's",
    "cwnd at its least": "% of samples",
    "time between ProbeRTTs": "s",
    "cwnd in ProbeRTT": "packets",
    "time in ProbeRTT": "s",
}


def full_frame_bytes(run) -> int:
    """Return the size of the Ethernet frame that carries a run's full segment, with TCP's timestamps."""
    return int(frame_bytes(run["mss_bytes"], "tcp", run["ip_version"]))


def buffer_packets(run, queue) -> float | None:
    """Return how many full packets the bottleneck's queue holds, or None.

    Parameters
    ----------
    run : mapping
        A row of ``tidy/runs.csv``.
    queue : str
        Of ``tidy/scenarios.csv``: "100000 bytes", "33 packets", "1 BDP".
    """
    if not is_missing(run["queue_packets"]):
        return float(run["queue_packets"])
    size, _, unit = queue.partition(" ")
    return float(size) // full_frame_bytes(run) if unit == "bytes" else None


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
    buffer = buffer_packets(run, scenario["queue"])
    lossy = run["loss_configured_percent"] > 0 or scenario["loss_reverse_percent"] > 0
    several = len(ccas) > 1 or len(paths_ms) > 1
    if several or lossy or buffer is None or not run["rate_mbps"] > 0 or not run["mss_bytes"] > 0:
        return None
    return Path(run["rate_mbps"], next(iter(paths_ms)), buffer, full_frame_bytes(run), int(run["flows"]))


def tooth_measures(teeth, paths) -> pd.DataFrame:
    """Return what each flow's teeth are like.

    Parameters
    ----------
    teeth : pandas.DataFrame
        As `sawtooth.teeth` gives.
    paths : dict
        Run (scenario, CCA, IP version, replication) -> `Path`, or None.

    Returns
    -------
    pandas.DataFrame
        `SAWTOOTH`; means over the teeth, growth is that of all over the least of theory's for all.
    """
    rows = []
    for key, group in teeth.groupby([*FLOW, "flow_cca"], sort=False, observed=True):
        cca, path = key[-1], paths[key[:4]]
        both = group.dropna(subset=["growth_packets", "growth_least_packets"])
        least, most = both["growth_least_packets"].sum(), both["growth_most_packets"].sum()
        left, known = LEFT.get(cca), path is not None and cca in LEFT
        ends = teeth_of(cca, path) if known else None
        peaks = [tooth.peak_packets for tooth in ends] if known else (None,)
        periods = [tooth.period_s for tooth in ends] if known else (None,)
        rows += [
            _row(key, "left by a loss", len(group), group["left_ratio"].mean(), left, left),
            _row(key, "peak", len(group), group["peak_packets"].mean(), peaks[0], peaks[-1]),
            _row(key, "time between losses", len(group), group["period_s"].mean(), periods[0], periods[-1]),
        ]
        if least > 0:
            rows.append(_row(key, "growth", len(both), both["growth_packets"].sum() / least, 1.0, most / least))
    return pd.DataFrame(rows, columns=SAWTOOTH.names)


def vegas_measures(flows, paths_ms) -> pd.DataFrame:
    """Return what each Vegas flow keeps in the queue: `delay_keeping.vegas_queueing` as measures."""
    rows, band = [], (VEGAS_ALPHA_PACKETS, VEGAS_BETA_PACKETS)
    for row in flows.to_dict("records"):
        key, n = tuple(row[name] for name in (*FLOW, "flow_cca")), row["samples"]
        error = row["base_rtt_ms"] / paths_ms[row["scenario"], row["flow"]]
        rows += [
            _row(key, "queued as believed", n, row["queued_believed_packets"], *band),
            _row(key, "Diff", n, row["diff"], *band),
            _row(key, "queued", n, row["queued_packets"]),
            _row(key, "RTT taken for the empty path's", n, error, 1.0, 1.0),
            _row(key, "cwnd at its least", n, row["least_cwnd_percent"]),
        ]
    return pd.DataFrame(rows, columns=SAWTOOTH.names)


def probe_measures(probes) -> pd.DataFrame:
    """Return when each BBR flow looks for a smaller RTT: `delay_keeping.probe_rtts` as measures."""
    rows = []
    for key, group in probes.groupby([*FLOW, "flow_cca"], sort=False, observed=True):
        between = group["since_last_s"].astype(float).dropna()
        cwnd = group["least_cwnd_packets"].mean()
        if len(between):
            every = BBR_PROBE_RTT_EVERY_S
            rows.append(_row(key, "time between ProbeRTTs", len(between), between.mean(), every, every))
        rows += [
            _row(key, "cwnd in ProbeRTT", len(group), cwnd, BBR_PROBE_RTT_PACKETS, BBR_PROBE_RTT_PACKETS),
            _row(key, "time in ProbeRTT", len(group), (group["end_s"] - group["begin_s"]).mean()),
        ]
    return pd.DataFrame(rows, columns=SAWTOOTH.names)


def _row(key, quantity, n, measured, low=None, high=None):
    measured = None if is_missing(measured) or not np.isfinite(measured) else float(measured)
    return [*key, quantity, UNITS[quantity], n, measured, low, high]
