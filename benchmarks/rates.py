"""Error rates on data with known true values, and the bounds on these rates.

A rate counts as inside its bounds unless it is significantly outside, at the level of 1 %. For example, with 1,000 samples and a true rate
of 5 %, the observed rate is usually 3.4 to 6.9 %.
"""

import math
from dataclasses import dataclass
from types import SimpleNamespace

from scipy import stats

SIGNIFICANCE, CONFIDENCE, POWER = 0.05, 0.95, 0.8
#: Bounds on rates of false alarms, and bounds on coverage.
ALARMS, COVERED = (0.0, 0.055), (0.93, 0.97)
#: Bounds on coverage for two kinds of runs, or for so few values that an exact interval can't be narrower.
AT_LEAST = (0.93, 1.0)
#: Bounds on rates that are printed only for comparison.
ANY = (0.0, 1.0)
#: Significance level at which a rate counts as outside its bounds.
DOUBT = 0.01
#: Number of cells per metric in the default study.
CELLS = 72
PARAMS = SimpleNamespace(
    confidence=CONFIDENCE, significance=SIGNIFICANCE, power=POWER, header_margin=0.5,
    margins={"goodput_mbps": 5.0}, detect={"goodput_mbps": 1.0},
)  # fmt: skip


@dataclass(frozen=True)
class Rate:
    """The share of samples in which an event occurred, and the bounds within which the share should lie.

    Attributes
    ----------
    what : str
        Counted event, such as a false alarm.
    case : str
        Distribution or conditions of the data.
    n : int
        Number of replications.
    happened, samples : int
        Number of samples in which the event occurred, and number of all samples.
    bound : tuple of float
        Lower and upper bound on the rate.
    """

    what: str
    case: str
    n: int
    happened: int
    samples: int
    bound: tuple[float, float]

    @property
    def share(self) -> float:
        """Share of samples in which the event occurred, or nan if there are no samples."""
        return self.happened / self.samples if self.samples else math.nan

    @property
    def inside(self) -> bool:
        """Whether the true rate may be inside the bounds; false if there are no samples."""
        if not self.samples:
            return False
        low, high = self.bound
        above = stats.binom.sf(self.happened - 1, self.samples, high) if self.share > high else 1.0
        below = stats.binom.cdf(self.happened, self.samples, low) if self.share < low else 1.0
        return min(above, below) > DOUBT
