"""Compare two sets of paired values: the mean effect with its interval and test, and the effective number of pairs."""

from dataclasses import dataclass, replace

import numpy as np

from inference.collapses import kinds_words, other_kind
from inference.mean_interval import repeats_one_measurement
from inference.normality import SHAPIRO_MIN_N, shapiro_wilk
from inference.paired_contrasts import contrasts, to_effect, usable_scale
from inference.paired_effects import hodges_lehmann, walsh_averages
from inference.paired_tests import LEAST_PAIRS, FlippedMean, StudentMean, is_constant, mean_test, pairs_for
from wording.number_format import count, number


@dataclass(frozen=True)
class Family:
    """Criteria for a comparison, fixed before the values are known."""

    confidence: float  # confidence level of intervals
    significance: float  # significance level of tests
    tests: int = 1  # number of tests for which p is corrected


@dataclass(frozen=True)
class Comparison:
    """The result of comparing paired values; effects are in the metric's effect unit."""

    scale: str  # scale of the contrasts; see `paired_contrasts`
    contrasts: np.ndarray  # one per pair
    walsh: np.ndarray  # Walsh averages of the contrasts
    test: StudentMean | FlippedMean | None = (
        None  # test of the mean contrast; None if there are too few pairs or all are equal
    )
    reaches: bool = False  # whether there are enough pairs for p to fall below the significance level in the family
    apart: int = 0  # number of outliers among the pairs; if there are any, there is no interval for the mean
    one_value: bool = False  # whether the runs of each side repeat one measurement: all are equal within the resolution
    mean_a: float | None = None
    mean_b: float | None = None
    effect: float | None = None  # effect of the mean contrast, with the interval from ci_low to ci_high
    ci_low: float | None = None
    ci_high: float | None = None
    hl: float | None = None  # Hodges-Lehmann estimate
    normality_p: float | None = None  # Shapiro-Wilk's p for the contrasts; reported, but not used
    notes: tuple = ()  # missing results, with reasons

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return len(self.contrasts)

    @property
    def n(self) -> int:
        """Effective number of pairs: 1 if the runs of each side repeat one measurement."""
        return 1 if self.one_value else self.pairs

    @property
    def all_alike(self) -> bool:
        """Whether runs differ but all pairs differ by the same amount, so that there is no spread to judge the difference by."""
        return self.pairs > 1 and not self.one_value and is_constant(self.contrasts)

    @property
    def estimated(self) -> StudentMean | FlippedMean | None:
        """Estimator for the interval of the mean; None if there is no interval."""
        return None if self.apart else self.test

    def tested(self, null=0.0) -> dict[str, str | float | None]:
        """Return the columns test, statistic and p, which are empty if there is no test."""
        if self.test is None:
            return {"test": "", "statistic": None, "p": None}
        return {"test": self.test.name, "statistic": self.test.statistic, "p": self.test.p(null)}


def compare(a, b, scale, effect_unit, family, resolution=(0.0, 0.0)) -> Comparison:
    """Compare the paired values a and b.

    Parameters
    ----------
    a, b : numpy.ndarray of float, shape (n,)
        The values of each pair; n may be 0.
    scale, effect_unit : str
        Scale and effect unit of the metric.
    family : Family
        Criteria of the comparison.
    resolution : tuple of float
        Smallest distinguishable difference between values of a, and between values of b, in their unit. If the values of each
        side differ by less, each side is one measurement, no matter how often it was repeated: n is 1, and there is no
        test. If the runs differ but all contrasts are equal, n is the number of pairs, and there is no test either, because the
        contrasts have no spread.
    """
    if len(a) == 0:
        return Comparison(scale, np.empty(0), np.empty(0))
    notes = []
    used = usable_scale(a, b, scale)
    if used != scale:
        notes.append("a value of 0 has no ratio: differences are relative to the mean of both")
    values = contrasts(a, b, used)
    row = {"mean_a": float(a.mean()), "mean_b": float(b.mean()), "effect": to_effect(float(values.mean()), used)}
    repeated = all(repeats_one_measurement(side, step) for side, step in zip((a, b), resolution, strict=True))
    if repeated or is_constant(values):
        if is_constant(values):
            row["effect"] = to_effect(float(values[0]), used)
        words = _constant_words(values, repeated, row["effect"], effect_unit)
        return Comparison(used, values, values[:1], one_value=repeated, hl=row["effect"], notes=(*notes, words), **row)
    step = _contrast_step(row, resolution, used)
    other, needed = other_kind(values, step), pairs_for(family.tests, family.significance)
    result = Comparison(
        used, values, walsh_averages(values), mean_test(values, step), len(values) >= needed, int(other.sum()), **row
    )
    if result.estimated is not None:
        low, high = (to_effect(end, used) for end in result.test.interval(family.confidence))
        result = replace(result, ci_low=low, ci_high=high)
    elif other.any():
        notes.append(kinds_words(other, "pair"))
    if len(values) < needed:
        notes.append(_too_few_words(len(values), needed, family.tests))
    return replace(
        result, hl=to_effect(hodges_lehmann(values, result.walsh), used), notes=tuple(notes),
        normality_p=shapiro_wilk(values)[1] if len(values) >= SHAPIRO_MIN_N else None,
    )  # fmt: skip


def _too_few_words(pairs, needed, tests) -> str:
    """Return a note about too few pairs: "too few pairs to be significant: 6; with 288 tests, 14 are needed"."""
    what = "for an interval and a test" if pairs < LEAST_PAIRS else "to be significant"
    family = f"with {tests:,} tests, " if tests > 1 else ""
    return f"too few pairs {what}: {pairs}; {family}{needed} are needed"


def _contrast_step(row, resolution, scale) -> float:
    """Return the smallest distinguishable difference between contrasts."""
    a, b = resolution
    if scale == "ratio":
        return a / row["mean_a"] + b / row["mean_b"]
    if scale == "relative":
        centre = (row["mean_a"] + row["mean_b"]) / 2
        return 100 * (a + b) / abs(centre) if centre else 0.0
    return a + b


def _constant_words(contrasts, repeated, effect, effect_unit) -> str:
    """Return the reason why pairs have no test: "all 4 pairs show the same, 13 %: one measurement repeated, so n = 1 and no test"."""
    pairs = len(contrasts)
    if pairs == 1:
        return "one pair: no spread to judge a difference by"
    difference = "no difference" if effect == 0 else f"{number(effect)} {effect_unit}"
    if not repeated:
        return f"runs differ, but all {pairs} pairs show the same, {difference}: no spread to judge it by, so no test"
    how = "the same" if is_constant(contrasts) else "the same within the resolution of the measurement"
    return f"all {pairs} pairs show {how}, {difference}: one measurement repeated, so n = 1 and no test"


def incomplete_words(incomplete, total) -> str:
    """Return a note about incomplete pairs: "1 of 4 pairs is incomplete", "none of 4 pairs is complete"."""
    if incomplete == total:
        return f"none of {count(total, 'pair')} is complete"
    return f"{incomplete} of {count(total, 'pair')} {'is' if incomplete == 1 else 'are'} incomplete"


def sentence(notes) -> str:
    """Return notes as the text of the column `note`."""
    return "; ".join(notes)
