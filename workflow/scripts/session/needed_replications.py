"""Estimate from pilot runs how many replications a study's comparisons need to show a difference.

For every metric, the report compares the IP versions for each scenario and CCA, and pairs of CCAs for each scenario and IP version.
The contrasts, tests, correction (`inference.paired_comparison`) and calculation of the number of pairs (`inference.sample_size`) are
the same as in the report.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from inference.paired_comparison import Family, compare
from inference.paired_contrasts import from_effect
from inference.paired_tests import LEAST_PAIRS
from inference.sample_size import MAX_PAIRS, pairs_needed_in_family, spreads_of
from inference.settings import SETTINGS
from run_tables.metrics import METRICS, Metric, differences
from run_tables.resolution import coarsest, copied_runs, resolutions
from study_files.study_design import StudyDesign
from topics.ccas.blocks import blocks_of
from topics.ccas.topic import TOPIC as CCAS
from topics.ip_version.run_pairs import IPV4, IPV6, pairs_of
from topics.ip_version.topic import TOPIC as IP_VERSION
from wording.number_format import count

IP_VERSIONS, CCA_PAIRS = "IP versions", "CCAs"
#: Reasons why the number of pairs that a comparison needs is unknown, or only a guess.
NO_PILOT, ONE_PILOT, TWO_KINDS = "no pilot runs", "one pair of pilot runs", "two kinds of pilot runs"
NO_VALUE = "no value in pilot runs"
ONE_MEASUREMENT, NO_SPREAD, TOO_MANY, FEW = "one measurement", "no spread", "too many", "few pilot runs"


#: Columns of ``tidy/runs.csv`` that identify a cell.
CELL = ["scenario", "cca", "ip_version"]


@dataclass(frozen=True)
class Difference:
    """A true difference to detect: ``size`` in ``unit``.

    ``unit`` is the unit of the metric's effects ("%" or "points"), or the unit of the metric itself.
    """

    size: float
    unit: str

    def effect(self, metric: Metric, mean_a, mean_b) -> float:
        """Return the difference, converted to the unit of the metric's effects, given the means of both sides."""
        if self.unit == metric.effect_unit:
            return self.size
        base = mean_b if metric.scale == "ratio" else (mean_a + mean_b) / 2
        return 100 * self.size / base if base > 0 else math.nan

    def fits(self, metric: Metric) -> bool:
        """Return whether the difference's unit fits the metric."""
        return self.unit == metric.effect_unit or (self.unit == metric.unit and metric.effect_unit == "%")


@dataclass(frozen=True)
class Needed:
    """A comparison, the number of its ``pairs`` of pilot runs, and the number of pairs that it ``needs`` (interval ``low`` to ``high``).

    If ``needs``, ``low`` or ``high`` is None, the number is above `MAX_PAIRS` if ``kind`` is `TOO_MANY`, `FEW` or "", and unknown for all
    other kinds. ``effect`` is in the unit of the metric's effects.
    """

    compared: str
    scenario: str
    cell: str
    metric: Metric
    pairs: int
    effect: float | None = None
    needs: int | None = None
    low: int | None = None
    high: int | None = None
    kind: str = ""
    note: str = ""


def comparisons_of(study) -> list[tuple[str, str, str, tuple]]:
    """Return (subject, scenario, cell, key of the values) for each comparison in a study's report.

    The report makes each comparison for every metric.
    """
    design, found = StudyDesign(study), []
    for scenario in design.scenario_names:
        if IP_VERSION.applies(design):
            found += [(IP_VERSIONS, scenario, cca, (scenario, cca)) for cca in design.ccas]
        if CCAS.applies(design):
            for ip_version in design.ip_versions:
                pairs = combinations(design.ccas, 2)
                found += [
                    (CCA_PAIRS, scenario, f"{a} - {b}, {ip_version}", (scenario, ip_version, a, b)) for a, b in pairs
                ]
    return found


def family_sizes(study) -> dict[str, int]:
    """Return the number of tests for which the report corrects p-values, by subject of comparison."""
    kinds = [compared for compared, *_ in comparisons_of(study)]
    return {kind: len(METRICS) * kinds.count(kind) for kind in dict.fromkeys(kinds)}


def default_differences(study, compared) -> dict[str, Difference]:
    """Return the difference to be detected, by metric: ``analysis.detect`` for IP versions, the equivalence margins for CCAs."""
    section = study["analysis"]["detect" if compared == IP_VERSIONS else "equivalence_margin"]
    sizes = differences(section)
    return {metric.column: Difference(sizes[metric.column], metric.effect_unit) for metric in METRICS}


def needed_replications(study, runs, asked: Difference | None = None, metrics=METRICS) -> Iterator[Needed]:
    """Yield the comparisons of a study, each with the number of pairs that it needs.

    Parameters
    ----------
    study : dict
        Resolved study.
    runs : pandas.DataFrame or None
        Pilot runs with the columns of ``tidy/runs.csv``.
    asked : Difference, optional
        Difference to be detected; metrics that its unit doesn't fit are excluded. The default is `default_differences`.
    metrics : sequence of Metric
        Metrics to compare.
    """
    tests, found = family_sizes(study), comparisons_of(study)
    seeds, copied = _cells(runs)
    for metric in metrics:
        if asked and not asked.fits(metric):
            continue
        values = {} if runs is None else _values(runs, metric)
        for compared, scenario, cell, key in found:
            difference = asked or default_differences(study, compared)[metric.column]
            named = {"compared": compared, "scenario": scenario, "cell": cell, "metric": metric}
            one = _needed(metric, values.get(key), difference, tests[compared])
            sides = _sides(key)
            if one.get("kind") == NO_PILOT and set.intersection(*(seeds.get(side, set()) for side in sides)):
                one["kind"] = NO_VALUE
            if one.get("kind") == ONE_MEASUREMENT and not copied.issuperset(sides):
                one["kind"] = NO_SPREAD
            yield Needed(**named, **one)


def _cells(runs):
    """Return the seeds of each cell's valid runs, and the cells whose runs repeat one measurement (`copied_runs`)."""
    if runs is None or not runs["valid"].any():
        return {}, set()
    valid = runs[runs["valid"]]
    copied = copied_runs(valid, CELL).groupby([valid[name] for name in CELL]).all()
    return valid.groupby(CELL)["replication"].agg(set).to_dict(), set(copied[copied].index)


def _sides(key):
    """Return the two cells that a comparison compares."""
    if len(key) == 2:
        return [(*key, version) for version in (IPV6, IPV4)]
    scenario, ip_version, *ccas = key
    return [(scenario, cca, ip_version) for cca in ccas]


def _values(runs, metric):
    """Return the paired values and the resolutions of both sides, by key of the comparison."""
    values = {}
    for cell, pairs in pairs_of(runs, metric.column).groupby(["scenario", "cca"], sort=False):
        used = pairs[pairs[[IPV4, IPV6]].notna().all(axis=1)]
        steps = tuple(used[f"resolution_{version}"].fillna(0).max() if len(used) else 0.0 for version in (IPV6, IPV4))
        values[cell] = used[IPV6].to_numpy(), used[IPV4].to_numpy(), steps
    steps = resolutions(runs, metric.column).where(runs["valid"])
    for place, group in runs.groupby(["scenario", "ip_version"], sort=False):
        blocks, step = blocks_of(group, metric.column), coarsest(steps[group.index])
        for a, b in ((a, b) for a in blocks for b in blocks if a != b):
            both = blocks[[a, b]].dropna()
            values[(*place, a, b)] = both[a].to_numpy(float), both[b].to_numpy(float), (step, step)
    return values


def _needed(metric, values, difference, tests) -> dict:
    """Return the fields of `Needed`, starting with ``pairs``; ``values`` are the comparison's values, or None."""
    if values is None or not len(values[0]):
        return {
            "pairs": 0,
            "kind": NO_PILOT,
            "effect": difference.size if difference.unit == metric.effect_unit else None,
        }
    a, b, steps = values
    confidence, significance, power = (SETTINGS[name] for name in ("confidence", "significance", "power"))
    family = Family(confidence, significance, tests)
    result = compare(a, b, metric.scale, metric.effect_unit, family, steps)
    effect = difference.effect(metric, result.mean_a, result.mean_b)
    row = {"pairs": result.pairs, "effect": effect, "note": "; ".join(result.notes)}
    if result.pairs == 1:
        return row | {"kind": ONE_PILOT}
    if result.one_value or result.all_alike:
        return row | {"kind": ONE_MEASUREMENT if result.one_value else NO_SPREAD}
    if result.apart:
        return row | {"kind": TWO_KINDS, "note": f"{result.apart} of {count(result.pairs, 'pair')} lie apart"}
    if not from_effect(effect, result.scale) > 0:
        return row | {"kind": NO_SPREAD, "note": "the mean is 0"}
    needs = {
        end: pairs_needed_in_family(spread, effect, power, significance, result.scale, tests)
        for end, spread in spreads_of(result.contrasts, confidence).items()
    }
    kind = TOO_MANY if needs[""] is None else FEW if result.pairs < LEAST_PAIRS else ""
    note = f"more than {MAX_PAIRS:,} pairs" if kind == TOO_MANY else ""
    return row | {"needs": needs[""], "low": needs["_low"], "high": needs["_high"], "kind": kind, "note": note}
