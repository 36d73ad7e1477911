"""Measure what share of the link each flow of each run got, over the time that all flows have in common."""

import pandas as pd

from rule_script import run_rule
from run_tables.conditions_at_centre import flows_at_centre
from run_tables.reading import read_flows, read_runs, read_table
from run_tables.resolution import resolutions
from run_tables.run_keys import RUN
from run_tables.tidy_tables import SCENARIOS
from tcp_models.fairness_index import jain_index
from topics.fairness.flow_shares import position_of
from topics.fairness.tables import FLOW_SHARES


def measure_shares(runs, flows) -> pd.DataFrame:
    """Return every flow of every run with its share: `FLOW_SHARES`, in the order of the runs.

    Parameters
    ----------
    runs, flows : pandas.DataFrame
        ``tidy/runs.csv`` and ``tidy/flows.csv``.
    """
    finely = runs.assign(resolution_mbps=resolutions(runs, "throughput_per_stream_mbps"))
    shares = finely[[*RUN, "scenario_label", "valid", "resolution_mbps"]].merge(
        flows.drop(columns="valid"), on=RUN, how="left", validate="one_to_many"
    )
    return add_shares(shares)[FLOW_SHARES.names]


def add_shares(shares) -> pd.DataFrame:
    """Add share, fair_share, jain_index, position and first to the flows of runs."""
    of_run = shares.groupby(RUN, sort=False)
    total, size = of_run["goodput_mbps"].transform("sum"), of_run["goodput_mbps"].transform("size")
    whole = (of_run["goodput_mbps"].transform("count") == size) & (total > 0)
    shares["share"] = (shares["goodput_mbps"] / total).where(whole)
    shares["fair_share"] = 1 / size
    shares["jain_index"] = of_run["goodput_mbps"].transform(jain_index).where(whole)
    # The drawn order: it is random, and so what a test may rest on.
    earliest, latest = (of_run["start_offset_ms"].transform(name) for name in ("min", "max"))
    shares["first"] = (shares["start_offset_ms"] == earliest) & (earliest < latest)
    shares["position"] = position_of(shares)
    return shares


def main(inputs, outputs, params) -> None:
    """Read runs, flows and scenarios, write the shares."""
    runs, scenarios = read_runs(inputs.runs), read_table(inputs.scenarios, SCENARIOS)
    flows = flows_at_centre(read_flows(inputs.flows), runs, scenarios)
    measure_shares(runs, flows).to_csv(outputs.flow_shares, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
