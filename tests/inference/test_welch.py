"""Welch's test and interval against SciPy's."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from inference.welch import difference_variance, welch

PARAMS = SimpleNamespace(confidence=0.95, significance=0.05)
ONE, OTHER = np.array([1.2, 0.7, 1.9, 1.4, 1.1]), np.array([0.2, 0.9, 0.5, 0.1])


def test_welch_as_scipy_has_it():
    result, reference = welch(ONE, OTHER, PARAMS), stats.ttest_ind(ONE, OTHER, equal_var=False)
    assert (result["statistic"], result["p"], result["df"]) == pytest.approx(
        (reference.statistic, reference.pvalue, reference.df)
    )
    for name, confidence in (("", 0.95), ("tost_", 0.90)):
        interval = reference.confidence_interval(confidence)
        assert (result[f"{name}low"], result[f"{name}high"]) == pytest.approx((interval.low, interval.high))


def test_samples_without_spread_have_no_test():
    assert welch(np.array([1.0, 1.0]), np.array([2.0, 2.0]), PARAMS) is None
    variance, df = difference_variance([0.0, 0.0], [2, 2])
    assert variance == 0 and np.isnan(df)


def test_one_sample_without_spread_counts_for_nothing():
    assert difference_variance([0.0, 3.0], [5, 6]) == (0.5, 5)
