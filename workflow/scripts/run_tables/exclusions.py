"""What tables would say if excluded runs that have numbers counted as valid ones."""

from collections.abc import Sequence

import pandas as pd

from run_tables.metrics import METRICS

#: Behind the name of a column: its value with excluded runs kept.
KEPT = "_kept"


def usable_exclusions(runs: pd.DataFrame) -> pd.Series:
    """Tell which runs of ``tidy/runs.csv`` failed a check, but were carried out and have a metric."""
    return ~runs["valid"] & runs[[metric.column for metric in METRICS]].notna().any(axis=1)


def runs_with_exclusions(runs: pd.DataFrame) -> pd.DataFrame | None:
    """Return ``tidy/runs.csv`` with excluded runs that have numbers as valid ones; None if there are none such."""
    usable = usable_exclusions(runs)
    return runs.assign(valid=runs["valid"] | usable) if usable.any() else None


def with_kept(table: pd.DataFrame, kept: pd.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Return a table in which some columns stand as they are with excluded runs kept, too.

    Parameters
    ----------
    table : pandas.DataFrame
        Made of valid runs, with a ``<column>_kept`` for each of the columns.
    kept : pandas.DataFrame
        The same, made of `runs_with_exclusions`.
    keys : sequence of str
        What tells its rows apart.
    columns : sequence of str
    """
    names = {column: column + KEPT for column in columns}
    other = kept[[*keys, *columns]].rename(columns=names)
    return table.drop(columns=list(names.values())).merge(other, on=list(keys), how="left")[list(table.columns)]
