"""Web objects: request times and sizes, drawn at random with the run's seed.

Requests form a Poisson process: the times between them are exponentially distributed. Sizes are fixed, or follow the HTTP traffic model of
3GPP2 C.R1002-0 (cdma2000 Evaluation Methodology): a log-normal distribution with a given mean and standard deviation. A size outside the
model's limits is drawn again.
"""

import math
import random
from dataclasses import dataclass

#: Time in s to wait after the run's duration for objects that were requested in time, and the message about objects that are still
#: incomplete then.
PATIENCE_S, NOT_COMPLETE = 60.0, "not complete at the end of the run"


@dataclass(frozen=True)
class LogNormal:
    """A truncated log-normal distribution of sizes in bytes: mean and standard deviation before truncation, and the allowed range."""

    mean_bytes: float
    deviation_bytes: float
    least_bytes: int
    most_bytes: int

    @property
    def sigma(self) -> float:
        """Standard deviation of the size's logarithm, before truncation."""
        return math.sqrt(math.log(1 + (self.deviation_bytes / self.mean_bytes) ** 2))

    @property
    def mu(self) -> float:
        """Mean of the size's logarithm, before truncation."""
        return math.log(self.mean_bytes) - self.sigma**2 / 2

    def draw(self, source) -> int:
        """Draw a size in bytes; ``source`` is a `random.Random`."""
        while True:
            size = round(source.lognormvariate(self.mu, self.sigma))
            if self.least_bytes <= size <= self.most_bytes:
                return size

    @property
    def mean_within_bytes(self) -> float:
        """Mean of the sizes after truncation, in bytes: E[X | a <= X <= b] of a log-normal distribution."""
        low, high = ((math.log(end) - self.mu) / self.sigma for end in (self.least_bytes, self.most_bytes))
        return (
            self.mean_bytes * (_normal(high - self.sigma) - _normal(low - self.sigma)) / (_normal(high) - _normal(low))
        )


#: Values of a study's `sizes` other than ``fixed``.
DISTRIBUTIONS = {
    "main-object": LogNormal(10_710, 25_032, 100, 2_000_000),
    "embedded-object": LogNormal(7_758, 126_168, 50, 2_000_000),
}


def _normal(value):
    """Return the standard normal cumulative distribution function at ``value``."""
    return (1 + math.erf(value / math.sqrt(2))) / 2


def mean_bytes(sizes, fixed_bytes) -> float:
    """Return the mean size of a group's objects in bytes."""
    return fixed_bytes if sizes == "fixed" else DISTRIBUTIONS[sizes].mean_within_bytes


def drawn_objects(specification, group) -> tuple[list[int], list[int]]:
    """Return the request times (in ns since the traffic's origin) and the sizes (in bytes) of a group's objects.

    Times and sizes are drawn with separate seeds, so that a different request rate doesn't change the sizes.
    """
    begin_ns = round(group.start_s * 1e9)
    if group.arrivals_per_s is None:
        times_ns = [begin_ns] * group.count
    else:
        source = random.Random(specification.substream(f"arrivals {group.name}"))
        times_ns, at_s = [], group.start_s
        while (at_s := at_s + source.expovariate(group.arrivals_per_s)) < group.stop_s:
            times_ns.append(round(at_s * 1e9))
    if group.sizes == "fixed":
        return times_ns, [group.bytes] * len(times_ns)
    source, distribution = random.Random(specification.substream(f"sizes {group.name}")), DISTRIBUTIONS[group.sizes]
    return times_ns, [distribution.draw(source) for _ in times_ns]
