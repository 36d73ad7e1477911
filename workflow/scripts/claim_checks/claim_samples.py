"""The cells that a paper's claims are about, and what their means might have been.

A replication of a scenario has the same seed for all CCAs and both IP versions, so the bootstrap
draws whole replications within each scenario: what they have in common stays in common.
"""

import math
import zlib

import numpy as np
from scenario_words import ip_words
from scipy import stats

MIN_REPLICATIONS = 2
# Of a scenario, in the paper's table.
CONDITIONS = ("rate_mbps", "delay_ms", "loss_configured_percent", "flows")


class Samples:
    """Runs of the paper's cells as arrays, with their bootstrap.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``tidy/runs.csv``. Invalid runs take no part.
    claims : dict
        A claims file as `claims.load_claims` returns it.
    resamples : int
        Bootstrap resamples.
    seed : int
        Of the study. Each scenario's draws depend on it and on the scenario's id only.

    Attributes
    ----------
    scenarios, ccas, ip_versions : list of str
        Levels of the axes: the paper's numbers of scenarios, CCAs, IP versions.
    """

    def __init__(self, runs, claims, resamples, seed):
        self.scenarios = [scenario["id"] for scenario in claims["scenarios"]]
        self.ccas, self.ip_versions = claims["ccas"], ["ipv4", "ipv6"]
        self.found, self.missing = match_scenarios(runs, claims["scenarios"])
        self._absent = {*self.ccas, *self.ip_versions} - {*runs["cca"], *runs["ip_version"]}
        self.durations = runs.groupby("scenario")["duration_s"].first().to_dict()
        self._fill(runs)
        self._draw(resamples, seed)
        self._means = {}

    def _fill(self, runs):
        numbers = {study: number for number, study in self.found.items()}
        taken = runs[
            runs["valid"]
            & runs["scenario"].isin(list(numbers))
            & runs["cca"].isin(self.ccas)
            & runs["ip_version"].isin(self.ip_versions)
        ]
        self.runs = taken
        self._replications = [
            sorted(taken.loc[taken["scenario"] == self.found.get(number), "replication"].unique())
            for number in self.scenarios
        ]
        places = [
            {replication: place for place, replication in enumerate(replications)}
            for replications in self._replications
        ]
        scenario = [self.scenarios.index(numbers[name]) for name in taken["scenario"]]
        self._where = (
            np.array(scenario, dtype=int),
            np.array([self.ccas.index(name) for name in taken["cca"]], dtype=int),
            np.array([self.ip_versions.index(name) for name in taken["ip_version"]], dtype=int),
            np.array([places[s][r] for s, r in zip(scenario, taken["replication"], strict=True)], dtype=int),
        )

    def _draw(self, resamples, seed):
        """Draw how often each replication counts; row 0 is the data as they are."""
        self._weights = []
        for number, replications in zip(self.scenarios, self._replications, strict=True):
            n = len(replications)
            weights = np.ones((resamples + 1, n), dtype=np.uint16)
            if n:
                rng = np.random.default_rng([seed, zlib.crc32(self.found[number].encode())])
                weights[1:] = rng.multinomial(n, np.full(n, 1 / n), size=resamples)
            self._weights.append(weights)

    def values(self, quantity):
        """Return the runs' values, shape (scenarios, CCAs, IP versions, replications); missing is nan."""
        longest = max(map(len, self._replications), default=0)
        values = np.full((len(self.scenarios), len(self.ccas), len(self.ip_versions), longest), np.nan)
        values[self._where] = self.runs[quantity].to_numpy(float)
        return values

    def counts(self, quantity):
        """Return the number of values of each cell, shape (scenarios, CCAs, IP versions)."""
        return np.isfinite(self.values(quantity)).sum(axis=3)

    def means(self, quantity):
        """Return the cells' means, shape (1 + resamples, scenarios, CCAs, IP versions).

        Row 0 holds the data as they are. A cell without a value in a resample is nan.
        """
        if quantity not in self._means:
            values = self.values(quantity)
            means = np.full((len(self._weights[0]), *values.shape[:3]), np.nan)
            for place, weights in enumerate(self._weights):
                if not weights.shape[1]:
                    continue
                cells = values[place, :, :, : weights.shape[1]].reshape(-1, weights.shape[1])
                known = np.isfinite(cells)
                weights = weights.astype(float)
                total = weights @ np.where(known, cells, 0).T
                number = weights @ known.T.astype(float)
                np.divide(total, number, out=total, where=number > 0)
                means[:, place] = np.where(number > 0, total, np.nan).reshape(-1, *values.shape[1:3])
            self._means[quantity] = means
        return self._means[quantity]

    def medians(self, quantity, mask):
        """Return the median of all runs of the cells in `mask`, shape (1 + resamples,).

        Parameters
        ----------
        mask : numpy.ndarray of bool, shape (scenarios, CCAs, IP versions)
        """
        scenario, cca, ip_version, replication = self._where
        values = self.runs[quantity].to_numpy(float)
        taken = np.isfinite(values) & mask[scenario, cca, ip_version]
        order = np.flatnonzero(taken)[np.argsort(values[taken], kind="stable")]
        values = values[order]
        medians = np.empty(len(self._weights[0]))
        for start in range(0, len(medians), 100):  # in parts, for the memory
            part = slice(start, start + 100)
            weights = np.empty((len(medians[part]), len(order)), dtype=np.int32)
            for place, of_scenario in enumerate(self._weights):
                mine = scenario[order] == place
                weights[:, mine] = of_scenario[part][:, replication[order][mine]]
            rising = np.cumsum(weights, axis=1)
            total = rising[:, -1:]
            # The two middle ones of the runs as often as they were drawn.
            low = (rising < (total + 1) // 2).sum(axis=1)
            high = (rising < total // 2 + 1).sum(axis=1)
            medians[part] = (values[low] + values[high]) / 2
        return medians

    def mask(self, scenarios, ccas, ip_versions):
        """Return the cells of these levels, shape (scenarios, CCAs, IP versions)."""
        chosen = [
            np.isin(levels, names)
            for levels, names in ((self.scenarios, scenarios), (self.ccas, ccas), (self.ip_versions, ip_versions))
        ]
        return chosen[0][:, None, None] & chosen[1][None, :, None] & chosen[2][None, None, :]

    def why_not(self, quantity, mask, duration_s=None):
        """Say why the cells in `mask` can't answer, or return None."""
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
        counts = np.where(mask, self.counts(quantity), MIN_REPLICATIONS)
        if counts.min() < MIN_REPLICATIONS:
            cells = np.argwhere(counts == counts.min())
            cell = self.cell_words(*cells[0])
            more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
            runs = "no valid run" if counts.min() == 0 else "a single valid run"
            return f"{runs} of {cell}{more}; {MIN_REPLICATIONS} are needed"
        return None

    def cell_words(self, scenario, cca, ip_version):
        """Return a cell's name by its indices: "vegas in scenario 4, IPv6"."""
        return f"{self.ccas[cca]} in scenario {self.scenarios[scenario]}, {ip_words(self.ip_versions[ip_version])}"


def match_scenarios(runs, scenarios):
    """Find the paper's scenarios among those of a study, by their conditions.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``tidy/runs.csv``.
    scenarios : list of dict
        ``id`` and lists of values of `CONDITIONS`, None for no limit.

    Returns
    -------
    found : dict of str to str
        The paper's number to the study's scenario.
    missing : dict of str to str
        The paper's number to a sentence why there is none.
    """
    rows = runs.drop_duplicates("scenario")
    found, missing = {}, {}
    for scenario in scenarios:
        number = scenario["id"]
        matching = [
            row
            for row in rows.to_dict("records")
            if all(_is_among(row[condition], scenario[condition]) for condition in CONDITIONS)
        ]
        if len(matching) > 1:
            matching = [row for row in matching if row["scenario_label"] == number] or matching
        if not matching:
            missing[number] = f"no scenario of this study has the conditions of scenario {number}"
        elif len(matching) > 1:
            names = ", ".join(row["scenario"] for row in matching)
            missing[number] = f"{names} all have the conditions of scenario {number}, and none has its number as label"
        else:
            found[number] = matching[0]["scenario"]
    return found, missing


def _is_among(value, allowed):
    if value is None or math.isnan(value):
        return None in allowed
    return any(item is not None and value == item for item in allowed)


def bootstrap_interval(statistics, confidence, n):
    """Return the bootstrap interval of a statistic: expanded percentiles.

    Percentiles of few replications are too narrow. Hesterberg (2015, "What Teachers Should Know
    about the Bootstrap", The American Statistician 69(4), section 4.3) takes those of probability
    ``Phi(-sqrt(n/(n - 1)) t(1 - alpha/2, n - 1))`` instead of ``alpha/2``. With few replications
    these are the smallest and the largest resample, and no resample of a mean goes beyond the
    smallest and the largest value: of a single cell with n = 4 they hold the truth in 85 % instead
    of 95 %, from n = 6 on in 95 % (tests/analysis/test_claims_samples.py).

    Parameters
    ----------
    statistics : numpy.ndarray of float, shape (1 + resamples,)
        The data's own first. Resamples in which there is none (nan) are left out.
    confidence : float
        Two-sided, between 0 and 1.
    n : int
        Replications of the smallest cell, at least two.

    Returns
    -------
    low, high : float
        They enclose the data's own value. They may be infinite.
    """
    known = statistics[~np.isnan(statistics)]
    drawn = np.sort(known[1:] if len(known) > 1 else known)
    share = stats.norm.cdf(-math.sqrt(n / (n - 1)) * stats.t.ppf((1 + confidence) / 2, n - 1))
    place = math.floor(share * (len(drawn) - 1))  # no interpolation, for ends may be infinite
    # The largest of several means is biased upwards in resamples, so its own value may lie outside.
    return min(drawn[place], known[0]), max(drawn[-1 - place], known[0])
