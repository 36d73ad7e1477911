"""Synthetic values whose truth is known: what tests, intervals and verdicts are tried on.

A run's value is 100 Mbit/s times a factor of its own, and times what a replication's seed does to both runs of its pair.
Every function draws `samples` data sets of `n` replications at once and returns arrays of shape (samples, n).
"""

from collections.abc import Callable

import numpy as np

TYPICAL = 100.0
#: What a replication's seed does to all runs that share it: standard deviation of a logarithm.
SHARED = 0.1


def _normal(rng, shape):
    return np.exp(0.03 * rng.standard_normal(shape))


def _heavy_tails(rng, shape):
    return np.maximum(1 + 0.03 * rng.standard_t(3, shape), 0.05)


def _skewed(rng, shape):
    return np.exp(0.2 * rng.standard_normal(shape))


def _exponential(rng, shape):
    return 0.01 + rng.exponential(size=shape)


def _collapses(rng, shape):
    return _normal(rng, shape) * np.where(rng.random(shape) < 0.1, 0.3, 1.0)


#: Distribution of a run's factor. All are the same for both members of a pair, so without an effect pairs could be exchanged.
FACTORS: dict[str, Callable] = {
    "normal, 3 %": _normal,
    "heavy tails (t, 3 df)": _heavy_tails,
    "skewed (lognormal, 20 %)": _skewed,
    "exponential": _exponential,
    "collapses (1 in 10, to 30 %)": _collapses,
}


def pairs(rng, factor, samples, n, effect_percent=0.0) -> tuple[np.ndarray, np.ndarray]:
    """Draw paired values a and b; a's are higher by the effect, as a ratio."""
    common = TYPICAL * np.exp(SHARED * rng.standard_normal((samples, n)))
    a, b = FACTORS[factor](rng, (2, samples, n))
    return common * a * (1 + effect_percent / 100), common * b


def losing_pairs(rng, samples, n, share=0.15, left=0.5) -> tuple[np.ndarray, np.ndarray, float]:
    """Draw pairs of which a collapses in a share of runs, to what is left; return a, b and the true mean effect in percent."""
    a, b = pairs(rng, "normal, 3 %", samples, n)
    return a * np.where(rng.random((samples, n)) < share, left, 1.0), b, 100 * (left**share - 1)


def quantised_pairs(rng, samples, n, step_in_spreads) -> tuple[np.ndarray, np.ndarray, float]:
    """Draw pairs of whole numbers of steps, none of them different; return a, b and the step.

    `step_in_spreads` is the step in standard deviations of a run.
    """
    centre = 1000 + rng.random((samples, 1))
    a, b = np.rint(centre + rng.standard_normal((2, samples, n)) / step_in_spreads)
    return a, b, 1.0


def levelled_pairs(rng, samples, n, levels) -> tuple[np.ndarray, np.ndarray, float]:
    """Draw pairs of whole numbers of which only so many neighbours occur, each as often; return a, b and the step, 1."""
    a, b = 1000.0 + rng.integers(0, levels, (2, samples, n))
    return a, b, 1.0


def copies(rng, samples, n, resolution, difference=0.0) -> tuple[np.ndarray, np.ndarray]:
    """Draw pairs that repeat one measurement: a cell's value, and less than the resolution on top of it."""
    centre = TYPICAL + rng.random((samples, 1))
    a, b = 0.9 * resolution * rng.random((2, samples, n))
    return centre + a + difference, centre + b


def constant_cells(rng, samples, cells) -> np.ndarray:
    """Draw the contrast of cells that are the same in each replication and in either direction as likely, shape (samples, cells)."""
    return rng.choice([-1.0, 1.0], (samples, cells)) * np.exp(rng.standard_normal((samples, cells))) * 1e-3
