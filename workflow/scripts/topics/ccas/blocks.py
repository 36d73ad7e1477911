"""Blocks of runs with different CCAs: runs of the same scenario, IP version and replication share a seed."""

import pandas as pd


def blocks_of(group: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return a metric for one scenario and IP version as a table with one row per replication and one column per CCA.

    The columns are in the order in which the CCAs appear in ``group``. A value is missing if the run was excluded or the metric wasn't
    measured.
    """
    values = group.assign(value=group[metric].where(group["valid"]))
    wide = values.pivot(index="replication", columns="cca", values="value")
    return wide[group["cca"].unique()]
