"""IPv4 against IPv6 over all cells: against the truth of synthetic studies, and where no statement is possible."""

import csv
from types import SimpleNamespace

import numpy as np
import pingouin
import pytest
from scipy import stats

import tidy_tables
from inference.pooled_tests import mann_whitney, smallest_p
from rule_files import carry_out
from run_tables.reading import read_table
from topics.ip_version import compare_overall
from topics.ip_version.tables import BY_SCENARIO, EQUAL, IP_OVERALL, MSS_RATIO, POOLED

pytestmark = pytest.mark.filterwarnings("error")

RATIO = 1428 / 1448


def synthetic(**changes):
    options = {"ccas": ["reno", "cubic", "vegas"], "replications": 6, "seed": 5} | changes
    return tidy_tables.synthetic_study(**options)


def compare(study, folder, significance=0.05, cca=None):
    """Return the table of all CCAs, or of one, as it is read, indexed by metric, method and null hypothesis."""
    tidy = tidy_tables.write_tidy(study, folder)
    path = folder / "ip_overall.csv"
    margins = {"goodput_mbps": 5.0, "rtt_mean_ms": 5.0, "loss_percent": 0.5, "retransmits": 20.0}
    params = SimpleNamespace(significance=significance, confidence=0.95, margins=margins, header_margin=0.5)
    carry_out(
        compare_overall.__name__, SimpleNamespace(runs=tidy / "runs.csv"), SimpleNamespace(ip_overall=path), params
    )
    table = read_table(path, IP_OVERALL)
    with path.open(newline="") as file:
        assert not {"nan", "inf", "-inf"} & {field.lower() for row in csv.reader(file) for field in row}
    of_all = table["cca"] == ""
    return table[of_all if cca is None else table["cca"] == cca].set_index(["metric", "method", "null"])


def test_ratio_of_the_segment_sizes_is_found_and_explained(tmp_path):
    # Truth: IPv6's goodput is 1428/1448 of IPv4's in each cell, runs spread by 1 %, cells by a factor of 100.
    table = compare(synthetic(spread=0.01), tmp_path).loc["goodput_mbps"]
    assert table.loc[(POOLED, EQUAL), "p"] > 0.2
    equal, ratio = table.loc[(BY_SCENARIO, EQUAL)], table.loc[(BY_SCENARIO, MSS_RATIO)]
    assert equal["p"] == 2 / 2**12 and equal["direction"] == "IPv4 higher" and equal["statistic"] < 0
    assert equal["ci_low"] < 100 * (RATIO - 1) < equal["ci_high"] and equal["within"] == "inside"
    # Not that nothing was found against the ratio, but that it is within the margin of it.
    assert ratio["within"] == "inside" and ratio["p_tost"] == 1 / 2**12
    assert ratio["ci_low"] < 0 < ratio["ci_high"]
    assert (POOLED, MSS_RATIO) not in table.index


def test_equal_goodput_differs_from_the_ratio_of_the_segment_sizes(tmp_path):
    table = compare(synthetic(ipv6_ratio=1.0, spread=0.01), tmp_path).loc["goodput_mbps"]
    assert table.loc[(BY_SCENARIO, EQUAL), "p"] > 0.05
    ratio = table.loc[(BY_SCENARIO, MSS_RATIO)]
    assert (ratio["p"] == 2 / 2**12, ratio["direction"], ratio["within"]) == (True, "IPv6 higher", "outside")


def test_too_wide_an_interval_is_no_agreement_with_the_ratio(tmp_path):
    # The old sentence took a test that finds nothing for agreement.
    row = compare(synthetic(spread=0.2), tmp_path).loc[("goodput_mbps", BY_SCENARIO, MSS_RATIO)]
    assert row["p"] > 0.05 and row["within"] == "across" and row["p_tost"] > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("replications", [1, 4, 40])
def test_copies_add_nothing_to_their_cells(tmp_path, replications):
    study = synthetic(replications=replications)
    runs = study["runs"]
    shift = np.random.default_rng(8).normal(0, 0.01, 36)
    cell = runs.groupby(["scenario", "cca"], sort=False).ngroup()
    runs["goodput_mbps"] = 100 * np.where(runs["ip_version"] == "ipv6", np.exp(shift[cell]), 1.0)
    row = compare(study, tmp_path).loc[("goodput_mbps", BY_SCENARIO, EQUAL)]
    assert row["scenarios"] == 12
    assert row["p"] == pytest.approx(stats.ttest_1samp(shift.reshape(12, 3).mean(axis=1), 0).pvalue, abs=0.03)


def test_values_at_exactly_the_ratio_count_as_equal(tmp_path):
    study = synthetic()
    runs = study["runs"]
    ipv4 = runs[runs["ip_version"] == "ipv4"].set_index(["scenario", "cca", "replication"])["goodput_mbps"]
    partner = ipv4.loc[list(zip(runs["scenario"], runs["cca"], runs["replication"], strict=True))].to_numpy()
    runs["goodput_mbps"] = np.where(runs["ip_version"] == "ipv6", partner * RATIO, partner)
    row = compare(study, tmp_path).loc[("goodput_mbps", BY_SCENARIO, MSS_RATIO)]
    assert np.isnan(row["p"]) and row["effect"] == 0
    assert row["note"] == "no test: all scenarios have the same difference"


def test_rows_and_counts(tmp_path):
    study = synthetic()
    study["runs"].loc[[0, 7, 40], "valid"] = False  # run 0 and its partner's neighbour: two pairs of one cell
    table = compare(study, tmp_path)
    assert len(table) == 4 * 2 + 1
    assert len(compare(study, tmp_path, cca="cubic")) == 4
    row = table.loc[("rtt_mean_ms", BY_SCENARIO, EQUAL)]
    assert row["scenarios"] == 12
    assert row["n_ipv4"] == row["n_ipv6"] == 36 * 6 - 3
    assert "3 runs without a partner" in row["note"]


def test_each_cca_has_a_test_and_they_are_corrected_together(tmp_path):
    study = synthetic(spread=0.01, ipv6_ratio=1.0)
    runs = study["runs"]
    runs.loc[(runs["cca"] == "cubic") & (runs["ip_version"] == "ipv6"), "goodput_mbps"] *= 0.9
    by_cca = {
        cca: compare(study, tmp_path, cca=cca).loc[("goodput_mbps", BY_SCENARIO, EQUAL)] for cca in ("reno", "cubic")
    }
    # Four metrics of all CCAs and of each of three, and goodput against the ratio of the MSSs: 17 tests.
    assert by_cca["cubic"]["p_holm"] == pytest.approx(17 * 2 / 2**12) and by_cca["cubic"]["direction"] == "IPv4 higher"
    assert by_cca["reno"]["p_holm"] > 0.05


def test_few_scenarios_have_no_test(tmp_path):
    study = synthetic(scenarios=tidy_tables.grid(delays_ms=(10, 20), losses_percent=(1,), flows=(1,)))
    row = compare(study, tmp_path).loc[("goodput_mbps", BY_SCENARIO, EQUAL)]
    assert np.isnan(row["p"]) and row["note"].startswith(
        "too few scenarios for a test: 2; with 17 tests, 10 are needed"
    )


def test_order_of_runs_changes_nothing(tmp_path):
    study = synthetic()
    table = compare(study, tmp_path / "a")
    study["runs"] = study["runs"].sample(frac=1, random_state=1)
    shuffled = compare(study, tmp_path / "b")
    np.testing.assert_allclose(table["p"], shuffled["p"], rtol=1e-9)


def test_one_ip_version(tmp_path):
    table = compare(synthetic(ip_versions=["ipv4"]), tmp_path)
    assert table["p"].isna().all() and table["direction"].eq("").all()
    assert table.xs(POOLED, level="method")["note"].eq("no value over IPv6").all()
    by_cell = table.xs(BY_SCENARIO, level="method")["note"]
    assert by_cell.str.startswith("no test: no cell has a value for both IP versions").all()
    assert by_cell.str.contains("216 runs without a partner").all()


def test_no_valid_run(tmp_path):
    study = synthetic()
    study["runs"]["valid"] = False
    table = compare(study, tmp_path)
    assert table["p"].isna().all() and table["note"].ne("").all()


def test_one_run_of_each_ip_version(tmp_path):
    scenarios = tidy_tables.grid(delays_ms=(10,), losses_percent=(1,), flows=(1,))
    study = synthetic(scenarios=scenarios, ccas=["reno"], replications=1)
    table = compare(study, tmp_path).loc["goodput_mbps"]
    assert table.loc[(POOLED, EQUAL), "note"] == "no test: with 1 and 1 values p can't be below 1"
    assert table.loc[(BY_SCENARIO, EQUAL), "note"] == "too few scenarios for a test: 1; with 5 tests, 8 are needed"


def test_zero_goodput_has_no_ratio(tmp_path):
    study = synthetic()
    study["runs"].loc[0, "goodput_mbps"] = 0.0
    table = compare(study, tmp_path).loc["goodput_mbps"]
    assert "1 cell left out: no ratio with a value of 0" in table.loc[(BY_SCENARIO, EQUAL), "note"]


def test_all_values_equal_or_missing(tmp_path):
    study = synthetic()
    study["runs"]["goodput_mbps"] = 0.0
    study["runs"]["loss_percent"] = np.nan
    study["runs"]["mss_bytes"] = np.nan
    table = compare(study, tmp_path)
    for metric in ("goodput_mbps", "loss_percent"):
        assert table.xs(metric)["p"].isna().all() and table.xs(metric)["note"].ne("").all()
    assert table.xs("goodput_mbps").loc[(POOLED, EQUAL), "note"] == "all values are equal: no test"
    assert table.xs("loss_percent").loc[(POOLED, EQUAL), "note"] == "no value over IPv4 and IPv6"


def test_mann_whitney_is_pingouins():
    rng = np.random.default_rng(6)
    for n_first, n_second, ties in ((5, 7, False), (30, 40, True), (60, 60, False)):
        first, second = rng.normal(size=n_first), rng.normal(0.4, size=n_second)
        if ties:
            first, second = first.round(), second.round()
        u, p, note = mann_whitney(first, second, 0.05)
        reference = pingouin.mwu(first, second)
        assert (u, p) == (pytest.approx(reference.iloc[0]["U_val"]), pytest.approx(reference.iloc[0]["p_val"]))
        assert note == ""


def test_mann_whitney_of_hollander_and_wolfe():
    # Permeability of human chorioamnion, Hollander and Wolfe (1973), table 4.1; R's example(wilcox.test):
    # W = 35, p-value = 0.2544 (two-sided, exact).
    at_term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    earlier = [1.15, 0.88, 0.90, 0.74, 1.21]
    u, p, _ = mann_whitney(at_term, earlier, 0.05)
    assert (u, p) == (35, pytest.approx(0.2544, abs=5e-5))


@pytest.mark.parametrize("n, p", [(3, 0.1), (4, 0.0286), (5, 0.0079), (6, 0.0022)])
def test_smallest_p(n, p):
    assert smallest_p(n, n) == pytest.approx(p, abs=5e-5)
    assert (mann_whitney(range(n), range(10, 10 + n), 0.05)[1] is None) == (n == 3)
