"""Combine the p-values of several tests of the same hypothesis."""

from collections.abc import Callable, Iterable

import numpy as np
from scipy import special

from inference.paired_tests import FlippedMean, is_constant


def fisher(p: Iterable[float]) -> float:
    """Return the combined p of independent tests, or 1 if there are none (Fisher, 1932, Statistical Methods for Research Workers, 21.1).

    -2 times the sum of the logarithms of k p-values has a chi-squared distribution with 2k degrees of freedom. If each p can take only
    a few values, as with sign flips, the true combined p is smaller.
    """
    p = np.asarray(list(p), dtype=float)
    return float(special.chdtrc(2 * len(p), -2 * np.log(p).sum())) if len(p) else 1.0


def bonferroni(p: Iterable[float]) -> float:
    """Return the combined p of tests that may depend on each other: the smallest p times the number of tests.

    The result is at most 1; it is 1 if there are no tests.
    """
    p = list(p)
    return min(1.0, len(p) * min(p, default=1.0))


def p_of_chosen(p, chosen, combined: Callable[[Iterable[float]], float]) -> float:
    """Return the p of the null hypothesis that all chosen tests' null hypotheses are true, for a choice that depends on the values.

    The null hypothesis is rejected if the combination rejects it together with any of the other tests (closed testing: Goeman and Solari,
    2011, Statistical Science 26(4)). So the result is the largest combined p of the chosen tests and any others, and a small p of a test
    that wasn't chosen doesn't help. The result is 1 if no test is chosen.

    Parameters
    ----------
    p : array_like of float, shape (n,)
        p-values of the tests.
    chosen : array_like of bool, shape (n,)
        Whether each test was chosen.
    combined : callable
        `fisher`, or `bonferroni` if the tests may depend on each other.

    Examples
    --------
    >>> p_of_chosen([0.01, 0.9, 0.0001], [True, False, False], bonferroni)
    0.02
    """
    p, chosen = np.asarray(p, float), np.asarray(chosen, bool)
    others = np.sort(p[~chosen])[::-1]
    return max(float(combined([*p[chosen], *others[:most]])) for most in range(len(others) + 1))


def flipped_p(contrasts) -> float:
    """Return the p-value of the sign-flip test for any number of pairs; the null hypothesis is that the pairs' members are exchangeable.

    ``contrasts`` (numpy.ndarray of float, shape (n,)) contains at least one element.
    """
    if not contrasts.any():
        return 1.0
    return 2.0 ** (1 - len(contrasts)) if is_constant(contrasts) else FlippedMean(contrasts).p()
