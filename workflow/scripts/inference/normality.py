"""The Shapiro-Wilk test of normality (Shapiro and Wilk, 1965, Biometrika 52, 591-611)."""

import warnings

import numpy as np

# Royston's approximation of the p value was fitted up to here (Royston, 1995, AS R94).
SHAPIRO_MAX_N = 5000
SHAPIRO_MIN_N = 3


def shapiro_wilk(values) -> tuple[float, float]:
    """Return W and p of three values or more that are not all equal; above `SHAPIRO_MAX_N` the p is approximate.

    Straight from scipy, which `pingouin.normality` calls too: a study has thousands of these, and pingouin makes a
    table for each.
    """
    from scipy import stats  # here: it takes half a second, which each job would pay whose cells have fewer values

    values = np.asarray(values, float)
    with warnings.catch_warnings():  # said in a note instead
        warnings.filterwarnings("ignore", message=r".*For N > 5000")
        # W is indifferent to shift and scale; so a tiny spread loses no digits.
        result = stats.shapiro((values - values.min()) / (values.max() - values.min()))
    return float(result.statistic), float(result.pvalue)
