"""Compare two independent samples whose variances may differ (Welch, 1947, Biometrika 34, 28-35)."""

import math

from inference.mean_interval import repeats_one_measurement
from inference.student_t import chance_below, quantile

# Variance of a difference below which samples differ only by rounding.
NOISE = 1e-24


def difference_variance(variances, sizes) -> tuple[float, float]:
    """Return the variance of the difference between two means, and its degrees of freedom (NaN if neither sample varies).

    The variance is v1/n1 + v2/n2, with (v1/n1 + v2/n2)^2 / ((v1/n1)^2/(n1 - 1) + (v2/n2)^2/(n2 - 1)) degrees of freedom.

    ``variances`` (with the divisor n - 1) and ``sizes`` (at least 2) are sequences of float, shape (2,), one value per sample.
    """
    parts = [float(variance) / n for variance, n in zip(variances, sizes, strict=True)]
    spread = sum(part**2 / (n - 1) for part, n in zip(parts, sizes, strict=True))
    return sum(parts), sum(parts) ** 2 / spread if spread else math.nan


def welch(values, others, params, resolutions=(0.0, 0.0)) -> dict[str, float] | None:
    """Compare the means of two independent samples by Welch's two-sided test: t = (m1 - m2) / sqrt(v1/n1 + v2/n2).

    The result has the keys difference, low, high, tost_low, tost_high, statistic, df and p. It is None if neither sample varies
    beyond its resolution.

    Parameters
    ----------
    values, others : numpy.ndarray of float
        At least two values each.
    params : object
        Object with the attributes ``confidence`` and ``significance``; the confidence level of the interval for two
        one-sided tests is 1 - 2 x significance.
    resolutions : tuple of float
        Smallest distinguishable difference between two values of each sample; the variance due to rounding is added.
    """
    samples = list(zip((values, others), resolutions, strict=True))
    if all(repeats_one_measurement(sample, step) for sample, step in samples):
        return None
    variances = [sample.var(ddof=1) + step**2 / 12 for sample, step in samples]
    variance, df = difference_variance(variances, [len(values), len(others)])
    if variance <= NOISE:
        return None
    # Use a power instead of math.sqrt: the last digit differs in one of a thousand cases, and the tables were made with the power.
    difference, error = float(values.mean() - others.mean()), variance**0.5
    statistic = difference / error
    p = float(2 * chance_below(-abs(statistic), df))
    result = {"difference": difference, "statistic": statistic, "df": df, "p": p}
    for name, confidence in (("", params.confidence), ("tost_", 1 - 2 * params.significance)):
        half = float(quantile((1 + confidence) / 2, df)) * error
        result |= {f"{name}low": difference - half, f"{name}high": difference + half}
    return result
