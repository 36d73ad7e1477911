"""Find the phases of each flow's congestion control in its samples, and what share of the time they take."""

import pandas as pd

from inference.mean_interval import mean_interval
from rule_script import run_rule
from run_tables.reading import read_runs
from run_tables.tidy_tables import CELL
from topics.time_series.phases import COLUMNS, phase_table, phase_time
from topics.time_series.tables import PHASE_SHARES
from topics.time_series.window_series import valid_series


def describe_time(times, labels, confidence) -> pd.DataFrame:
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
        `PHASE_SHARES`: shares in percent of the flows' time, spells per flow.
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
    return pd.DataFrame(rows, columns=PHASE_SHARES.names)


def main(inputs, outputs, params) -> None:
    """Read runs and samples, write phases and their shares."""
    runs = read_runs(inputs.runs)
    tables = [phase_table(series) for series in valid_series(inputs.sockets, COLUMNS, runs)]
    phases = pd.concat(tables, ignore_index=True) if tables else phase_table(pd.DataFrame())
    phases.to_csv(outputs.phases, index=False, lineterminator="\n", float_format="%.10g")
    labels = runs.groupby("scenario")["scenario_label"].first().to_dict()
    shares = describe_time(phase_time(phases), labels, params.confidence)
    shares.to_csv(outputs.phase_shares, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
