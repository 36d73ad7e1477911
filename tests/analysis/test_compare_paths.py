"""Several paths against one: ratios, the paper's equations, shares."""

import math

import pandas as pd
import path_studies
import pytest
from compare_paths import FAILS, HOLDS, OPEN, aggregation, equation_verdict, path_shares, ratio
from path_environments import environment_name, environments_of, with_paths
from run_tables.tidy_columns import CELL
from scipy import stats


@pytest.fixture(scope="module")
def study():
    found = path_studies.paths_study()
    return found["runs"], with_paths(found["scenarios"])


def test_environments_have_the_papers_names():
    assert environment_name("gre", "ipv6", "ipv4") == "tun4_path6"
    assert environment_name("gre", "ipv4", "ipv6") == "tun6_path4"
    assert environment_name("mptcp", "ipv4", "ipv6") == "mptcp6"
    assert environment_name("none", None, "ipv4") == "baseline4"
    assert environments_of(["mptcp6", "tun4_path6", "tun4_path4"]) == ["tun4_path4", "tun4_path6", "mptcp6"]


def test_single_path_is_that_of_the_same_traffic(study):
    table = study[1].set_index("scenario")
    assert table.loc["mptcp-4", "baseline"] == "tcp"
    assert table.loc["ftp-gre-4", "baseline"] == "ftp-tcp"
    assert table.loc["gre-uneven", "baseline"] == "tcp"
    other = study[1].assign(rate_mbps=[1000] + [100] * (len(study[1]) - 1))  # tcp alone
    assert with_paths(other).set_index("scenario").isna().loc["mptcp-4", "baseline"]


def test_unequal_paths_are_told_from_equal_ones(study):
    table = study[1].set_index("scenario")
    assert not table.loc["gre-uneven", "even"] and table.loc["gre-uneven", "longest_ms"] == 0.5
    assert table.loc["gre-4", "even"]


def test_ratio_has_welchs_interval_of_logarithms():
    first, second = pd.Series([4.0, 4.2, 3.9]), pd.Series([1.0, 1.1, 1.05])
    value, low, high = ratio(first, second, 0.95)
    # scipy's own Welch test gives the same interval.
    logs = [values.map(math.log) for values in (first, second)]
    expected = stats.ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
    assert (low, high) == pytest.approx((math.exp(expected.low), math.exp(expected.high)))
    assert value == pytest.approx(math.exp(logs[0].mean() - logs[1].mean()))
    assert ratio(first, pd.Series([], dtype=float), 0.95) == (None, None, None)


@pytest.mark.parametrize(
    ("factor", "low", "high", "verdict"),
    [
        (3.9, 3.85, 3.95, HOLDS),
        (4.0, 3.8, 4.2, HOLDS),
        (3.7, 3.6, 3.75, FAILS),
        (3.9, 3.7, 4.1, OPEN),
        (3.9, None, None, HOLDS),
        (1.0, 0.9, 1.1, FAILS),
        (3.5, 3.0, 4.5, OPEN),
        (None, None, None, ""),
    ],
)
def test_equation_holds_within_five_percent(factor, low, high, verdict):
    assert equation_verdict(factor, low, high, 4) == verdict


def test_aggregation_is_the_ratio_to_the_single_path(study):
    table = aggregation(*study, 0.95).set_index(CELL)
    mptcp = table.loc[("mptcp-4", "cubic", "ipv4")]
    # Both use 99.5 % of their ceilings: the ratio is that of the ceilings, 4 x 1428/1448.
    assert mptcp["factor"] == pytest.approx(4 * 1428 / 1448)
    assert mptcp["ceiling_factor"] == pytest.approx(4 * 1428 / 1448)
    assert mptcp["equation"] == HOLDS and mptcp["n"] == 3
    assert mptcp["goodput_sd_percent"] == pytest.approx(100 * 1e-3 / math.sqrt(3), rel=0.01)
    assert table.loc[("gre-4", "vegas", "ipv6")]["equation"] == FAILS
    assert table.loc[("gre-4", "vegas", "ipv6")]["environment"] == "tun6_path4"
    assert pd.isna(table.loc[("tcp", "cubic", "ipv4")]["factor"])


def test_transfers_are_compared_by_their_time(study):
    row = aggregation(*study, 0.95).set_index(CELL).loc[("ftp-gre-4", "cubic", "ipv4")]
    # 50 MB over 0.995 x the ceilings of 95.64 and 370.41 Mbit/s.
    assert row["time_factor"] == pytest.approx(4 * (1448 - 46) / 1448)
    assert row["transfer_s"] == pytest.approx(50 * 8 / (0.995 * (1 - 1e-3 / 3) * 400 * 1402 / 1514), rel=1e-4)
    assert row["equation"] == HOLDS


def test_cells_without_a_valid_run_say_so(study):
    runs = study[0].assign(valid=study[0]["scenario"] != "tcp")
    table = aggregation(runs, study[1], 0.95).set_index(CELL)
    assert table.loc[("tcp", "cubic", "ipv4")]["note"] == "no valid run"
    row = table.loc[("mptcp-4", "cubic", "ipv4")]
    assert row["note"] == "no valid run over a single path to compare with" and row["equation"] == ""


def test_shares_are_of_valid_runs_over_the_transfers_time(study):
    runs, scenarios = study
    table = path_shares(runs, path_studies.path_rows(runs), scenarios)
    mine = table[(table["scenario"] == "gre-4") & (table["cca"] == "cubic") & (table["ip_version"] == "ipv4")]
    assert list(mine["path"]) == [1, 2, 3, 4] and set(mine["n"]) == {3}
    assert list(mine["share_percent"]) == pytest.approx([25] * 4)
    first = mine.iloc[0]
    assert first["mbps"] == pytest.approx(first["packets"] * 1514 * 8 / 5 / 1e6)
    assert len(path_shares(runs, path_studies.path_rows(runs.assign(valid=False)), scenarios)) == 0
