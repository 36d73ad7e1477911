"""Shares of a study's variance due to each factor, each pair of factors, and chance.

The cells of a study are not a sample of a larger number of cells, so the factors are fixed: the variance of a factor is the mean square of
its effects over the cells (generalised omega squared; Vaughan and Corballis, 1969, Psychological Bulletin 72(3); Dodd and Schultz, 1973,
79(6)). The sums of squares are computed from the cells' means with equal weights (unweighted means; Yates, 1934, JASA 29(185)). As long as
no cell is empty, they are orthogonal and add up, however many runs were excluded. If all cells have the same number of runs, types I, II
and III are equal. The contribution of chance to each sum is subtracted. It is estimated from the variances and covariances of the runs of a
block (which share their seeds), so cells needn't have the same variance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

import numpy as np
import pandas as pd

from inference.stratified_jackknife import Stratum, t_interval

#: Parts that don't belong to a factor or a pair of factors.
HIGHER, SEED, RUN = "higher interactions", "seed", "run"
#: Minimum number of replications per block, and of values per cell, for an interval.
LEAST_REPLICATIONS, LEAST_VALUES = 3, 2


@dataclass(frozen=True)
class Component:
    """One part of a metric's variance."""

    # A factor, a pair of factors, `HIGHER`, `SEED` (the common variation of runs in the same block and replication) or `RUN`
    # (the remaining variation within cells; it includes `SEED` if a block is one cell).
    name: tuple[str, ...]
    df: int | None  # degrees of freedom; None for chance
    squares: float | None  # sum of squares of the cells' means; None for chance
    variance: float  # unbiased estimate, so it may be below 0 if there is little or no variance
    share: float | None  # share of the total variance; None if the total variance isn't above 0
    low: float | None = None  # ends of the share's interval
    high: float | None = None


def decompose(
    values: np.ndarray, block_factors: int, levels: Sequence[int], names: Sequence[str], confidence: float
) -> list[Component]:
    """Return the parts of the variance of a crossed design.

    The parts are the factors with several levels, pairs of these factors, higher interactions, seed and run. `SEED` is omitted if a
    block is one cell. `SEED` and `RUN` are omitted if any block has no cell with two runs: the other parts then include the
    contribution of chance, and there are no intervals.

    Parameters
    ----------
    values : numpy.ndarray of float, shape (cells, replications)
        Values of the runs, NaN for a run without a value; each cell has at least one value. The cells are all combinations of
        levels; the level of the last factor varies fastest.
    block_factors : int
        Number of leading factors that form the blocks: runs of the same block and replication share a seed.
    levels : sequence of int
        Number of levels of each factor.
    names : sequence of str
        Name of each factor.
    confidence : float
        Confidence level of the intervals: t intervals from a stratified jackknife, which omits one replication of a block at a time.

    Raises
    ------
    ValueError
        If the number of cells isn't the product of ``levels``, or a cell has no value.
    """
    values, blocks = np.asarray(values, float), int(np.prod(levels[:block_factors]))
    if len(values) != np.prod(levels) or np.isnan(values).all(axis=1).any():
        raise ValueError(f"{len(values)} cells, some without a value: factors of {list(levels)} levels are not crossed")
    parts = values.reshape(blocks, -1, values.shape[1])
    terms, known = _Terms(block_factors, tuple(levels)), [_block(part) for part in parts]
    variances, squares = terms.variances(known)
    chance = [(SEED,), (RUN,)][len(terms.names(names)) + 2 - len(variances) :]
    shares = variances / variances.sum() if variances.sum() > 0 else np.full(len(variances), np.nan)
    low = high = [None] * len(shares)
    if chance and variances.sum() > 0 and has_intervals(parts):
        rows, strata = [shares], []
        for place, part in enumerate(parts):
            first = len(rows)
            for left_out in np.flatnonzero(~np.isnan(part).all(axis=0)):
                without, _ = terms.variances(
                    [*known[:place], _block(np.delete(part, left_out, axis=1)), *known[place + 1 :]]
                )
                rows.append(without / without.sum())
            strata.append(Stratum(slice(first, len(rows)), len(rows) - first - 1))
        low, high = (np.clip(end, 0, 1).tolist() for end in t_interval(np.array(rows), strata, (1 - confidence) / 2))
    own = [*zip(terms.degrees(), squares, strict=True), *[(None, None)] * len(chance)]
    return [
        Component(name, df, sum_of, float(variance), None if np.isnan(share) else float(share), *ends)
        for name, (df, sum_of), variance, share, *ends in zip(
            [*terms.names(names), *chance], own, variances, shares, low, high, strict=True
        )
    ]


def has_intervals(parts: np.ndarray) -> bool:
    """Return whether values of shape (blocks, cells per block, replications) have enough replications for intervals."""
    there = ~np.isnan(parts)
    enough = there.any(axis=1).sum(axis=1) >= LEAST_REPLICATIONS
    return bool(enough.all() and (there.sum(axis=2) >= LEAST_VALUES).all())


@dataclass(frozen=True)
class _Terms:
    """The factors with several levels, their pairs, and the remaining variation between cells."""

    block_factors: int
    levels: tuple[int, ...]

    @property
    def subsets(self):
        varied = [place for place, number in enumerate(self.levels) if number > 1]
        return [(place,) for place in varied] + list(combinations(varied, 2))

    @property
    def has_higher(self):
        return sum(number > 1 for number in self.levels) > 2

    def names(self, names):
        """Return the terms' names."""
        return [tuple(names[place] for place in subset) for subset in self.subsets] + [(HIGHER,)] * self.has_higher

    def degrees(self):
        """Return the terms' degrees of freedom."""
        of_subsets = [int(np.prod([self.levels[place] - 1 for place in subset])) for subset in self.subsets]
        return of_subsets + [int(np.prod(self.levels)) - 1 - sum(of_subsets)] * self.has_higher

    def variances(self, known):
        """Return two lists: the variances of the terms, seed and run (the last two if known), and the sums of squares of the terms."""
        means = np.concatenate([mean for mean, _, _ in known])
        cells, size = len(means), len(known[0][0])
        squares = [self._squares(means.reshape(self.levels), subset) for subset in self.subsets]
        squares += [float(((means - means.mean()) ** 2).sum()) - sum(squares)] * self.has_higher
        if any(covariance is None for _, covariance, _ in known):
            return np.array(squares) / cells, squares
        of_means = sum(of_block for _, _, of_block in known)
        noise = [self._noise(of_means, subset) for subset in self.subsets]
        noise += [float(np.trace(of_means) - of_means.sum() / cells) - sum(noise)] * self.has_higher
        within = float(np.mean([np.trace(covariance) / size for _, covariance, _ in known]))
        chance = [within]
        if size > 1:
            seed = float(np.mean([(c.sum() - np.trace(c)) / (size * (size - 1)) for _, c, _ in known]))
            chance = [seed, within - seed]
        return np.array([*(np.array(squares) - noise) / cells, *chance]), squares

    def _squares(self, means, subset):
        for axis in range(means.ndim):
            mean = means.mean(axis=axis, keepdims=True)
            means = means - mean if axis in subset else np.broadcast_to(mean, means.shape)
        return float((means**2).sum())

    def _noise(self, of_means, subset):
        """Return the expected contribution of chance to a sum of squares: the trace of the projection times the means' covariances."""
        # Blocks are independent, so only the diagonal of a block factor's projection counts, and its elements are equal.
        at_block = np.prod(
            [(n - 1) / n if place in subset else 1 / n for place, n in enumerate(self.levels[: self.block_factors])]
        )
        inside = [
            np.eye(n) - 1 / n if place in subset else np.full((n, n), 1 / n)
            for place, n in enumerate(self.levels)
            if place >= self.block_factors
        ]
        return float(at_block * (reduce(np.kron, inside, np.ones((1, 1))) * of_means).sum())


def _block(part) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Return the means of a block's cells, the covariance matrix of the cells' values, and the covariance matrix of the means.

    Both matrices are None if no cell has two runs.
    """
    there = (~np.isnan(part)).astype(float)
    n, means = there.sum(axis=1), np.nanmean(part, axis=1)
    if n.max() < 2:
        return means, None, None
    if there.all():
        covariance = np.atleast_2d(np.cov(part))
    else:
        covariance = pd.DataFrame(part.T).cov(min_periods=2).to_numpy(copy=True)
        # Cells with one run, and pairs of cells with one common replication, are assumed to be like the others in the block.
        own = np.eye(len(n), dtype=bool)
        for kind in (own, ~own):
            unknown = kind & np.isnan(covariance)
            covariance[unknown] = np.nanmean(covariance[kind]) if not np.isnan(covariance[kind]).all() else 0.0
    return means, covariance, covariance * (there @ there.T) / np.outer(n, n)
