"""Draw synthetic values whose true distribution is known, to test statistical tests, intervals and verdicts.

The value of a run is 100 Mbit/s times two factors: the run's individual factor, and a factor that both runs of a pair share because they
use the same seed. Unless stated otherwise, each function draws `samples` data sets of `n` replications at once, and returns arrays of shape
(samples, n).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

TYPICAL = 100.0
#: Standard deviation of the logarithm of the shared factor.
SHARED = 0.1


def _normal(rng, shape):
    return np.exp(0.03 * rng.standard_normal(shape))


def _heavy_tails(rng, shape):
    return np.maximum(1 + 0.03 * rng.standard_t(3, shape), 0.05)


def _skewed(rng, shape):
    return np.exp(0.2 * rng.standard_normal(shape))


def _very_skewed(rng, shape):
    return np.exp(0.5 * rng.standard_normal(shape))


def _exponential(rng, shape):
    return 0.01 + rng.exponential(size=shape)


def _base_and_queue(rng, shape):
    return 1 + 0.2 * rng.exponential(size=shape)


def _below_a_limit(rng, shape):
    return np.maximum(1 - 0.1 * rng.gamma(2, size=shape), 0.01)


def _flat(rng, shape):
    return rng.uniform(0.5, 1.5, shape)


def _two_modes(rng, shape):
    return _normal(rng, shape) * np.where(rng.random(shape) < 0.5, 0.8, 1.0)


def _collapses(rng, shape):
    return _normal(rng, shape) * np.where(rng.random(shape) < 0.1, 0.3, 1.0)


#: Name -> distribution of a run's individual factor. Both runs of a pair follow the same distribution, so they are exchangeable unless
#: there is an effect.
FACTORS: dict[str, Callable] = {
    "normal, 3 %": _normal,
    "heavy tails (t, 3 df)": _heavy_tails,
    "skewed (lognormal, 20 %)": _skewed,
    "exponential": _exponential,
    "two modes (half at 80 %)": _two_modes,
    "collapses (1 in 10, to 30 %)": _collapses,
}


@dataclass(frozen=True)
class Truth:
    """A distribution of the values of runs, which may include a second kind of runs.

    Attributes
    ----------
    name : str
        Name of the distribution.
    main : callable
        Function that draws the individual factors of runs.
    share : float
        Share of runs of the second kind.
    level : float
        Additional factor for runs of the second kind.
    """

    name: str
    main: Callable
    share: float = 0.0
    level: float = 1.0

    def draw(self, rng, shape) -> tuple[np.ndarray, np.ndarray]:
        """Draw values, and return them with a mask of the runs of the second kind."""
        other = rng.random(shape) < self.share
        return TYPICAL * self.main(rng, shape) * np.where(other, self.level, 1.0), other

    def mean_of_seen(self, other) -> np.ndarray:
        """Return the true mean that the interval for each sample should contain, as an array of shape (samples,).

        The true mean is the mean over the kinds of runs that occur in the sample. ``other`` is a mask of the runs of the second kind, an
        array of shape (samples, n).
        """
        seen = other.mean(axis=1)
        mixed = 1 - self.share + self.share * self.level
        return TYPICAL * mean_factor(self.main) * np.where(seen == 0, 1.0, np.where(seen == 1, self.level, mixed))


@lru_cache
def mean_factor(main) -> float:
    """Return the mean of an individual factor, estimated from 4,000,000 values."""
    return float(main(np.random.default_rng(1), 4_000_000).mean())


#: Distributions with one kind of runs. Intervals must contain the mean of the distribution in 93 to 97 % of samples.
ONE_KIND = tuple(
    Truth(name, main)
    for name, main in (
        ("normal, 3 %", _normal), ("heavy tails (t, 3 df)", _heavy_tails), ("skewed (lognormal, 20 %)", _skewed),
        ("skewed (lognormal, 50 %)", _very_skewed), ("exponential", _exponential),
        ("base and exponential queue", _base_and_queue), ("below a limit (gamma)", _below_a_limit), ("flat", _flat),
    )
)  # fmt: skip
#: Distributions with two kinds of runs: some runs collapse, some runs have three times the usual value (as with delay or loss), or half of
#: the runs are at a lower value.
TWO_KINDS = (
    *(
        Truth(f"{100 * share:g} % at {level:g} of the rest", _normal, share, level)
        for level in (0.7, 0.5, 0.3, 3.0)
        for share in (0.05, 0.1, 0.15, 0.3)
    ),
    Truth("two modes (half at 80 %)", _normal, 0.5, 0.8),
)


def pairs(rng, factor, samples, n, effect_percent=0.0) -> tuple[np.ndarray, np.ndarray]:
    """Draw paired values a and b; the effect increases the ratio of a to b by ``effect_percent``."""
    common = TYPICAL * np.exp(SHARED * rng.standard_normal((samples, n)))
    a, b = FACTORS[factor](rng, (2, samples, n))
    return common * a * (1 + effect_percent / 100), common * b


def losing_pairs(rng, samples, n, share=0.15, left=0.5) -> tuple[np.ndarray, np.ndarray, float]:
    """Draw paired values a and b, where some runs of a collapse; return a, b and the true mean effect in percent.

    ``share`` is the share of collapsed runs, and ``left`` is the factor by which the values of these runs are multiplied.
    """
    a, b = pairs(rng, "normal, 3 %", samples, n)
    return a * np.where(rng.random((samples, n)) < share, left, 1.0), b, 100 * (left**share - 1)


def quantised_pairs(rng, samples, n, step_in_spreads) -> tuple[np.ndarray, np.ndarray, float]:
    """Draw paired integers a and b without a true difference; return a, b and the step between adjacent values (1).

    ``step_in_spreads`` is this step in units of the runs' standard deviation.
    """
    centre = 1000 + rng.random((samples, 1))
    a, b = np.rint(centre + rng.standard_normal((2, samples, n)) / step_in_spreads)
    return a, b, 1.0


def levelled_pairs(rng, samples, n, levels) -> tuple[np.ndarray, np.ndarray, float]:
    """Draw paired integers a and b uniformly from ``levels`` adjacent integers; return a, b and the step between these integers (1)."""
    a, b = 1000.0 + rng.integers(0, levels, (2, samples, n))
    return a, b, 1.0


def copies(rng, samples, n, resolution, difference=0.0) -> tuple[np.ndarray, np.ndarray]:
    """Draw pairs in which all values in a cell repeat one measurement, that is, differ by less than the resolution.

    The true difference between a and b is ``difference``.
    """
    centre = TYPICAL + rng.random((samples, 1))
    a, b = 0.9 * resolution * rng.random((2, samples, n))
    return centre + a + difference, centre + b


def constant_cells(rng, samples, cells) -> np.ndarray:
    """Draw contrasts that are equal in all replications of a cell, as an array of shape (samples, cells).

    Positive and negative contrasts are equally likely.
    """
    return rng.choice([-1.0, 1.0], (samples, cells)) * np.exp(rng.standard_normal((samples, cells))) * 1e-3


def correlated_cells(rng, samples, scenarios, ccas, correlation) -> np.ndarray:
    """Draw contrasts in cells without a true difference, as an array of shape (samples, scenarios, CCAs).

    The contrasts in the same scenario are correlated.
    """
    shared, own = rng.standard_normal((samples, scenarios, 1)), rng.standard_normal((samples, scenarios, ccas))
    return 0.01 * (np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own)
