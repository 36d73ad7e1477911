"""Adjust p values for the number of tests in a family.

Methods are "holm" (Holm, 1979: probability of any false alarm) and "fdr_bh" (Benjamini and Hochberg, 1995:
expected share of false alarms among the reported differences).
"""

import numpy as np
import pandas as pd


def adjusted(p: pd.Series, method: str) -> pd.Series:
    """Return the adjusted p values of one family; missing ones stay missing and don't count."""
    known = p.dropna().astype(float)
    result = pd.Series(float("nan"), index=p.index)
    if len(known):
        result[known.index] = METHODS[method](known.to_numpy())
    return result


def _holm(p):
    """Return the running maximum of the sorted p values times n, n - 1, ..., 1, like `pingouin.holm`, whose import takes a second."""
    adjusted, order = np.empty(len(p)), np.argsort(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1)


def _benjamini_hochberg(p):
    from scipy.stats import false_discovery_control  # imported here because it takes half a second

    return false_discovery_control(p)


METHODS = {"holm": _holm, "fdr_bh": _benjamini_hochberg}


def adjusted_within(table: pd.DataFrame, families: list[str], column: str, method: str) -> pd.Series:
    """Return adjusted p values for a column of a table; families are the groups by the columns `families`."""
    result = pd.Series(float("nan"), index=table.index)
    for _, family in table.groupby(families, sort=False):
        result[family.index] = adjusted(family[column], method)
    return result
