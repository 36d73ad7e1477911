"""Student's t distribution from SciPy's special functions.

The results are the same as with `scipy.stats.t`, which calls the same functions. Importing all of `scipy.stats` takes half a second, too
long for jobs that need only this distribution.
"""

import numpy as np
from scipy import special


def quantile(share, df) -> np.float64 | np.ndarray:
    """Return the quantile of Student's t distribution; arrays are broadcast.

    Parameters
    ----------
    share : array_like of float
        Probability, between 0 and 1.
    df : array_like of float
        Degrees of freedom, above 0 and possibly infinite; for other values the result is NaN.
    """
    return special.stdtrit(df, share)


def chance_below(t, df) -> np.float64 | np.ndarray:
    """Return the cumulative distribution function of Student's t, the inverse of `quantile`; arrays are broadcast.

    ``t`` is array_like of float, and ``df`` is the same as for `quantile`.
    """
    return special.stdtr(df, t)
