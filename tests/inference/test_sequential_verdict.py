"""The sequential verdict between two kinds of samples: its limits against published values, and its error rates on data with known
truth."""

import itertools

import numpy as np
import pytest

from inference.sequential_verdict import LOWER, UPPER, SequentialTest, best_cut, reference_test, share_limits

LOOKS = (16, 32, 64)
#: As in a search of 36 commits.
REFERENCE_ERROR, VERDICT_ERROR, DECISIONS = 0.02, 0.03 / 14, 6


def test_limits_of_shares():
    """Clopper and Pearson's: one-sided 97.5 % of 0 of 10 is 30.85 %, of 3 of 10 65.25 % and 6.67 % (R's binom.test(3, 10))."""
    assert share_limits(0, 10, 10, 0.05) == pytest.approx((0.3085, 0.6915), abs=1e-4)
    assert share_limits(3, 3, 10, 0.05) == pytest.approx((0.6525, 0.0667), abs=1e-4)
    assert share_limits(10, 0, 10, 0.05) == (1.0, 0.0)


def test_a_verdict_takes_more_values_where_shares_are_close():
    far, close = SequentialTest(0.1, 0.9, 0.002), SequentialTest(0.4, 0.6, 0.002)
    assert (far.fewest, close.fewest) == (3, 16)
    assert far.verdict(0, 2) is None and far.verdict(0, 3) == LOWER and far.verdict(3, 3) == UPPER
    assert far.verdict(2, 4) is None
    assert reference_test(8, 8, 16, 0.02, LOOKS, 0.002) is None
    assert reference_test(0, 16, 16, 0.02, LOOKS, 0.002).fewest == 8


def searched(random, of_lower, of_upper):
    """Return whether a search names a commit other than the first bad one, which is a wrong verdict; None if the references are
    indistinguishable."""
    for runs in LOOKS:
        hits = random.binomial(runs, of_lower), random.binomial(runs, of_upper)
        test = reference_test(*hits, runs, REFERENCE_ERROR, LOOKS, VERDICT_ERROR)
        if (test and test.fewest <= 8) or hits[1] <= hits[0]:
            break
    if test is None:
        return None
    for _ in range(DECISIONS):
        kind = random.integers(2)
        hits = np.cumsum(random.random(64) < (of_lower, of_upper)[kind])
        verdicts = (test.verdict(int(hit), number) for number, hit in enumerate(hits, 1))
        verdict = next((one for one in verdicts if one), None)
        if verdict not in (None, (LOWER, UPPER)[kind]):
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize(
    "of_lower, of_upper", [(0.0, 1.0), (0.02, 0.98), (0.1, 0.9), (0.0, 0.5), (0.25, 0.75), (0.05, 0.4), (0.3, 0.6)]
)
def test_a_search_is_wrong_as_rarely_as_it_says(of_lower, of_upper):
    random = np.random.default_rng(46)
    done = [one for _ in range(2000) if (one := searched(random, of_lower, of_upper)) is not None]
    # 5 % of those that references allow, and so at most 100 of 2,000.
    assert sum(done) <= 0.05 * 2000
    if of_upper - of_lower >= 0.5:
        assert len(done) > 1900


def test_equal_kinds_are_hardly_ever_taken_apart():
    random = np.random.default_rng(1)
    allowed = [
        searched(random, share, share) is not None for share, _ in itertools.product((0.1, 0.5, 0.9), range(700))
    ]
    assert np.mean(allowed) <= REFERENCE_ERROR


def test_the_cut_is_where_samples_are_furthest_apart():
    assert best_cut([9.0, 9.2, 9.4], [7.0, 7.2, 7.4]) == (pytest.approx(8.2), -1)
    assert best_cut([1, 2, 3], [10, 11, 12]) == (6.5, 1)
    # One in three collapses: the medians are equal.
    assert best_cut([9, 9, 9], [9, 9, 1]) == (5.0, -1)
    assert best_cut([9, 9], [9, 9]) is None
    assert best_cut([1, 2], [1, 2]) is None
