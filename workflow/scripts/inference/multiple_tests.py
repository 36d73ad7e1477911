"""Adjust p values for the number of tests in a family.

Methods are "holm" (Holm, 1979: the chance of any false alarm) and "fdr_bh" (Benjamini and Hochberg, 1995: the
expected share of false alarms among the differences reported).
"""

import pandas as pd


def adjusted(p: pd.Series, method: str) -> pd.Series:
    """Return the adjusted p values of one family; missing ones stay missing and don't count."""
    import pingouin  # here: it takes two seconds, which each job that tests nothing would pay

    known = p.dropna().astype(float)
    result = pd.Series(float("nan"), index=p.index)
    if len(known):
        result[known.index] = pingouin.multicomp(known.to_numpy(), method=method)[1]
    return result


def adjusted_within(table: pd.DataFrame, families: list[str], column: str, method: str) -> pd.Series:
    """Return adjusted p values of a table's column, the families being its groups by the columns `families`."""
    result = pd.Series(float("nan"), index=table.index)
    for _, family in table.groupby(families, sort=False):
        result[family.index] = adjusted(family[column], method)
    return result
