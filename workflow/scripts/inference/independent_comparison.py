"""Compare the means of two independent samples: their difference, its interval, and tests of the difference against a tolerance.

Two things can be shown: that the samples' means are closer than the tolerance (two one-sided tests, Schuirmann,
1987, J. Pharmacokinet. Biopharm. 15, 657-680), or that they are further apart. Both use Welch's
t (see `welch`), which doesn't assume equal variances. If each sample repeats one measurement, there are only two
measurements: their difference is known up to their resolution, and has neither interval nor p. If either sample contains
outliers, or fewer than `LEAST_RUNS` values, the means aren't judged.
"""

import math
from dataclasses import dataclass

import numpy as np

from inference.collapses import kinds_words, other_kind
from inference.mean_interval import LEAST_RUNS, repeats_one_measurement, too_few_words
from inference.paired_contrasts import RELATIVE_TOLERANCE, to_effect, usable_scale
from inference.student_t import chance_below, quantile
from inference.welch import difference_variance


@dataclass(frozen=True)
class Difference:
    """The difference between the means of two samples, on a scale of `paired_contrasts`."""

    scale: str  # "ratio" (means of logarithms), "relative" (percent of the mean of both means) or "points"
    estimate: float  # first minus second, as a contrast
    error: float | None  # standard error; None if unknown, 0 if each sample is one measurement
    df: float | None  # Welch's degrees of freedom; None without a standard error above 0
    reach: float = 0.0  # for two single measurements: largest error of the difference, as a contrast
    note: str = ""  # reason why there is no interval

    @property
    def exact(self) -> bool:
        """Whether all values of each sample are equal within the resolution."""
        return self.error == 0

    def interval(self, confidence) -> tuple[float, float] | None:
        """Return the two-sided interval in the effect's unit (percent or points); None if the standard error isn't above 0."""
        return self.bounds(confidence) if self.error else None

    def bounds(self, confidence) -> tuple[float, float] | None:
        """Return bounds for the difference: the interval or, for two single measurements, the limits due to their resolution.

        The bounds are in the effect's unit; None if the standard error is unknown.
        """
        if self.error is None:
            return None
        half = self.error * float(quantile((1 + confidence) / 2, self.df)) if self.error else self.reach
        return tuple(to_effect(self.estimate + side * half, self.scale) for side in (-1, 1))

    @property
    def effect(self) -> float:
        """The estimate in the effect's unit: percent or points."""
        return to_effect(self.estimate, self.scale)

    def p_within(self, low, high) -> float | None:
        """Return the p-value for the null hypothesis that the difference lies outside the range from ``low`` to ``high``.

        The bounds are contrasts. The result is None if the standard error isn't above 0.
        """
        if not self.error:
            return None
        return max(self._tail(low - self.estimate), self._tail(self.estimate - high))

    def p_beyond(self, low, high) -> float | None:
        """Return the p-value for the null hypothesis that the difference lies in the range from ``low`` to ``high``.

        The bounds are contrasts. The test is one-sided at the bound with the smaller p. The result is None if the standard error
        isn't above 0.
        """
        if not self.error:
            return None
        return min(self._tail(self.estimate - low), self._tail(high - self.estimate))

    def _tail(self, distance):
        return float(chance_below(distance / self.error, self.df))


def difference(first, second, scale, resolutions=(0.0, 0.0)) -> Difference:
    """Return the difference between the means of two independent samples.

    Parameters
    ----------
    first, second : array_like of float, shapes (n,) and (m,)
        Samples with at least one value each.
    scale : str
        A scale of `paired_contrasts`; "ratio" is replaced by "relative" if a value is 0.
    resolutions : tuple of float
        Smallest distinguishable difference between two values of each sample, in their unit.
    """
    samples = [np.asarray(values, float) for values in (first, second)]
    used = usable_scale(*samples, scale)
    same = [repeats_one_measurement(values, step) for values, step in zip(samples, resolutions, strict=True)]
    other = [other_kind(values, step) for values, step in zip(samples, resolutions, strict=True)]
    # Convert the resolutions to contrasts.
    centre = sum(values.mean() for values in samples) / 2
    units = {"ratio": [values.mean() for values in samples], "relative": [centre / 100] * 2}.get(used, [1.0] * 2)
    steps = [step / abs(unit) if unit else 0.0 for step, unit in zip(resolutions, units, strict=True)]
    if used == "ratio":
        samples = [np.log(values) for values in samples]
    elif used == "relative":
        samples = [100 * values / centre if centre else values for values in samples]
    estimate = float(samples[0].mean() - samples[1].mean())
    size = max(1.0, *(float(np.abs(values).max()) for values in samples))
    if abs(estimate) <= RELATIVE_TOLERANCE * size:
        estimate = 0.0  # rounding
    fewest = min(map(len, samples))
    if fewest < 2:
        return Difference(used, estimate, None, None, note=too_few_words(fewest))
    if all(same):
        return Difference(used, estimate, 0.0, None, sum(steps))
    if any(side.any() for side in other):
        return Difference(used, estimate, None, None, note=kinds_words(np.concatenate(other)))
    if fewest < LEAST_RUNS:
        return Difference(used, estimate, None, None, note=too_few_words(fewest))
    # Quantised values can be closer together than the true values, so the variance due to rounding is added.
    variances = [values.var(ddof=1) + step**2 / 12 for values, step in zip(samples, steps, strict=True)]
    variance, df = difference_variance(variances, [len(values) for values in samples])
    error = math.sqrt(variance)
    if error <= RELATIVE_TOLERANCE * size:
        return Difference(used, estimate, 0.0, None)
    return Difference(used, estimate, error, df)
