"""The Shapiro-Wilk test against published values."""

import math

import pandas as pd
import pytest

from inference.normality import shapiro_wilk

pytestmark = pytest.mark.filterwarnings("error")


def test_shapiro_wilk_of_the_paper():
    # Weights of 11 men, Shapiro and Wilk (1965), W = 0.79; R 4: shapiro.test gives
    # W = 0.78881, p-value = 0.006704.
    weights = pd.Series([148.0, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236])
    w, p = shapiro_wilk(weights)
    assert w == pytest.approx(0.78881, abs=5e-6)
    assert p == pytest.approx(0.006704, abs=5e-7)


@pytest.mark.parametrize("shift, scale", [(0, 1), (1e6, 1), (900, 1e-9), (-5, 1e9)])
def test_shapiro_wilk_of_three_values_by_hand(shift, scale):
    # n = 3 is exact (Royston, 1995, AS R94): W = ((x3 - x1)^2 / 2) / SS, here 4.5 / (14/3), and
    # p = 6/pi (asin sqrt W - asin sqrt 3/4). Neither depends on location or scale.
    values = pd.Series([1.0, 2.0, 4.0]) * scale + shift
    w, p = shapiro_wilk(values)
    expected_w = 4.5 / (14 / 3)
    expected_p = 6 / math.pi * (math.asin(math.sqrt(expected_w)) - math.asin(math.sqrt(0.75)))
    loose = 1e-4 if scale == 1e-9 else 1e-6  # 900 + 1e-9 has only 4 digits left
    assert (w, p) == (pytest.approx(expected_w, abs=loose), pytest.approx(expected_p, abs=loose))
