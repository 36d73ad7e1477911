"""Blocks of runs with different CCAs: runs with the same scenario, IP version and replication have the same seed."""

import pandas as pd


def blocks_of(group: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return a metric for one scenario and IP version as a table with one row per replication and one column per CCA.

    Columns are in the order in which the CCAs appear. Values are missing where a run is excluded or has no value.
    """
    values = group.assign(value=group[metric].where(group["valid"]))
    wide = values.pivot(index="replication", columns="cca", values="value")
    return wide[group["cca"].unique()]
