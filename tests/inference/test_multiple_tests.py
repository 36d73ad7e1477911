"""Adjusted p-values against R's p.adjust and the paper on the procedure."""

import math

import pandas as pd
import pytest

from inference import multiple_tests

pytestmark = pytest.mark.filterwarnings("error")

# Benjamini and Hochberg (1995), section 4.1: the p values of Neuhaus et al. (1992).
NEUHAUS = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
    0.6528, 0.7590, 1.0,
]  # fmt: skip


def test_differences_that_benjamini_and_hochberg_report():
    # Their procedure rejects the first four at 0.05, those for the family-wise error three.
    p = pd.Series(NEUHAUS)
    assert (multiple_tests.adjusted(p, "fdr_bh") <= 0.05).sum() == 4
    assert (multiple_tests.adjusted(p, "holm") <= 0.05).sum() == 3
    assert multiple_tests.adjusted(p, "fdr_bh")[3] == pytest.approx(0.0095 * 15 / 4)


def test_adjusted_values_of_r():
    # p.adjust as in the documentation of PValueAdjust.jl (README) and of stdlib's padjust.
    p = pd.Series([0.05, 0.03, 0.01, 0.5])
    assert multiple_tests.adjusted(p, "holm").tolist() == pytest.approx([0.1, 0.09, 0.04, 0.5])
    assert multiple_tests.adjusted(p, "fdr_bh").tolist() == pytest.approx([0.2 / 3, 0.06, 0.04, 0.5])
    p = pd.Series([0.319, 0.201, 0.4, 0.374, 0.113])
    assert multiple_tests.adjusted(p, "holm").tolist() == pytest.approx([0.957, 0.804, 0.957, 0.957, 0.565])
    assert multiple_tests.adjusted(p, "fdr_bh").tolist() == pytest.approx([0.4] * 5)


def test_missing_values_do_not_count():
    p = pd.Series([math.nan, 0.01, math.nan, 0.02], index=list("dcba"))
    adjusted = multiple_tests.adjusted(p, "holm")
    assert adjusted.dropna().to_dict() == pytest.approx({"c": 0.02, "a": 0.02})
    assert adjusted.index.tolist() == list("dcba")
    assert multiple_tests.adjusted(pd.Series([math.nan, None], dtype=float), "fdr_bh").isna().all()


def test_families_are_adjusted_apart():
    table = pd.DataFrame({"metric": ["a", "b", "a", "b"], "p": [0.01, 0.03, 0.04, math.nan]})
    adjusted = multiple_tests.adjusted_within(table, ["metric"], "p", "holm")
    assert adjusted.iloc[:3].tolist() == pytest.approx([0.02, 0.03, 0.04])
    assert math.isnan(adjusted[3])
