"""Compare the flows of each run: minimum and maximum goodput, Jain's index, and the total number of retransmissions."""

import pandas as pd

from inference.cell_estimates import cell_estimate
from run_tables.resolution import resolution_of
from run_tables.run_keys import CELL, RUN
from tcp_models.fairness_index import jain_index
from topics.time_series.tables import FLOW_OUTCOMES

QUANTITIES = {
    "goodput": "kbit/s", "goodput_least": "kbit/s", "goodput_most": "kbit/s", "jain": "", "retransmits": "segments",
    "rtt": "ms",
}  # fmt: skip


def _resolution(quantity, runs):
    """Return the resolution of a quantity, in the quantity's unit."""
    if quantity.startswith("goodput"):
        return 1000 * resolution_of(runs, "throughput_per_stream_mbps")
    return resolution_of(
        runs.rename(columns={"rtt": "rtt_mean_ms"}),
        {"jain": "jain_index", "rtt": "rtt_mean_ms"}.get(quantity, quantity),
    )


def compare_flows(runs, flows, confidence) -> pd.DataFrame:
    """Return `FLOW_OUTCOMES`, which includes the fairness index of Jain, Chiu and Hawe (1984)."""
    groups = flows[flows["under_test"]].groupby(RUN, sort=False)["goodput_mbps"]
    of_run = pd.DataFrame(
        {
            "goodput": 1000 * groups.mean(), "goodput_least": 1000 * groups.min(), "goodput_most": 1000 * groups.max(),
            "jain": groups.agg(jain_index),
        }
    )  # fmt: skip
    valid = runs[runs["valid"]].set_index(RUN).join(of_run).rename(columns={"rtt_mean_ms": "rtt"})
    rows = []
    for cell, group in valid.groupby(CELL, sort=False):
        for quantity, unit in QUANTITIES.items():
            values = group[quantity].dropna().astype(float)
            if values.empty:
                continue
            most = 1 if quantity == "jain" else None
            mean = cell_estimate(values, confidence, 0, most, _resolution(quantity, group))
            rows.append(
                dict(zip(CELL, cell, strict=True)) | {
                    "scenario_label": group["scenario_label"].iloc[0], "quantity": quantity, "unit": unit,
                    "runs": len(values), "mean": mean.mean, "ci_low": mean.low, "ci_high": mean.high,
                    "least": values.min(), "most": values.max(),
                }
            )  # fmt: skip
    return pd.DataFrame(rows, columns=FLOW_OUTCOMES.names)
