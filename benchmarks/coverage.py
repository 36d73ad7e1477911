"""Coverage of the printed intervals; the target of an interval is the mean of those kinds of runs that were observed."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from inference.collapses import other_kind
from inference.independent_comparison import difference
from inference.paired_effects import hodges_lehmann_interval
from inference.paired_tests import mean_test
from inference.share_intervals import bounded_estimate, expit
from inference.welch import welch
from known_truth import FACTORS, ONE_KIND, TWO_KINDS, pairs
from rates import ALARMS, ANY, AT_LEAST, CONFIDENCE, COVERED, PARAMS, SIGNIFICANCE, Rate
from topics.cells.describe_cells import describe
from topics.fairness.share_theory import MARGIN, agreement


def mean_coverage(rng, samples, n, truth, missing=0.0) -> list[Rate]:
    """Estimate the coverage of the printed intervals for a cell's mean, and the rate of cells for which an interval is printed.

    ``missing`` is the share of runs without a value.
    """
    values, other = truth.draw(rng, (samples, n))
    absent = rng.random(values.shape) < missing
    meant = truth.mean_of_seen(other)
    rows = [describe(pd.Series(sample), n, CONFIDENCE) for sample in np.where(absent, np.nan, values)]
    known = [(row, mean) for row, mean in zip(rows, meant, strict=True) if row.get("ci_low") is not None]
    held = sum(row["ci_low"] <= mean <= row["ci_high"] for row, mean in known)
    case = truth.name + (f", {100 * missing:g} % missing" if missing else "")
    printed = Rate("cells whose mean has an interval", case, n, len(known), samples, ANY)
    # Flat distributions have no tails that a sample could miss.
    bound = AT_LEAST if truth.share else (0.93, 0.98) if truth.name == "flat" else COVERED
    return [Rate("interval of a cell's mean", case, n, held, len(known), bound)] * bool(known) + [printed]


def alarms_of_kinds(rng, samples, n, truth, bound) -> list[Rate]:
    """Estimate the rate of false alarms: the share of cells with reported outliers, among cells with one kind of runs."""
    values, _ = truth.draw(rng, (samples, n))
    alarms = sum(bool(other_kind(sample).any()) for sample in values)
    return [Rate("runs reported as outliers", truth.name, n, alarms, samples, bound)]


def found_kinds(rng, samples, n, truth) -> list[Rate]:
    """Estimate the detection rate: the share of cells with reported outliers, among cells with two kinds of runs."""
    values, other = truth.draw(rng, (samples, n))
    both = other.any(axis=1) & ~other.all(axis=1)
    found = sum(bool(other_kind(sample).any()) for sample in values[both])
    return [Rate("two kinds of runs detected if both are drawn", truth.name, n, found, int(both.sum()), ANY)]


def difference_coverage(rng, samples, n, factor) -> list[Rate]:
    """Estimate the coverage of the intervals for the mean paired difference and for the Hodges-Lehmann estimate."""
    effect, held, hl_held, hl_known, known = math.log(0.97), 0, 0, 0, 0
    for row in np.subtract(*np.log(pairs(rng, factor, samples, n, -3.0))):
        test, interval = mean_test(row), hodges_lehmann_interval(row, CONFIDENCE)
        if test is not None and not other_kind(row).any():
            low, high = test.interval(CONFIDENCE)
            known, held = known + 1, held + (low <= effect <= high)
        if interval:
            hl_known += 1
            hl_held += interval[0] <= effect <= interval[1]
    wide = n < 7 or "collapses" in factor or "modes" in factor
    rates = [Rate("interval of the mean paired difference", factor, n, held, known, AT_LEAST if wide else COVERED)]
    return rates * bool(known) + [Rate("interval of Hodges-Lehmann", factor, n, hl_held, hl_known, AT_LEAST)] * bool(
        hl_known
    )


def other_coverage(rng, samples, n) -> list[Rate]:
    """Estimate the coverage of the interval for a share, and of Welch's interval for the difference between two means."""
    drawn = (bounded_estimate(expit(1.5 + 0.5 * rng.standard_normal(n)), CONFIDENCE) for _ in range(samples))
    known = [row for row in drawn if row.low is not None]
    share = sum(row.low <= expit(1.5) <= row.high for row in known)
    results = [welch(rng.standard_normal(n), 3 * rng.standard_normal(2 * n), PARAMS) for _ in range(samples)]
    two = sum(row["low"] <= 0 <= row["high"] for row in results)
    return [
        Rate("interval of a share", "logit-normal", n, share, len(known), COVERED),
        Rate("Welch's interval", "standard deviations 1 and 3, n and 2n", n, two, samples, COVERED),
    ]


def platform_coverage(rng, samples, n, factor, other=None) -> list[Rate]:
    """Estimate the coverage of the interval for the difference between two platforms, and the rate of false differences.

    Samples without an interval are excluded. ``other`` is the second platform's factor; the default is the first platform's. The true
    difference between runs that didn't collapse is 0.
    """
    drawn = zip(*pairs(rng, factor, samples, n), *pairs(rng, other or factor, samples, n), strict=True)
    known = [apart for apart in (difference(a, b, "ratio") for a, _, _, b in drawn) if apart.error]
    held = sum(low <= 0 <= high for low, high in (apart.interval(CONFIDENCE) for apart in known))
    differ = sum(apart.p_beyond(0.0, 0.0) < SIGNIFICANCE / 2 for apart in known)
    bound = COVERED if factor == "normal, 3 %" else AT_LEAST
    case = f"{factor}, of one" if other else factor
    rates = [
        Rate("interval of a difference between platforms", case, n, held, len(known), bound),
        Rate("platforms reported to differ, tolerance 0", case, n, differ, len(known), ALARMS),
    ]
    return rates if known else []


def share_verdicts(rng, samples, n, spread) -> list[Rate]:
    """Estimate the rate at which a share is reported to agree with a model although it differs from the model's share by the margin."""
    rows = (bounded_estimate(expit(1.5 + spread * rng.standard_normal(n)), CONFIDENCE) for _ in range(samples))
    known = [row for row in rows if row.low is not None]
    shown = sum(agreement(row.low, row.high, expit(1.5) - MARGIN) == "yes" for row in known)
    return [
        Rate(
            "share reported to agree with the model",
            f"{MARGIN} off, standard deviation {spread:g}",
            n,
            shown,
            len(known),
            ALARMS,
        )
    ]


def rates(rng, samples) -> Iterator[Rate]:
    """Yield the coverages and rates that this module simulates; slow simulations use fewer samples."""
    few = max(100, samples // 4)
    for truth, n in itertools.product(ONE_KIND, (4, 6, 8, 12, 30, 100)):
        yield from mean_coverage(rng, samples if n < 100 else few, n, truth)
    for truth, n in itertools.product(TWO_KINDS, (6, 10, 12)):
        yield from mean_coverage(rng, samples, n, truth)
    for n in (8, 12):
        yield from mean_coverage(rng, samples, n, ONE_KIND[0], missing=0.2)
    for truth, n in itertools.product(ONE_KIND, (5, 6, 12, 30)):
        usual = truth.name.startswith(("normal", "skewed", "flat"))
        yield from alarms_of_kinds(rng, samples, n, truth, (0.0, 0.015) if usual else ANY)
    for truth, n in itertools.product(TWO_KINDS, (6, 12)):
        yield from found_kinds(rng, few, n, truth)
    for factor, n in itertools.product(FACTORS, (6, 8, 10, 30)):
        yield from difference_coverage(rng, samples if n < 30 else few, n, factor)
    for n in (6, 10, 30):
        yield from other_coverage(rng, samples, n)
    for factor, n in itertools.product(("normal, 3 %", "exponential", "collapses (1 in 10, to 30 %)"), (6, 10, 30)):
        yield from platform_coverage(rng, samples, n, factor)
    for n in (6, 10, 30):
        yield from platform_coverage(rng, samples, n, "collapses (1 in 10, to 30 %)", other="normal, 3 %")
    for n, spread in itertools.product((6, 10), (0.1, 0.5)):
        yield from share_verdicts(rng, samples, n, spread)
