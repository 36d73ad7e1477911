"""The Kaplan-Meier estimator, against a published table, against NumPy where nothing is censored, and on data with known truth."""

import math

import numpy as np
import pytest

from inference.censored_times import ended_quantile, ended_shares

#: Weeks of remission under 6-MP, and whether they ended: Freireich et al., Blood 21 (1963) 699-716.
WEEKS = [6, 6, 6, 7, 10, 13, 16, 22, 23, 6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
ENDED = [True] * 9 + [False] * 12


def test_a_published_table():
    """As in Cox and Oakes, Analysis of Survival Data (1984), and in most textbooks since."""
    times, shares = ended_shares(WEEKS, ENDED)
    assert list(times) == [6, 7, 10, 13, 16, 22, 23]
    assert 1 - shares == pytest.approx([0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448], abs=5e-4)
    assert ended_quantile(WEEKS, ENDED, 0.5) == 23
    assert ended_quantile(WEEKS, ENDED, 0.95) is None


@pytest.mark.parametrize("count", [1, 2, 3, 20, 101])
def test_what_ended_has_numpys_quantiles_also_beside_what_did_not(count):
    draw = np.random.default_rng(count)
    for values in (draw.exponential(size=count), draw.integers(1, 6, count).astype(float)):
        for share in (0, 0.25, 0.5, 0.95, 0.99, 1):
            assert ended_quantile(values, [True] * count, share) == np.quantile(values, share)
            # As many again that never end: the same values at half of the shares.
            longer, place = np.append(values, [math.inf] * count), share * (count - 1) / (2 * count - 1)
            ended = ended_quantile(longer, np.isfinite(longer), place)
            assert ended == pytest.approx(np.quantile(values, share))


def test_what_never_ends_is_beyond_all_else():
    times = [1.0, 2.0, 3.0, 4.0, *[math.inf] * 6]
    assert ended_quantile(times, np.isfinite(times), 0.25) == pytest.approx(3.25)
    assert ended_quantile(times, np.isfinite(times), 0.5) is None
    assert ended_quantile([math.inf], [False], 0.5) is None
    assert ended_quantile([], [], 0.5) is None


def test_the_median_of_known_times_of_which_many_are_not_seen_to_end():
    """Exponential times with a median of 10 ln 2 = 6.93, each observed for a random time: the median of complete ones alone is much
    shorter."""
    draw = np.random.default_rng(5)
    estimates, of_survivors = [], []
    for _ in range(400):
        times, watched = draw.exponential(10, 60), draw.uniform(0, 25, 60)
        ended = times <= watched
        estimates.append(ended_quantile(np.minimum(times, watched), ended, 0.5))
        of_survivors.append(np.median(times[ended]))
    assert np.median([math.inf if one is None else one for one in estimates]) == pytest.approx(
        10 * math.log(2), rel=0.04
    )
    assert np.mean(of_survivors) < 0.75 * 10 * math.log(2)
