"""Shares of a study's variance due to each factor, each pair of factors, and chance.

The cells of a study are all that there are, so its factors are fixed: the variance of a factor is the mean square of its effects
over the cells (generalised omega squared; Vaughan and Corballis, 1969, Psychological Bulletin 72(3); Dodd and Schultz, 1973,
79(6)). Sums of squares are those of the cells' means, which count one each: with no cell empty these are orthogonal and add up,
however many runs were excluded (unweighted means; Yates, 1934, JASA 29(185)), and where all cells have as many they are type I,
II and III alike. What chance alone puts into each of them is taken off, from how runs of a block (which share their seeds) vary
and vary together: no cells need have the same spread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

import numpy as np
import pandas as pd

from inference.stratified_jackknife import Stratum, t_interval

#: The parts that are no factor's and no pair's.
HIGHER, SEED, RUN = "higher interactions", "seed", "run"
#: What an interval takes of each block, and of each of its cells: with one left out there still are a spread and means.
LEAST_REPLICATIONS, LEAST_VALUES = 3, 2


@dataclass(frozen=True)
class Component:
    """A part of the variance."""

    # A factor, two of them, or `HIGHER`, `SEED` (what runs of a block and replication have in common) or `RUN` (what is
    # left of the spread within cells; with `SEED`, where a block is one cell).
    name: tuple[str, ...]
    df: int | None  # degrees of freedom; None of chance
    squares: float | None  # sum of squares of the cells' means; None of chance
    variance: float  # estimate without bias, so below 0 where there is little or nothing
    share: float | None  # of the whole variance, None with fewer replications than an interval needs
    low: float | None = None  # ends of the share's interval
    high: float | None = None


def decompose(
    values: np.ndarray, block_factors: int, levels: Sequence[int], names: Sequence[str], confidence: float
) -> list[Component]:
    """Return the parts of the variance of a crossed design.

    These are factors of several levels, pairs of them, higher interactions, seed and run. `SEED` is left out where a
    block is one cell, both where some block has no cell with two runs: chance is then part of all others, and there is
    no interval.

    Parameters
    ----------
    values : numpy.ndarray of float, shape (cells, replications)
        Missing where a run has none; each cell has one or more. The cells are all combinations of levels, those of the last
        factor change first.
    block_factors : int
        Number of leading factors that form the blocks: runs of the same block and replication share a seed.
    levels : sequence of int
        Number of levels of each factor.
    names : sequence of str
    confidence : float
        Confidence of the intervals: t intervals of the stratified jackknife, which omits each block's replications one by one.
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
    """The factors of several levels, their pairs, and all that is left between cells."""

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
        """Return the variance of each term, then of seed and run as far as they are known; and the terms' sums of squares."""
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
        """Return what chance puts into a sum of squares on average: the trace of its projection times the covariances."""
        # Where a factor makes the blocks, its projection is the same at each block's own place.
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
    """Return the cells' means in a block, the covariances of their runs, and of these means; None if no cell has two runs."""
    there = (~np.isnan(part)).astype(float)
    n, means = there.sum(axis=1), np.nanmean(part, axis=1)
    if n.max() < 2:
        return means, None, None
    if there.all():
        covariance = np.atleast_2d(np.cov(part))
    else:
        covariance = pd.DataFrame(part.T).cov(min_periods=2).to_numpy(copy=True)
        # Cells of one run, and pairs of cells with one replication in common, are taken for as the block's others.
        own = np.eye(len(n), dtype=bool)
        for kind in (own, ~own):
            unknown = kind & np.isnan(covariance)
            covariance[unknown] = np.nanmean(covariance[kind]) if not np.isnan(covariance[kind]).all() else 0.0
    return means, covariance, covariance * (there @ there.T) / np.outer(n, n)
