"""The shares of many flows are drawn as a distribution, those of few one by one."""

import numpy as np
import pandas as pd
import pytest

import share_studies
from drawn_figure import drawing_alike
from topics.fairness.distributions import distributions, has_many
from topics.fairness.plot_share_mixes import DRAWN, plot_share_mixes


def shares(flows, cca="reno"):
    """Return `analysis/shares.csv` of one cell whose flows have 1, 2, 3 and so on parts of the whole."""
    parts = np.arange(1, flows + 1)
    share = parts / parts.sum()
    table = pd.DataFrame(
        {
            "scenario": "many", "scenario_label": "many flows", "ip_version": "ipv4", "cca": cca, "flow_cca": cca, "note": None,
            "position": range(flows), "flows": 1, "n": 4, "rtt_path_ms": 50.0,
            "share": share, "share_low": share - 0.001, "share_high": share + 0.001, "fair_ratio": share * flows,
            "fair_ratio_low": share * flows - 0.01, "fair_ratio_high": share * flows + 0.01,
        }
    )  # fmt: skip
    return table[DRAWN]


def test_twelve_flows_are_few():
    assert not has_many(shares(12)) and has_many(shares(13)) and not has_many(shares(12).iloc[:0])


def test_a_distribution_is_median_and_percentiles():
    (row,) = distributions(shares(1001)).to_dict("records")
    # Of 1 to 1,001 over 1,001 times 501.
    assert row["fair_ratio"] == pytest.approx(501 / 501)
    assert row["fair_ratio_low"] == pytest.approx(51 / 501)
    assert row["fair_ratio_high"] == pytest.approx(951 / 501)
    assert (row["flows"], row["n"]) == (1001, 4)


def test_each_cca_of_a_mix_has_its_own():
    mixed = pd.concat([shares(20, "reno"), shares(30, "bbr")]).assign(cca="reno+bbr")
    assert distributions(mixed).set_index("flow_cca")["flows"].to_dict() == {"reno": 20, "bbr": 30}


@pytest.mark.parametrize(("flows", "rows"), [(12, 12), (5000, 1)])
def test_a_figure_of_thousands_is_no_larger(flows, rows, tmp_path):
    table = shares(flows).assign(scenario="base", scenario_label="base")
    drawn = plot_share_mixes(table, share_studies.scenarios().head(1))
    drawn.save(tmp_path / "mixes.svg", tmp_path / "mixes.csv")
    assert len((tmp_path / "mixes.csv").read_text().splitlines()) == 1 + rows
    assert (tmp_path / "mixes.svg").stat().st_size < 60_000


def test_ip_versions_have_separate_panels(tmp_path):
    """Marks of both in one row couldn't be told apart."""
    table = shares(3).assign(scenario="base", scenario_label="base")
    table = pd.concat([table, table.assign(ip_version="ipv6", fair_ratio=0.25)])
    drawn = plot_share_mixes(table, share_studies.scenarios().head(1))
    assert ["0.25" in panel.description for panel in drawn.panels] == [False, True]
    assert drawing_alike(drawn, tmp_path) == []
