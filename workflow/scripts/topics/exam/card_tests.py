"""The tests of the scorecard, on the number of runs with an outcome: exact for any distribution of the values.

*Worse* is shown in either of two ways. First, most runs of such paths are worse than each standard CCA by more than the margin. This
is the sign test: k of n runs correspond to k heads in n tosses. Second, the CCA collapses far more often than allowed: if the most similar
standard CCA never collapses, more than `RARE` of the runs, or more than the standards' share over all cases, are far worse; otherwise
more runs are far worse than of that standard. The first way has `SHARE_OF_MOST` of a row's level.

The tests of all rows are corrected together (Holm, 1979). Interim looks share the total error: the first spends nearly all of it, each
later one half of the remainder (alpha spending: Lan and DeMets, 1983, Biometrika 70(3)), so that runs may be added any number of times.
"""

import math
from functools import cache

from scipy import special

from topics.exam.outcomes import Outcomes

#: Share of runs above which falling counts as shown.
RARE = 0.05
#: Share of a row's level for the sign test, and share of the total error for the first look.
SHARE_OF_MOST, FIRST_LOOK = 0.96, 0.96
#: Largest number of replications that is recommended to close a row.
MOST_RUNS = 400


def level_of_look(significance, look) -> float:
    """Return the error available at a look, counted from 0, for all rows together.

    >>> [round(level_of_look(0.05, look), 5) for look in range(3)]
    [0.048, 0.001, 0.0005]
    """
    first = significance * FIRST_LOOK
    return first if look == 0 else (significance - first) / 2**look


@cache
def at_least(count, n, share) -> float:
    """Return the probability of at least the given number of successes in n trials with a success rate."""
    return 1.0 if count <= 0 else float(special.bdtrc(count - 1, n, share))


def p_worse(row: Outcomes, is_absolute, rare=RARE) -> float:
    """Return the p-value of a row's verdict *worse*; 1 if there are no runs, or they repeat one measurement.

    ``rare`` is the share of runs above which collapses count as shown.
    """
    if row.n == 0 or row.measurements < row.n:
        return 1.0
    if row.standards_far:
        rarely = at_least(row.far_worse, row.far_worse + row.standards_far, 0.5)
    else:
        rarely = at_least(row.far_worse, row.n, rare)
    if is_absolute:
        return rarely
    return min(1.0, at_least(row.worse, row.n, 0.5) / SHARE_OF_MOST, rarely / (1 - SHARE_OF_MOST))


def p_better(row: Outcomes, is_absolute) -> float:
    """Return the p-value of a row's verdict *better*: most runs are better than each standard CCA by more than the margin."""
    if row.n == 0 or row.measurements < row.n or row.failed:
        return 1.0
    if is_absolute:
        return at_least(row.better, row.better + row.worse, 0.5)
    return at_least(row.better, row.n, 0.5)


def most_worse(worse, n, level) -> float:
    """Return the upper bound on the share of worse runs, given their number among n: exact and one-sided (Clopper and Pearson, 1934).

    >>> round(most_worse(0, 16, 0.05), 3)
    0.171
    """
    if n == 0 or worse >= n:
        return 1.0
    return float(special.betaincinv(worse + 1, n - worse, 1 - level))


def fewest_for_most(n, level) -> int | None:
    """Return how many of n runs must be worse to show that most are, at a level; None if even n aren't enough.

    >>> fewest_for_most(16, 0.048 / 22), fewest_for_most(8, 0.048 / 22)
    (14, None)
    """
    shown = (count for count in range(n // 2, n + 1) if at_least(count, n, 0.5) / SHARE_OF_MOST <= level)
    return next(shown, None)


def runs_needed(row: Outcomes, level, worse_share, is_absolute) -> int | None:
    """Return the number of runs that would decide a row if its shares of outcomes stayed the same; None if even `MOST_RUNS` wouldn't.

    ``level`` is the level of one row at the next look.
    """
    if row.n == 0:
        return None
    for n in range(row.n + 1, MOST_RUNS + 1):
        worse, far = (round(count / row.n * n) for count in (row.worse, row.far_worse))
        if most_worse(math.ceil(row.worse / row.n * n), n, level) <= worse_share:
            return n
        if not is_absolute and at_least(worse, n, 0.5) / SHARE_OF_MOST <= level:
            return n
        if is_absolute and not row.standards_far and at_least(far, n, RARE) <= level:
            return n
    return None
