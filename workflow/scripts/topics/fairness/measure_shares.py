"""Measure each flow's share of the link in each run, over the time during which all flows are active."""

import pandas as pd

from run_tables.conditions_at_centre import flows_at_centre
from run_tables.resolution import resolutions
from run_tables.run_keys import RUN
from tcp_models.fairness_index import jain_index
from topics.fairness.flow_shares import position_of
from topics.fairness.tables import FLOW_SHARES


def shares_of_flows(runs, flows) -> pd.DataFrame:
    """Return `FLOW_SHARES`: the flows under test of all runs with their shares, in the order of the runs.

    ``runs`` and ``flows`` are ``tidy/runs.csv`` and ``tidy/flows.csv``.
    """
    finely = runs.assign(resolution_mbps=resolutions(runs, "throughput_per_stream_mbps"))
    shares = finely[[*RUN, "scenario_label", "valid", "resolution_mbps"]].merge(
        flows[flows["under_test"]].drop(columns="valid"), on=RUN, how="left", validate="one_to_many"
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
    # Use the scheduled order: it was drawn at random, so a test may rely on it.
    earliest, latest = (of_run["start_offset_ms"].transform(name) for name in ("min", "max"))
    shares["first"] = (shares["start_offset_ms"] == earliest) & (earliest < latest)
    shares["position"] = position_of(shares)
    return shares


def measure_shares(runs, scenarios, flows) -> pd.DataFrame:
    """Return `FLOW_SHARES`."""
    flows = flows_at_centre(flows, runs, scenarios)
    return shares_of_flows(runs, flows)
