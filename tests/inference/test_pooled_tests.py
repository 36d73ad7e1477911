"""The paper's tests give the values printed in R's documentation and by the tests' authors; and the paper's table 5, recomputed."""

import pytest
from scipy import stats

from inference.pooled_tests import mann_whitney


def test_mann_whitney_of_airquality():
    """R, help(wilcox.test): Ozone in May against August, W = 127.5, p-value = 0.0001208."""
    may = [41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37]
    august = [
        39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76, 118, 84, 85,
    ]  # fmt: skip
    u, p, _ = mann_whitney(may, august, 0.05)
    assert u == 127.5
    assert p == pytest.approx(0.0001208, abs=5e-8)


@pytest.mark.parametrize(
    ("u", "p", "rejected_with"),
    [(26771453, 0.619, 0.001), (27022599, 0.138, 0.0001), (26470672.5, 0.491, 0.03), (26479749, 0.514, 0.03)],
)
def test_table_5_of_the_paper_fits_7300_runs_not_7200(u, p, rejected_with):
    """The remark in the shipped claims: a normal approximation without ties, which the last two have."""

    def two_sided(n):
        return 2 * stats.norm.sf(abs(u - n * n / 2) / (n * n * (2 * n + 1) / 12) ** 0.5)

    assert two_sided(7300) == pytest.approx(p, abs=0.003)
    assert two_sided(7200) < rejected_with
