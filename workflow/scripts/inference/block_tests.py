"""Tests for differences between several groups: Friedman's test for blocks, the Kruskal-Wallis test for independent groups."""

import math
from functools import lru_cache
from itertools import permutations

import numpy as np
from scipy import stats

from inference.paired_contrasts import merge_close

# Maximum number of arrangements for which Friedman's p is computed exactly.
EXACT_MAX_ARRANGEMENTS = 20_000
# Maximum number of blocks for which arrangements are drawn at random, and the number of arrangements drawn.
DRAWN_MAX_BLOCKS, DRAWN_ARRANGEMENTS = 40, 2**17 - 1


def without_noise(values) -> np.ndarray:
    """Remove the differences between values that are due only to rounding; see `paired_contrasts.merge_close`."""
    return np.copysign(merge_close(np.abs(values), float(np.abs(values).max(initial=0))), values) + 0.0


def friedman_test(blocks) -> tuple[float, float, float] | None:
    """Return Q, p and Kendall's W for blocks in which all groups have a value.

    Q is Friedman's chi-square (1937), corrected for ties, and W = Q / (b (k - 1)) (Kendall and
    Babington Smith, 1939).

    p is exact, given the ties, if all blocks agree (W = 1), or if the ranks within the blocks can be arranged in at
    most `EXACT_MAX_ARRANGEMENTS` ways (k!^(b - 1)). With more arrangements and up to `DRAWN_MAX_BLOCKS` blocks, p is
    computed from random arrangements (Davison and Hinkley, 1997, section 4.2). With more blocks, p is computed
    from F = (b - 1) W / (1 - W) with k - 1 - 2/b and (b - 1)(k - 1 - 2/b) degrees of freedom
    (Iman and Davenport, 1980; `pingouin.friedman`, method "f"). F isn't used for few blocks, because its p-values below
    0.001 are then too small by a factor of 1.3 to 3. Such values matter if p is corrected for many tests.

    ``blocks`` (float, shape (b, k)) contains b blocks of k groups; b is at least 2, k at least 3. Returns None if the values
    within each block are all tied.
    """
    b, k = blocks.shape
    ranks = stats.rankdata(np.array([without_noise(block) for block in blocks]), axis=1)
    spread = (ranks**2).sum() - b * k * (k + 1) ** 2 / 4
    if spread == 0:
        return None
    statistic = (k - 1) * ((ranks.sum(axis=0) - b * (k + 1) / 2) ** 2).sum() / spread
    w = float(statistic / (b * (k - 1)))
    if (ranks == ranks[0]).all():
        return float(statistic), _chance_of_agreement(ranks[0], b), 1.0
    if math.factorial(k) ** (b - 1) <= EXACT_MAX_ARRANGEMENTS:
        return float(statistic), _exact_friedman_p(ranks), w
    if b <= DRAWN_MAX_BLOCKS:
        # Sort the blocks, so that the draws depend only on the ties.
        patterns = tuple(sorted(map(tuple, np.sort(2 * ranks, axis=1).astype(int).tolist())))
        drawn = _drawn_distances(patterns)
        apart = ((2 * ranks.sum(axis=0) - b * (k + 1)) ** 2).sum()
        beyond = len(drawn) - np.searchsorted(drawn, round(apart), side="left")
        return float(statistic), float(1 + beyond) / (1 + len(drawn)), w
    f = (b - 1) * w / (1 - w)
    df = k - 1 - 2 / b
    return float(statistic), float(stats.f.sf(f, df, (b - 1) * df)), w


def _chance_of_agreement(ranks, blocks):
    _, tied = np.unique(ranks, return_counts=True)
    orders = math.factorial(len(ranks)) / math.prod(math.factorial(int(n)) for n in tied)
    return float(orders) ** (1 - blocks)


@lru_cache(maxsize=32)
def _drawn_distances(patterns) -> np.ndarray:
    """Return the spread of the rank sums for each random arrangement of the blocks, in ascending order.

    The spread is the sum of squared deviations of the doubled rank sums from their mean. ``patterns`` contains the doubled ranks of
    each block, in ascending order.
    """
    rng, k = np.random.default_rng(len(patterns)), len(patterns[0])
    sums = np.zeros((DRAWN_ARRANGEMENTS, k), np.int32)
    for pattern in patterns:
        sums += np.asarray(pattern, np.int32)[rng.random(sums.shape, np.float32).argsort(axis=1)]
    return np.sort(((sums - len(patterns) * (k + 1)) ** 2).sum(axis=1))


def _exact_friedman_p(ranks):
    """Return the share of arrangements in which the rank sums are at least as far apart as observed."""
    b, k = ranks.shape
    centre = b * (k + 1) / 2
    sums, chance = ranks[:1], np.ones(1)
    for block in ranks[1:]:
        orders = np.array(sorted(set(permutations(block.tolist()))))
        # Sorted, because groups are exchangeable under the null hypothesis, so only the set of sums matters.
        sums = np.sort((sums[:, None, :] + orders).reshape(-1, k), axis=1)
        sums, same = np.unique(sums, axis=0, return_inverse=True)
        chance = np.bincount(same.ravel(), np.repeat(chance / len(orders), len(orders)))
    apart = ((sums - centre) ** 2).sum(axis=1)
    observed = ((ranks.sum(axis=0) - centre) ** 2).sum()
    return min(1.0, float(chance[apart >= observed - 1e-6].sum()))


def smallest_friedman_p(b, k) -> float:
    """Return the smallest possible p for b blocks of k groups, which occurs if all blocks agree: k!^(1 - b)."""
    return float(math.factorial(k)) ** (1 - b) if b > 0 else 1.0


def kruskal_wallis_test(groups) -> tuple[float, float] | None:
    """Return H and p of the Kruskal-Wallis test (1952), corrected for ties; None if all values are tied.

    p comes from the chi-square approximation. There must be at least three ``groups``.
    """
    pooled = without_noise(np.concatenate(groups))
    if pooled.min() == pooled.max():
        return None
    split = np.split(pooled, np.cumsum([len(group) for group in groups])[:-1])
    result = stats.kruskal(*split)
    return float(result.statistic), float(result.pvalue)


def smallest_kruskal_wallis_p(sizes) -> float:
    """Return the smallest possible p for groups of the given sizes, exact if the sizes are equal.

    The groups are completely separated in k! of the N! / (n1! ... nk!) ways to assign the ranks to the groups, so p is
    k! n1! ... nk! / N!.
    """
    logs = math.lgamma(len(sizes) + 1) + sum(math.lgamma(n + 1) for n in sizes) - math.lgamma(sum(sizes) + 1)
    return min(1.0, math.exp(logs))
