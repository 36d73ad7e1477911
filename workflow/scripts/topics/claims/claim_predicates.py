"""What each kind of claim computes from the cells' means, and how that reads.

A function a kind takes the claim and `claim_samples.Samples` and returns an `Outcome`. Statistics are
computed for the data and all resamples at once: first axis, the data first.
"""

import math
from dataclasses import dataclass

import numpy as np

from topics.claims.claim_measures import DIGITS, Measure, measure_of, meets_requirement, quotient
from topics.claims.claim_quantities import LEVELS, SIDES
from topics.claims.claim_words import level_words, paired_scenarios, places_words, side_words
from wording.number_format import count, plain
from wording.sentence_words import listed

AXES = {"scenario": 1, "cca": 2, "ip_version": 3}


@dataclass
class Outcome:
    """What a claim's statistic is."""

    #: Shape (1 + resamples,), the data's own first. nan where there is none, infinite where a divisor is 0.
    statistics: np.ndarray
    unit: str
    #: What the requirement is about, in words.
    subject: str
    #: Which cells decide.
    detail: str


def parts_of(claim, samples) -> list[tuple[Measure, np.ndarray]]:
    """Return what a claim measures and where: list of (Measure, cells as (scenarios, CCAs, IP versions) of bool)."""
    if claim["kind"] in SIDES:
        return [
            (measure_of(claim, side), samples.mask(*(claim[side][key] for key in LEVELS)))
            for side in SIDES[claim["kind"]]
        ]
    ccas = claim["among"] if claim["kind"] == "ordering" else claim["ccas"]
    return [(measure_of(claim), samples.mask(claim["scenarios"], ccas, claim["ip_versions"]))]


def counts_of(parts, samples) -> np.ndarray:
    """Return how many values each cell of a claim has, the fewer where it is measured twice; elsewhere 0."""
    counts = np.full(parts[0][1].shape, np.iinfo(int).max)
    for measure, mask in parts:
        counts[mask] = np.minimum(counts[mask], samples.counts(measure)[mask])
    return np.where(np.logical_or.reduce([mask for _, mask in parts]), counts, 0)


def _selected(claim, samples, **others):
    """Return means of the claim's own levels, or of `others`, shape (1 + resamples, scenarios, CCAs, IP versions)."""
    return _taken(samples.means(measure_of(claim)), samples, claim | others)


def _taken(values, samples, cells):
    """Return values of all cells at the levels that `cells`, a claim or one of its two groups, has."""
    for axis, key in enumerate(LEVELS, 1):
        values = np.take(values, [getattr(samples, key).index(name) for name in cells[key]], axis=axis)
    return values


def ordering(claim, samples) -> Outcome:
    """Share of comparisons in which a CCA has its place among those compared, in percent."""
    field = _selected(claim, samples, ccas=claim["among"])
    holds = []
    for cca in claim["ccas"]:
        own = field[:, :, [claim["among"].index(cca)], :]
        slack = (claim["tie_percent"] / 100 + DIGITS) * np.abs(own)
        if claim["place"] == "middle":  # others as high and others as low, itself not counted
            as_high, as_low = (field >= own - slack).sum(axis=2), (field <= own + slack).sum(axis=2)
            holds.append((as_high > 1) & (as_low > 1))
        else:
            before = field > own + slack if claim["place"] == "highest" else field < own - slack
            holds.append(before.sum(axis=2) < claim["places"])
    holds = np.stack(holds, axis=2)
    spread = field.max(axis=2) - field.min(axis=2)
    # Nobody is first where all are equal. A cell missing in a resample makes its comparison none.
    counts = (spread > DIGITS * np.abs(field).max(axis=2))[:, :, None, :] & ~np.isnan(spread)[:, :, None, :]
    counts = np.broadcast_to(counts, holds.shape)
    compared = counts.sum(axis=(1, 2, 3))
    share = quotient(100 * (holds & counts).sum(axis=(1, 2, 3)), compared)
    place = {
        "highest": "has the highest mean",
        "lowest": "has the lowest mean",
        "middle": "has neither the highest nor the lowest mean",
    }[claim["place"]]
    if claim["places"] > 1:
        place = f"is among the {claim['places']} {claim['place']}"
    who = claim["ccas"][0] if len(claim["ccas"]) == 1 else f"one of {listed(claim['ccas'])}"
    subject = f"share of {count(int(compared[0]), 'comparison')} in which {who} {place}"
    detail = f"true in {(holds & counts)[0].sum()} of {compared[0]}"
    ignored = int((~counts[0]).sum())
    if ignored:
        detail += f" ({count(ignored, 'comparison')} in which all are equal left out)"
    return Outcome(share, "%", subject, detail + places_words(holds[0], claim, counts[0]))


def threshold(claim, samples) -> Outcome:
    """Lowest, highest, farthest, mean of the cells' means, highest spread, or the median of runs, in the quantity's unit."""
    measure, pick = measure_of(claim), claim["pick"]
    unit = measure.unit
    cells = _taken((samples.spreads if pick == "spread_percent" else samples.means)(measure), samples, claim)
    flat = cells.reshape(len(cells), -1)
    cells_words = count(flat.shape[1], "cell")
    if pick == "mean":
        subject = "mean" if flat.shape[1] == 1 else "mean of the cells' means"
        return Outcome(flat.mean(axis=1), unit, subject, f"over {cells_words}")
    if pick == "median":
        statistics = samples.medians(measure, parts_of(claim, samples)[0][1])
        return Outcome(statistics, unit, "median of all runs pooled", f"over {cells_words}")
    meets = meets_requirement(cells[0], claim["requirement"])
    detail = f"the bound is met in {meets.sum()} of {meets.size}"
    if pick == "spread_percent":
        subject = f"highest standard deviation over the replications of {cells_words}, in % of its mean"
        return Outcome(flat.max(axis=1), "%", subject, detail)
    if pick == "farthest":
        middle = sum(claim["requirement"].values()) / 2
        distance = np.where(np.isnan(flat), -np.inf, np.abs(flat - middle))
        statistics = flat[np.arange(len(flat)), distance.argmax(axis=1)]
        subject = f"mean of the cell farthest from {plain(middle)} {unit}"
    else:
        statistics = (flat.min if pick == "lowest" else flat.max)(axis=1)
        subject = f"{pick} mean of {cells_words}"
    worst = np.argwhere(cells[0] == statistics[0])[0]
    levels = [getattr(samples, key).index(claim[key][place]) for key, place in zip(LEVELS, worst, strict=True)]
    detail = f"it is that of {samples.cell_words(*levels)}; {detail}"
    return Outcome(statistics, unit, subject, detail + places_words(meets, claim))


def ratio(claim, samples) -> Outcome:
    """Means of one group of cells over those of another, combined over the factors in `each`."""
    ratios = _ratios(*_groups(claim, samples, claim["each"]))
    flat = ratios.reshape(len(ratios), -1)
    if claim["combine"] == "mean":
        positive = flat > 0  # infinite ones too; the logarithm of 0 is minus infinity, and its exponential 0
        logs = np.full(flat.shape, -np.inf)
        np.log(flat, out=logs, where=positive)
        logs[np.isnan(flat)] = np.nan
        with np.errstate(invalid="ignore"):  # 0 and infinity together have no mean
            statistics = np.exp(logs.mean(axis=1))
    elif claim["combine"] == "farthest":
        # As many times above the lower bound as below the upper.
        middle = math.sqrt(math.prod(claim["requirement"].values()))
        with np.errstate(divide="ignore"):  # 0 is as far away as infinity
            distance = np.abs(np.log(flat) - np.log(middle))
        # A ratio that a resample doesn't have (nan) counts as the farthest, so that the resample has no statistic.
        statistics = flat[np.arange(len(flat)), distance.argmax(axis=1)]
    else:
        statistics = (flat.min if claim["combine"] == "lowest" else flat.max)(axis=1)
    subject = " divided by ".join(_groups_words(claim, samples))
    if flat.shape[1] == 1:
        return Outcome(statistics, "times", subject, "")
    each = listed([{"cca": "CCA", "ip_version": "IP version"}.get(factor, factor) for factor in claim["each"]])
    order = {"mean": "geometric mean"}.get(claim["combine"], claim["combine"])
    order = f"farthest from {middle:.4g}" if order == "farthest" else order
    subject = f"{order} of {flat.shape[1]} ratios (one for each {each}) of {subject}"
    meets = meets_requirement(ratios[0], claim["requirement"])
    detail = f"the bound is met in {meets.sum()} of {meets.size}"
    if "scenario" in claim["each"]:
        claim = claim | {"scenarios": paired_scenarios(claim)}
        levels = {key: claim[key] if factor in claim["each"] else [""] for key, factor in LEVELS.items()}
        detail += places_words(meets, claim | levels)
    if claim["combine"] != "mean" and not np.isnan(statistics[0]):
        worst = np.argwhere(ratios[0] == statistics[0])[0]
        detail = f"it is that of {level_words(claim, worst)}; {detail}"
    return Outcome(statistics, "times", subject, detail)


def _ratios(above, below):
    """Return above over below, infinite where only `below` is 0, and nan where both are."""
    ratios = quotient(above, below)
    ratios[(below == 0) & (above > 0)] = np.inf
    return ratios


def largest_difference(claim, samples) -> Outcome:
    """Absolute difference of two groups' means in a scenario over the largest of those in the other scenarios."""
    minuend, subtrahend = (means[:, :, 0, 0] for means in _groups(claim, samples, ["scenario"]))
    differences, names = np.abs(minuend - subtrahend), paired_scenarios(claim)
    place = claim["minuend"]["scenarios"].index(claim["at"])
    there, others = differences[:, place], np.delete(differences, place, axis=1).max(axis=1)
    statistics = _ratios(there, others)
    between = " and ".join(_groups_words(claim, samples))
    subject = (
        f"difference between {between} in scenario {names[place]}, divided by the largest difference in "
        f"{'the other scenario' if len(names) == 2 else f'{len(names) - 1} other scenarios'}"
    )
    unit = measure_of(claim, "minuend").unit
    order = np.argsort(-differences[0], kind="stable")
    amounts = [f"{differences[0, index]:.4g}{unit and f' {unit}'} in scenario {names[index]}" for index in order]
    return Outcome(statistics, "times", subject, f"from the largest on it is {', '.join(amounts)}")


def _groups(claim, samples, each):
    """Return what is picked of both groups' means: axes as those of `Samples.means`, of length 1 if not in `each`."""
    groups = []
    for name in SIDES[claim["kind"]]:
        means = _taken(samples.means(measure_of(claim, name)), samples, claim[name])
        axes = tuple(axis for factor, axis in AXES.items() if factor not in each)
        pick = {"lowest": np.min, "highest": np.max, "mean": np.mean}[claim[name]["pick"]]
        groups.append(pick(means, axis=axes, keepdims=True) if axes else means)
    return groups


def _groups_words(claim, samples):
    """Return what both groups are called."""
    names = SIDES[claim["kind"]]
    measured = [measure_of(claim, name).words for name in names]
    both = zip(names, (measured, measured[::-1]), strict=True)
    return [side_words(claim, name, samples, words) for name, words in both]


def equivalence(claim, samples) -> Outcome:
    """Share of cells whose IPv6 mean lies within a margin around the IPv4 mean, in percent."""
    cells = _selected(claim, samples, ip_versions=["ipv4", "ipv6"])
    four, six = cells[..., 0], cells[..., 1]
    difference = six - four
    base = np.abs(four) / 100 if claim["margin_unit"] == "percent" else 1.0
    within = np.abs(difference) <= claim["margin"] * base * (1 + DIGITS)
    known = ~np.isnan(difference)
    share = quotient(100 * (within & known).sum(axis=(1, 2)), known.sum(axis=(1, 2)))
    unit = measure_of(claim).unit
    unit = "%" if claim["margin_unit"] == "percent" else "points" if unit == "%" else unit
    cells_words = count(within[0].size, "cell")
    subject = f"share of {cells_words} in which IPv6 is within {plain(claim['margin'])} {unit} of IPv4"
    places = places_words(within[0][:, :, None], claim | {"ip_versions": [""]})
    return Outcome(share, "%", subject, f"true in {within[0].sum()} of {within[0].size}{places}")


def dominance(claim, samples) -> Outcome:
    """Mean square of one factor as a share of its sum with another's, in percent.

    Two-way analysis of variance of the cells' means within each scenario, one value a cell
    (Montgomery, Design and Analysis of Experiments, "two-factor factorial, one observation per
    cell"), sums of squares and degrees of freedom added over scenarios. Means are divided by their
    scenario's, so that each scenario counts alike; scenarios whose mean is 0 are left out.
    """
    cells = _selected(claim, samples, ip_versions=["ipv4", "ipv6"])
    centre = cells.mean(axis=(2, 3), keepdims=True)
    relative = np.zeros(cells.shape)
    np.divide(cells, centre, out=relative, where=centre > 0)
    relative -= relative.mean(axis=(2, 3), keepdims=True)
    relative[np.isnan(cells).any(axis=(1, 2, 3))] = np.nan
    squares = {}
    for factor, others in (("cca", 3), ("ip_version", 2)):
        levels = relative.shape[AXES[factor]]
        main = relative.mean(axis=others)
        squares[factor] = relative.shape[others] * (main**2).sum(axis=(1, 2)) / max(levels - 1, 1)
    stronger, weaker = squares[claim["stronger"]], squares[claim["weaker"]]
    share = quotient(100 * stronger, stronger + weaker, DIGITS**2)
    names = {"cca": "CCAs", "ip_version": "IP versions"}
    stronger, weaker = names[claim["stronger"]], names[claim["weaker"]]
    subject = f"share of the mean square between {stronger} in the sum of it and that between {weaker}"
    return Outcome(share, "%", subject, f"within {count(int((centre[0] > 0).sum()), 'scenario')}, relative to each")


KINDS = {
    "ordering": ordering,
    "threshold": threshold,
    "ratio": ratio,
    "largest_difference": largest_difference,
    "equivalence": equivalence,
    "dominance": dominance,
}
