"""Samples of windows for tests: recorded ones and textbook ones."""

from pathlib import Path

import numpy as np
import pandas as pd

from topics.time_series.window_theory import TheoryPath

RECORDED = Path(__file__).parent / "data" / "windows.csv.gz"
RECORDED_ALONE = Path(__file__).parent / "data" / "lone-flows.csv.gz"
#: Cell of a recorded lone flow, by its rate (Mbit/s), RTT (ms) and buffer (BDP) -> its buffer in packets.
LONE_CELLS = {
    "30m-5ms-1b": 12, "30m-20ms-05b": 25, "30m-50ms-2b": 248, "10m-50ms-05b": 21, "30m-20ms-2b": 99, "10m-100ms-2b": 165,
    "100m-20ms-2b": 330,
}  # fmt: skip
#: Recorded lone flows (cell, CCA) whose window has a sawtooth.
LONE_FLOWS = (
    ("30m-5ms-1b", "cubic"), ("30m-20ms-05b", "cubic"), ("30m-50ms-2b", "cubic"), ("10m-50ms-05b", "reno"), ("30m-20ms-2b", "reno"),
)  # fmt: skip


def recorded(cca):
    """Return the recorded samples of a flow of a CCA (see tests/data/README.md)."""
    table = pd.read_csv(RECORDED)
    return identified(table[table["flow_cca"] == cca].reset_index(drop=True), cca)


def lone_flow(cell, cca):
    """Return the recorded samples of a lone flow and its path (see tests/data/README.md)."""
    table = pd.read_csv(RECORDED_ALONE)
    table = table[(table["cell"] == cell) & (table["flow_cca"] == cca)].drop(columns="cell").reset_index(drop=True)
    rate, rtt, _ = cell.split("-")
    path = TheoryPath(float(rate.rstrip("m")), float(rtt.rstrip("ms")), LONE_CELLS[cell], 1514, 1448)
    return identified(table, cca), path


def identified(samples, cca, flow=0, replication=1):
    """Return samples as rows of ``sockets.parquet``, with any missing columns added."""
    known = {"scenario": "s", "cca": cca, "ip_version": "ipv4", "replication": replication, "flow_cca": cca}
    known |= {"flow": samples.get("flow", flow)}
    columns = (
        "state", "cwnd_packets", "ssthresh_packets", "rtt_ms", "rtt_min_ms", "bbr_pacing_gain", "bbr_cwnd_gain", "vegas_rtt_ms",
        "vegas_rtt_min_ms", "bbr_version",
    )  # fmt: skip
    return samples.assign(**known, **{name: np.nan for name in columns if name not in samples})


def aimd(growth=1.0, left=0.5, peak=24, rtt_s=0.2, recovery_s=0.2, step_s=0.02, teeth=5):
    """Return the samples of a window that grows by `growth` packets per round trip up to `peak`, and falls to the share `left` of it."""
    rows, begin, trough = [], 0.0, int(peak * left)
    for _ in range(teeth):
        rows += [(begin + t, "recovery", trough, trough) for t in np.arange(0, recovery_s - 1e-9, step_s)]
        begin += recovery_s
        grown = (peak + 1 - trough) / growth * rtt_s - 1e-9
        rows += [
            (begin + t, "open", min(peak, trough + int(growth * t / rtt_s + 1e-6)), trough)
            for t in np.arange(0, grown, step_s)
        ]
        begin += grown + 1e-9
    return pd.DataFrame(rows, columns=["time_s", "state", "cwnd_packets", "ssthresh_packets"]).assign(
        rtt_ms=rtt_s * 1000, rtt_min_ms=2.0
    )
