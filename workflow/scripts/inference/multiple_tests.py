"""Adjust p-values for the number of tests in a family.

The method "holm" is Holm's procedure (1979); it controls the probability of any false alarm. The method "fdr_bh" is
Benjamini and Hochberg's procedure (1995); it controls the expected share of false alarms among the reported differences.
"""

import numpy as np
import pandas as pd


def adjusted(p: pd.Series, method: str) -> pd.Series:
    """Return the adjusted p-values of one family; missing values stay missing and don't count as tests."""
    known = p.dropna().astype(float)
    result = pd.Series(float("nan"), index=p.index)
    if len(known):
        result[known.index] = METHODS[method](known.to_numpy())
    return result


def _holm(p):
    """Return the p-values adjusted by Holm's procedure; `pingouin.holm` returns the same, but its import takes a second."""
    adjusted, order = np.empty(len(p)), np.argsort(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1)


def _benjamini_hochberg(p):
    from scipy.stats import false_discovery_control  # imported here because it takes half a second

    return false_discovery_control(p)


METHODS = {"holm": _holm, "fdr_bh": _benjamini_hochberg}


def adjusted_within(table: pd.DataFrame, families: list[str], column: str, method: str) -> pd.Series:
    """Return a table's column of p-values, adjusted within families; rows with equal values in `families` are one family."""
    result = pd.Series(float("nan"), index=table.index)
    for _, family in table.groupby(families, sort=False):
        result[family.index] = adjusted(family[column], method)
    return result
