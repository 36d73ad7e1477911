"""The interval of a mean against values from elsewhere."""

import numpy as np
import pytest

from inference.mean_interval import mean_interval

pytestmark = pytest.mark.filterwarnings("error")


def test_interval_of_nist_handbook():
    # NIST/SEMATECH e-Handbook, 1.3.5.2, ZARR13.DAT: N = 195, mean 9.261460, s = 0.02278881,
    # limits 9.258242 and 9.264679. Any sample with this N, mean and s has these limits.
    z = np.arange(195.0)
    values = 9.261460 + 0.02278881 * (z - z.mean()) / z.std(ddof=1)
    mean, low, high = mean_interval(values, 0.95)
    assert mean == pytest.approx(9.261460, abs=1e-9)
    assert (low, high) == (pytest.approx(9.258242, abs=1e-6), pytest.approx(9.264679, abs=1e-6))


def test_interval_of_students_sleep_data():
    # Differences of Student (1908); R's example(t.test), paired:
    # 95 percent confidence interval 0.7001142 2.4598858, mean 1.58.
    differences = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    mean, low, high = mean_interval(differences, 0.95)
    assert mean == pytest.approx(1.58)
    assert (low, high) == (pytest.approx(0.7001142, abs=5e-8), pytest.approx(2.4598858, abs=5e-8))


def test_interval_needs_two_values():
    with pytest.raises(ValueError, match="needs 2 values or more, there are 1"):
        mean_interval([1.0], 0.95)
