"""The cells that a paper's claims are about, and what their means might have been.

A replication of a scenario has the same seed for all CCAs and both IP versions, so the bootstrap
draws whole replications within each scenario: what they have in common stays in common.
"""

import math
import zlib

import numpy as np
import pandas as pd
from scipy import stats

from topics.claims.claim_measures import quotient, run_values
from topics.claims.claim_scenarios import match_scenarios, scenario_conditions
from wording.scenario_words import ip_words

MIN_REPLICATIONS = 2


class Samples:
    """Runs of the paper's cells as arrays, with their bootstrap.

    Parameters
    ----------
    runs, flows, scenarios : pandas.DataFrame
        The tidy tables; flows are needed for claims about them, scenarios for those about queues set in bytes.
    claims : dict
        A claims file as `claims_file.load_claims` returns it.
    resamples, seed : int
        Of the bootstrap. Each scenario's draws depend on the seed and on the scenario's id only.
    sockets : callable, optional
        Reads ``tidy/sockets.parquet``, as `claim_measures.run_values` needs it.
    """

    def __init__(self, runs, claims, resamples, seed, flows=None, scenarios=None, sockets=None):
        # Levels of the axes, as the paper names them.
        self.scenarios = [scenario["id"] for scenario in claims["scenarios"]]
        self.ccas, self.ip_versions = claims["ccas"], claims["ip_versions"]
        self.found, self.missing = match_scenarios(scenario_conditions(runs, scenarios), claims["scenarios"])
        self._flows, self._sockets = flows, sockets
        self._absent = {*self.ccas, *self.ip_versions} - {*runs["cca"], *runs["ip_version"]}
        self.durations = runs.groupby("scenario")["duration_s"].first().to_dict()
        self._fill(runs)
        self._draw(resamples, seed)
        self._of_runs, self._means = {}, {}

    def _fill(self, runs):
        """Find the place of each run that takes part on each axis; a scenario's replications may have any numbers."""
        numbers = {study: number for number, study in self.found.items()}
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

    def _draw(self, resamples, seed):
        """Draw how often each replication counts; row 0 is the data as they are."""
        self._weights = []
        for number, n in zip(self.scenarios, self._replications, strict=True):
            weights = np.ones((resamples + 1, n), dtype=np.uint16)
            if n:
                rng = np.random.default_rng([seed, zlib.crc32(self.found[number].encode())])
                weights[1:] = rng.multinomial(n, np.full(n, 1 / n), size=resamples)
            self._weights.append(weights)

    def of_runs(self, measure) -> np.ndarray:
        """Return a measure of each run in `runs`, shape (runs,)."""
        if measure not in self._of_runs:
            self._of_runs[measure] = run_values(measure, self.runs, self._flows, self._sockets)
        return self._of_runs[measure]

    def values(self, measure) -> np.ndarray:
        """Return the runs' values, shape (scenarios, CCAs, IP versions, replications); missing is nan."""
        values = np.full((*self._shape, self._replications.max()), np.nan)
        values[self._where] = self.of_runs(measure)
        return values

    def counts(self, measure) -> np.ndarray:
        """Return the number of values of each cell, shape (scenarios, CCAs, IP versions)."""
        return np.isfinite(self.values(measure)).sum(axis=3)

    def _runs_of_cells(self):
        """Return the number of valid runs of each cell, shape (scenarios, CCAs, IP versions)."""
        number = np.zeros(self._shape, dtype=int)
        np.add.at(number, self._where[:3], 1)
        return number

    def _by_scenario(self, values):
        """Yield for each scenario with runs: place, weights, and (cells, replications): values, and which are known."""
        for place, weights in enumerate(self._weights):
            n = weights.shape[1]
            if n:
                cells = values[place, :, :, :n].reshape(-1, n)
                yield place, weights.astype(float), cells, np.isfinite(cells)

    def means(self, measure) -> np.ndarray:
        """Return the cells' means, shape (1 + resamples, scenarios, CCAs, IP versions), nan if a resample has no value."""
        if measure not in self._means:
            values = self.values(measure)
            means = np.full((len(self._weights[0]), *values.shape[:3]), np.nan)
            for place, weights, cells, known in self._by_scenario(values):
                total = weights @ np.where(known, cells, 0).T
                number = weights @ known.T.astype(float)
                means[:, place] = quotient(total, number).reshape(-1, *values.shape[1:3])
            self._means[measure] = means
        return self._means[measure]

    def spreads(self, measure) -> np.ndarray:
        """Return the cells' standard deviations (n - 1) over their replications in % of their means, shape as `means`.

        A cell with a single value, or with a mean of 0, has none: nan.
        """
        means = self.means(measure)
        spreads = np.full(means.shape, np.nan)
        for place, weights, cells, known in self._by_scenario(self.values(measure)):
            centre = means[:, place].reshape(len(means), -1)
            # Of each resample about its own mean: differences of large sums of squares would be noise.
            squares = np.empty(centre.shape)
            for cell, (of_cell, there) in enumerate(zip(cells, known, strict=True)):
                off = np.where(there, of_cell, 0)[None, :] - centre[:, [cell]]
                squares[:, cell] = (weights * there * off**2).sum(axis=1)
            number = weights @ known.T.astype(float)
            share = quotient(100 * np.sqrt(quotient(squares, number - 1)), np.abs(centre))
            spreads[:, place] = share.reshape(-1, *means.shape[2:])
        return spreads

    def medians(self, measure, mask) -> np.ndarray:
        """Return the median of all runs of the cells in `mask`, shape (1 + resamples,)."""
        scenario, cca, ip_version, replication = self._where
        values = self.of_runs(measure)
        taken = np.isfinite(values) & mask[scenario, cca, ip_version]
        order = np.flatnonzero(taken)[np.argsort(values[taken], kind="stable")]
        values = values[order]
        medians = np.empty(len(self._weights[0]))
        for start in range(0, len(medians), 100):  # in parts, for the memory
            part = slice(start, start + 100)
            weights = np.empty((len(medians[part]), len(order)), dtype=np.int32)
            for place, of_scenario in enumerate(self._weights):
                drawn_here = scenario[order] == place
                weights[:, drawn_here] = of_scenario[part][:, replication[order][drawn_here]]
            rising = np.cumsum(weights, axis=1)
            total = rising[:, -1:]
            # The two middle ones of the runs as often as they were drawn.
            low = (rising < (total + 1) // 2).sum(axis=1)
            high = (rising < total // 2 + 1).sum(axis=1)
            medians[part] = (values[low] + values[high]) / 2
        return medians

    def mask(self, scenarios, ccas, ip_versions) -> np.ndarray:
        """Return the cells of these levels, shape (scenarios, CCAs, IP versions)."""
        return (
            np.isin(self.scenarios, scenarios)[:, None, None]
            & np.isin(self.ccas, ccas)[:, None]
            & np.isin(self.ip_versions, ip_versions)
        )

    def why_not(self, parts, duration_s=None) -> str | None:
        """Say why a claim's cells can't answer, or return None.

        Its parts are as `claim_predicates.parts_of` gives them; runs of another duration than `duration_s` can't answer.
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
            return self.missing[missing[0]] + (f" (so of {len(missing)} scenarios)" if len(missing) > 1 else "")
        if duration_s is not None:
            others = {self.durations[self.found[number]] for number in levels[2]} - {duration_s}
            if others:
                return f"it is about runs of {duration_s:g} s, and those of this study last {min(others):g} s"
        few = self._too_few(self._runs_of_cells(), mask, ("no valid run", "a single valid run"), "of")
        for measure, mask in parts:
            words = f"no value of the {measure.name}", "a single one"
            few = few or self._too_few(self.counts(measure), mask, words, "in the runs of")
        return few

    def _too_few(self, counts, mask, words, of):
        counts = np.where(mask, counts, MIN_REPLICATIONS)
        if counts.min() >= MIN_REPLICATIONS:
            return None
        cells = np.argwhere(counts == counts.min())
        more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        return f"{words[counts.min()]} {of} {self.cell_words(*cells[0])}{more}; {MIN_REPLICATIONS} are needed"

    def cell_words(self, scenario, cca, ip_version) -> str:
        """Return a cell's name by its indices: "vegas in scenario 4, IPv6"; of one IP version there is nothing to say."""
        version = f", {ip_words(self.ip_versions[ip_version])}" if len(self.ip_versions) > 1 else ""
        return f"{self.ccas[cca]} in scenario {self.scenarios[scenario]}{version}"


def bootstrap_interval(statistics, confidence, n) -> tuple[float, float]:
    """Return the bootstrap interval of a statistic: expanded percentiles.

    Percentiles of few replications are too narrow. Hesterberg (2015, "What Teachers Should Know
    about the Bootstrap", The American Statistician 69(4), section 4.3) takes those of probability
    ``Phi(-sqrt(n/(n - 1)) t(1 - alpha/2, n - 1))`` instead of ``alpha/2``. With few replications
    these are the smallest and the largest resample, and no resample of a mean goes beyond the
    smallest and the largest value: of a single cell with n = 4 they hold the truth in 85 % instead
    of 95 %, from n = 6 on in 95 % (tests/topics/claims/test_claims_samples.py).

    Parameters
    ----------
    statistics : numpy.ndarray of float, shape (1 + resamples,)
        The data's own first, which the interval encloses. Resamples in which there is none (nan) are left out.
    confidence : float
        Two-sided, between 0 and 1.
    n : int
        Replications of the smallest cell, at least two.
    """
    known = statistics[~np.isnan(statistics)]
    drawn = np.sort(known[1:] if len(known) > 1 else known)
    share = stats.norm.cdf(-math.sqrt(n / (n - 1)) * stats.t.ppf((1 + confidence) / 2, n - 1))
    place = math.floor(share * (len(drawn) - 1))  # no interpolation, for ends may be infinite
    # The largest of several means is biased upwards in resamples, so its own value may lie outside.
    return min(drawn[place], known[0]), max(drawn[-1 - place], known[0])
