"""Rank tests of two groups within strata: runs are compared with runs of their own cell only.

Both tests add up what the strata say with the weights 1 / (n + 1) of van Elteren (1960), n
being the values (or pairs) of a stratum, and refer the sum, over its standard deviation, to the
normal distribution, without correction for continuity. Mean and variance are those over all
arrangements of the ranks that occur, ties included, so that they are exact.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

# Values (or pairs) in all strata together below which the normal approximation is called rough.
FEW_VALUES = 20


@dataclass(frozen=True)
class StratifiedResult:
    """What a stratified test found; z and p are None if no stratum contributes."""

    z: float | None  # standardised sum, positive where the second group (or the contrasts) ranks higher
    p: float | None  # two-sided
    strata: int  # that contribute
    n_first: int  # values used of each group; pairs twice over in a paired test
    n_second: int
    unpaired_strata: int = 0  # left out: a group has no value there
    equal_strata: int = 0  # left out: all their values (or pairs) are equal, so no rank tells anything
    equal_pairs: int = 0  # of contributing strata, without a difference and so without a sign


def _stratum_moments(values, second, strata):
    """Return each stratum's n, m, centred rank sum of the second group, and its exact variance (0 where there is nothing to rank).

    With m of n values in the second group the rank sum has mean m (n + 1) / 2 and variance
    m (n - m) / n * s^2, s^2 being the variance (divisor n - 1) of the mid-ranks that occur
    (Lehmann, 1975, Nonparametrics, sections 1.4 and A.3).
    """
    second = np.asarray(second, bool)
    codes, _ = pd.factorize(np.asarray(strata))
    ranks = pd.Series(np.asarray(values, float)).groupby(codes).rank().to_numpy()
    n, m = np.bincount(codes), np.bincount(codes, second)
    squares = np.bincount(codes, (ranks - (n[codes] + 1) / 2) ** 2)
    variance = m * (n - m) / n * squares / np.maximum(n - 1, 1)
    centred = np.bincount(codes, ranks * second) - m * (n + 1) / 2
    return pd.DataFrame({"n": n, "m": m, "centred": centred, "variance": variance})


def van_elteren(values, second, strata) -> StratifiedResult:
    """Compare two independent groups within strata: van Elteren's test.

    The sum over strata of (rank sum - mean) / (n + 1). With one stratum it is the Wilcoxon rank-sum
    (Mann-Whitney) test; it is the statistic "row mean scores differ" of Cochran, Mantel and Haenszel
    with modified ridit scores (van Elteren, 1960, Bulletin of the International Statistical Institute
    37, 351-361; Lehmann, 1975, section 3.3). Pairs are not used: where the groups go up and
    down together it rejects less often than its level allows.

    Parameters
    ----------
    values, second, strata : array_like, shape (N,)
        Values, whether each is of the second group, and what stratum it belongs to.
    """
    moments = _stratum_moments(values, second, strata)
    unpaired = (moments["m"] == 0) | (moments["m"] == moments["n"])
    equal = ~unpaired & (moments["variance"] <= 0)
    used = moments[~unpaired & ~equal]
    z, p = _standardised(used["centred"], used["variance"], 1 / (used["n"] + 1))
    return StratifiedResult(
        z, p, len(used), int((used["n"] - used["m"]).sum()), int(used["m"].sum()),
        unpaired_strata=int(unpaired.sum()), equal_strata=int(equal.sum()),
    )  # fmt: skip


def aligned_ranks(contrasts, strata) -> StratifiedResult:
    """Compare two groups of pairs within strata, each value aligned to the mean of its pair.

    A pair's aligned values are +d/2 and -d/2, so that their ranks say no more than the signed ranks
    of the contrasts d (Hodges and Lehmann, 1962, Annals of Mathematical Statistics 33, 482-497: with
    blocks of two the aligned rank sum is the signed-rank sum less half the number of signs).
    The signed ranks of a stratum are added up with the weight 1 / (pairs + 1). Without a difference
    between the groups each sign is as likely as the other, so that the sum of a stratum has mean 0 and
    as variance the sum of its squared mid-ranks. Pairs without a difference are left out (Wilcoxon, 1945);
    `n_first` and `n_second` of the result are the pairs used.

    Parameters
    ----------
    contrasts, strata : array_like, shape (N,)
        Second less first of each pair, and what stratum it belongs to.
    """
    contrasts = np.asarray(contrasts, float)
    codes, every = pd.factorize(np.asarray(strata))
    used, inside = pd.factorize(codes[contrasts != 0])
    signed = contrasts[contrasts != 0]
    ranks = pd.Series(np.abs(signed)).groupby(used).rank().to_numpy()
    pairs = np.bincount(used)
    z, p = _standardised(np.bincount(used, np.sign(signed) * ranks), np.bincount(used, ranks**2), 1 / (pairs + 1))
    return StratifiedResult(
        z, p, len(inside), len(signed), len(signed),
        equal_strata=len(every) - len(inside),
        equal_pairs=int(np.isin(codes, inside).sum()) - len(signed),
    )  # fmt: skip


def _standardised(centred, variances, weights):
    """Return the weighted sum over its standard deviation, and its two-sided p."""
    if len(centred) == 0:
        return None, None
    z = float((weights * centred).sum() / np.sqrt((weights**2 * variances).sum()))
    return z, float(2 * stats.norm.sf(abs(z)))
