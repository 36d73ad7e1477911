"""A rank test of two groups of pairs within strata: runs are compared with runs of their own cell only.

What the strata say is added up with the weights 1 / (n + 1) of van Elteren (1960), n being the pairs of a stratum, and the
sum, over its standard deviation, referred to the normal distribution, without correction for continuity. Mean and variance
are those over all signs of the ranks that occur, ties included, so that they are exact. Pairs are the unit: where those of a
stratum repeat each other, it says more than it knows.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats


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
