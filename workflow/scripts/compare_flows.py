"""Compare the flows of each run: goodput from the least to the most, Jain's index, and retransmissions in all."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "scipy", "pandas", "pingouin")

import pandas as pd
from describe_cells import mean_interval
from run_tables.run_metrics import jain_index
from run_tables.tidy_columns import CELL, FLOW_GOODPUTS, RUN, read_runs, read_table

QUANTITIES = {
    "goodput": "kbit/s", "goodput_least": "kbit/s", "goodput_most": "kbit/s", "jain": "", "retransmits": "segments",
    "rtt": "ms",
}  # fmt: skip
COLUMNS = [
    "scenario",
    "scenario_label",
    "cca",
    "ip_version",
    "quantity",
    "unit",
    "runs",
    "mean",
    "ci_low",
    "ci_high",
    "least",
    "most",
]


def compare_flows(runs, flows, confidence):
    """Return what the flows of a cell's runs got: a row a cell and quantity.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``tidy/runs.csv``.
    flows : pandas.DataFrame
        ``tidy/flows.csv``.
    confidence : float
        Of the t interval over runs; none of a single run.

    Returns
    -------
    pandas.DataFrame
        With `COLUMNS`. Quantities: mean goodput of a flow, that of the slowest and the fastest of a run, Jain's index
        (Jain, Chiu and Hawe, 1984), segments that all flows sent again, mean RTT.
    """
    groups = flows.groupby(RUN, sort=False)["goodput_mbps"]
    of_run = pd.DataFrame(
        {
            "goodput": 1000 * groups.mean(), "goodput_least": 1000 * groups.min(), "goodput_most": 1000 * groups.max(),
            "jain": groups.agg(lambda values: jain_index(list(values))),
        }
    )  # fmt: skip
    valid = runs[runs["valid"]].set_index(RUN)
    valid = valid.join(of_run).rename(columns={"rtt_mean_ms": "rtt"})
    rows = []
    for cell, group in valid.groupby(CELL, sort=False):
        for quantity, unit in QUANTITIES.items():
            values = group[quantity].dropna().astype(float)
            if values.empty:
                continue
            low, high = mean_interval(values, confidence)[1:] if len(values) > 1 else (None, None)
            label = group["scenario_label"].iloc[0]
            rows.append(
                [
                    cell[0],
                    label,
                    *cell[1:],
                    quantity,
                    unit,
                    len(values),
                    values.mean(),
                    low,
                    high,
                    values.min(),
                    values.max(),
                ]
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def main(inputs, outputs, params):
    """Read runs and flows, write what the flows of each cell got."""
    table = compare_flows(read_runs(inputs.runs), read_table(inputs.flows, FLOW_GOODPUTS), params.confidence)
    table.to_csv(outputs.flow_outcomes, index=False, lineterminator="\n")


if "snakemake" in globals():
    main(snakemake.input, snakemake.output, snakemake.params)
