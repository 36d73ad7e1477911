"""Intervals for a mean with a sequential sample size: values are added until the interval is narrow enough.

The interval is examined at interim looks after fixed numbers of values, and the first interval that is narrow enough ends the sampling.
Because sampling ends sooner if the values happen to be close together, an ordinary 95 % interval then contains the mean in fewer than 95 %
of cases (Chow and Robbins, Annals of Mathematical Statistics 36(2), 1965, show that this effect vanishes as the intervals become narrower;
Starr, same journal 37(1), 1966, shows its size in small samples). Dividing the error among the looks (Bonferroni) would give a coverage of
98 to 99 %. Here all looks use the same confidence level, as in Pocock's test (Biometrika 64(2), 1977). The level is high enough that the
final interval contains the mean of normal values with the stated probability even at the worst standard deviation.

This level can be calculated: the mean of normal values is independent of their deviations (Basu, 1955), and the end of sampling depends
only on the deviations. The amount that m more values add to the sum of squared deviations, divided by the variance, is chi-squared with m
degrees of freedom, independent of the previous amounts (Helmert). The intervals themselves (`mean_interval`) are slightly wider than t
intervals: in simulations (`benchmarks/sequential_rates.py`) they contain the mean of runs like the observed ones in 94 to 98 % of cases,
for normal, heavy-tailed and skewed values, and if one run in ten is an outlier.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy import optimize, signal, stats

#: Number of bins for sums of squares in the calculation; twice as many bins change the level by less than 0.01 percentage points.
BINS = 2000
#: Number of standard deviations to try in the search for the worst one, and number of looks to consider in this search: at the worst
#: standard deviation, only slightly more values are needed than at the first look, so the seventh look is never reached.
SPREADS, LOOKS = 40, 6


def coverage_at_end(looks: Sequence[int], level: float, half_width: float) -> float:
    """Return the coverage of the final interval for the mean of normal values.

    Parameters
    ----------
    looks : sequence of int
        Number of values at each look, ascending, at least 2. The last look ends the sampling, whatever the width.
    level : float
        Confidence level of the t interval at each look, between 0 and 1.
    half_width : float
        Half-width at which sampling ends, in standard deviations of a value.
    """
    edges, added = _sums_of_squares(tuple(looks))
    sums, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    # For each bin, the probability that the sampling hasn't ended yet and that the sum of squares lies in the bin.
    likely, covered = np.eye(1, BINS)[0], 0.0
    for values, more in zip(looks, added, strict=True):
        likely = signal.fftconvolve(likely, more)[:BINS]
        t = stats.t.ppf((1 + level) / 2, values - 1)
        ending = 1.0
        if values < looks[-1]:
            largest = (half_width / t) ** 2 * values * (values - 1)
            ending = np.clip((largest - edges[:-1]) / width, 0, 1)
        holds = 2 * stats.norm.cdf(t * np.sqrt(sums / (values - 1))) - 1
        covered += float(np.sum(likely * ending * holds))
        likely = likely * (1 - ending)
    return covered


@lru_cache(maxsize=8)
def _sums_of_squares(looks) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the edges of the bins and, for each look, the probability that the increment of the sum of squares falls into each bin.

    The first bin is centred at 0.
    """
    sums, width = np.linspace(0, stats.chi2.ppf(1 - 1e-9, looks[-1] - 1), BINS, retstep=True)
    edges = np.append(sums - width / 2, sums[-1] + width / 2)
    return edges, [np.diff(stats.chi2.cdf(edges, more)) for more in np.diff((1, *looks))]


def least_coverage(looks: Sequence[int], level: float) -> float:
    """Return the minimum of `coverage_at_end` over all standard deviations."""
    looks = looks[:LOOKS]
    if len(looks) == 1:
        return level
    needed = np.geomspace(looks[0] / 2, looks[-1], SPREADS)
    return min(coverage_at_end(looks, level, stats.norm.ppf((1 + level) / 2) / np.sqrt(n)) for n in needed)


def level_of_looks(looks: Sequence[int], confidence: float) -> float:
    """Return the confidence level for the interim looks that gives the final interval a coverage of at least `confidence`.

    The coverage is reached for any standard deviation. The level is rounded up to a ten-thousandth. Each look should have about
    one and a half times as many values as the previous one.
    """
    if least_coverage(looks, confidence) >= confidence:
        return confidence
    exact = optimize.brentq(lambda level: least_coverage(looks, level) - confidence, confidence, 1 - 1e-6, xtol=1e-5)
    return float(np.ceil(exact * 1e4) / 1e4)
