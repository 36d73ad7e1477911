"""Statistics for claims that compare two groups of cells: ratios, and the difference in one scenario relative to other scenarios.

As in `claim_predicates`, there is one function for each kind of claim, and each function returns an `Outcome`.
"""

import math

import numpy as np

from inference.stratified_jackknife import ratio_interval, t_interval
from topics.claims.claim_intervals import JOINT, T, farthest, mean_of_extremes, nested
from topics.claims.claim_measures import measure_of, meets_requirement
from topics.claims.claim_predicates import Outcome, ratios_of, strata_of, taken
from topics.claims.claim_quantities import LEVELS, SIDES
from topics.claims.claim_words import level_words, paired_scenarios, places_words, side_words
from wording.number_format import rounded
from wording.sentence_words import listed

AXES = {"scenario": 1, "cca": 2, "ip_version": 3}


def ratio(claim, samples, tail) -> Outcome:
    """Return the `Outcome` for ratios of one group's means to the other group's means, combined over the factors in `each`."""
    strata, combine = strata_of(claim, samples), claim["combine"]
    above, below = _pairs(claim, samples)
    # Axes: scenario, CCA and IP version of `each`, cells of the numerator, cells of the denominator.
    inner = [
        ((4,), {"lowest": np.max, "highest": np.min, "mean": np.mean}[claim["denominator"]["pick"]]),
        ((3,), {"lowest": np.min, "highest": np.max, "mean": np.mean}[claim["numerator"]["pick"]]),
    ]
    values = ratios_of(above, below)[0]
    ratios = nested(values, lambda tail: (values, values), inner, tail)[0][..., 0, 0]
    interval = JOINT if values.size > 1 else T
    if combine == "farthest":
        # Geometric mean of the bounds, which lies midway between them on a logarithmic scale.
        middle = math.sqrt(math.prod(claim["requirement"].values()))
        with np.errstate(divide="ignore"):  # 0 counts as infinitely far away
            logs = np.log(values)

            def bounds(tail):
                return tuple(np.log(end) for end in ratio_interval(above, below, strata, tail))

            place, *ends = farthest(logs, bounds, inner, tail, math.log(middle))
            value, ends = ratios.ravel()[place], np.exp(ends)
    elif combine == "mean" and ratios.size > 1:
        logs = _logarithms(above, below)
        # No minimum or maximum is taken, so the mean is as smooth a function as its parts.
        if values.size == ratios.size:
            interval, inner = T, []
            with np.errstate(invalid="ignore"):  # the mean of minus infinity and infinity is undefined
                logs = logs.mean(axis=tuple(range(1, 6)), keepdims=True)
        ends = nested(logs[0], _log_bounds(logs, strata), [*inner, ((0, 1, 2), np.mean)], tail)
        ends = [end.item() for end in ends]
        picks = {function for (axis,), function in inner if values.shape[axis] > 1}
        if len(picks) == 1 and picks <= {np.min, np.max} and np.isfinite(logs).all():
            # If scenarios are compared with each other, comparisons may share runs, so their errors aren't independent.
            apart = "scenario" in claim["each"] and claim["numerator"]["scenarios"] == claim["denominator"]["scenarios"]
            end = mean_of_extremes(logs, strata, *picks, apart, tail)
            ends = [ends[0], max(ends[1], end), ends[2]] if picks == {np.min} else [*ends[:2], min(ends[2], end)]
        with np.errstate(over="ignore"):
            value, *ends = np.exp(ends)
    else:
        steps = [*inner, ((0, 1, 2), {"lowest": np.min, "highest": np.max, "mean": np.mean}[combine])]
        ends = nested(values, lambda tail: ratio_interval(above, below, strata, tail), steps, tail)
        value, *ends = (end.item() for end in ends)
    subject = " divided by ".join(_groups_words(claim, samples))
    if ratios.size == 1:
        return Outcome(value, *ends, "times", subject, "", interval)
    each = listed([{"cca": "CCA", "ip_version": "IP version"}.get(factor, factor) for factor in claim["each"]])
    order = {"mean": "geometric mean"}.get(combine, combine)
    order = f"farthest from {middle:.4g}" if order == "farthest" else order
    subject = f"{order} of {ratios.size} ratios (one for each {each}) of {subject}"
    meets = meets_requirement(ratios, claim["requirement"])
    detail = f"the bound is met in {meets.sum()} of {meets.size}"
    if "scenario" in claim["each"]:
        claim = claim | {"scenarios": paired_scenarios(claim)}
        levels = {key: claim[key] if factor in claim["each"] else [""] for key, factor in LEVELS.items()}
        detail += places_words(meets, claim | levels)
    if combine != "mean" and not np.isnan(value):
        worst = np.argwhere(ratios == value)[0]
        detail = f"the deciding ratio is the one for {level_words(claim, worst)}; {detail}"
    return Outcome(value, *ends, "times", subject, detail, interval)


def _pairs(claim, samples):
    """Return the means of both groups, arranged so that each possible pair of cells occurs once.

    A mean over cells counts as one cell. The axes after the rows are: scenarios, CCAs and IP versions of `each`, cells of the numerator,
    and cells of the denominator.
    """
    groups = []
    for name in SIDES[claim["kind"]]:
        means = taken(samples.means(measure_of(claim, name)), samples, claim[name])
        axes = tuple(axis for factor, axis in AXES.items() if factor not in claim["each"])
        if axes and claim[name]["pick"] == "mean":
            means = means.mean(axis=axes, keepdims=True)
        if not axes or claim[name]["pick"] == "mean":
            groups.append(means[..., None])
            continue
        kept = [means.shape[axis] if axis not in axes else 1 for axis in AXES.values()]
        order = (0, *(axis for axis in AXES.values() if axis not in axes), *axes)
        groups.append(np.transpose(means, order).reshape(len(means), *kept, -1))
    above, below = groups[0][..., :, None], groups[1][..., None, :]
    shape = np.broadcast_shapes(above.shape, below.shape)
    return np.broadcast_to(above, shape), np.broadcast_to(below, shape)


def _logarithms(above, below):
    """Return the logarithms of ratios: minus infinity for a ratio of 0, and nan for an undefined ratio."""
    with np.errstate(divide="ignore"):
        return np.log(ratios_of(above, below))


def _log_bounds(logs, strata):
    """Return a function that computes bounds for logarithms.

    Where some rows have no finite logarithm, the bounds are infinite. This includes a ratio that is 0 in all rows: it would decide the mean
    of the ratios, although a few runs without an event don't show that there never is one.
    """
    known = np.isfinite(logs).all(axis=0)

    def bounds(tail):
        ends = t_interval(np.where(known, logs, 0), strata, tail)
        return tuple(np.where(known, end, beyond) for end, beyond in zip(ends, (-np.inf, np.inf), strict=True))

    return bounds


def largest_difference(claim, samples, tail) -> Outcome:
    """Return the `Outcome` for the absolute difference between the groups in one scenario, divided by the largest one in the others."""
    minuend, subtrahend = (means[:, :, 0, 0] for means in _groups(claim, samples, ["scenario"]))
    rows, names = minuend - subtrahend, paired_scenarios(claim)
    differences = np.abs(rows[0])
    place = claim["minuend"]["scenarios"].index(claim["at"])
    low, high = t_interval(rows, strata_of(claim, samples), tail / len(names))
    least = np.where((low <= 0) & (high >= 0), 0, np.minimum(np.abs(low), np.abs(high)))
    most = np.maximum(np.abs(low), np.abs(high))
    value, low, high = (
        ratios_of(np.array([there[place]]), np.array([np.delete(others, place).max()])).item()
        for there, others in ((differences, differences), (least, most), (most, least))
    )
    between = " and ".join(_groups_words(claim, samples))
    subject = (
        f"difference between {between} in scenario {names[place]}, divided by the largest difference in "
        f"{'the other scenario' if len(names) == 2 else f'{len(names) - 1} other scenarios'}"
    )
    unit = measure_of(claim, "minuend").unit
    order = np.argsort(-differences, kind="stable")
    amounts = [f"{rounded(differences[index], 4)}{unit and f' {unit}'} in scenario {names[index]}" for index in order]
    return Outcome(
        value, low, high, "times", subject, f"the differences in descending order are {', '.join(amounts)}", JOINT
    )


def _groups(claim, samples, each):
    """Return the selected means of both groups, with the axes of `Samples.means`; axes of factors not in `each` have length 1."""
    groups = []
    for name in SIDES[claim["kind"]]:
        means = taken(samples.means(measure_of(claim, name)), samples, claim[name])
        axes = tuple(axis for factor, axis in AXES.items() if factor not in each)
        pick = {"lowest": np.min, "highest": np.max, "mean": np.mean}[claim[name]["pick"]]
        groups.append(pick(means, axis=axes, keepdims=True) if axes else means)
    return groups


def _groups_words(claim, samples):
    """Return a name for each of the two groups."""
    names = SIDES[claim["kind"]]
    measured = [measure_of(claim, name).words for name in names]
    both = zip(names, (measured, measured[::-1]), strict=True)
    return [side_words(claim, name, samples, words) for name, words in both]


#: Kind of a claim about two groups of cells -> function that computes its statistic.
OF_TWO_GROUPS = {"ratio": ratio, "largest_difference": largest_difference}
