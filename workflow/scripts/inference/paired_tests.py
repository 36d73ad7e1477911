"""Tests of paired contrasts: which one fits, its statistic and its p.

The null hypothesis is that the two members of a pair could be exchanged: what distinguishes
them makes no difference. Then a contrast is as likely as its negative, so contrasts are
distributed symmetrically about 0, however skewed the values themselves are. Both tests rest on
that; a contrast whose distribution is lopsided about 0 is a difference, and is reported as one.
`contrasts` are a numpy.ndarray of float, shape (n,), as `paired_contrasts.contrasts` gives them,
`alternative` is "two-sided", "greater" or "less".
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special, stats

from inference.normality import SHAPIRO_MAX_N, SHAPIRO_MIN_N, shapiro_wilk
from wording.number_format import count

T_TEST, SIGNED_RANK = "paired t", "Wilcoxon signed-rank"
# Up to here p of the signed-rank test is exact, above it is the normal approximation.
EXACT_MAX_PAIRS = 200


@dataclass(frozen=True)
class PairedTest:
    """What was tested, and what came out."""

    kind: str = ""  # "t", "rank" or "" (nothing fits): the family that intervals and equivalence follow
    name: str = ""  # "paired t", "Wilcoxon signed-rank", or "" if no test was made
    statistic: float | None = None  # t, or the sum of the ranks of positive contrasts (R's V)
    p: float | None = None  # two-sided
    normality_p: float | None = None  # Shapiro-Wilk's
    notes: tuple = ()  # why something is missing


def paired_test(contrasts, significance) -> PairedTest:
    """Choose the test of contrasts against 0, and make it.

    Paired t if Shapiro-Wilk doesn't reject normality at `significance`, else Wilcoxon's
    signed-rank test. A test is not made if no data with this many pairs could make it reject.
    """
    n = len(contrasts)
    if n == 0:
        return PairedTest()
    if is_constant(contrasts):
        return PairedTest(notes=() if n > 1 else ("one pair: no spread to judge a difference by",))
    if n < SHAPIRO_MIN_N:
        return PairedTest(notes=(f"{n} pairs: a test needs {SHAPIRO_MIN_N}",))
    _, normality_p = shapiro_wilk(contrasts)
    notes = []
    if n > SHAPIRO_MAX_N:
        notes.append(f"above n = {SHAPIRO_MAX_N} the p of Shapiro-Wilk is approximate")
    if normality_p >= significance:
        statistic, p = t_test(contrasts)
        return PairedTest("t", T_TEST, statistic, p, normality_p, tuple(notes))
    if smallest_p(contrasts) >= significance:
        differing = int(np.count_nonzero(contrasts))
        pairs = count(n, "pair") if differing == n else f"{count(differing, 'differing pair')} of {n}"
        notes.append(f"not normal, and with {pairs} the signed-rank test can't go below p = {smallest_p(contrasts):g}")
        return PairedTest("rank", "", None, None, normality_p, tuple(notes))
    if n > EXACT_MAX_PAIRS:
        notes.append(f"above {EXACT_MAX_PAIRS} pairs the signed-rank p is the normal approximation")
    statistic, p = signed_rank_test(contrasts)
    return PairedTest("rank", SIGNED_RANK, statistic, p, normality_p, tuple(notes))


def p_of(kind, contrasts, alternative="two-sided") -> float:
    """Return p of the test of a kind, "t" or "rank", of contrasts against 0."""
    test = t_test if kind == "t" else signed_rank_test
    return test(contrasts, alternative)[1]


def is_constant(contrasts) -> bool:
    """Return whether all contrasts are equal (they come without rounding noise)."""
    return bool(contrasts.min() == contrasts.max())


def t_test(contrasts, alternative="two-sided") -> tuple[float, float]:
    """Return t and p of Student's test of the mean of two contrasts or more, not all equal, against 0 (Student, 1908).

    t = mean / (s / sqrt(n)) on n - 1 degrees of freedom.
    """
    n = len(contrasts)
    statistic = float(contrasts.mean() / (contrasts.std(ddof=1) / math.sqrt(n)))
    tail = {"greater": -statistic, "less": statistic, "two-sided": -abs(statistic)}[alternative]
    p = float(special.stdtr(n - 1, tail))
    return statistic, 2 * p if alternative == "two-sided" else p


def signed_rank_test(contrasts, alternative="two-sided") -> tuple[float, float]:
    """Return V and p of Wilcoxon's signed-rank test of one contrast or more against 0.

    V is the sum of the ranks of the positive contrasts. Zeros are ranked and then left out
    (Pratt, 1959, "Remarks on zeros and ties in the Wilcoxon signed rank procedures": leaving
    them out before ranking can make p fall when a contrast moves towards the null); ties have
    mid-ranks. p is exact given ties and zeros: the distribution of V over all signs, by the
    shift algorithm (Streitberg and Roehmel, 1986). Above `EXACT_MAX_PAIRS` it is the normal
    approximation with the variance of those same ranks.
    """
    doubled = doubled_ranks(contrasts)
    statistic = int(doubled[contrasts > 0].sum())
    ranks = doubled[contrasts != 0]
    if len(contrasts) > EXACT_MAX_PAIRS:
        deviation = (statistic - ranks.sum() / 2) / math.sqrt((ranks.astype(float) ** 2).sum() / 4)
        less, greater = float(stats.norm.cdf(deviation)), float(stats.norm.sf(deviation))
    else:
        at_most, step = _null_distribution(tuple(sorted(ranks.tolist())))
        less = float(at_most[statistic // step])
        # The distribution is symmetric: P(V >= v) = P(V <= sum - v).
        greater = float(at_most[(int(ranks.sum()) - statistic) // step])
    p = {"less": less, "greater": greater, "two-sided": min(1.0, 2 * min(less, greater))}
    return statistic / 2, p[alternative]


def doubled_ranks(contrasts) -> np.ndarray:
    """Return twice the mid-rank of each contrast's size, whole numbers, zeros ranked too."""
    return np.rint(2 * stats.rankdata(np.abs(contrasts))).astype(int)


def smallest_p(contrasts) -> float:
    """Return the smallest two-sided p that the signed-rank test can reach: 2 / 2^n, zeros not counted."""
    return min(1.0, 2.0 ** (1 - int(np.count_nonzero(contrasts))))


@lru_cache(maxsize=256)
def _null_distribution(ranks):
    """Return P(V <= v) for v in steps of the ranks' common divisor, and that step."""
    step = math.gcd(*ranks) or 1
    shares = np.zeros(sum(ranks) // step + 1)
    shares[0] = 1.0
    top = 1
    for rank in ranks:
        shift = rank // step
        half = shares[:top] / 2
        top += shift
        shares[:top] = 0.0
        shares[: len(half)] += half
        shares[shift:top] += half
    return np.minimum(1.0, np.cumsum(shares)), step


def critical_count(n: int, tail: float) -> int | None:
    """Return how many Walsh averages of n contrasts the signed-rank test leaves outside at each end, of this share.

    The interval of the Hodges-Lehmann estimate runs from the k-th smallest to the k-th largest
    Walsh average, with k the smallest v for which P(V <= v) > tail (Hollander and Wolfe, 1999,
    section 3.3; `qsignrank` in R). None if n is too small for this tail.
    """
    if 2.0**-n > tail:
        return None
    if n > EXACT_MAX_PAIRS:
        centre, variance = n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24
        return max(1, math.ceil(centre + stats.norm.ppf(tail) * math.sqrt(variance)))
    at_most, _ = _null_distribution(tuple(range(2, 2 * n + 1, 2)))
    return int(np.searchsorted(at_most, tail, side="right"))
