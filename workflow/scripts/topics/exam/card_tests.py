"""The scorecard's statistical tests. They are based on counts of outcomes, so they are exact for any distribution of the values.

Two tests can show the verdict *worse*. The sign test can show that most runs on such paths are worse than each standard CCA by more than
the margin: k of n runs correspond to k heads in n tosses. The other test can show that the CCA collapses too often: its share of far worse
runs must exceed `RARE` and the standard CCAs' share of far worse runs over all cases, and if similar standard CCAs collapse too, the CCA
must also be far worse in more runs than each of them. Both must be shown, so a collapse of a standard CCA never makes the
verdict *worse* more likely. The sign test uses `SHARE_OF_MOST` of a row's significance level, and the other test uses the rest.

The tests of all rows are corrected together (Holm, 1979). Interim looks share the total probability of error: the first look spends nearly
all of it, and each later look spends half of the remainder (alpha spending: Lan and DeMets, 1983, Biometrika 70(3)). Runs may therefore be
added any number of times.
"""

import math
from functools import cache

from scipy import special

from topics.exam.outcomes import Outcomes

#: If the CCA's share of far worse runs exceeds this value, a collapse counts as shown.
RARE = 0.05
#: Share of a row's significance level that the sign test uses, and share of the total probability of error that the first look spends.
SHARE_OF_MOST, FIRST_LOOK = 0.96, 0.96
#: Largest number of runs that the report recommends for closing a row.
MOST_RUNS = 400


def level_of_look(significance, look) -> float:
    """Return the joint significance level of all rows at a look; looks are numbered from 0.

    >>> [round(level_of_look(0.05, look), 5) for look in range(3)]
    [0.048, 0.001, 0.0005]
    """
    first = significance * FIRST_LOOK
    return first if look == 0 else (significance - first) / 2**look


@cache
def at_least(count, n, share) -> float:
    """Return the probability of at least `count` successes in n trials, given the probability of success in one trial."""
    return 1.0 if count <= 0 else float(special.bdtrc(count - 1, n, share))


def p_worse(row: Outcomes, is_absolute, rare=RARE) -> float:
    """Return the p-value of a row's verdict *worse*; 1 if there are no runs or the runs repeat one measurement.

    ``rare`` is the share of far worse runs above which collapses count as shown.
    """
    if row.n == 0 or row.measurements < row.n:
        return 1.0
    return _p_of_counts(row.worse, row.far_worse, row.standards_far, row.n, is_absolute, rare)


def _p_of_counts(worse, far_worse, standards_far, n, is_absolute, rare):
    rarely = p_collapses(far_worse, n, standards_far, rare)
    if is_absolute:
        return rarely
    return min(1.0, at_least(worse, n, 0.5) / SHARE_OF_MOST, rarely / (1 - SHARE_OF_MOST))


def p_collapses(far_worse, n, standards_far, rare=RARE) -> float:
    """Return the p-value of the statement that the CCA collapses too often.

    The CCA collapses too often if its share of far worse runs exceeds `rare` and the similar standard CCAs, the worst of which is far worse
    in ``standards_far`` runs, collapse less often. The result is the larger of the two tests' p-values, which is valid for the statement that
    both conditions hold (intersection-union test: Berger, 1982, Technometrics 24(4)).

    >>> [float(round(p_collapses(6, 20, standards_far), 4)) for standards_far in range(4)]
    [0.0003, 0.0625, 0.1445, 0.2539]
    """
    above_allowed = at_least(far_worse, n, rare)
    return max(above_allowed, at_least(far_worse, far_worse + standards_far, 0.5)) if standards_far else above_allowed


def p_better(row: Outcomes) -> float:
    """Return the p-value of a row's verdict *better*: most runs are better than each standard CCA by more than the margin."""
    if row.n == 0 or row.measurements < row.n or row.failed:
        return 1.0
    return at_least(row.better, row.n, 0.5)


def most_worse(worse, n, level) -> float:
    """Return the exact one-sided upper confidence bound on the share of worse runs (Clopper and Pearson, 1934).

    ``worse`` is the number of worse runs among ``n`` runs; ``level`` is the probability that the true share exceeds the bound.

    If ``worse`` is the smallest of k counts, one for each standard CCA, the smallest of the k shares is bounded only at level / k: by
    chance, the smallest count may belong to any of them.

    >>> round(most_worse(0, 16, 0.05), 3)
    0.171
    """
    if n == 0 or worse >= n:
        return 1.0
    return float(special.betaincinv(worse + 1, n - worse, 1 - level))


def fewest_for_most(n, level) -> int | None:
    """Return how many of n runs must be worse to show that most runs on such paths are worse; None if n is too small.

    ``level`` is the level of the test.

    >>> fewest_for_most(16, 0.048 / 22), fewest_for_most(8, 0.048 / 22)
    (14, None)
    """
    shown = (count for count in range(n // 2, n + 1) if at_least(count, n, 0.5) / SHARE_OF_MOST <= level)
    return next(shown, None)


def runs_needed(row: Outcomes, level, worse_share, is_absolute, rare=RARE) -> int | None:
    """Return the number of runs that would decide a row; None if `MOST_RUNS` would not be enough.

    The row's shares of outcomes are assumed to stay the same, and missing runs stay missing.

    ``level`` is the level of one row at the next look; ``rare`` is the same as in `p_worse`.
    """
    if row.n == 0:
        return None
    counts = (row.worse, row.better, row.far_worse, row.standards_far)
    for n in range(row.n + 1, MOST_RUNS + 1):
        worse, better, far, standards_far = (round(count / row.n * n) for count in counts)
        if _p_of_counts(worse, far, standards_far, n, is_absolute, rare) <= level:
            return n
        if row.missing:
            continue
        if not row.failed and at_least(better, n, 0.5) <= level:
            return n
        most = most_worse(math.ceil(counts[0] / row.n * n), n, level / row.comparisons)
        if most <= worse_share and far <= standards_far:
            return n
    return None
