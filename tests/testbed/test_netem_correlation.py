"""The probability that remains under netem's correlations: calculated, and drawn with the kernel's own random numbers and arithmetic."""

import itertools

import pytest

from experiment.link_options import late_percent
from experiment.netem_correlation import correlated_share
from testbed.checks.loss_replay import CERTAIN, random_numbers

NUMBERS = list(itertools.islice(random_numbers(7), 200_000))


def drawn_share(chance, correlation) -> float:
    """Return the share that `get_crandom` of net/sched/sch_netem.c gives, without its first numbers."""
    rho, last, met = round(correlation * CERTAIN) + 1, CERTAIN // 2, 0
    for number, value in enumerate(NUMBERS):
        last = (value * (2**32 - rho) + last * rho) >> 32
        met += number >= 1000 and last <= chance * CERTAIN
    return met / (len(NUMBERS) - 1000)


@pytest.mark.parametrize(
    ("chance", "correlation"),
    [(0.03, 0.05), (0.1, 0.25), (0.2, 0.25), (0.2, 0.5), (0.4, 0.8), (0.75, 0.5), (0.99, 0.1)],
)
def test_the_share_is_that_of_the_kernels_numbers(chance, correlation):
    expected = correlated_share(chance, correlation)
    # Independent numbers would spread by the root of p (1 - p) / n; correlated ones by (1 + r) / (1 - r) times their variance.
    spread = (expected * (1 - expected) / len(NUMBERS) * (1 + correlation) / (1 - correlation)) ** 0.5
    assert drawn_share(chance, correlation) == pytest.approx(expected, abs=5 * spread)


def test_a_chance_of_one_half_stays_and_smaller_ones_shrink():
    assert correlated_share(0.5, 0.6) == pytest.approx(0.5, abs=1e-6)
    assert correlated_share(0.3, 0.6) == pytest.approx(1 - correlated_share(0.7, 0.6), abs=1e-6)
    shares = [correlated_share(0.1, correlation) for correlation in (0, 0.1, 0.25, 0.5)]
    assert shares == sorted(shares, reverse=True) and shares[0] == 0.1
    assert correlated_share(1, 0.3) == pytest.approx(1) and correlated_share(0, 0.3) == 0


def test_with_a_gap_fewer_pass_at_once():
    """One in (gap - 1) late packets, and as many more as the probability requires: netem counts the packets between two that pass at
    once."""
    assert late_percent({"percent": 20}) == pytest.approx(20)
    assert late_percent({"percent": 75, "gap_packets": 5}) == pytest.approx(100 * (1 - 1 / (4 + 4)))
