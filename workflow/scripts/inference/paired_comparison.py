"""Compare two sets of paired values: effects with intervals, and the test that fits."""

from dataclasses import dataclass

import numpy as np

from inference.mean_interval import mean_interval
from inference.paired_contrasts import contrasts, to_effect, usable_scale
from inference.paired_effects import hodges_lehmann, walsh_averages
from inference.paired_tests import PairedTest, is_constant, paired_test
from wording.number_format import count, number


@dataclass(frozen=True)
class Comparison:
    """Paired values compared; effects are in the effect's unit."""

    scale: str  # that the contrasts are on; see `paired_contrasts`
    contrasts: np.ndarray  # one a pair
    walsh: np.ndarray  # their Walsh averages
    test: PairedTest  # of the contrasts against 0
    mean_a: float | None = None
    mean_b: float | None = None
    effect: float | None = None  # of the mean contrast, with its interval
    ci_low: float | None = None
    ci_high: float | None = None
    hl: float | None = None  # of the Hodges-Lehmann estimate
    notes: tuple = ()  # what is missing, and why

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return len(self.contrasts)

    @property
    def constant(self) -> bool:
        """Whether there are two pairs or more and all show the same."""
        return self.pairs > 1 and is_constant(self.contrasts)


def compare(a, b, scale, effect_unit, confidence, significance) -> Comparison:
    """Compare paired values a with b.

    Parameters
    ----------
    a, b : numpy.ndarray of float, shape (n,)
        The values of each pair; n may be 0.
    scale, effect_unit : str
        The metric's.
    confidence, significance : float
        Of intervals, and of the choice of the test.
    """
    if len(a) == 0:
        return Comparison(scale, np.empty(0), np.empty(0), PairedTest())
    notes = []
    used = usable_scale(a, b, scale)
    if used != scale:
        notes.append("a value of 0 has no ratio: differences are relative to the mean of both")
    values = contrasts(a, b, used)
    test = paired_test(values, significance)
    row = {"mean_a": float(a.mean()), "mean_b": float(b.mean())}
    if is_constant(values):
        walsh = values[:1]
        effect = to_effect(float(values[0]), used)
        row |= {"effect": effect, "hl": effect}
        if len(values) > 1:
            notes.append(_constant_words(len(values), effect, effect_unit))
    else:
        walsh = walsh_averages(values)
        interval = (to_effect(end, used) for end in mean_interval(values, confidence))
        row |= dict(zip(("effect", "ci_low", "ci_high"), interval, strict=True))
        row |= {"hl": to_effect(hodges_lehmann(values, walsh), used)}
    return Comparison(used, values, walsh, test, **row, notes=(*notes, *test.notes))


def _constant_words(pairs, effect, effect_unit) -> str:
    """Say that all pairs show the same: "in all 4 pairs the same: 13 %, so no test"."""
    if effect == 0:
        return f"in all {pairs} pairs no difference, so no test"
    return f"in all {pairs} pairs the same: {number(effect)} {effect_unit}, so no test"


def incomplete_words(incomplete, total) -> str:
    """Say how many pairs lack a partner: "1 of 4 pairs is incomplete", "none of 4 pairs is complete"."""
    if incomplete == total:
        return f"none of {count(total, 'pair')} is complete"
    return f"{incomplete} of {count(total, 'pair')} {'is' if incomplete == 1 else 'are'} incomplete"


def sentence(notes) -> str:
    """Return notes as the text of the column `note`."""
    return "; ".join(notes)
