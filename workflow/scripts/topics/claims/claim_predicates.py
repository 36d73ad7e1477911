"""Statistics for claims about one group of cells, with intervals and wording.

There is one function for each kind of claim. It takes the claim, a `claim_samples.Samples` and the error probability on each side of the
interval, and returns an `Outcome`. Arrays of means have the form that `inference.stratified_jackknife` needs: rows along the first axis,
beginning with the complete data.
"""

import math
from dataclasses import dataclass

import numpy as np

from inference.stratified_jackknife import Stratum, at_least, certain, chances, ratio_interval, t_interval
from topics.claims.claim_intervals import (
    COUNTED,
    JOINT,
    MEDIAN,
    SPREAD,
    T,
    farthest,
    median_interval,
    nested,
    spread_bounds,
)
from topics.claims.claim_measures import DIGITS, Measure, measure_of, meets_requirement, quotient
from topics.claims.claim_quantities import LEVELS, SIDES
from topics.claims.claim_words import places_words
from wording.number_format import count, plain, rounded
from wording.sentence_words import listed

AXES = {"scenario": 1, "cca": 2, "ip_version": 3}


@dataclass
class Outcome:
    """A claim's statistic: nan where it is undefined, infinite where a divisor is 0."""

    value: float
    low: float
    high: float
    unit: str
    #: What the requirement is about, in words.
    subject: str
    #: The deciding cells, in words.
    detail: str
    #: Kind of the interval from low to high: a name in `claim_intervals`.
    interval: str = T


def parts_of(claim, samples) -> list[tuple[Measure, np.ndarray]]:
    """Return the measures of a claim, each with the mask of its cells, shape (scenarios, CCAs, IP versions)."""
    if claim["kind"] in SIDES:
        return [
            (measure_of(claim, side), samples.mask(*(claim[side][key] for key in LEVELS)))
            for side in SIDES[claim["kind"]]
        ]
    ccas = claim["among"] if claim["kind"] == "ordering" else claim["ccas"]
    return [(measure_of(claim), samples.mask(claim["scenarios"], ccas, claim["ip_versions"]))]


def counts_of(parts, samples) -> np.ndarray:
    """Return the number of values in each cell of a claim, and 0 for all other cells.

    If a cell is used with two measures, the smaller number counts.
    """
    counts = np.full(parts[0][1].shape, np.iinfo(int).max)
    for measure, mask in parts:
        counts[mask] = np.minimum(counts[mask], samples.counts(measure)[mask])
    return np.where(np.logical_or.reduce([mask for _, mask in parts]), counts, 0)


def strata_of(claim, samples) -> list[Stratum]:
    """Return the jackknife strata, which are the scenarios of a claim's cells."""
    return samples.strata(counts_of(parts_of(claim, samples), samples))


def _selected(claim, samples, **others):
    """Return the means at the claim's levels, with the axes of `Samples.means`; `others` replaces some of the levels."""
    return taken(samples.means(measure_of(claim)), samples, claim | others)


def taken(values, samples, cells) -> np.ndarray:
    """Return the values of the scenarios, CCAs and IP versions that ``cells`` (a claim or one of its two groups) names."""
    for axis, key in enumerate(LEVELS, 1):
        values = np.take(values, [getattr(samples, key).index(name) for name in cells[key]], axis=axis)
    return values


def _counted(true, false, tail):
    """Return the lower and the upper bound, in percent, on the share of comparisons in which a condition holds.

    The lower bound is the share of comparisons for which the condition is shown. The upper bound is the share for which the condition isn't
    refuted. For each comparison, ``true`` contains the p-value of the test that can show the condition, and ``false`` the p-value of the
    test that can refute it.
    """
    total = np.size(true)
    if not total:
        return math.nan, math.nan
    return 100 * certain(true, tail) / total, 100 - 100 * certain(false, tail) / total


def ordering(claim, samples, tail) -> Outcome:
    """Return the `Outcome` for the percentage of comparisons in which a CCA has the claimed rank among the compared CCAs."""
    field = _selected(claim, samples, ccas=claim["among"])
    strata = strata_of(claim, samples)
    holds, true, false = [], [], []
    for cca in claim["ccas"]:
        place = claim["among"].index(cca)
        own, others = field[:, :, [place], :], np.delete(field, place, axis=2)
        for parts, of_cca in zip((holds, true, false), _place_chances(claim, own, others, strata), strict=True):
            parts.append(of_cca)
    holds, true, false = (np.stack(parts, axis=1) for parts in (holds, true, false))
    first = field[0]
    # Comparisons in which all means are equal don't count, because no CCA is first.
    counts = ((np.ptp(first, axis=1) > DIGITS * np.abs(first).max(axis=1))[:, None, :]) & np.ones_like(holds)
    compared = int(counts.sum())
    share = 100 * (holds & counts).sum() / compared if compared else math.nan
    low, high = _counted(true[counts], false[counts], tail)
    place = {
        "highest": "has the highest mean",
        "lowest": "has the lowest mean",
        "middle": "has neither the highest nor the lowest mean",
    }[claim["place"]]
    if claim["places"] > 1:
        place = f"is among the {claim['places']} {claim['place']}"
    who = claim["ccas"][0] if len(claim["ccas"]) == 1 else f"one of {listed(claim['ccas'])}"
    subject = f"share of {count(compared, 'comparison')} in which {who} {place}"
    detail = f"true in {(holds & counts).sum()} of {compared}"
    ignored = int((~counts).sum())
    if ignored:
        detail += f" (excluding {count(ignored, 'comparison')} in which all are equal)"
    return Outcome(share, low, high, "%", subject, detail + places_words(holds, claim, counts), COUNTED)


def _place_chances(claim, own, others, strata):
    """Return whether a CCA has the claimed rank, the p-value for this rank, and the p-value for the opposite.

    Each of the three results is an array of shape (scenarios, IP versions). The rows of `own` and `others` have the axes (scenarios, CCAs,
    IP versions).
    """
    tie = (claim["tie_percent"] / 100 + DIGITS) * np.abs(own)
    number, places = others.shape[2], claim["places"]
    # "highest" is at least 0 where the other CCA isn't higher than this one, "lowest" where the other CCA isn't lower.
    margins = {"highest": own + tie - others, "lowest": others - own + tie}

    def of(side):
        p, not_p = (np.moveaxis(p, 1, -1) for p in chances(margins[side], strata))
        return np.moveaxis(margins[side][0] >= 0, 1, -1), p, not_p

    if claim["place"] != "middle":
        fits, p, not_p = of(claim["place"])
        return fits.sum(axis=-1) > number - places, at_least(p, number - places + 1), at_least(not_p, places)
    (below, p_below, not_below), (above, p_above, not_above) = of("highest"), of("lowest")
    return (
        below.any(axis=-1) & above.any(axis=-1),
        np.maximum(at_least(p_below, 1), at_least(p_above, 1)),
        np.minimum(2 * np.minimum(at_least(not_below, number), at_least(not_above, number)), 1),
    )


def threshold(claim, samples, tail) -> Outcome:
    """Return the `Outcome` for a statistic of a group of cells; the claim's `pick` selects the statistic.

    The lowest, highest, farthest or average mean of the cells, and the median of all runs, are in the measure's unit. The largest standard
    deviation is a percentage of the mean.
    """
    measure, pick, strata = measure_of(claim), claim["pick"], strata_of(claim, samples)
    unit = measure.unit
    rows = taken(samples.means(measure), samples, claim)
    cells, cells_words = rows[0], count(rows[0].size, "cell")
    everywhere = tuple(range(3))
    if pick == "mean":
        subject = "mean" if cells.size == 1 else "mean of the cells' means"
        low, high = t_interval(rows.mean(axis=(1, 2, 3))[:, None], strata, tail)
        return Outcome(cells.mean(), max(low[0], 0), high[0], unit, subject, f"over {cells_words}")
    if pick == "median":
        values, left_out = samples.pooled(measure, parts_of(claim, samples)[0][1])
        ends = median_interval(values, left_out, strata, tail)
        return Outcome(np.median(values), *ends, unit, "median of all runs pooled", f"over {cells_words}", MEDIAN)
    if pick == "spread_percent":
        cells, counts = (
            taken(of[None], samples, claim)[0] for of in (samples.spreads(measure), samples.counts(measure))
        )
        detail = _met(cells, claim)
        ends = nested(cells, spread_bounds(cells, counts), [(everywhere, np.max)], tail)
        subject = f"highest standard deviation over replications among {cells_words}, in % of the cell's mean"
        return Outcome(*map(np.ndarray.item, ends), "%", subject, detail, SPREAD)

    def bounds(tail):
        low, high = t_interval(rows, strata, tail)
        return np.maximum(low, 0), high

    interval = JOINT if cells.size > 1 else T
    if pick == "farthest":
        middle = sum(claim["requirement"].values()) / 2
        place, *ends = farthest(cells, bounds, [], tail, middle)
        subject = f"mean of the cell farthest from {plain(middle)} {unit}"
    else:
        function = np.min if pick == "lowest" else np.max
        place = int(cells.argmin() if pick == "lowest" else cells.argmax())
        ends = [end.item() for end in nested(cells, bounds, [(everywhere, function)], tail)[1:]]
        subject = f"{pick} mean of {cells_words}"
    worst = np.unravel_index(place, cells.shape)
    levels = [getattr(samples, key).index(claim[key][index]) for key, index in zip(LEVELS, worst, strict=True)]
    detail = f"the deciding cell is {samples.cell_words(*levels)}; {_met(cells, claim)}"
    return Outcome(cells[worst], *ends, unit, subject, detail, interval)


def _met(cells, claim):
    meets = meets_requirement(cells, claim["requirement"])
    return f"the bound is met in {meets.sum()} of {meets.size}{places_words(meets, claim)}"


def ratios_of(above, below) -> np.ndarray:
    """Return `above` / `below`: infinite where only `below` is 0, and nan where both are 0."""
    ratios = quotient(above, below)
    ratios[(below == 0) & (above > 0)] = np.inf
    return ratios


def equivalence(claim, samples, tail) -> Outcome:
    """Return the `Outcome` for the percentage of cells whose IPv6 mean lies within a margin around the IPv4 mean."""
    cells = _selected(claim, samples, ip_versions=["ipv4", "ipv6"])
    four, six = cells[..., 0], cells[..., 1]
    percent = claim["margin_unit"] == "percent"
    margin = (claim["margin"] + DIGITS) * np.abs(four) / 100 if percent else claim["margin"] + DIGITS
    strata = strata_of(claim, samples)
    (p_below, not_below), (p_above, not_above) = (chances(margin + side * (four - six), strata) for side in (1, -1))
    within = (np.abs(six - four) <= margin)[0]
    low, high = _counted(np.maximum(p_below, p_above), np.minimum(2 * np.minimum(not_below, not_above), 1), tail)
    unit = _margin_unit(claim)
    cells_words = count(within.size, "cell")
    subject = f"share of {cells_words} in which IPv6 is within {plain(claim['margin'])} {unit} of IPv4"
    places = places_words(within[:, :, None], claim | {"ip_versions": [""]})
    share = 100 * within.sum() / within.size
    return Outcome(share, low, high, "%", subject, f"true in {within.sum()} of {within.size}{places}", COUNTED)


def _margin_unit(claim):
    unit = measure_of(claim).unit
    return "%" if claim["margin_unit"] == "percent" else "points" if unit == "%" else unit


def no_difference(claim, samples, tail) -> Outcome:
    """Return the `Outcome` for the difference between the IPv6 mean and the IPv4 mean over all cells.

    The difference is a percentage of the IPv4 mean, or is in the unit of the quantity.
    """
    cells = _selected(claim, samples, ip_versions=["ipv4", "ipv6"])
    four, six = (cells[..., place].mean(axis=(1, 2))[:, None] for place in (0, 1))
    strata, unit = strata_of(claim, samples), _margin_unit(claim)
    if claim["margin_unit"] == "percent":
        ends = ratio_interval(six, four, strata, tail)
        value, low, high = (100 * (end[0] - 1) for end in (ratios_of(six, four)[0], *ends))
    else:
        value, (low, high) = (six - four)[0, 0], (end[0] for end in t_interval(six - four, strata, tail))
    where = f"mean of {count(cells[0, ..., 0].size, 'cell')}"
    return Outcome(
        value,
        low,
        high,
        unit,
        f"IPv6 minus IPv4, {where}",
        f"IPv4 has {rounded(four[0, 0], 4)}, IPv6 {rounded(six[0, 0], 4)}",
    )


def dominance(claim, samples, tail) -> Outcome:
    """Return the `Outcome` for one factor's mean square, as a percentage of the sum of two factors' mean squares.

    The mean squares come from a two-way analysis of variance of the cells' means within each scenario,
    with one value per cell (Montgomery, Design and Analysis of Experiments, "two-factor factorial, one
    observation per cell"). Sums of squares and degrees of freedom are added over scenarios. Means are divided
    by the mean of their scenario, so that all scenarios count equally; scenarios with a mean of 0 are left out.
    """
    cells = _selected(claim, samples, ip_versions=["ipv4", "ipv6"])
    centre = cells.mean(axis=(2, 3), keepdims=True)
    relative = np.zeros(cells.shape)
    np.divide(cells, centre, out=relative, where=centre > 0)
    relative -= relative.mean(axis=(2, 3), keepdims=True)
    squares = {}
    for factor, others in (("cca", 3), ("ip_version", 2)):
        levels = relative.shape[AXES[factor]]
        main = relative.mean(axis=others)
        squares[factor] = relative.shape[others] * (main**2).sum(axis=(1, 2)) / max(levels - 1, 1)
    stronger, weaker = squares[claim["stronger"]], squares[claim["weaker"]]
    stronger, both = stronger[:, None], (stronger + weaker)[:, None]
    share = quotient(stronger, both, DIGITS**2)[0, 0]
    low, high = (min(100 * end[0], 100) for end in ratio_interval(stronger, both, strata_of(claim, samples), tail))
    names = {"cca": "CCAs", "ip_version": "IP versions"}
    stronger, weaker = names[claim["stronger"]], names[claim["weaker"]]
    subject = f"mean square between {stronger} as a share of the sum of the mean squares between {stronger} and between {weaker}"
    detail = f"within {count(int((centre[0] > 0).sum()), 'scenario')}, relative to each scenario's mean"
    return Outcome(100 * share, low, high, "%", subject, detail)


#: Kind of a claim about one group of cells -> function that computes its statistic.
OF_ONE_GROUP = {
    "ordering": ordering,
    "threshold": threshold,
    "equivalence": equivalence,
    "no_difference": no_difference,
    "dominance": dominance,
}
