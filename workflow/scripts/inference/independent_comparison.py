"""Compare two independent samples with a tolerance: difference, interval, and what it shows.

Two things can be shown: that the samples' means are closer than the tolerance (two one-sided tests, Schuirmann,
1987, J. Pharmacokinet. Biopharm. 15, 657-680), or that they are further apart than it. Both rest on Welch's
t (see `welch`), which doesn't take the two spreads for equal.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from inference.paired_contrasts import RELATIVE_TOLERANCE, to_effect, usable_scale
from inference.welch import difference_variance


@dataclass(frozen=True)
class Difference:
    """The difference of two samples' means, on the scale of `paired_contrasts`."""

    scale: str  # "ratio" (means of logarithms), "relative" (percent of the mean of both means) or "points"
    estimate: float  # first less second, as a contrast
    error: float | None  # standard error; None if a sample has one value only, 0 if neither has any spread
    df: float | None  # Welch's degrees of freedom; None without a standard error above 0

    def interval(self, confidence) -> tuple[float, float] | None:
        """Return the two-sided interval in the effect's unit (percent or points), None without a standard error."""
        if self.error is None:
            return None
        half = self.error * float(stats.t.ppf((1 + confidence) / 2, self.df)) if self.error else 0.0
        return tuple(to_effect(self.estimate + side * half, self.scale) for side in (-1, 1))

    @property
    def effect(self) -> float:
        """The estimate in the effect's unit: percent or points."""
        return to_effect(self.estimate, self.scale)

    def p_within(self, low, high) -> float | None:
        """Return p of the hypothesis that the difference is not between two contrasts; None if it can't be tested."""
        if not self.error:
            return None
        return max(self._tail(low - self.estimate), self._tail(self.estimate - high))

    def p_beyond(self, low, high) -> float | None:
        """Return p of the hypothesis that the difference is between two contrasts, or None.

        At the nearer bound, one-sided: the other bound would give a larger p.
        """
        if not self.error:
            return None
        return min(self._tail(self.estimate - low), self._tail(high - self.estimate))

    def _tail(self, distance):
        return float(stats.t.cdf(distance / self.error, self.df))


def difference(first, second, scale) -> Difference:
    """Return the difference of the means of two independent samples.

    Parameters
    ----------
    first, second : array_like of float, shapes (n,) and (m,)
        One value or more each.
    scale : str
        "ratio" turns into "relative" where a value is 0.
    """
    first, second = np.asarray(first, float), np.asarray(second, float)
    used = usable_scale(first, second, scale)
    if used == "ratio":
        first, second = np.log(first), np.log(second)
    elif used == "relative":
        centre = (first.mean() + second.mean()) / 2
        first, second = (100 * values / centre if centre else values for values in (first, second))
    estimate, size = float(first.mean() - second.mean()), float(max(np.abs(first).max(), np.abs(second).max(), 1))
    if abs(estimate) <= RELATIVE_TOLERANCE * size:
        estimate = 0.0  # rounding
    if len(first) < 2 or len(second) < 2:
        return Difference(used, estimate, None, None)
    variance, df = difference_variance([values.var(ddof=1) for values in (first, second)], [len(first), len(second)])
    error = math.sqrt(variance)
    if error <= RELATIVE_TOLERANCE * size:
        return Difference(used, estimate, 0.0, None)
    return Difference(used, estimate, error, df)
