"""Adjust p values for the number of tests in a family."""

import pandas as pd
import pingouin


def adjusted(p, method) -> pd.Series:
    """Return adjusted p values; missing ones stay missing and don't count.

    Parameters
    ----------
    p : pandas.Series of float
        One family.
    method : str
        "holm" (Holm, 1979: the chance of any false alarm) or "fdr_bh" (Benjamini and Hochberg,
        1995: the expected share of false alarms among the differences reported).

    Returns
    -------
    pandas.Series of float
        With the index of `p`.
    """
    known = p.dropna().astype(float)
    result = pd.Series(float("nan"), index=p.index)
    if len(known):
        result[known.index] = pingouin.multicomp(known.to_numpy(), method=method)[1]
    return result


def adjusted_within(table, families, column, method) -> pd.Series:
    """Return adjusted p values of a table, the families being its groups by some columns.

    Parameters
    ----------
    table : pandas.DataFrame
        With `families` and `column`.
    families : list of str
        Columns whose combinations are the families.
    column : str
        Of p values.
    method : str
        As in `adjusted`.
    """
    result = pd.Series(float("nan"), index=table.index)
    for _, family in table.groupby(families, sort=False):
        result[family.index] = adjusted(family[column], method)
    return result
