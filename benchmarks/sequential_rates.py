"""Coverage of intervals if replications are added until the intervals are narrow enough."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from scipy import stats

from inference.looks_at_spread import level_of_looks
from known_truth import ONE_KIND, TWO_KINDS, Truth
from rates import ANY, AT_LEAST, CONFIDENCE, COVERED, Rate
from run_tables.metrics import METRICS
from study_files.study_replications import looks
from topics.precision.mean_precision import OPEN, mean_precision

GOODPUT = METRICS[0]


def run_until_precise(rng, truth, wanted, steps, level, cells=1) -> list[tuple[int, float, float, float]]:
    """Draw replications of a scenario's cells until the means are precise enough.

    The values in all cells follow the same distribution, and are independent.

    Returns
    -------
    list of (int, float, float, float)
        For each cell: final number of replications, lower bound and upper bound of the interval (nan without an interval), and true mean.
    """
    values, other = truth.draw(rng, (cells, steps[-1]))
    for step in steps:
        judged = [mean_precision(row[:step], GOODPUT, wanted, level) for row in values]
        if step == steps[-1] or not any(mean.verdict in OPEN for mean in judged):
            meant = truth.mean_of_seen(other[:, :step])
            ends = ((math.nan, math.nan) if mean.low is None else (mean.low, mean.high) for mean in judged)
            return [(step, *of_cell, mean) for of_cell, mean in zip(ends, meant, strict=True)]
    raise AssertionError("the last look ends it")


def precision_coverage(rng, samples, truth: Truth, times, at_least=10, at_most=100, cells=1) -> list[Rate]:
    """Estimate the coverage of the final intervals, and the rate of scenarios that reach ``at_most`` replications.

    Replications are added until the intervals are narrow enough. The required width is the average width with ``times`` as many
    replications as at the first look. A factor of 1.5 is approximately the worst case.
    """
    steps = looks({"replications": {"at_least": at_least, "at_most": at_most}})
    level = level_of_looks(steps, CONFIDENCE)
    sample, needed = truth.main(np.random.default_rng(2), 2_000_000), times * at_least
    wanted = 100 * float(sample.std()) / float(sample.mean()) * stats.norm.ppf((1 + level) / 2) / math.sqrt(needed)
    ended = [row for _ in range(samples) for row in run_until_precise(rng, truth, wanted, steps, level, cells)]
    taken = np.array([step for step, *_ in ended])
    known = [row for row in ended if not math.isnan(row[1])]
    held = sum(low <= mean <= high for _, low, high, mean in known)
    case = truth.name + (f", {cells} cells" if cells > 1 else "")
    return [
        Rate(
            f"final interval ({needed:.3g} runs needed)",
            case,
            round(taken.mean()),
            held,
            len(known),
            AT_LEAST if truth.share else COVERED,
        ),
        Rate(
            f"limit of {at_most} runs reached ({needed:.3g} needed)",
            case,
            at_least,
            int((taken == at_most).sum()),
            len(taken),
            ANY,
        ),
    ]


def rates(rng, samples) -> Iterator[Rate]:
    """Yield the coverages and rates that this module simulates, with fewer samples, because the simulations are slow."""
    few = max(1, samples // 4)
    for truth, times in itertools.product(ONE_KIND, (0.7, 1.5, 5)):
        yield from precision_coverage(rng, few, truth, times)
    for truth in (truth for truth in TWO_KINDS if truth.share in (0.1, 0.15)):
        yield from precision_coverage(rng, few, truth, 0.7)
    for truth in ONE_KIND[:3]:
        yield from precision_coverage(rng, few, truth, 1.5, at_least=6)
    yield from precision_coverage(rng, few // 5, ONE_KIND[0], 1.5, cells=12)
