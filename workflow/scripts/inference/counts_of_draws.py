"""Probabilities of run counts if runs come in groups, the *draws*, and only different draws are independent.

The runs of a draw have the same seed and thus the same path, so an outcome may occur in all of them at once. The probabilities are computed
as if all runs of a draw had the same outcome. Draws with more runs may have the outcome more often than others, because the runs that share
seeds are alike. If draws have different numbers of runs, the outcome may therefore occur only in draws with many runs. So the probability
is computed for several cases, and the largest one is returned: the outcome occurs in draws of any size, or only in draws with at least a
given number of runs.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache

import numpy as np
from scipy import optimize, special

#: Pairs (number of runs counted in a draw, number of such draws), sorted by the number of runs.
Numbers = tuple[tuple[int, int], ...]


def numbers(sizes: Iterable[int]) -> Numbers:
    """Return how often each number of runs occurs among ``sizes``.

    >>> numbers([2, 1, 2])
    ((1, 1), (2, 2))
    """
    return tuple(sorted(Counter(map(int, sizes)).items()))


def total(draws: Numbers) -> int:
    """Return the number of runs of all draws."""
    return sum(runs * number for runs, number in draws)


def scaled(draws: Numbers, factor) -> Numbers:
    """Return the counts for about ``factor`` times as many draws, with the same share of each size."""
    more = ((runs, round(number * factor)) for runs, number in draws)
    return tuple((runs, number) for runs, number in more if number)


@cache
def at_least(count, draws: Numbers, share) -> float:
    """Return the probability that at least ``count`` runs have an outcome.

    If no set of entire draws contains exactly ``count`` runs, ``count`` is rounded down to a number that is possible.

    Parameters
    ----------
    count : int
        Number of runs with the outcome.
    draws : tuple of (int, int)
        Pairs (runs per draw, number of draws with this many runs).
    share : float
        Expected share of the runs that have the outcome, between 0 and 1.

    Examples
    --------
    At least 17 of 20 draws of one run, at least 34 and at least 35 runs of 20 draws of two runs:

    >>> [round(at_least(*of, 0.5), 5) for of in ((17, ((1, 20),)), (34, ((2, 20),)), (35, ((2, 20),)))]
    [0.00129, 0.00129, 0.00129]
    """
    if count <= 0:
        return 1.0
    if len(draws) == 1:
        return _binomial_tail(count // draws[0][0], draws[0][1], share)
    possible = _possible(draws)
    first = possible[possible <= count][-1]
    return min(1.0, max(float(_probabilities(draws, shares)[first:].sum()) for shares in _concentrations(draws, share)))


@cache
def at_most(count, draws: Numbers, share) -> float:
    """Return the probability that at most ``count`` runs have an outcome; an impossible ``count`` is rounded up to a possible one.

    The parameters are the same as for `at_least`.
    """
    reached = _possible(draws)[_possible(draws) >= count]
    if len(reached) <= 1:
        return 1.0
    last = reached[0]
    if len(draws) == 1:
        return float(special.bdtr(last // draws[0][0], draws[0][1], share))
    return max(float(_probabilities(draws, shares)[: last + 1].sum()) for shares in _concentrations(draws, share))


@cache
def share_at_most(count, draws: Numbers, level) -> float:
    """Return the exact one-sided upper confidence bound on the share of runs with an outcome (Clopper and Pearson, 1934).

    ``count`` is the number of these runs among the runs of ``draws``; ``level`` is the probability that the true share exceeds the bound.

    >>> round(share_at_most(0, ((1, 16),), 0.05), 3)
    0.171
    """
    if at_most(count, draws, 1.0) > level:
        return 1.0
    return float(optimize.brentq(lambda share: at_most.__wrapped__(count, draws, share) - level, 0, 1))


@cache
def sign_tail(leads: Numbers) -> float:
    """Return the one-sided p-value of a weighted sign test; by chance, each draw's lead is equally likely to have either sign.

    ``leads`` contains pairs of a lead other than 0 and the number of draws that have this lead.

    >>> sign_tail(((-1, 1), (1, 4))), sign_tail(((-3, 1), (3, 4)))
    (0.1875, 0.1875)
    """
    if not leads:
        return 1.0
    sizes = Counter()
    for lead, number in leads:
        sizes[abs(lead)] += number
    draws = tuple(sorted(sizes.items()))
    ahead = sum(lead * number for lead, number in leads if lead > 0)
    if len(draws) == 1:
        return _binomial_tail(ahead // draws[0][0], draws[0][1], 0.5)
    return min(1.0, float(_probabilities(draws, [0.5] * len(draws))[ahead:].sum()))


def _binomial_tail(successes, n, share):
    return float(special.bdtrc(successes - 1, n, share)) if successes > 0 else 1.0


def _concentrations(draws, share):
    """For each draw size, yield the shares of draws with the outcome, by size, if the outcome favours draws of at least this size.

    The outcome occurs in smaller draws only if it already occurs in all of the larger ones. The expected share of runs with the outcome is
    always ``share``.
    """
    n = total(draws)
    for smallest, _ in draws:
        large = sum(runs * number for runs, number in draws if runs >= smallest)
        high = min(1.0, share * n / large)
        low = min(1.0, max(0.0, (share * n - high * large) / (n - large))) if large < n else high
        yield [high if runs >= smallest else low for runs, _ in draws]


def _probabilities(draws, shares):
    """Return the probability of each number of runs with an outcome, from 0 to all runs; ``shares`` is an item of `_concentrations`."""
    probabilities = np.ones(1)
    for (runs, n), share in zip(draws, shares, strict=True):
        k = np.arange(n + 1)
        ways = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
        of_size = np.zeros(runs * n + 1)
        of_size[::runs] = np.exp(ways + special.xlogy(k, share) + special.xlog1py(n - k, -share))
        probabilities = np.convolve(probabilities, of_size)
    return probabilities


@cache
def _possible(draws):
    """Return the possible numbers of runs with an outcome, in ascending order."""
    possible = np.ones(1, bool)
    for runs, n in draws:
        of_size = np.zeros(runs * n + 1)
        of_size[::runs] = 1
        possible = np.convolve(possible, of_size) > 0.5
    return np.flatnonzero(possible)
