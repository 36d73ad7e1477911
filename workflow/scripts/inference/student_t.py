"""Student's t distribution by SciPy's special functions.

The digits are those of `scipy.stats.t`, which calls the same ones. To import all of `scipy.stats` takes half a second, which
each job would pay that needs no more of it than this.
"""

import numpy as np
from scipy import special


def quantile(share, df) -> np.float64 | np.ndarray:
    """Return the quantile of Student's t; arrays are broadcast.

    Parameters
    ----------
    share : array_like of float
        The chance, between 0 and 1.
    df : array_like of float
        Degrees of freedom above 0, infinite ones too; of others the result is missing.
    """
    return special.stdtrit(df, share)


def chance_below(t, df) -> np.float64 | np.ndarray:
    """Return the probability that t lies below a value, the inverse of `quantile`; arrays are broadcast.

    ``t``, ``df``: as the result of `quantile`, and its argument.
    """
    return special.stdtr(df, t)
