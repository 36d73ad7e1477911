"""netem's correlation: the effective probability when each random number is mixed with the previous one.

netem draws x' = (1 - r) u + r x, where u is uniform (`get_crandom` in net/sched/sch_netem.c). Such numbers cluster around the middle. An
event with a configured probability below one half therefore occurs less often: with a configured loss of 1 % and a correlation of 25 %, one
packet in 400,000 is lost. For a delay, netem divides the number by twice the jitter (or by the table's length) and uses the remainder.
Unless the jitter is in the hundreds of milliseconds, this remainder is as uniform as without correlation, so that correlating delays has
hardly any effect.
"""

import math
from functools import lru_cache
from itertools import accumulate

#: Number of steps in a numerical distribution function, and weight of the initial distribution at which the iteration stops.
_STEPS, _SETTLED = 2048, 1e-6


@lru_cache(maxsize=64)
def correlated_share(chance, correlation) -> float:
    """Return the fraction of packets that netem affects, given a configured probability and a correlation.

    Both arguments are fractions; the correlation must be below 1.

    Examples
    --------
    >>> round(correlated_share(0.1, 0.25), 4), correlated_share(0.01, 0), round(correlated_share(0.5, 0.9), 4)
    (0.0175, 0.01, 0.5)
    """
    if not correlation:
        return chance
    cumulated = [step / _STEPS for step in range(_STEPS + 1)]
    for _ in range(math.ceil(math.log(_SETTLED) / math.log(correlation))):
        # Area under the distribution function up to each step. The number x that precedes x' lies between (x' - (1 - r)) / r and x' / r.
        area = [
            0,
            *accumulate((low + high) / (2 * _STEPS) for low, high in zip(cumulated, cumulated[1:], strict=False)),
        ]
        cumulated = [_mean_below(area, step / _STEPS, correlation) for step in range(_STEPS + 1)]
    return _between(cumulated, chance * _STEPS)


def _mean_below(area, number, correlation):
    """Return the probability that the next random number is at most ``number``.

    ``area`` is the area under the distribution function of the previous random number, up to each step.
    """
    upper, lower = number / correlation, (number - 1 + correlation) / correlation
    over = max(0, upper - 1)
    covered = _between(area, min(1, upper) * _STEPS) + over - _between(area, max(0, lower) * _STEPS)
    return covered * correlation / (1 - correlation)


def _between(values, place):
    """Interpolate ``values`` linearly at a fractional index."""
    step = min(int(place), len(values) - 2)
    return values[step] + (place - step) * (values[step + 1] - values[step])


def packets_of_one(correlation) -> float:
    """Return the number of correlated packets that give as much information about a share of packets as one independent packet."""
    return (1 + correlation) / (1 - correlation)
