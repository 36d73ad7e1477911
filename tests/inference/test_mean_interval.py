"""The interval of a mean against published values, and where it is wider than Student's."""

import numpy as np
import pytest

from inference import mean_interval as module
from inference.mean_interval import BOOTSTRAP_MAX_RUNS, LEAST_RUNS, mean_interval

pytestmark = pytest.mark.filterwarnings("error")

# Differences of Student (1908), R's data set sleep.
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]


@pytest.fixture
def students(monkeypatch):
    """Omit the resamples, which leaves Student's interval."""
    monkeypatch.setattr(module, "BOOTSTRAP_MAX_RUNS", 0)


def test_students_interval_of_nist_handbook(students):
    # NIST/SEMATECH e-Handbook, 1.3.5.2, ZARR13.DAT: N = 195, mean 9.261460, s = 0.02278881,
    # limits 9.258242 and 9.264679. Any sample with this N, mean and s has these limits.
    z = np.arange(195.0)
    values = 9.261460 + 0.02278881 * (z - z.mean()) / z.std(ddof=1)
    mean, low, high = mean_interval(values, 0.95)
    assert mean == pytest.approx(9.261460, abs=1e-9)
    assert (low, high) == (pytest.approx(9.258242, abs=1e-6), pytest.approx(9.264679, abs=1e-6))


def test_students_interval_of_his_sleep_data(students):
    # R's example(t.test), paired: 95 percent confidence interval 0.7001142 2.4598858, mean 1.58.
    mean, low, high = mean_interval(SLEEP, 0.95)
    assert mean == pytest.approx(1.58)
    assert (low, high) == (pytest.approx(0.7001142, abs=5e-8), pytest.approx(2.4598858, abs=5e-8))


def test_of_skewed_values_it_reaches_farther_to_their_tail():
    values, rng = np.array(SLEEP), np.random.default_rng(5)
    mean, low, high = mean_interval(values, 0.95)
    drawn = values[rng.integers(0, 10, (200_000, 10))]
    t = (drawn.mean(axis=1) - mean) / drawn.std(axis=1, ddof=1)
    lower, upper = np.quantile(t, [0.025, 0.975]) * values.std(ddof=1)
    # Bootstrap-t above, by separate resamples; Student's below, whose end is lower.
    assert high == pytest.approx(mean - lower, rel=0.03) and high > 2.6
    assert low == pytest.approx(0.7001142, abs=5e-8) and low < mean - upper


def test_the_order_of_values_and_their_unit_make_no_difference():
    ends = mean_interval(SLEEP, 0.95)
    assert mean_interval(SLEEP[::-1], 0.95) == ends
    assert mean_interval(1e6 * np.array(SLEEP), 0.95) == pytest.approx(1e6 * np.array(ends))
    mean, low, high = mean_interval(-np.array(SLEEP), 0.95)
    assert (mean, low, high) == pytest.approx((-ends[0], -ends[2], -ends[1]))


def test_of_many_values_it_is_students():
    values = np.random.default_rng(1).exponential(size=BOOTSTRAP_MAX_RUNS + 1)
    mean, low, high = mean_interval(values, 0.95)
    assert mean - low == pytest.approx(high - mean)


def test_interval_needs_enough_values():
    with pytest.raises(ValueError, match=f"needs at least {LEAST_RUNS} values, but there are 5"):
        mean_interval([1.0, 2, 3, 4, 5], 0.95)
