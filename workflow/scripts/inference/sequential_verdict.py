"""Sequential test that assigns a sample to one of two kinds, by the share of its values that meet a condition.

References come first: values of each kind are added until the two kinds' shares are known to differ. The limits of the shares are one-sided
Clopper-Pearson limits (1934, Biometrika 26), each with a part of the error probability. Then each sample is judged by Wald's sequential
probability ratio test (1945, Annals of Mathematical Statistics 16) between these limits: values are added until they are at least
`1 / error` times as likely under one limit as under the other. A sample whose true share is at most the lower limit is assigned to the
wrong kind with a probability of at most `error` (Ville's inequality, and the ratio grows with each value that meets the condition). The
same holds for a sample whose true share is at least the upper limit, and for any distribution of the values. Runs of samples and runs of
references must have different seeds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import special

LOWER, UPPER = "lower", "upper"


def share_limits(hits_lower, hits_upper, values, error) -> tuple[float, float]:
    """Return the upper limit of the lower kind's share, and the lower limit of the upper kind's share.

    Both limits hold with a probability of at least 1 - ``error``.

    Parameters
    ----------
    hits_lower, hits_upper : int
        Number of values of each kind that meet the condition.
    values : int
        Number of all values of each kind.
    error : float
        Maximum probability that either limit is wrong.
    """
    most = (
        1.0 if hits_lower == values else float(special.betaincinv(hits_lower + 1, values - hits_lower, 1 - error / 2))
    )
    least = 0.0 if hits_upper == 0 else float(special.betaincinv(hits_upper, values - hits_upper + 1, error / 2))
    return most, least


@dataclass(frozen=True)
class SequentialTest:
    """A sequential test that assigns a sample to a lower or an upper kind by the share of its values that meet a condition.

    Attributes
    ----------
    most, least : float
        The largest share that the lower kind can have, and the smallest share that the upper kind can have; ``most`` is below ``least``.
    error : float
        Maximum probability of a wrong verdict.
    """

    most: float
    least: float
    error: float

    def evidence(self, hits, values) -> float:
        """Return the natural logarithm of the likelihood ratio of the upper kind to the lower kind."""
        return hits * math.log(self.least / self.most) + (values - hits) * math.log((1 - self.least) / (1 - self.most))

    def verdict(self, hits, values) -> str | None:
        """Return the kind of a sample (`LOWER` or `UPPER`), or None if it needs more values."""
        evidence = self.evidence(hits, values)
        if abs(evidence) < -math.log(self.error):
            return None
        return UPPER if evidence > 0 else LOWER

    @property
    def fewest(self) -> int:
        """Number of values after which a sample of either kind is judged if all values agree."""
        steps = self.evidence(1, 1), -self.evidence(0, 1)
        return math.ceil(-math.log(self.error) / min(steps) - 1e-9)


def reference_test(hits_lower, hits_upper, values, error, looks: Sequence[int], of_verdicts) -> SequentialTest | None:
    """Return a test between the limits derived from the references, or None if the references aren't shown to differ.

    Parameters
    ----------
    hits_lower, hits_upper, values : int
        See `share_limits`.
    error : float
        Maximum probability that any limit at any look is wrong.
    looks : sequence of int
        Numbers of reference values at which interim looks are taken.
    of_verdicts : float
        Maximum probability that a verdict is wrong.
    """
    most, least = share_limits(hits_lower, hits_upper, values, error / len(looks))
    return SequentialTest(most, least, of_verdicts) if most < least else None


def best_cut(lower: Sequence[float], upper: Sequence[float]) -> tuple[float, int] | None:
    """Return the threshold that best separates two samples, and the side of the second sample; None if all values are equal.

    The side is 1 if the second sample is above the threshold, and -1 if it is below.

    The threshold maximises the difference between the empirical distribution functions (Kolmogorov and Smirnov). If several thresholds do
    so, the one in the middle of the widest gap is chosen.
    """
    places = sorted({*lower, *upper})
    cuts = []
    for low, high in zip(places, places[1:], strict=False):
        cut = (low + high) / 2
        apart = sum(value > cut for value in upper) / len(upper) - sum(value > cut for value in lower) / len(lower)
        if low < cut < high or cut == low:
            cuts.append((abs(apart), high - low, cut, 1 if apart > 0 else -1))
    if not cuts or max(cuts)[0] == 0:
        return None
    _, _, cut, direction = max(cuts)
    return cut, direction
