"""The Shapiro-Wilk test of normality (Shapiro and Wilk, 1965, Biometrika 52, 591-611)."""

import warnings

import numpy as np

# Maximum number of values for which Royston's approximation of the p-value was fitted (Royston, 1995, AS R94).
SHAPIRO_MAX_N = 5000
SHAPIRO_MIN_N = 3


def shapiro_wilk(values) -> tuple[float, float]:
    """Return W and p for three or more values that are not all equal; for more than `SHAPIRO_MAX_N` values, p is approximate.

    Both come directly from SciPy. `pingouin.normality` also calls SciPy, but builds a table for each of the thousands of tests in a
    study.
    """
    from scipy import stats  # imported here: it takes half a second

    values = np.asarray(values, float)
    with warnings.catch_warnings():  # reported in a note instead
        warnings.filterwarnings("ignore", message=r".*For N > 5000")
        # W is invariant to shift and scale; standardising preserves the digits of a tiny spread.
        result = stats.shapiro((values - values.min()) / (values.max() - values.min()))
    return float(result.statistic), float(result.pvalue)
