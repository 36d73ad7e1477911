"""Collect the runs of the cells that a paper's claims are about, and compute the cells' means for the jackknife.

The jackknife needs the means over all replications, and the means with each replication left out in turn. Within one replication of a
scenario, the runs of all CCAs and both IP versions use the same seed. The jackknife therefore leaves out all of these runs at once, which
preserves the dependence between them.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pandas as pd

from inference.collapses import other_kind
from inference.stratified_jackknife import Stratum
from topics.claims.claim_measures import quotient, relative_to_capacity, run_values
from topics.claims.claim_scenarios import match_scenarios, scenario_conditions
from topics.claims.run_quantities import resolution_of_runs
from wording.scenario_words import ip_words

#: Minimum number of replications. Two values may be equal by chance, for example after rounding, and don't show how much runs vary.
MIN_REPLICATIONS = 3


class Samples:
    """The runs of the paper's cells, arranged in arrays.

    Parameters
    ----------
    runs, flows, scenarios : pandas.DataFrame
        The tidy tables. Flows are needed for claims about flows. Scenarios are needed if the claims file describes scenarios by a queue
        limit in bytes or by one of `claim_scenarios.OF_SCENARIOS`.
    claims : dict
        A claims file as returned by `claims_file.load_claims`.
    sockets : callable, optional
        Function that reads ``tidy/sockets.parquet``, as for `claim_measures.run_values`.
    """

    def __init__(self, runs, claims, flows=None, scenarios=None, sockets=None):
        # Levels of the axes, as the paper names them.
        self.scenarios = [scenario["id"] for scenario in claims["scenarios"]]
        self.ccas, self.ip_versions = claims["ccas"], claims["ip_versions"]
        self.matches, self.missing = match_scenarios(scenario_conditions(runs, scenarios), claims["scenarios"])
        self._flows, self._sockets = flows, sockets
        self._absent = {*self.ccas, *self.ip_versions} - {*runs["cca"], *runs["ip_version"]}
        self.durations = runs.groupby("scenario")["duration_s"].first().to_dict()
        self.platforms = runs.groupby("scenario")["platform"].first().to_dict()
        self._fill(runs)
        self._leave_out()
        self._of_runs, self._counts, self._means, self._repeats, self._resolutions = {}, {}, {}, {}, {}

    def _fill(self, runs):
        """Find the index of each included run on each axis; the replications of a scenario may have arbitrary numbers."""
        numbers = {study: number for number, study in self.matches.items()}
        axes = [
            pd.Index(levels).get_indexer(names)
            for levels, names in (
                (self.scenarios, runs["scenario"].map(numbers)),
                (self.ccas, runs["cca"]),
                (self.ip_versions, runs["ip_version"]),
            )
        ]
        taken = (runs["valid"] & (np.min(axes, axis=0) >= 0)).to_numpy(bool)
        self.runs = runs[taken]
        replications = self.runs.groupby("scenario")["replication"].rank("dense").to_numpy(int) - 1
        self._where = (*(places[taken] for places in axes), replications)
        self._shape = tuple(map(len, (self.scenarios, self.ccas, self.ip_versions)))
        self._replications = np.zeros(len(self.scenarios), dtype=int)
        np.maximum.at(self._replications, self._where[0], replications + 1)

    def _leave_out(self):
        """Assign a jackknife row to each replication, scenario by scenario; row 0 stands for the complete data."""
        ends = 1 + np.cumsum(self._replications)
        self._rows = [slice(end - n, end) for end, n in zip(ends, self._replications, strict=True)]
        self._number_of_rows = int(ends[-1])

    def strata(self, counts) -> list[Stratum]:
        """Return the jackknife strata, which are the scenarios of the given cells.

        ``counts`` (numpy.ndarray of int, shape (scenarios, CCAs, IP versions)) gives the number of values in each of these cells, and 0 for
        all others. The cell with the fewest values determines a scenario's degrees of freedom.
        """
        known = counts > 0
        return [
            Stratum(self._rows[place], int(counts[place][known[place]].min()) - 1)
            for place in np.flatnonzero(known.any(axis=(1, 2)))
        ]

    def of_runs(self, measure) -> np.ndarray:
        """Return a measure of each run in `runs`, shape (runs,)."""
        if measure not in self._of_runs:
            self._of_runs[measure] = run_values(measure, self.runs, self._flows, self._sockets)
        return self._of_runs[measure]

    def values(self, measure) -> np.ndarray:
        """Return the runs' values, shape (scenarios, CCAs, IP versions, replications); nan where a value is missing."""
        values = np.full((*self._shape, self._replications.max()), np.nan)
        values[self._where] = self.of_runs(measure)
        return values

    def counts(self, measure) -> np.ndarray:
        """Return the number of known values in each cell, shape (scenarios, CCAs, IP versions)."""
        if measure not in self._counts:
            self._counts[measure] = np.isfinite(self.values(measure)).sum(axis=3)
        return self._counts[measure]

    def repeats(self, measure) -> np.ndarray:
        """Return whether each cell's values repeat one measurement, as an array of shape (scenarios, CCAs, IP versions)."""
        if measure not in self._repeats:
            self._repeats[measure] = self._repeated(measure)
        return self._repeats[measure]

    def _repeated(self, measure):
        values = self.values(measure)
        known = np.isfinite(values)
        apart = np.where(known, values, -np.inf).max(axis=3) - np.where(known, values, np.inf).min(axis=3)
        return (known.sum(axis=3) > 1) & ((apart == 0) | (apart < self._steps(measure)))

    def _steps(self, measure):
        """Return the resolution of a measure in each cell, shape (scenarios, CCAs, IP versions); 0 where unknown."""
        if measure not in self._resolutions:
            steps = self._resolutions[measure] = np.zeros(self._shape)
            if measure.flows is None:
                of_runs = resolution_of_runs(self.runs, measure.quantity)
                np.fmax.at(steps, self._where[:3], relative_to_capacity(of_runs, measure, self.runs))
        return self._resolutions[measure]

    def apart(self, measure, mask) -> np.ndarray:
        """Return the number of outliers in each cell of `mask`, and 0 in the other cells.

        If all values are normally distributed, outliers are found by chance in 1 of 100 masks.
        """
        apart, values, steps = np.zeros(self._shape, dtype=int), self.values(measure), self._steps(measure)
        for cell in zip(*np.nonzero(mask), strict=True):
            known = values[cell][np.isfinite(values[cell])]
            apart[cell] = other_kind(known, steps[cell], cells=int(mask.sum())).sum()
        return apart

    def _runs_of_cells(self):
        """Return the number of valid runs in each cell, shape (scenarios, CCAs, IP versions)."""
        number = np.zeros(self._shape, dtype=int)
        np.add.at(number, self._where[:3], 1)
        return number

    def means(self, measure) -> np.ndarray:
        """Return the cells' means, shape (1 + replications of all scenarios, scenarios, CCAs, IP versions).

        Row 0 contains the means over all replications. Each of the other rows leaves out one replication. The mean of no values is nan.
        """
        if measure not in self._means:
            values = self.values(measure)
            known = np.isfinite(values)
            total, number = np.where(known, values, 0).sum(axis=3), known.sum(axis=3)
            means = np.tile(quotient(total, number), (self._number_of_rows, 1, 1, 1))
            for place, rows in enumerate(self._rows):
                n = rows.stop - rows.start
                if n:
                    # Computed from deviations, so that leaving out one of several equal values doesn't change the last digit of the mean.
                    off = np.where(known[place], values[place] - means[0, place][..., None], 0)[..., :n]
                    rest = number[place][..., None] - known[place][..., :n]
                    means[rows, place] -= np.moveaxis(np.where(rest > 0, off / np.maximum(rest, 1), np.nan), 2, 0)
            self._means[measure] = means
        return self._means[measure]

    def spreads(self, measure) -> np.ndarray:
        """Return the standard deviation over the replications of each cell (divisor n - 1), in % of the cell's mean.

        Shape (scenarios, CCAs, IP versions); nan for a cell with a single value or a mean of 0.
        """
        values, means, number = self.values(measure), self.means(measure)[0], self.counts(measure)
        squares = np.nansum((values - means[..., None]) ** 2, axis=3)
        return quotient(100 * np.sqrt(quotient(squares, number - 1)), np.abs(means))

    def pooled(self, measure, mask) -> tuple[np.ndarray, np.ndarray]:
        """Return all known values in the cells of `mask`, in ascending order, and for each value the jackknife row that leaves it out."""
        scenario, cca, ip_version, replication = self._where
        values = self.of_runs(measure)
        taken = np.isfinite(values) & mask[scenario, cca, ip_version]
        rows = np.array([rows.start for rows in self._rows])[scenario] + replication
        order = np.flatnonzero(taken)[np.argsort(values[taken], kind="stable")]
        return values[order], rows[order]

    def mask(self, scenarios, ccas, ip_versions) -> np.ndarray:
        """Return a mask of the cells at the given levels, shape (scenarios, CCAs, IP versions)."""
        return (
            np.isin(self.scenarios, scenarios)[:, None, None]
            & np.isin(self.ccas, ccas)[:, None]
            & np.isin(self.ip_versions, ip_versions)
        )

    def why_not(self, parts, duration_s=None) -> str | None:
        """Return the reason why a claim can't be decided from its cells, or None if it can.

        `parts` is the result of `claim_predicates.parts_of`. If `duration_s` is given, only runs with this duration can decide the claim.
        """
        mask = np.logical_or.reduce([mask for _, mask in parts])
        levels = [
            [name for name, there in zip(names, mask.any(axis=axes), strict=True) if there]
            for names, axes in ((self.ccas, (0, 2)), (self.ip_versions, (0, 1)), (self.scenarios, (1, 2)))
        ]
        absent = [ip_words(name) for name in levels[0] + levels[1] if name in self._absent]
        if absent:
            return f"this study has no {', '.join(absent)}"
        missing = [number for number in levels[2] if number in self.missing]
        if missing:
            return self.missing[missing[0]] + (f" ({len(missing)} scenarios have no match)" if len(missing) > 1 else "")
        if duration_s is not None:
            others = {self.durations[self.matches[number]] for number in levels[2]} - {duration_s}
            if others:
                return f"the claim is about runs of {duration_s:g} s, but this study's runs last {min(others):g} s"
        few = self._too_few(self._runs_of_cells(), mask, ("no valid run", "a single valid run", "two valid runs"), "of")
        for measure, mask in parts:
            words = (
                f"no value of the {measure.name}",
                f"a single value of the {measure.name}",
                f"only two values of the {measure.name}",
            )
            few = few or self._too_few(self.counts(measure), mask, words, "in the runs of")
        return few

    def _too_few(self, counts, mask, words, of):
        counts = np.where(mask, counts, MIN_REPLICATIONS)
        if counts.min() >= MIN_REPLICATIONS:
            return None
        cells = np.argwhere(counts == counts.min())
        more = f" (cells affected: {len(cells)})" if len(cells) > 1 else ""
        return f"{words[counts.min()]} {of} {self.cell_words(*cells[0])}{more}; {MIN_REPLICATIONS} are needed"

    def cell_words(self, scenario, cca, ip_version) -> str:
        """Return the name of the cell at the given indices, such as "vegas in scenario 4, IPv6".

        The IP version is left out if the claims file lists only one.
        """
        version = f", {ip_words(self.ip_versions[ip_version])}" if len(self.ip_versions) > 1 else ""
        return f"{self.ccas[cca]} in scenario {self.scenarios[scenario]}{version}"


def reader_of(path) -> Callable[[tuple[str, ...], tuple[str, ...]], pd.DataFrame]:
    """Return a function that reads the given columns and scenarios from a table of time series.

    Each combination of columns and scenarios is read only once.
    """
    return lru_cache(
        lambda columns, scenarios: pd.read_parquet(path, columns=list(columns), filters=[("scenario", "in", scenarios)])
    )
