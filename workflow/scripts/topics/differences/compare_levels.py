"""Compare a study's levels (CCAs, and scenarios that differ in only one condition) in each measure, place by place.

A *place* is where two levels are compared: a scenario in which two CCAs run, or a CCA that runs in two scenarios.

The unit of analysis is a replication: its runs over both IP versions use the same seed, and their mean is one value. All CCAs of a scenario
run with the same seeds, so they are compared by paired tests. Different scenarios use different seeds, so they are independent samples.
Because values may depend on the IP version, a run is compared only if it has a counterpart: a pair consists of two runs over the same IP
version, and independent samples are reduced to the IP versions that both contain and to the replications with a value over each of these.
"""

import math
from itertools import combinations, product

import numpy as np
import pandas as pd

from inference.cell_estimates import cell_estimate
from inference.combined_tests import bonferroni, fisher, flipped_p, p_of_chosen
from inference.independent_comparison import difference
from inference.mean_interval import LEAST_RUNS, repeats_one_measurement
from inference.multiple_tests import adjusted
from inference.paired_contrasts import contrasts, to_effect, usable_scale
from inference.paired_tests import StudentMean, is_constant
from run_tables.exclusions import ABSENT
from run_tables.resolution import RESOLVED, copied_runs, resolutions
from run_tables.run_keys import CELL
from testbed.checks.check import INSTRUMENT
from topics.differences.measures import BY_COLUMN, INSTEAD
from topics.differences.tables import (
    ALIKE,
    BY_FLIPS,
    BY_REPEATS,
    BY_SOME_SPREAD,
    BY_SPREAD,
    BY_T,
    COMPARISONS,
    DIFFERENCES,
    LESS,
    MORE,
    OPEN,
)

#: Columns that identify a run, in the order of the axes of `Values`.
KEYS = ("scenario", "cca", "replication", "ip_version")
#: Share of pairs whose difference must have the sign of the mean difference; with fewer than 20 pairs, this means all pairs.
SAME_SIGN = 0.95
#: A difference this many times as large as the largest difference between two runs of one cell counts as not due to chance.
SPREADS = 3.0
#: Minimum number of pairs for which the rule of `SPREADS` applies. Two or three runs of a cell can all be of one kind by chance. If each
#: run collapses with a probability of 1/2, then in 2 of 2^(2n) cases all n runs of one cell collapse and no run of the other does (3 % for
#: n = 3, 0.8 % for n = 4).
LEAST_FOR_SPREAD = 4


class Values:
    """A measure's values in the runs of each cell.

    ``copied`` is the result of `copied_cells`.

    Attributes
    ----------
    spread : float
        Largest difference between two runs of one cell, on the scale of contrasts; 0 if no two runs differ.
    """

    def __init__(self, runs, measure, copied):
        self.measure = measure
        self._places = {name: {value: place for place, value in enumerate(runs[name].unique())} for name in KEYS}
        where = tuple(runs[name].map(self._places[name]).to_numpy() for name in KEYS)
        shape = tuple(map(len, self._places.values()))
        self._values, steps = np.full(shape, np.nan), np.zeros(shape)
        self._values[where] = runs[measure.column].astype(float).where(runs["valid"] & is_meant(runs, measure.column))
        if measure.column in RESOLVED:
            steps[where] = resolutions(runs, measure.column).where(runs["valid"], 0).fillna(0)
        self._steps = steps.max(axis=(2, 3))
        cells = np.ndindex(shape[:2])
        names = list(product(*(self._places[name] for name in KEYS[:2])))  # in the order of the cells
        self._repeats = {
            cell: name in copied and self._repeats_one(cell) for cell, name in zip(cells, names, strict=True)
        }
        apart = (self._apart(cell, of_ip) for cell in np.ndindex(shape[:2]) for of_ip in self._values[cell].T)
        self.spread = max(apart, default=0.0)

    def _repeats_one(self, cell):
        """Return whether, over each IP version, a cell's runs repeat one measurement."""
        known = [values[~np.isnan(values)] for values in self._values[cell].T]
        return all(repeats_one_measurement(values, self._steps[cell]) for values in known if len(values))

    def _apart(self, cell, values):
        values = values[~np.isnan(values)]
        if len(values) < 2 or repeats_one_measurement(values, self._steps[cell]):
            return 0.0
        ends = values.max(keepdims=True), values.min(keepdims=True)
        return float(abs(contrasts(*ends, usable_scale(*ends, self.measure.scale))[0]))

    def of(self, scenario, cca) -> tuple[np.ndarray, float, bool]:
        """Return a cell's values, their resolution, and whether the runs repeat one measurement.

        The values have the shape (replications, IP versions).
        """
        cell = self._places["scenario"][scenario], self._places["cca"][cca]
        return self._values[cell], float(self._steps[cell]), self._repeats[cell]


def is_meant(runs, column) -> pd.Series:
    """Return a mask of the runs for which a measure is meaningful: Jain's index needs more than one flow."""
    return runs["flows_under_test"] > 1 if column == "jain_index" else pd.Series(True, runs.index)


def compare_levels(runs, pairs, margins, significance, confidence) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables `DIFFERENCES` and `COMPARISONS`.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``tidy/runs.csv``.
    pairs : list of dict
        Pairs of scenarios (`axes.pairs_of`).
    margins : dict of str to float
        Measure -> smallest difference that counts.
    significance, confidence : float
    """
    rows, lost = [], _lost(runs)
    copied = copied_cells(runs)
    measures = [
        measure
        for measure in BY_COLUMN.values()
        if measure.column in runs and runs.loc[runs["valid"], measure.column].notna().any()
    ]
    for measure in measures:
        instead = INSTEAD.get(measure.column)
        if instead in [other.column for other in measures]:
            continue
        values = Values(runs, measure, copied)
        for sides in _sides(runs, pairs, measure):
            found = _compare(values, sides, margins[measure.column], confidence, lost)
            if found:
                rows.append(
                    sides
                    | found
                    | {"effect_unit": measure.effect_unit, "measure": measure.column, "spread": values.spread}
                )
    names = [*DIFFERENCES.names, "p", "t_p", "spread", "contrast"]
    differences = pd.DataFrame(rows, columns=names).assign(shared_seeds=_share_seeds(runs))
    return differences[DIFFERENCES.names], _comparisons(differences, significance)


def copied_cells(runs) -> set[tuple[str, str]]:
    """Return the pairs (scenario, CCA) whose runs over each IP version are copies (`copied_runs`)."""
    valid = runs[runs["valid"]]
    copied = copied_runs(valid, CELL).groupby([valid["scenario"], valid["cca"]]).all()
    return set(copied.index[copied])


def _share_seeds(runs):
    """Return whether runs of different scenarios use the same seed, as the setting `seeds_of` allows."""
    return bool((runs.groupby("seed")["scenario"].nunique() > 1).any())


def _lost(runs):
    """Return the replications in which a run was excluded, by scenario and CCA.

    Missing runs, and runs that were excluded because of the instrument, don't count.
    """
    excluded = ~runs["valid"] & ~runs["excluded_by"].isin([INSTRUMENT, ABSENT])
    cells = runs[excluded].groupby(["scenario", "cca"])["replication"]
    return {cell: set(replications) for cell, replications in cells}


def _sides(runs, pairs, measure):
    """Yield, for each comparison, the columns that identify the two levels and the runs of each level."""
    labels = dict(zip(runs["scenario"], runs["scenario_label"], strict=True))
    ccas = list(runs["cca"].unique())
    if measure.of_ccas:
        for one, other in combinations(ccas, 2):
            for scenario, label in labels.items():
                yield {
                    "factor": "cca", "level_a": one, "level_b": other, "scenario": scenario, "other_scenario": scenario,
                    "scenario_label": label, "cca": one, "other_cca": other,
                }  # fmt: skip
    if measure.of_scenarios:
        for pair in pairs:
            for cca in ccas:
                yield {
                    "factor": "scenario", "level_a": pair["level_b"], "level_b": pair["level_a"],
                    "scenario": pair["scenario_b"], "other_scenario": pair["scenario_a"],
                    "scenario_label": labels[pair["scenario_b"]], "cca": cca, "other_cca": cca,
                }  # fmt: skip


def _compare(values, sides, margin, confidence, lost) -> dict | None:
    """Return the columns of a row of `DIFFERENCES`, plus p, t_p and contrast; None if one of the sides has no value to compare."""
    cells = (sides["scenario"], sides["cca"]), (sides["other_scenario"], sides["other_cca"])
    (first, *of_first), (second, *of_second) = (values.of(*cell) for cell in cells)
    paired = sides["factor"] == "cca"
    known = _values(first, second)
    first, second = (_pairs if paired else _same_ip_versions)(first, second)
    left_out = known - _values(first, second)
    a, b = (_of_replications(side) for side in (first, second))
    if not len(a) or not len(b):
        return None
    steps, repeats = (of_first[0], of_second[0]), of_first[1] and of_second[1]
    found = (_paired if paired else _independent)(a, b, values.measure, confidence, repeats, steps)
    if paired:
        # Not of the means over IP versions, in which opposite differences would cancel.
        found["largest"] = _largest(first[~np.isnan(first)], second[~np.isnan(second)], values.measure)
    gone = set().union(*(lost.get(cell, ()) for cell in cells))
    found |= {"n": min(len(a), len(b)), "repeats": repeats, "lost": len(gone), "left_out": left_out, "margin": margin}
    found |= {"value": float(a.mean()), "other_value": float(b.mean())}
    return found | {"verdict": _verdict(found.pop("signs"), found, margin, len(gone))}


def _values(*sides):
    """Return the total number of values in the samples."""
    return sum(int(np.sum(~np.isnan(side))) for side in sides)


def _pairs(first, second):
    """Return both samples without the values that have no counterpart of the same replication and IP version in the other sample."""
    both = ~np.isnan(first) & ~np.isnan(second)
    return np.where(both, first, np.nan), np.where(both, second, np.nan)


def _same_ip_versions(first, second):
    """Return both samples, reduced to the IP versions that both contain and to the replications with a value over each of these."""
    shared = ~np.isnan(first).all(axis=0) & ~np.isnan(second).all(axis=0)
    return [side[~np.isnan(side[:, shared]).any(axis=1)][:, shared] for side in (first, second)]


def _of_replications(values):
    """Return, for each replication with a value, the mean over IP versions."""
    known = ~np.isnan(values)
    counts = known.sum(axis=1)
    return np.where(known, values, 0).sum(axis=1)[counts > 0] / counts[counts > 0]


def _largest(a, b, measure):
    """Return the largest difference between pairs of values."""
    scale = usable_scale(a, b, measure.scale)
    return max((to_effect(float(pair), scale) for pair in contrasts(a, b, scale)), key=abs)


def _paired(a, b, measure, confidence, repeats, steps):
    scale = usable_scale(a, b, measure.scale)
    pairs = contrasts(a, b, scale)
    known = cell_estimate(pairs, confidence) if not repeats else None
    ends = (
        (math.nan, math.nan)
        if known is None or known.low is None
        else (to_effect(known.low, scale), to_effect(known.high, scale))
    )
    tested = not repeats
    by_t = tested and len(pairs) >= LEAST_RUNS and pairs.any()
    return {
        "difference": to_effect(float(pairs.mean()), scale), "difference_low": ends[0], "difference_high": ends[1],
        "contrast": float(pairs.mean()),
        "p": flipped_p(pairs) if tested else math.nan,
        "t_p": (2.0 ** (1 - len(pairs)) if is_constant(pairs) else StudentMean(pairs).p()) if by_t else math.nan,
        "signs": np.sign(pairs),
    }  # fmt: skip


def _independent(a, b, measure, confidence, repeats, steps):
    scale = usable_scale(a, b, measure.scale)
    known = difference(a, b, scale, steps)
    ends = None if repeats else known.interval(confidence)
    beyond = None if repeats or min(len(a), len(b)) < LEAST_RUNS else known.p_beyond(0.0, 0.0)
    p = math.nan if beyond is None else min(1.0, 2 * beyond)
    # 1 if all runs of the first side are above all runs of the other side, -1 if all are below, otherwise 0.
    above = 1.0 if a.min() > b.max() else -1.0 if a.max() < b.min() else 0.0
    return {
        "difference": known.effect, "difference_low": ends[0] if ends else math.nan, "difference_high": ends[1] if ends else math.nan,
        "largest": known.effect, "contrast": known.estimate, "p": math.nan, "t_p": p, "signs": np.array([above]),
    }  # fmt: skip


def _verdict(signs, found, margin, lost) -> str:
    size = abs(found["difference"])
    if abs(found["largest"]) < margin and not lost:
        return ALIKE
    same = int((signs == np.sign(found["contrast"])).sum())
    if size >= margin and same >= SAME_SIGN * (len(signs) + lost):
        return MORE if found["contrast"] > 0 else LESS
    return OPEN


def _comparisons(differences, significance) -> pd.DataFrame:
    keys = ["factor", "level_a", "level_b", "measure"]
    groups = list(differences.groupby(keys, sort=False))
    rows = [dict(zip(keys, key, strict=True)) | _over_places(of_key) for key, of_key in groups]
    table = pd.DataFrame(rows, columns=[*COMPARISONS.names, "t_p"])
    table["p_holm"] = adjusted(table["p"].astype(float), "holm")
    table["t_p_holm"] = adjusted(table["t_p"].astype(float), "holm")
    judged = table.to_dict("records")
    table["evidence"] = [_evidence(row, of_key, significance) for row, (_, of_key) in zip(judged, groups, strict=True)]
    table["verdict"] = [_verdict_of(row, evidence) for row, evidence in zip(judged, table["evidence"], strict=True)]
    return table[COMPARISONS.names]


def _over_places(of_key):
    counts = {verdict: int((of_key["verdict"] == verdict).sum()) for verdict in (MORE, LESS, ALIKE, OPEN)}
    most_say = MORE if counts[MORE] >= counts[LESS] else LESS
    sizes = of_key.loc[of_key["verdict"] == most_say, "difference"].abs()
    chosen = of_key["verdict"] == most_say
    along = np.sign(of_key["contrast"]) == (1 if most_say == MORE else -1)
    first = of_key.iloc[0]
    # The places of a comparison between scenarios are CCAs, which share seeds, so their tests aren't independent.
    combined = bonferroni if first["factor"] == "scenario" or first["shared_seeds"] else fisher
    return {
        "effect_unit": first["effect_unit"], "margin": first["margin"], "places": len(of_key), **counts,
        "least": sizes.min(), "most": sizes.max(), "bound": of_key["largest"].abs().max(),
        "p": _p_in_direction(of_key["p"], along, chosen, combined), "t_p": _p_in_direction(of_key["t_p"], along, chosen, combined),
    }  # fmt: skip


def _p_in_direction(two_sided, along, chosen, combined) -> float:
    """Return the p-value of the null hypothesis that there is no difference in a given direction at any of the chosen places.

    Parameters
    ----------
    two_sided : pandas.Series
        Two-sided p-value of each place.
    along : pandas.Series of bool
        Whether the difference at each place is in this direction. If it is, the one-sided p-value is half the two-sided one; if it isn't,
        1 is used.
    chosen : pandas.Series of bool
        Whether each place was chosen.
    combined : callable
        Function that combines p-values, as for `combined_tests.p_of_chosen`.
    """
    known = two_sided.notna()
    one_sided = (two_sided / 2).where(along, 1.0)
    if not known.any():
        return math.nan
    # Doubled, because the direction was chosen too.
    return min(1.0, 2 * p_of_chosen(one_sided[known], chosen[known], combined))


def _evidence(row, places, significance) -> str:
    """Name the strongest evidence that a difference isn't due to chance; empty if there is none."""
    if row[MORE] == row[LESS]:
        return ""
    telling = places[places["verdict"] == (MORE if row[MORE] > row[LESS] else LESS)]
    if row["p_holm"] < significance:
        return BY_FLIPS
    if row["t_p_holm"] < significance:
        return BY_T
    few = telling[telling["repeats"] | telling["n"].between(LEAST_FOR_SPREAD, LEAST_RUNS - 1)]
    spread = float(places["spread"].iloc[0])
    far = few["contrast"].abs() >= SPREADS * spread
    if spread > 0 and far.any():
        return BY_SPREAD if far.sum() == len(telling) else BY_SOME_SPREAD
    return BY_REPEATS if places["repeats"].all() else ""


def _verdict_of(row, evidence) -> str:
    if evidence:
        return MORE if row[MORE] > row[LESS] else LESS
    return ALIKE if row[ALIKE] == row["places"] else OPEN
