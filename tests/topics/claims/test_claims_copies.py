"""Claims about runs that repeat one measurement, and about cells with a collapsed run."""

import numpy as np
import pandas as pd
import pytest

from claim_runs import check
from topics.claims.tables import NOT_REPRODUCED, NOT_SHOWN, REPRODUCED

NO_DIFFERENCE = {"kind": "no_difference", "margin": 5, "margin_unit": "percent"}
HIGHEST = {"kind": "threshold", "pick": "highest"}


def test_copies_of_a_run_are_one_value_of_the_test_of_pairs(tmp_path):
    """Cells that differ in either direction by chance, with ten copies each: ranks of 60 pairs found a direction in half of them."""
    rng, alarms, studies = np.random.default_rng(2), 0, 40
    for _ in range(studies):
        cells = {}

        def values(scenario, cca, ip, cells=cells):
            off = cells.setdefault((scenario, cca), rng.choice([-1, 1]) * (1 + 0.1 * rng.random()) / 100)
            return [100 * (1 + off * (ip == "ipv6"))] * 10

        alarms += "finds IPv6" in check(tmp_path, values, NO_DIFFERENCE)["because"]
    # 5 % of 40 with three standard errors.
    assert alarms <= 0.05 * studies + 3 * np.sqrt(0.05 * 0.95 * studies)


@pytest.mark.parametrize(("bound", "verdict"), [(101, REPRODUCED), (99, NOT_REPRODUCED)])
def test_a_claim_about_copies_has_a_verdict_and_no_interval(tmp_path, bound, verdict):
    row = check(tmp_path, lambda *cell: [100.0] * 4, HIGHEST | {"requirement": {"at_most": bound}})
    assert row["verdict"] == verdict and row["value"] == 100
    assert pd.isna(row["low"]) and pd.isna(row["high"]) and row["interval"] == ""
    assert "each cell's runs repeat one measurement, so there is no interval: our value" in row["because"]


def test_a_claim_about_a_cell_of_which_a_run_collapsed_is_not_shown(tmp_path):
    def values(scenario, cca, ip):
        lost = 0.3 if (scenario, cca, ip) == ("1", "bbr", "ipv4") else 1.0
        return [100.0, 101.0, 99.0, 100.5, 98.0, 100 * lost]

    row = check(tmp_path, values, HIGHEST | {"requirement": {"at_most": 200}})
    assert row["verdict"] == NOT_SHOWN and pd.isna(row["low"])
    assert "1 of 6 runs of bbr in scenario 1, IPv4 are outliers: no interval of the mean" in row["because"]
