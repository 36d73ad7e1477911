"""Find the phases of each flow's congestion control in its samples, and what share of the time they take."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "scipy", "pandas", "pyarrow", "pingouin")

import pandas as pd
from describe_cells import mean_interval
from run_tables.tidy_columns import CELL, read_runs
from window_dynamics.phases import COLUMNS, phase_table, phase_time
from window_dynamics.window_series import valid_series

SHARE_COLUMNS = [
    "scenario", "scenario_label", "cca", "ip_version", "flow_cca", "phase", "runs", "share_percent", "ci_low", "ci_high", "spells",
]  # fmt: skip


def describe_time(times, labels, confidence):
    """Return the share of each phase in each cell, over replications.

    Parameters
    ----------
    times : pandas.DataFrame
        As `phase_time` gives.
    labels : dict
        Scenario -> label.
    confidence : float
        Of the t interval of the mean; none of a single run.

    Returns
    -------
    pandas.DataFrame
        With `SHARE_COLUMNS`: shares in percent of the flows' time, spells per flow.
    """
    rows = []
    for key, group in times.groupby([*CELL, "flow_cca", "phase"], sort=False):
        row = dict(zip([*CELL, "flow_cca", "phase"], key, strict=True)) | {
            "scenario_label": labels[key[0]], "runs": len(group), "spells": group["spells"].mean(),
            "share_percent": group["share_percent"].mean(),
        }  # fmt: skip
        if len(group) > 1:
            _, row["ci_low"], row["ci_high"] = mean_interval(group["share_percent"], confidence)
        rows.append(row)
    return pd.DataFrame(rows, columns=SHARE_COLUMNS)


def main(inputs, outputs, params):
    """Read runs and samples, write phases and their shares."""
    runs = read_runs(inputs.runs)
    tables = [phase_table(series) for series in valid_series(inputs.sockets, COLUMNS, runs)]
    phases = pd.concat(tables, ignore_index=True) if tables else phase_table(pd.DataFrame())
    phases.to_csv(outputs.phases, index=False, lineterminator="\n", float_format="%.10g")
    labels = runs.groupby("scenario")["scenario_label"].first().to_dict()
    shares = describe_time(phase_time(phases), labels, params.confidence)
    shares.to_csv(outputs.phase_shares, index=False, lineterminator="\n")


if "snakemake" in globals():
    main(snakemake.input, snakemake.output, snakemake.params)
