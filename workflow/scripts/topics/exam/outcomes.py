"""The outcome of each of the examined CCA's runs against each standard CCA: worse or better by more than the margin, or neither.

Each run is compared with the standard CCAs' runs that have the same seed and thus the same path. A run that crashed or didn't end is worse
than a run that was excluded because of its sender's behaviour, and such a run is worse than any other; this also holds for standard CCAs.
If any CCA lacks a value for another reason, the runs with that seed and IP version aren't compared, unless the examined CCA's run failed:
otherwise, the number of worse runs would be smallest against a standard CCA with few values. Verdicts are based on counts of outcomes
instead of means, so they are valid for any distribution of the values.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from inference.counts_of_draws import Numbers, numbers
from topics.exam.criteria import HIGHER, Measure

PAIR = ["ip_version", "replication"]
#: Resolution of a measure as a fraction of the margin: if all runs agree within the resolution, they count as one repeated measurement.
STEP = 0.1
#: A run that is worse by more than this many margins is far worse, that is, it counts as a collapse.
FAR = 4
#: A standard CCA is similar if it is close to the examined CCA or to another standard CCA in at least this share of the runs. Medians would
#: not do: a standard CCA that collapses in nearly half of its runs would seem to be dissimilar in just those samples in which it collapses
#: most.
CLOSE_SHARE = 0.25
#: If at least half of a row's runs, or this number of them, have distinct paths, the paths count as drawn at random.
DISTINCT_PATHS = 10


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of a row's runs."""

    planned: pd.Index  # pairs (IP version, replication) of the scenario's planned runs
    failures: pd.Index  # compared pairs in which the CCA's run failed because of the CCA
    # Amount by which each pair's run (row) is worse than each standard CCA's (column): inf if only the CCA's run failed, -inf if only the
    # standard CCA's.
    worse_by: pd.DataFrame
    margin: float  # amount above which a difference counts
    far: float  # amount above which a run is far worse
    far_pairs: Mapping[str, pd.Index]  # standard CCA -> pairs in which it is far worse than every other CCA
    # Whether each standard CCA (column) is close to some other CCA; None if all standard CCAs are similar.
    close: pd.DataFrame | None = None
    # Values of the compared pairs that didn't fail, with one column per CCA; None if runs can't repeat each other.
    values: pd.DataFrame | None = None
    step: float = 0.0  # if the values of each CCA differ by at most this amount, the runs repeat each other
    paths: pd.Series | None = None  # index of the path that was drawn at random for each pair; None if unknown
    seeds: pd.Series | None = None  # seed of each pair; None if all pairs have different seeds

    @property
    def n(self) -> int:
        """Number of runs with an outcome."""
        return len(self.worse_by)

    @property
    def missing(self) -> int:
        """Number of planned runs that weren't compared."""
        return len(self.planned) - self.n

    @property
    def failed(self) -> int:
        """Number of compared runs without a value because of the CCA's behaviour."""
        return len(self.failures)

    @property
    def failed_alone(self) -> int:
        """Number of failed runs that are worse than the runs of all standard CCAs."""
        return int(self.is_far.loc[self.failures].sum())

    @cached_property
    def measurements(self) -> int:
        """Effective number of runs: 1 if all runs repeat one measurement. Runs don't repeat each other if some failed."""
        if self.values is None or self.failed or _are_distinct(self.values, self.step, self.paths):
            return self.n
        return min(self.n, 1)

    @cached_property
    def worse(self) -> int:
        """Number of runs that are worse than a standard CCA by more than the margin.

        The runs are counted for each standard CCA, and the smallest count is returned.
        """
        return self._fewest(self.worse_by.to_numpy() > self.margin)

    @cached_property
    def better(self) -> int:
        """Number of runs that are better than a standard CCA by more than the margin.

        The runs are counted for each standard CCA, and the smallest count is returned.
        """
        return self._fewest(self.worse_by.to_numpy() < -self.margin)

    @cached_property
    def is_far(self) -> pd.Series:
        """Whether each run is far worse than every standard CCA."""
        return (self.worse_by > self.far).all(axis=1)

    @property
    def comparisons(self) -> int:
        """Number of standard CCAs against which runs are counted; 1 for a measure with a limit."""
        return self.worse_by.shape[1]

    @property
    def far_worse(self) -> int:
        """Number of runs that are far worse than every standard CCA."""
        return int(self.is_far.sum())

    @cached_property
    def standard_pairs(self) -> pd.Index:
        """Pairs in which a standard CCA similar to the examined CCA is far worse than every other CCA.

        These pairs show how often a standard CCA collapses. If several standard CCAs are similar, the one with the most such pairs counts:
        among equally similar ones, chance would select one that never collapses, although the examined CCA collapses like another.
        """
        return max((self.far_pairs[name] for name in self._similar()), key=len, default=pd.Index([]))

    def _similar(self):
        """Return the standard CCAs that are within `FAR` margins of the examined CCA or of another standard CCA often enough.

        A standard CCA that is far from all others in nearly all runs doesn't collapse: it differs. For a measure with a limit, or if no
        standard CCA is close to another CCA often enough, all standard CCAs are similar.
        """
        similar = [] if self.close is None else [name for name, of in self.close.items() if of.mean() >= CLOSE_SHARE]
        return similar or list(self.far_pairs)

    @property
    def standards_far(self) -> int:
        """Number of pairs in ``standard_pairs``."""
        return len(self.standard_pairs)

    @cached_property
    def draws(self) -> Numbers:
        """The number of runs of each draw: runs with the same seed form a draw, and all runs with an unknown seed form one draw."""
        return numbers(self._seeds.value_counts(dropna=False))

    @cached_property
    def leads(self) -> Numbers:
        """Each draw's number of far worse runs minus its number of pairs in ``standard_pairs``; differences of 0 are omitted."""
        of_standard = self.is_far.index.isin(self.standard_pairs)
        leads = (self.is_far.astype(int) - of_standard).groupby(self._seeds, dropna=False).sum()
        return numbers(leads[leads != 0])

    @property
    def _seeds(self):
        """The seed of each pair."""
        index = self.worse_by.index
        return pd.Series(range(self.n), index) if self.seeds is None else self.seeds.reindex(index)

    @property
    def nearest(self) -> str | None:
        """The standard CCA against which the fewest runs are worse; of several, the one with the smallest (signed) median difference.

        None if there are no values.
        """
        if not self.n:
            return None
        counts, medians = (self.worse_by > self.margin).sum(), self.worse_by.median()
        return str(min(self.worse_by.columns, key=lambda name: (counts[name], medians[name])))

    def until(self, replications) -> "Outcomes":
        """Return the outcomes of the replications with numbers up to `replications`, or all outcomes if `replications` is None.

        Runs that are added later don't change these outcomes.
        """
        if replications is None:
            return self

        def early(of):
            pairs = of if isinstance(of, pd.Index) else of.index
            return of[pairs.get_level_values("replication") <= replications]

        return replace(
            self, planned=early(self.planned), failures=early(self.failures), worse_by=early(self.worse_by),
            far_pairs={name: early(pairs) for name, pairs in self.far_pairs.items()},
            values=None if self.values is None else early(self.values), close=None if self.close is None else early(self.close),
        )  # fmt: skip

    def _fewest(self, counts):
        return int(counts.sum(axis=0).min()) if counts.size else 0


def relative_outcomes(
    measure: Measure, cells: Mapping[str, pd.Series], cca, standards, margin, planned, failed, paths=None, seeds=None
) -> Outcomes:
    """Return the outcomes for a measure that is compared with the standard CCAs.

    Parameters
    ----------
    cells : mapping
        CCA -> the CCA's values by IP version and replication.
    cca, standards : str, list of str
        The examined CCA, and the standard CCAs.
    margin : float
        Margin in the measure's unit.
    planned : pandas.Index
        Pairs (IP version, replication) of the scenario's runs.
    failed : mapping
        CCA -> how gravely its runs failed because of the CCA (a larger number is graver), by pair, without the other runs. A CCA without such
        runs may be omitted.
    paths : pandas.Series, optional
        Index of the path that was drawn at random for each pair; by default, repeated runs are recognised by their values.
    seeds : pandas.Series, optional
        Seed of each pair; by default, all pairs have different seeds.
    """
    sign = -1 if measure.better == HIGHER else 1
    of_all = _side_by_side({name: sign * of for name, of in cells.items()}, cca, standards, planned, failed)
    own, others = of_all[cca], of_all[list(standards)]
    # If both values are infinite, neither run is worse, unless one failed in a graver way.
    differences = others.rsub(own, axis=0).mask(np.isinf(others).mul(np.isinf(own), axis=0), 0.0)
    grades = _grades(of_all, planned, failed)
    graver = grades[list(standards)].rsub(grades[cca], axis=0)
    differences = differences.mask((graver != 0) & differences.notna(), np.inf * graver)
    # A failure is worse than whatever an unknown run of one standard CCA was, if that of another is known.
    is_worst = (grades[cca] > 0) & others.notna().any(axis=1)
    differences = differences.mask(differences.isna().mul(is_worst, axis=0), np.inf)
    far_pairs = {name: _far_worse(of_all, name, FAR * margin) for name in others.columns if name != cca}
    close = pd.DataFrame({name: _is_close(of_all, name, FAR * margin) for name in far_pairs}, of_all.index)
    bounds = {"margin": _beyond(margin), "far": _beyond(FAR * margin), "step": STEP * margin}
    return _outcomes(own, of_all, differences, planned, far_pairs, close, paths=paths, seeds=seeds, **bounds)


def absolute_outcomes(cells, cca, standards, limit, planned, failed, paths=None, seeds=None) -> Outcomes:
    """Return the outcomes for a measure with a limit.

    A run is worse if it exceeds the limit and no standard CCA does; the difference is then 1. If a standard CCA exceeds the limit in the
    same pair, the path is the cause. A failed run also exceeds the limit, but only a failure of a standard CCA excuses it. A run is better
    if it respects a limit that every standard CCA exceeds; the difference is then -1. A run that exceeds the limit isn't compared if a
    standard CCA has no value in the same pair and no standard CCA exceeds the limit. The other parameters are the same as in
    `relative_outcomes`.
    """
    of_all = _side_by_side(cells, cca, standards, planned, failed)
    own = of_all[cca]
    values = of_all.reindex(columns=[name for name in standards if name != cca])
    others, exceeds = values > limit, own > limit
    grades = _grades(of_all, planned, failed)
    by_path = others.any(axis=1).where(grades[cca] == 0, grades[list(values)].ge(grades[cca], axis=0).any(axis=1))
    lost = values.isna().any(axis=1).where(grades[cca] == 0, values.isna().all(axis=1))
    unknown = own.isna() | (exceeds & ~by_path & lost)
    better = ~exceeds & others.all(axis=1) & bool(len(others.columns))
    differences = ((exceeds & ~by_path).astype(float) - better).mask(unknown).to_frame("limit")
    far_pairs = {name: others.index[others[name] & ~exceeds & own.notna()] for name in others}
    bounds = {"margin": 0.5, "far": 0.5, "step": STEP * limit}
    return _outcomes(own, of_all, differences, planned, far_pairs, paths=paths, seeds=seeds, **bounds)


def _side_by_side(cells, cca, standards, planned, failed):
    """Return a table of values with one column per CCA (examined or standard) and one row per planned pair; inf for failed runs."""
    table = {}
    for name in dict.fromkeys([cca, *standards]):
        values = cells[name].reindex(planned) if name in cells else pd.Series(np.nan, planned)
        table[name] = values.mask(planned.isin(failed[name].index), np.inf) if name in failed else values
    return pd.DataFrame(table, dtype=float)


def _grades(of_all, planned, failed):
    """Return how gravely each run failed because of its CCA (0: it didn't), with the columns and rows of ``of_all``."""
    return pd.DataFrame(
        {name: failed[name].reindex(planned).fillna(0) if name in failed else 0.0 for name in of_all}, planned
    )


def _outcomes(own, of_all, differences, planned, far_pairs, close=None, **others):
    compared = differences.dropna()
    own = own.loc[compared.index]
    return Outcomes(
        planned=planned,
        failures=compared.index[np.isinf(own)],
        worse_by=compared,
        far_pairs={name: pairs[pairs.isin(compared.index)] for name, pairs in far_pairs.items()},
        close=None if close is None else close.loc[compared.index],
        values=of_all.loc[compared.index[np.isfinite(own)]],
        **others,
    )


def _beyond(margin):
    """Return the margin with an allowance for rounding: a difference above this threshold exceeds the margin."""
    return margin * (1 + 1e-9)


def _far_worse(of_all, name, far):
    """Return the pairs in which the CCA `name` is far worse than every other CCA."""
    others = of_all.drop(columns=name).max(axis=1)
    return of_all.index[of_all[name] - others > _beyond(far)]


def _is_close(of_all, name, far):
    """Return whether the value of the CCA `name` differs from that of some other CCA by at most `far`, for each pair."""
    others = of_all.columns != name
    with np.errstate(invalid="ignore"):  # infinite values
        differences = np.abs(of_all.to_numpy()[:, others] - of_all[[name]].to_numpy())
    return (differences <= _beyond(far)).any(axis=1)


def _are_distinct(values, step, paths):
    """Return whether a row's runs are known not to repeat one measurement: their paths were drawn at random, or their values differ.

    Drawn paths may coincide, because queue sizes are drawn from a small range of whole packets. Each such run is nevertheless a random draw
    from the population of paths, and the other quantities drawn with its seed differ. The number of distinct paths is bounded,
    so `DISTINCT_PATHS` of them suffice, however many runs there are.
    """
    if paths is not None and paths.reindex(values.index).nunique() >= min(len(values) / 2, DISTINCT_PATHS):
        return True
    return bool(((values.max() - values.min()) > step).any())
