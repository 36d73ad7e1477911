"""How often tests, intervals and verdicts are wrong on data whose truth is known, beside the bound of each.

A rate is inside its bound if chance alone explains what it is beyond it, at 1 %: of 1,000 samples a rate of 5 % is
anything from 3.4 to 6.9 %. Row numbers are those of the review that asked for them. `error_rate_table.py` prints them all.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
from scipy import stats

from inference.block_tests import friedman_test
from inference.collapses import collapsed_of_pairs
from inference.independent_comparison import difference
from inference.looks_at_spread import level_of_looks
from inference.multiple_tests import adjusted
from inference.paired_comparison import Family, compare
from inference.paired_effects import hodges_lehmann_interval
from inference.paired_tests import mean_test
from inference.sample_size import deviation_interval, pairs_needed
from inference.share_intervals import bounded_estimate, expit
from inference.welch import welch
from known_truth import FACTORS, constant_cells, copies, levelled_pairs, losing_pairs, pairs, quantised_pairs
from run_tables.metrics import METRICS
from study_files.study_replications import looks
from topics.ccas.compare_ccas import gated
from topics.cells.describe_cells import describe
from topics.fairness.share_theory import MARGIN, agreement
from topics.ip_version.compare_ip_versions import compare_cell
from topics.ip_version.verdicts import WITH_COLLAPSES, verdict
from topics.precision.mean_precision import OPEN, mean_precision

SIGNIFICANCE, CONFIDENCE, POWER = 0.05, 0.95, 0.8
# Highest false alarms, and coverage, that a row may have.
ALARMS, COVERED = (0.0, 0.055), (0.93, 0.97)
# Intervals that can't be narrower with so few values: coverage has no upper bound.
AT_LEAST = (0.93, 1.0)
# Chance with which a rate at its bound counts as beyond it.
DOUBT = 0.01
CELLS = 72
PARAMS = SimpleNamespace(
    confidence=CONFIDENCE, significance=SIGNIFICANCE, power=POWER, header_margin=0.5,
    margins={"goodput_mbps": 5.0}, detect={"goodput_mbps": 1.0},
)  # fmt: skip
GOODPUT = METRICS[0]
MSS = (1448.0, 1428.0)


@dataclass(frozen=True)
class Rate:
    """How often something happened, and how often it may."""

    row: int  # of the review
    what: str
    case: str
    n: int
    happened: int
    samples: int
    bound: tuple[float, float]

    @property
    def share(self) -> float:
        """The share of the samples; nan without one."""
        return self.happened / self.samples if self.samples else math.nan

    @property
    def inside(self) -> bool:
        """Whether the true rate may be inside the bound."""
        if not self.samples:
            return False
        low, high = self.bound
        above = stats.binom.sf(self.happened - 1, self.samples, high) if self.share > high else 1.0
        below = stats.binom.cdf(self.happened, self.samples, low) if self.share < low else 1.0
        return min(above, below) > DOUBT


def _family(tests=1):
    return Family(CONFIDENCE, SIGNIFICANCE, tests)


def _cell_frame(ipv6, ipv4, resolution=0.0):
    return pd.DataFrame(
        {"ipv4": ipv4, "ipv6": ipv6, "mss_ipv4": MSS[0], "mss_ipv6": MSS[1],
         "resolution_ipv4": resolution, "resolution_ipv6": resolution}
    )  # fmt: skip


def cell_rows(ipv6, ipv4, resolution=0.0, tests=1) -> Iterator[dict]:
    """Yield the row of the comparison of each sample, judged by itself, with its verdict."""
    for a, b in zip(ipv6, ipv4, strict=True):
        row = {"p": math.nan, "ci90_low": math.nan, "ci90_high": math.nan}
        row |= compare_cell(GOODPUT, _cell_frame(a, b, resolution), tests, PARAMS)
        row["p_holm"] = math.nan if row["p"] is None else min(1.0, row["p"] * tests)
        yield row | {"verdict": verdict(row, SIGNIFICANCE)}


def false_equivalence(rng, samples, n) -> list[Rate]:
    """Row 1: IPv6 loses half of its goodput in 15 % of runs, 9.9 % in the mean, which isn't within 5 %."""
    ipv6, ipv4, effect = losing_pairs(rng, samples, n)
    rows = list(cell_rows(ipv6, ipv4))
    seen = [row for row in rows if row["verdict"].endswith(WITH_COLLAPSES)]
    equivalent = sum(row["equivalent"] == "yes" for row in seen)
    truly = sum(bool((values < 75).any()) for values in ipv6 / ipv4 * 100)
    allowed = 0.85**n  # of samples in which no run collapsed nothing can be known
    case = f"half lost in 15 % of runs ({effect:.1f} %)"
    return [
        Rate(1, "equivalent, of samples with a collapse", case, n, equivalent, len(seen), (0, 0.05)),
        Rate(1, "equivalent, of all (no collapse in sample)", case, n,
             sum(row["equivalent"] == "yes" for row in rows), samples, (0, allowed + 0.05 * (1 - allowed))),
        Rate(1, "collapses found, of samples with one", case, n, len(seen), truly, (0.97, 1)),
    ]  # fmt: skip


def contradictions(rng, samples, n) -> list[Rate]:
    """Row 2: verdicts without a test though there are pairs, or against their own interval."""
    wrong = untested = 0
    for factor in FACTORS:
        for row in cell_rows(*pairs(rng, factor, samples, n, effect_percent=-3.0), tests=CELLS):
            untested += not row["test"]
            inside = row["ci90_low"] is not None and row["ci90_low"] > -5 and row["ci90_high"] < 5
            wrong += (row["equivalent"] == "yes") != inside
            differs, known = row["verdict"].startswith("differs"), row["ci_low"] is not None
            wrong += differs and known and row["ci_low"] <= 0 <= row["ci_high"]
            wrong += row["verdict"].startswith(("undecided", "equivalent")) and inside != (row["equivalent"] == "yes")
            wrong += row["verdict"].startswith("undecided") and known and not row["ci_low"] <= 0 <= row["ci_high"]
    total = samples * len(FACTORS)
    return [
        Rate(2, "no test made", "all cases", n, untested, total, (0, 0)),
        Rate(2, "verdict against its interval", "all cases", n, wrong, total, (0, 0)),
    ]


def false_alarms(rng, samples, n, factor, tests=1) -> list[Rate]:
    """Row 2: the test of the mean where there is no difference."""
    a, b = np.log(pairs(rng, factor, samples, n))
    alarms = sum(mean_test(row, tests, SIGNIFICANCE).p() < SIGNIFICANCE for row in a - b)
    return [Rate(2, "false alarms of one test", factor, n, alarms, samples, ALARMS)]


def copied_cells(rng, samples, n) -> list[Rate]:
    """Row 3: cells whose values all lie within the resolution."""
    rows = list(cell_rows(*copies(rng, samples, n, 0.001, difference=0.01), resolution=0.001))
    tested = sum(row["p"] is not None or row["n"] != 1 for row in rows)
    return [Rate(3, "copies that have a p or an n above 1", "constant cell, +0.01 %", n, tested, samples, (0, 0))]


def copied_platforms(rng, samples, n) -> list[Rate]:
    """Row 3: two platforms of which each repeats one measurement, 0.01 % apart."""
    drawn = zip(*copies(rng, samples, n, 0.001, difference=0.01), strict=True)
    tested = sum(difference(a, b, "ratio", (0.001, 0.001)).p_within(-0.05, 0.05) is not None for a, b in drawn)
    return [Rate(3, "copies that have a p, two platforms", "constant, +0.01 %", n, tested, samples, (0, 0))]


def overall_alarms(rng, samples, n, cells=CELLS) -> list[Rate]:
    """Row 4: constant cells of random direction, n copies of each, over all cells."""
    tests = (mean_test(values, 1, SIGNIFICANCE) for values in constant_cells(rng, samples, cells))
    alarms = sum(test.p() < SIGNIFICANCE for test in tests)
    return [Rate(4, "false direction over all cells", f"{cells} constant cells", n, alarms, samples, ALARMS)]


def claim_alarms(rng, samples, n, cells=6) -> list[Rate]:
    """Row 4 of a claim's test of pairs: few constant cells, n copies of each, of which each counts one value."""
    tests = (mean_test(values, 1, SIGNIFICANCE) for values in constant_cells(rng, samples, cells))
    alarms = sum(test.p() < SIGNIFICANCE for test in tests)
    return [
        Rate(4, "false direction in a claim's test of pairs", f"{cells} constant cells", n, alarms, samples, ALARMS)
    ]


def header_verdicts(rng, samples, n) -> list[Rate]:
    """Row 5: "as the header" where IPv6 is as far from the ratio as the margin, and where it is there."""
    ratio, rates = 100 * (MSS[1] / MSS[0] - 1), []
    for name, effect, bound in (("at the margin", ratio - 0.5, (0, 0.055)), ("equal, no header", 0.0, (0, 0.055))):
        rows = cell_rows(*pairs(rng, "normal, 3 %", samples, n, effect))
        shown = sum(row["as_expected"] == "yes" for row in rows)
        rates.append(Rate(5, "called what the header costs", name, n, shown, samples, bound))
    rows = cell_rows(*pairs(rng, "normal, 3 %", samples, n, ratio))
    denied = sum(row["as_expected"] == "no" for row in rows)
    return [*rates, Rate(5, "called not what the header costs", "exactly that", n, denied, samples, ALARMS)]


def planning(rng, samples, n, tests=CELLS) -> list[Rate]:
    """Row 6: the stated number of pairs against the true one, and the power that the true one has."""
    sd, effect, level = 0.02, 2.0, SIGNIFICANCE / tests
    needed = pairs_needed(sd, effect, POWER, level, "ratio")
    held = 0
    for pilot in sd * rng.standard_normal((samples, n)):
        low, high = (
            pairs_needed(spread, effect, POWER, level, "ratio") or math.inf
            for spread in deviation_interval(float(pilot.std(ddof=1)), n, CONFIDENCE)
        )
        held += low <= needed <= high
    study = sd * rng.standard_normal((samples, needed)) + math.log1p(effect / 100)
    t = study.mean(axis=1) / study.std(axis=1, ddof=1) * math.sqrt(needed)
    shown = int((2 * stats.t.sf(np.abs(t), needed - 1) < level).sum())
    return [
        # The number is whole, so an interval that ends in it holds a little more.
        Rate(6, "interval holds the pairs needed", f"normal, {needed} needed", n, held, samples, (0.93, 0.975)),
        Rate(6, "power with the pairs needed, Holm's level", f"{tests} cells", needed, shown, samples, (0.78, 0.84)),
    ]


def difference_coverage(rng, samples, n, factor, tests=1) -> list[Rate]:
    """Row 7: the interval of the mean difference and of the Hodges-Lehmann estimate, where they are printed."""
    effect, held, hl_held, hl_known = math.log(0.97), 0, 0, 0
    contrasts = np.subtract(*np.log(pairs(rng, factor, samples, n, -3.0)))
    for row in contrasts:
        low, high = mean_test(row, tests, SIGNIFICANCE).interval(CONFIDENCE)
        held += low <= effect <= high
        interval = hodges_lehmann_interval(row, CONFIDENCE)
        if interval:
            hl_known += 1
            hl_held += interval[0] <= effect <= interval[1]
    bound = AT_LEAST if "collapses" in factor or n < 4 and "normal" not in factor else COVERED
    rates = [Rate(7, "interval of the mean difference", factor, n, held, samples, bound)]
    return rates + ([Rate(7, "interval of Hodges-Lehmann", factor, n, hl_held, hl_known, COVERED)] if hl_known else [])


def mean_coverage(rng, samples, n, factor) -> list[Rate]:
    """Row 7: the interval of a cell's mean where it is printed; of collapses that of the runs that didn't."""
    values = 100 * FACTORS[factor](rng, (samples, n))
    truth = float(100 * FACTORS["normal, 3 %" if "collapses" in factor else factor](rng, 2_000_000).mean())
    rows = [describe(pd.Series(sample), n, CONFIDENCE, 0.0, True) for sample in values]
    known = [row for row in rows if row.get("ci_low") is not None]
    held = sum(row["ci_low"] <= truth <= row["ci_high"] for row in known)
    bound = AT_LEAST if "heavy" in factor and n < 10 else COVERED
    if factor == "exponential":
        bound = (0.85, 0.97)  # as the report says of values so skewed
    return [Rate(7, "interval of a cell's mean", factor, n, held, len(known), bound)] if known else []


def other_coverage(rng, samples, n) -> list[Rate]:
    """Row 7: intervals of a share, of two independent means, and of a mean of quantised values."""
    share = sum(
        row.low <= expit(1.5) <= row.high
        for row in (bounded_estimate(expit(1.5 + 0.5 * rng.standard_normal(n)), CONFIDENCE) for _ in range(samples))
    )
    params = SimpleNamespace(confidence=CONFIDENCE, significance=SIGNIFICANCE)
    results = [welch(rng.standard_normal(n), 3 * rng.standard_normal(2 * n), params) for _ in range(samples)]
    two = sum(row["low"] <= 0 <= row["high"] for row in results)
    return [
        Rate(7, "interval of a share", "logit-normal", n, share, samples, COVERED),
        Rate(7, "Welch's interval", "spreads 1 and 3, n and 2n", n, two, samples, COVERED if n > 2 else AT_LEAST),
    ]


def platform_coverage(rng, samples, n, factor, other=None) -> list[Rate]:
    """Row 7: the interval of two platforms' difference where it is printed, and how often they are wrongly said to differ.

    With another factor for the second platform, the truth is that of runs that did not collapse.
    """
    drawn = zip(*pairs(rng, factor, samples, n), *pairs(rng, other or factor, samples, n), strict=True)
    differences = [difference(a, b, "ratio", collapses=True) for a, _, _, b in drawn]
    known = [apart for apart in differences if apart.error]
    ends = [apart.interval(CONFIDENCE) for apart in known]
    held = sum(low <= 0 <= high for low, high in ends)
    differ = sum(apart.p_beyond(0.0, 0.0) < SIGNIFICANCE / 2 for apart in known)
    bound = COVERED if factor == "normal, 3 %" and n > 2 else AT_LEAST
    case = f"{factor}, of one" if other else factor
    rates = [
        Rate(7, "interval of two platforms' difference", case, n, held, len(known), bound),
        Rate(7, "platforms said to differ, tolerance 0", case, n, differ, len(known), ALARMS),
    ]
    return rates if known else []


def share_verdicts(rng, samples, n, spread) -> list[Rate]:
    """Row 11: a share that is as far from the model's as the margin, called the model's."""
    rows = (bounded_estimate(expit(1.5 + spread * rng.standard_normal(n)), CONFIDENCE) for _ in range(samples))
    shown = sum(agreement(row.low, row.high, expit(1.5) - MARGIN) == "yes" for row in rows)
    return [Rate(11, "share called the model's", f"{MARGIN} off, spread {spread:g}", n, shown, samples, (0, 0.055))]


def family_alarms(rng, samples, n, draw, case, cells) -> list[Rate]:
    """Row 8: any false alarm after Holm's correction over cells of quantised values, which `draw` gives."""
    alarms = 0
    for _ in range(samples):
        a, b, step = draw(rng, cells, n)
        rows = [compare(x, y, "ratio", "%", _family(cells), (step, step)).tested() for x, y in zip(a, b, strict=True)]
        alarms += bool((adjusted(pd.Series([row["p"] for row in rows], dtype=float), "holm") < SIGNIFICANCE).any())
    return [Rate(8, "any false alarm after Holm", f"{cells} cells, {case}", n, alarms, samples, ALARMS)]


def cell_alarms(rng, samples, n, factor, cells=CELLS) -> list[Rate]:
    """Row 8 of all cells of a study, of one distribution."""
    contrasts = np.subtract(*np.log(pairs(rng, factor, samples * cells, n)))
    p = [mean_test(row, cells, SIGNIFICANCE).p() for row in contrasts]
    alarms = int((np.reshape(p, (samples, cells)).min(axis=1) < SIGNIFICANCE / cells).sum())
    return [Rate(8, "any false alarm after Holm", f"{cells} cells, {factor}", n, alarms, samples, ALARMS)]


def spread_alarms(rng, samples, n, step_in_spreads, cells=12) -> list[Rate]:
    """Row 8 of normal values in steps."""
    draw = partial(quantised_pairs, step_in_spreads=step_in_spreads)
    return family_alarms(rng, samples, n, draw, f"step {step_in_spreads:g} spreads", cells)


def level_alarms(rng, samples, n, levels, cells=3) -> list[Rate]:
    """Row 8 of values that have a few levels only: the worst there is for t, at three cells."""
    return family_alarms(rng, samples, n, partial(levelled_pairs, levels=levels), f"{levels} levels", cells)


def cca_alarms(rng, samples, n, differing=0.0, places=24, ccas=6) -> list[Rate]:
    """Row 9: studies with a false pair of CCAs, after the test of all CCAs; in a share of places one CCA is another.

    Four metrics of a place, which share their replications' seeds.
    """
    names, index = list(itertools.combinations(range(ccas), 2)), [metric.column for metric in METRICS]
    alarms = 0
    for _ in range(samples):
        groups, rows = [], []
        for place, metric in itertools.product(range(places), index):
            values = 0.03 * rng.standard_normal((n, ccas)) + 0.1 * rng.standard_normal((n, 1))
            other = place < differing * places
            values[:, 0] += 1.0 * other
            head = {"metric": metric, "scenario": str(place), "ip_version": "ipv4"}
            groups.append(head | {"ccas": ccas, "p": friedman_test(values)[1]})
            contrasts = np.array([values[:, a] - values[:, b] for a, b in names])
            t = contrasts.mean(axis=1) / contrasts.std(axis=1, ddof=1) * math.sqrt(n)
            p = 2 * stats.t.sf(np.abs(t), n - 1)
            rows += [
                head | {"p": value, "false": not (other and a == 0)} for value, (a, _) in zip(p, names, strict=True)
            ]
        together, by_pair = pd.DataFrame(groups), pd.DataFrame(rows)
        together["p_holm"] = adjusted(together["p"], "holm")
        alarms += bool((gated(by_pair, together, SIGNIFICANCE)[by_pair["false"]] < SIGNIFICANCE).any())
    case = f"{places} places, {ccas} CCAs" + (f", one differs in {100 * differing:g} %" if differing else ", A/A")
    return [Rate(9, "studies with a false pair", case, n, alarms, samples, ALARMS)]


def power_of_test(rng, samples, n) -> list[Rate]:
    """What the test shows of a difference of 3 % at a spread of 3 %: no bound, for comparison by n."""
    contrasts = np.subtract(*np.log(pairs(rng, "normal, 3 %", samples, n, 3.0)))
    shown = sum(mean_test(row, 1, SIGNIFICANCE).p() < SIGNIFICANCE for row in contrasts)
    return [Rate(0, "power of one test", "3 % at a spread of 3 %", n, shown, samples, (0, 1))]


def run_until_precise(rng, factor, wanted, steps, level, cells=1) -> list[tuple[int, float, float]]:
    """Return after how many replications a scenario of some equal cells ends, and the interval of each mean then.

    The interval is none (nan) where a run collapsed. No spread is shared by the cells.
    """
    values = 100 * FACTORS[factor](rng, (cells, steps[-1]))
    for step in steps:
        judged = [mean_precision(row[:step], GOODPUT, wanted, level) for row in values]
        if step == steps[-1] or not any(mean.verdict in OPEN for mean in judged):
            return [(step, *((math.nan, math.nan) if mean.low is None else (mean.low, mean.high))) for mean in judged]
    raise AssertionError("the last look ends it")


def precision_coverage(rng, samples, factor, times, at_least=10, at_most=100, cells=1) -> list[Rate]:
    """The interval at which replications end that go on until it is precise enough, and how many that took.

    Wanted is what so many `times` the first look's replications give on the average: 1.5 is about the worst.
    """
    steps = looks({"replications": {"at_least": at_least, "at_most": at_most}})
    level = level_of_looks(steps, CONFIDENCE)
    sample = 100 * FACTORS["normal, 3 %" if "collapses" in factor else factor](rng, 2_000_000)
    truth, needed = float(sample.mean()), times * at_least
    wanted = 100 * float(sample.std()) / truth * stats.norm.ppf((1 + level) / 2) / math.sqrt(needed)
    ended = [row for _ in range(samples) for row in run_until_precise(rng, factor, wanted, steps, level, cells)]
    taken = np.array([step for step, *_ in ended])
    known = [(low, high) for _, low, high in ended if not math.isnan(low)]
    held = sum(low <= truth <= high for low, high in known)
    case = factor + (f", {cells} cells" if cells > 1 else "")
    bound = AT_LEAST if "heavy" in factor and at_least < 10 else COVERED
    return [
        Rate(0, f"interval where runs end ({needed:.3g} needed)", case, round(taken.mean()), held, len(known), bound),
        Rate(
            0,
            f"runs ended by at most {at_most} ({needed:.3g} needed)",
            case,
            at_least,
            int((taken == at_most).sum()),
            len(taken),
            (0, 1),
        ),
    ]


def collapse_alarms(rng, samples, n) -> list[Rate]:
    """Row 1: runs said to have collapsed where none has, of all runs."""
    drawn = zip(*pairs(rng, "heavy tails (t, 3 df)", samples, n), strict=True)
    alarms = sum(int(np.concatenate(collapsed_of_pairs(*sample)).sum()) for sample in drawn)
    return [
        Rate(1, "runs called collapsed where none is", "heavy tails (t, 3 df)", n, alarms, 2 * n * samples, (0, 0.005))
    ]
