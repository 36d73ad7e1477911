"""Runs that are plotted over time, and their time series."""

import pandas as pd

from run_tables.run_keys import CELL, RUN
from topics.multipath.path_environments import environment_of

#: Columns that are added to a plotted run from its scenario.
OF_SCENARIO = ["by", "tunnel_ip_version", "distribution", "joined", "conditions", "paths", "platform", "baseline"]


def first_runs(runs, scenarios, cca) -> pd.DataFrame:
    """Return the first valid run of each cell that uses a given CCA.

    ``scenarios`` are rows of `path_environments.with_paths`. The result contains rows of ``tidy/runs.csv``, to which ``environment`` and
    the columns `OF_SCENARIO` are added.
    """
    valid = runs[runs["valid"] & (runs["cca"] == cca)].drop(columns=OF_SCENARIO, errors="ignore")
    valid = valid.merge(scenarios[["scenario", *OF_SCENARIO]], on="scenario")
    valid = valid.sort_values("replication", kind="stable").drop_duplicates(CELL)
    return valid.assign(environment=[environment_of(row) for row in valid.to_dict("records")])


def series_of(drawn, path, readings, measure, columns) -> pd.DataFrame:
    """Return the time series of all runs that are plotted.

    Parameters
    ----------
    drawn : pandas.DataFrame
        Result of `first_runs`.
    path : str or path
        Parquet file with the readings of all runs.
    readings : list of str
        Columns to read from the file.
    measure : callable
        Function that converts a run's readings into the run's time series, a DataFrame with the last two of the ``columns``.
    columns : list of str
        Columns of the result. All except the last two are taken from ``drawn``.
    """
    parts = []
    for run in drawn.to_dict("records"):
        samples = pd.read_parquet(path, columns=readings, filters=[(key, "==", run[key]) for key in RUN])
        parts.append(measure(samples).assign(**{name: run[name] for name in columns[:-2]}))
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)
