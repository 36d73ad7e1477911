"""Runs far below the others: found where they are, and the share that few runs don't rule out."""

import numpy as np
import pytest

from inference.collapses import collapsed, collapsed_of_pairs, largest_share

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize(
    "values, collapses",
    [
        ([], []),
        ([100, 10], [False, False]),  # neither is the rest of two
        ([100, 101, 99, 50], [False, False, False, True]),
        ([100, 101, 99, 80], [False] * 4),  # low, but no collapse
        ([100, 101, 99, 0], [False, False, False, True]),
        ([0, 0, 0, 5], [False] * 4),
        ([100, 40, 250, 60, 160, 30], [False] * 6),  # so wide a spread has low values always
    ],
)
def test_collapsed(values, collapses):
    assert collapsed(values).tolist() == collapses


def test_pairs_show_what_their_common_spread_hides():
    common = np.array([100.0, 60, 160, 75, 130, 90])
    a, b = common * [1, 1.01, 0.5, 1, 0.99, 1.02], common
    assert not collapsed(a).any()
    assert [side.tolist() for side in collapsed_of_pairs(a, b)] == [
        [False, False, True, False, False, False],
        [False] * 6,
    ]
    zero = np.where(np.arange(6) == 2, 0.0, common)
    assert collapsed_of_pairs(zero, b)[0].tolist() == collapsed(zero).tolist()


def test_share_that_is_not_ruled_out():
    # The rule of three (Hanley and Lippman-Hand, 1983, JAMA 249): none of n, at most about 3 / n.
    assert largest_share(0, 100, 0.05) == pytest.approx(1 - 0.05 ** (1 / 100))
    assert largest_share(0, 100, 0.05) == pytest.approx(0.03, abs=0.001)
    # R: binom.test(2, 10, alternative = "less"): 0.0000000 0.5069013.
    assert largest_share(2, 10, 0.05) == pytest.approx(0.5069013, abs=5e-8)
    assert largest_share(4, 4, 0.05) == 1
