"""Intervals for a mean with a sequential sample size: values are added until the interval is narrow enough.

The interval is looked at after fixed numbers of values, and the first that is narrow enough ends it. Since it ends
sooner where the spread happens to seem small, the ordinary 95 % interval then holds the mean less often (Chow and Robbins,
Annals of Mathematical Statistics 36(2), 1965, show that this vanishes for ever narrower intervals; Starr, same journal
37(1), 1966, by how much it doesn't in small samples). Dividing the error among the looks (Bonferroni) would make
intervals that hold it in 98 to 99 %. Here all looks have one level, as Pocock's test has (Biometrika 64(2), 1977), so much
higher that at the worst of all spreads the interval at the end holds the mean of normal values as often as it says.

That can be calculated: the mean of normal values tells nothing of their deviations (Basu, 1955), on which alone the end
depends, and what m more values add to the sum of squared deviations over the variance is chi-squared with m degrees of
freedom, whatever was there before (Helmert). The intervals themselves (`mean_interval`) are a little wider than those of t: in simulations
(`benchmarks/sequential_rates.py`) they hold the mean of runs like those that were seen in 94 to 98 %, of normal, heavy-tailed and
skewed values, and where one run in ten is of another kind.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy import optimize, signal, stats

#: Bins of sums of squares in the calculation: with twice as many the level changes by less than 0.01 percentage points.
BINS = 2000
#: Spreads that are tried for the worst, and how many looks from the first on matter for it: the worst spread is one that
#: asks for little more than the first look's values, of which no run ever comes to the seventh look.
SPREADS, LOOKS = 40, 6


def coverage_at_end(looks: Sequence[int], level: float, half_width: float) -> float:
    """Return the coverage of the final interval for the mean of normal values.

    Parameters
    ----------
    looks : sequence of int
        Numbers of values, ascending, from 2 on; the last one ends it at any width.
    level : float
        Confidence level of the t interval at each look, between 0 and 1.
    half_width : float
        Half of the width that is narrow enough, in standard deviations of a value.
    """
    edges, added = _sums_of_squares(tuple(looks))
    sums, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    # How likely each sum of squares is, of those that have not ended before.
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
    """Return the edges of bins, of which the first is around 0, and how likely what each look adds is in each of them."""
    sums, width = np.linspace(0, stats.chi2.ppf(1 - 1e-9, looks[-1] - 1), BINS, retstep=True)
    edges = np.append(sums - width / 2, sums[-1] + width / 2)
    return edges, [np.diff(stats.chi2.cdf(edges, more)) for more in np.diff((1, *looks))]


def least_coverage(looks: Sequence[int], level: float) -> float:
    """Return `coverage_at_end` at the spread for which it is lowest."""
    looks = looks[:LOOKS]
    if len(looks) == 1:
        return level
    needed = np.geomspace(looks[0] / 2, looks[-1], SPREADS)
    return min(coverage_at_end(looks, level, stats.norm.ppf((1 + level) / 2) / np.sqrt(n)) for n in needed)


def level_of_looks(looks: Sequence[int], confidence: float) -> float:
    """Return the level of each interim look's interval that gives a coverage of `confidence` at any spread.

    It is rounded up to a ten-thousandth. Looks are to be some half as many values apart from each other.
    """
    if least_coverage(looks, confidence) >= confidence:
        return confidence
    exact = optimize.brentq(lambda level: least_coverage(looks, level) - confidence, confidence, 1 - 1e-6, xtol=1e-5)
    return float(np.ceil(exact * 1e4) / 1e4)
