"""An error rate on data with a known truth, and the bound that it must respect.

A rate counts as inside its bound if chance alone explains the excess, at 1 %: with 1,000 samples a true rate of 5 % gives 3.4 to 6.9 %.
"""

import math
from dataclasses import dataclass
from types import SimpleNamespace

from scipy import stats

SIGNIFICANCE, CONFIDENCE, POWER = 0.05, 0.95, 0.8
#: Highest false alarms, and coverage, that a row may have.
ALARMS, COVERED = (0.0, 0.055), (0.93, 0.97)
#: Coverage without an upper bound: of so few values that no narrower interval is exact, or of two kinds of run together.
AT_LEAST = (0.93, 1.0)
#: What is printed for comparison only.
ANY = (0.0, 1.0)
#: Chance with which a rate at its bound counts as beyond it.
DOUBT = 0.01
#: Cells of a metric in the default study.
CELLS = 72
PARAMS = SimpleNamespace(
    confidence=CONFIDENCE, significance=SIGNIFICANCE, power=POWER, header_margin=0.5,
    margins={"goodput_mbps": 5.0}, detect={"goodput_mbps": 1.0},
)  # fmt: skip


@dataclass(frozen=True)
class Rate:
    """A counted rate and its bounds."""

    what: str
    case: str
    n: int
    happened: int
    samples: int
    bound: tuple[float, float]

    @property
    def share(self) -> float:
        """Share of the samples; nan without samples."""
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
