"""The Shapiro-Wilk test of normality (Shapiro and Wilk, 1965, Biometrika 52, 591-611)."""

import warnings

import pandas as pd
import pingouin
from scipy import stats

# Royston's approximation of the p value was fitted up to here (Royston, 1995, AS R94).
SHAPIRO_MAX_N = 5000
SHAPIRO_MIN_N = 3


def shapiro_wilk(values) -> tuple[float, float]:
    """Return W and p of three values or more that are not all equal; above `SHAPIRO_MAX_N` the p is approximate."""
    with warnings.catch_warnings():  # said in a note instead
        warnings.filterwarnings("ignore", message=r".*For N > 5000")
        result = pingouin.normality(_scaled(pd.Series(values, dtype=float)).reset_index(drop=True), method="shapiro")
    return float(result.iloc[0, 0]), float(result.iloc[0, 1])


def shapiro_wilk_p(values) -> float:
    """Return the p of `shapiro_wilk` alone, straight from scipy, which pingouin calls too.

    A study has thousands of these, and pingouin makes a table for each.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".*For N > 5000")
        return float(stats.shapiro(_scaled(values)).pvalue)


def _scaled(values):
    # W is indifferent to shift and scale; so a tiny spread loses no digits.
    return (values - values.min()) / (values.max() - values.min())
