"""Error rates of the paired comparison, such as the rates of false differences and of verdicts that contradict their intervals."""

import itertools
import math
from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from inference.independent_comparison import difference
from inference.multiple_tests import adjusted
from inference.paired_comparison import Family, compare
from inference.paired_tests import LEAST_PAIRS, mean_test
from inference.sample_size import deviation_interval, pairs_needed_in_family
from known_truth import FACTORS, copies, levelled_pairs, losing_pairs, pairs, quantised_pairs
from rates import ALARMS, ANY, CELLS, CONFIDENCE, PARAMS, POWER, SIGNIFICANCE, Rate
from run_tables.metrics import METRICS
from topics.ip_version.compare_ip_versions import compare_cell
from topics.ip_version.verdicts import WITH_APART, verdict

GOODPUT = METRICS[0]
MSS = (1448.0, 1428.0)
#: Numbers of tests, and true differences in standard deviations, for which hardly more pairs are needed than for any significance.
FEW = ((1, 1.5), (16, 2.0), (72, 1.7), (288, 1.6), (3000, 1.2))


def _family(tests=1):
    return Family(CONFIDENCE, SIGNIFICANCE, tests)


def _cell_frame(ipv6, ipv4, resolution=0.0):
    return pd.DataFrame(
        {"ipv4": ipv4, "ipv6": ipv6, "mss_ipv4": MSS[0], "mss_ipv6": MSS[1],
         "resolution_ipv4": resolution, "resolution_ipv6": resolution}
    )  # fmt: skip


def cell_rows(ipv6, ipv4, resolution=0.0, tests=1) -> Iterator[dict]:
    """Yield, for each sample, a row of the comparison with its verdict; each sample is judged separately."""
    for a, b in zip(ipv6, ipv4, strict=True):
        row = {"p": math.nan, "ci90_low": math.nan, "ci90_high": math.nan}
        row |= compare_cell(GOODPUT, _cell_frame(a, b, resolution), tests, PARAMS)
        row["p_holm"] = math.nan if row["p"] is None else min(1.0, row["p"] * tests)
        yield row | {"verdict": verdict(row, SIGNIFICANCE)}


def false_equivalence(rng, samples, n) -> list[Rate]:
    """Estimate the rates of false equivalence if IPv6 loses half of its goodput in 15 % of runs.

    The mean loss is then 9.9 %, and the margin is 5 %.
    """
    ipv6, ipv4, effect = losing_pairs(rng, samples, n)
    rows = list(cell_rows(ipv6, ipv4))
    seen = [row for row in rows if row["verdict"].endswith(WITH_APART)]
    equivalent = sum(row["equivalent"] == "yes" for row in seen)
    truly = sum(bool((values < 75).any()) for values in ipv6 / ipv4 * 100)
    allowed = 0.85**n  # samples in which no run collapsed don't show the loss
    case = f"half lost in 15 % of runs ({effect:.1f} %)"
    return [
        Rate("called equivalent, if a collapse is seen", case, n, equivalent, len(seen), (0, 0.05)),
        Rate("called equivalent, collapse seen or not", case, n,
             sum(row["equivalent"] == "yes" for row in rows), samples, (0, allowed + 0.05 * (1 - allowed))),
        Rate("collapses seen in samples that have one", case, n, len(seen), truly, (0.9, 1)),
    ]  # fmt: skip


def contradictions(rng, samples, n) -> list[Rate]:
    """Estimate the rates of verdicts without a test (none if there are enough pairs) and of verdicts that contradict their interval."""
    wrong = untested = 0
    for factor in FACTORS:
        for row in cell_rows(*pairs(rng, factor, samples, n, effect_percent=-3.0), tests=CELLS):
            known, verdict_of_row = row["ci_low"] is not None, row["verdict"]
            untested += not row["test"]
            inside = row["ci90_low"] is not None and row["ci90_low"] > -5 and row["ci90_high"] < 5
            wrong += (row["equivalent"] == "yes") != inside
            around_0 = known and row["ci_low"] <= 0 <= row["ci_high"]
            wrong += verdict_of_row.startswith("differs") and around_0
            wrong += verdict_of_row.startswith("undecided") and known and not around_0
    total, reaches = samples * len(FACTORS), n >= LEAST_PAIRS
    return [
        Rate("no test made", "all cases", n, untested, total, (0, 0) if reaches else (1, 1)),
        Rate("verdict that contradicts its interval", "all cases", n, wrong, total, (0, 0)),
    ]


def p_of(contrasts) -> float:
    """Return the p-value of the paired test, or 1 if no test is possible."""
    test = mean_test(contrasts)
    return 1.0 if test is None else test.p()


def false_alarms(rng, samples, n, factor) -> list[Rate]:
    """Estimate the rate of false alarms of the paired test of the mean, on data without a true difference."""
    a, b = np.log(pairs(rng, factor, samples, n))
    alarms = sum(p_of(row) < SIGNIFICANCE for row in a - b)
    return [Rate("false alarms of one test", factor, n, alarms, samples, ALARMS)]


def copied_cells(rng, samples, n) -> list[Rate]:
    """Estimate the rate of tests made in cells in which all values of an IP version differ by less than the resolution."""
    rows = list(cell_rows(*copies(rng, samples, n, 0.001, difference=0.01), resolution=0.001))
    tested = sum(row["p"] is not None or row["n"] != 1 for row in rows)
    return [Rate("copies given a p-value or an n above 1", "constant cell, +0.01 %", n, tested, samples, (0, 0))]


def header_verdicts(rng, samples, n) -> list[Rate]:
    """Estimate the rates of wrong verdicts about the cost of IPv6's larger header.

    IPv6's true loss of goodput differs from the header's cost by the margin, is 0, or equals the header's cost.
    """
    ratio, rates = 100 * (MSS[1] / MSS[0] - 1), []
    for name, effect, bound in (("at the margin", ratio - 0.5, (0, 0.055)), ("equal, no header", 0.0, (0, 0.055))):
        rows = cell_rows(*pairs(rng, "normal, 3 %", samples, n, effect))
        shown = sum(row["as_expected"] == "yes" for row in rows)
        rates.append(Rate("difference wrongly called the header's cost", name, n, shown, samples, bound))
    rows = cell_rows(*pairs(rng, "normal, 3 %", samples, n, ratio))
    denied = sum(row["as_expected"] == "no" for row in rows)
    return [*rates, Rate("header's cost reported as different", "exactly that", n, denied, samples, ALARMS)]


def planning(rng, samples, n, tests=CELLS) -> list[Rate]:
    """Estimate the coverage of the interval for the number of pairs needed, and the power with the number of pairs truly needed."""
    sd, effect, level = 0.02, 2.0, SIGNIFICANCE / tests
    family = (effect, POWER, SIGNIFICANCE, "ratio", tests)
    needed = pairs_needed_in_family(sd, *family)
    held = 0
    for pilot in sd * rng.standard_normal((samples, n)):
        low, high = (
            pairs_needed_in_family(spread, *family) or math.inf
            for spread in deviation_interval(float(pilot.std(ddof=1)), n, CONFIDENCE)
        )
        held += low <= needed <= high
    study = sd * rng.standard_normal((samples, needed)) + math.log1p(effect / 100)
    shown = sum(p_of(row) < level for row in study)
    return [
        # The number is an integer, so the interval contains it slightly more often.
        Rate("interval covers the pairs needed", f"normal, {needed} needed", n, held, samples, (0.93, 0.975)),
        Rate("power with the pairs needed, Holm's level", f"{tests} cells", needed, shown, samples, (0.75, 0.84)),
    ]


def power_of_few(rng, samples, tests, deviations) -> list[Rate]:
    """Estimate the power with the number of pairs needed, and with one pair less, for a difference that few pairs detect.

    ``deviations`` is the true difference in standard deviations.
    """
    needed = pairs_needed_in_family(1.0, deviations, POWER, SIGNIFICANCE, "points", tests)
    return [
        Rate(
            what,
            f"{deviations:g} sd, {tests} tests",
            n,
            sum(p_of(row) < SIGNIFICANCE / tests for row in rng.normal(deviations, 1, (samples, n))),
            samples,
            bound,
        )
        for what, n, bound in (
            ("power with the pairs needed, if few", needed, (POWER - 0.02, 1)),
            ("power with one pair less, if few", needed - 1, (0, POWER + 0.02)),
        )
    ]


def family_alarms(rng, samples, n, draw, case, cells) -> list[Rate]:
    """Estimate the rate of studies with any false alarm after Holm's correction across cells.

    ``draw`` is a function that draws pairs of quantised values.
    """
    alarms = 0
    for _ in range(samples):
        a, b, step = draw(rng, cells, n)
        rows = [compare(x, y, "ratio", "%", _family(cells), (step, step)).tested() for x, y in zip(a, b, strict=True)]
        alarms += bool((adjusted(pd.Series([row["p"] for row in rows], dtype=float), "holm") < SIGNIFICANCE).any())
    return [Rate("studies with a false difference", f"{cells} cells, {case}", n, alarms, samples, ALARMS)]


def cell_alarms(rng, samples, n, factor, cells=CELLS) -> list[Rate]:
    """Estimate the rate of studies with any false difference if the values in all cells follow the same distribution."""
    contrasts = np.subtract(*np.log(pairs(rng, factor, samples * cells, n)))
    p = [p_of(row) for row in contrasts]
    alarms = int((np.reshape(p, (samples, cells)).min(axis=1) < SIGNIFICANCE / cells).sum())
    return [Rate("studies with a false difference", f"{cells} cells, {factor}", n, alarms, samples, ALARMS)]


def spread_alarms(rng, samples, n, step_in_spreads, cells=12) -> list[Rate]:
    """Estimate the rate of studies with any false alarm, for quantised normal values."""
    draw = partial(quantised_pairs, step_in_spreads=step_in_spreads)
    return family_alarms(rng, samples, n, draw, f"step {step_in_spreads:g} sd", cells)


def level_alarms(rng, samples, n, levels, cells=3) -> list[Rate]:
    """Estimate the rate of studies with any false alarm, for few distinct values; three cells are the worst case for Student's t."""
    return family_alarms(rng, samples, n, partial(levelled_pairs, levels=levels), f"{levels} levels", cells)


def power_of_test(rng, samples, n) -> list[Rate]:
    """Estimate the power of the paired test for a difference of 3 % with a standard deviation of 3 %; there is no bound on this rate."""
    contrasts = np.subtract(*np.log(pairs(rng, "normal, 3 %", samples, n, 3.0)))
    return [
        Rate(
            what,
            "3 % at a standard deviation of 3 %",
            n,
            sum(p_of(row) < SIGNIFICANCE / tests for row in contrasts),
            samples,
            ANY,
        )
        for what, tests in (("power of one test", 1), (f"power of one of {CELLS} tests", CELLS))
    ]


def copied_platforms(rng, samples, n) -> list[Rate]:
    """Estimate how often a p-value is given if all runs on a platform repeat one measurement and the platforms differ by 0.01 %."""
    drawn = zip(*copies(rng, samples, n, 0.001, difference=0.01), strict=True)
    tested = sum(difference(a, b, "ratio", (0.001, 0.001)).p_within(-0.05, 0.05) is not None for a, b in drawn)
    return [Rate("copies given a p-value, two platforms", "constant, +0.01 %", n, tested, samples, (0, 0))]


def rates(rng, samples) -> Iterator[Rate]:
    """Yield the error rates and powers that this module simulates; slow simulations use fewer samples."""
    few = max(1, samples // 4)
    for n in (10, 30, 100):
        yield from false_equivalence(rng, few, n)
    for n in (4, 6, 12, 14):
        yield from contradictions(rng, few // 2, n)
    for factor in FACTORS:
        for n in (6, 8, 10, 14):
            yield from false_alarms(rng, samples, n, factor)
        for n in (30, 100):
            yield from false_alarms(rng, few, n, factor)
    for n in (6, 100):
        yield from copied_cells(rng, few, n)
        yield from copied_platforms(rng, few, n)
    for n in (6, 10, 30):
        yield from header_verdicts(rng, few, n)
    for n in (4, 10):
        yield from planning(rng, few, n)
    for tests, deviations in FEW:
        yield from power_of_few(rng, few, tests, deviations)
    for factor, n in itertools.product(FACTORS, (3, 4, 6, 12, 13)):
        yield from cell_alarms(rng, few, n, factor)
    for n, step in itertools.product((8, 10), (0.3, 1.0)):
        yield from spread_alarms(rng, samples, n, step, cells=6)
    for n, levels in itertools.product((8, 10), (3, 4, 6)):
        yield from level_alarms(rng, samples, n, levels)
    for n in (6, 8, 10, 12, 14, 30, 100):
        yield from power_of_test(rng, few, n)
