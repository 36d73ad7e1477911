"""IPv6 against IPv4 on tables with known truth, and on tables that allow no comparison."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tidy_tables
from rule_files import carry_out
from run_tables.reading import read_table
from topics.ip_version import compare_ip_versions
from topics.ip_version.tables import IP_VERSION_TESTS
from topics.ip_version.verdicts import VERDICTS, verdict

pytestmark = pytest.mark.filterwarnings("error")

MARGINS = {"goodput_mbps": 5.0, "rtt_mean_ms": 5.0, "loss_percent": 0.5, "retransmits": 10.0}
PARAMS = SimpleNamespace(
    confidence=0.95, significance=0.05, power=0.8, margins=MARGINS, detect=MARGINS, header_margin=0.5
)
ONE = tidy_tables.grid(delays_ms=(10,), losses_percent=(1,), flows=(1,))


def compare(study, folder):
    tidy = tidy_tables.write_tidy(study, folder)
    out = folder / "ip_versions.csv"
    carry_out(
        compare_ip_versions.__name__, SimpleNamespace(runs=tidy / "runs.csv"), SimpleNamespace(ip_versions=out), PARAMS
    )
    return read_table(out, IP_VERSION_TESTS)


def cell(ipv4, ipv6, metric="goodput_mbps", mss=(1448, 1428), resolution=0.0, tests=1):
    """Compare one cell of given values, judged by itself; None is a run without a value."""
    n = max(len(ipv4), len(ipv6))
    pairs = pd.DataFrame({"ipv4": pd.Series(ipv4, dtype=float), "ipv6": pd.Series(ipv6, dtype=float)}, index=range(n))
    pairs = pairs.assign(mss_ipv4=float(mss[0]), mss_ipv6=float(mss[1]))
    pairs = pairs.assign(resolution_ipv4=resolution, resolution_ipv6=resolution)
    chosen = next(m for m in compare_ip_versions.METRICS if m.column == metric)
    row = compare_ip_versions.compare_cell(chosen, pairs, tests, PARAMS)
    row = dict.fromkeys(IP_VERSION_TESTS.names, math.nan) | row
    row["p_holm"] = math.nan if row["p"] is None else min(1.0, tests * row["p"])
    return row | {"verdict": verdict(row, PARAMS.significance)}


def test_order_of_rows(tmp_path):
    study = tidy_tables.synthetic_study(
        tidy_tables.grid(delays_ms=(50, 10), losses_percent=(0,), flows=(1,)), ["vegas", "reno"], replications=4
    )
    table = compare(study, tmp_path)
    assert table["metric"].unique().tolist() == list(MARGINS)
    assert table["scenario"].iloc[:4].tolist() == study["runs"]["scenario"].unique().repeat(2).tolist()
    assert table["cca"].iloc[:4].tolist() == ["vegas", "reno"] * 2
    assert set(table["verdict"]) <= set(VERDICTS)


def test_ratio_scale_by_hand():
    # Log ratios -0.01 to 0.06: of the 64 flips of their signs two have a sum of 0.17 or more (all as they are, and the first
    # one flipped), as many have one of -0.17 or less, and 2.5 % of 64 is one: the interval goes from the smallest to the largest.
    logs, ipv4 = np.array([-0.01, 0.02, 0.03, 0.03, 0.04, 0.06]), np.array([100.0, 200.0, 50.0, 80.0, 60.0, 110.0])
    row = cell(ipv4, ipv4 * np.exp(logs))
    assert (row["pairs"], row["mean_ipv4"]) == (6, 100)
    assert row["effect"] == pytest.approx(100 * math.expm1(0.17 / 6))
    assert row["hl"] == pytest.approx(100 * math.expm1(0.03))
    assert row["statistic"] == pytest.approx(stats.ttest_1samp(logs, 0).statistic)
    assert (row["test"], row["p"]) == ("sign flips of the mean", pytest.approx(4 / 64))
    assert row["ci_low"] == pytest.approx(100 * math.expm1(-0.01))
    assert row["ci_high"] == pytest.approx(100 * math.expm1(0.06))
    assert row["smallest_margin"] == pytest.approx(row["ci90_high"])
    assert row["rank_biserial"] == pytest.approx(1 - 2 / 21)


def test_points_and_relative_scale_by_hand():
    row = cell([1.0, 2.0, 3.0], [1.5, 2.1, 3.3], "loss_percent")
    assert (row["scale"], row["effect"]) == ("points", pytest.approx(0.3))
    row = cell([10, 20, 30], [10, 22, 34], "retransmits")
    # (0 + 2 + 4) / 3 over (20 + 22) / 2
    assert (row["scale"], row["effect"]) == ("relative", pytest.approx(100 * 2 / 21))


def test_expected_effect_is_that_of_the_segment_sizes():
    ipv4 = np.array([90.0, 91.0, 93.0, 92.0, 94.0, 95.0])
    shifted = ipv4 * 1428 / 1448 * np.exp(0.001 * np.array([1, -1, 2, -2, 1.5, -1.5]))
    row = cell(ipv4, shifted)
    assert row["expected_effect"] == pytest.approx(100 * (1428 / 1448 - 1))
    assert row["p"] == 2 / 64
    assert (row["p_expected"], row["as_expected"]) == (1 / 64, "yes")
    assert cell(ipv4, shifted * 0.99)["as_expected"] == "no"
    assert cell(ipv4, shifted * 0.995)["as_expected"] == "open"
    assert cell(ipv4[:1].repeat(4), shifted[:1].repeat(4))["as_expected"] == "yes"
    assert cell(ipv4[:1].repeat(4), ipv4[:1].repeat(4))["as_expected"] == "no"
    assert pd.isna(cell(ipv4, shifted, "rtt_mean_ms")["expected_effect"])
    unknown = cell(ipv4, shifted, mss=(math.nan, math.nan))
    assert "no expected effect" in unknown["note"] and pd.isna(unknown["expected_effect"])


@pytest.mark.parametrize(
    "ipv4, ipv6, verdict, test, note",
    [
        ([None], [None], "no test", "", "none of 1 pair is complete"),
        ([5.0], [6.0], "no test", "", "one pair: no spread"),
        ([5.0, 6.0], [6.0, 6.5], "too few pairs", "", "too few pairs for an interval and a test: 2; 6 are needed"),
        ([5.0, 6.0, 7.0, 8.0, 9.0, 5.5], [5.5, 6.3, 7.1, 7.6, 8.1, 5.6], "undecided", "sign flips of the mean", ""),
        ([5.0, 6, 7, 8, 9, 10, 11, 12, 13, 14], [5.5, 6.5, 7.7, 8.9, 9.9, 10.8, 11, 12.5, 13.4, 15.4], "perhaps differs", "sign flips of the mean", ""),
        ([5.0] * 4, [5.0] * 4, "one measurement, same", "", "all 4 pairs show the same, no difference: one measurement"),
        ([5.0] * 4, [5.1] * 4, "one measurement, within the margin", "", "all 4 pairs show the same, 2.000 %"),
        ([5.0] * 4, [6.0] * 4, "one measurement, beyond the margin", "", "all 4 pairs show the same, 20.00 %"),
        ([0.0] * 4, [0.0] * 4, "one measurement, same", "", "a value of 0 has no ratio"),
        # Runs that differ are no repetitions, even where their pairs happen to agree.
        ([5.0, 6.0, 7.0], [5.0, 6.0, 7.0], "same in every pair", "", "runs differ, but all 3 pairs show the same, no difference: no spread"),
        ([5.0, 6.0], [10.0, 12.0], "same difference in every pair", "", "runs differ, but all 2 pairs show the same, 100.0 %: no spread"),
        ([5.0, 6.0, 7.0, 8.0, 6.5, 7.5], [0.0] * 6, "differs, beyond the margin", "sign flips of the mean", "has no ratio"),
        ([5.0, None, 7.0], [5.0, 6.0, None], "no test", "", "2 of 3 pairs are incomplete"),
        ([5.0, 6.0], [None, None], "no test", "", "none of 2 pairs is complete"),
        ([5.0] * 6, [5.01, 5.0101, 5.0099, 5.011, 5.0098, 5.2], "differs, perhaps beyond the margin, some pairs apart", "sign flips of the mean", "1 of 6 pairs is an outlier"),
    ],
)  # fmt: skip
def test_degenerate_cells_are_said_in_words(ipv4, ipv6, verdict, test, note):
    row = cell(ipv4, ipv6, tests=1 if verdict != "perhaps differs" else 25)
    assert (row["verdict"], row["test"]) == (verdict, test)
    assert note in row["note"]
    if not test:
        assert all(pd.isna(row[name]) for name in ("statistic", "p", "p_tost", "p_expected"))
        assert row["equivalent"] == ""


def test_values_within_the_resolution_are_one_measurement():
    # The review's case: 0.01 % apart, four copies of one run, p to 4e-8.
    ipv4, ipv6 = [935.5, 935.5004, 935.5006, 935.5002] * 3, [935.6, 935.6005, 935.6004, 935.6006] * 3
    row = cell(ipv4, ipv6, resolution=0.001)
    assert (row["pairs"], row["n"], row["verdict"]) == (12, 1, "one measurement, within the margin")
    assert row["p"] is None and pd.isna(row["ci_low"])
    assert "within the resolution of the measurement" in row["note"]
    assert cell(ipv4, ipv6, resolution=0.0001)["p"] == 2 / 2**12


def test_runs_apart_are_counted_and_shown():
    rng = np.random.default_rng(4)
    ipv4 = 100 * np.exp(rng.normal(0, 0.1, 10))
    ipv6 = ipv4 * np.exp(rng.normal(0, 0.01, 10))
    row = cell(ipv4, ipv6)
    assert (row["verdict"], row["apart_ipv4"], row["apart_ipv6"]) == ("equivalent", 0, 0)
    assert row["apart_possible_percent"] == pytest.approx(100 * (1 - 0.05**0.1))
    for metric, factor in (("goodput_mbps", 0.3), ("rtt_mean_ms", 3.0)):
        changed = ipv6 * np.where(np.isin(np.arange(10), [2, 7]), factor, 1)
        row = cell(ipv4, changed, metric)
        assert (row["apart_ipv4"], row["apart_ipv6"], row["apart_pairs"]) == (0, 2, 2)
        assert row["verdict"] == "undecided, some pairs apart"
        assert row["equivalent"] == "" and pd.isna(row["ci_low"])
        assert "2 of 10 pairs are outliers" in row["note"]


def test_a_pair_shows_what_the_common_spread_of_its_runs_hides():
    common = np.array([100.0, 60, 160, 75, 130, 90, 110, 80])
    row = cell(common, common * [1, 1.01, 0.5, 1, 0.99, 1.02, 1.01, 0.99])
    assert (row["apart_ipv6"], row["apart_pairs"]) == (0, 1)


def test_however_many_pairs_are_apart_no_mean_speaks_of_both_kinds():
    rng = np.random.default_rng(4)
    ipv4 = 100 * np.exp(rng.normal(0, 0.01, 100))
    ipv6 = ipv4 * np.where(np.arange(100) < 15, 0.5, 1) * np.exp(rng.normal(0, 0.01, 100))
    row = cell(ipv4, ipv6)
    assert row["verdict"] == "differs, perhaps beyond the margin, some pairs apart"
    assert pd.isna(row["ci_low"]) and row["apart_pairs"] == 15


def test_verdicts_of_clear_cells():
    rng = np.random.default_rng(2)
    ipv4 = 100 * np.exp(rng.normal(0, 0.01, 30))
    assert cell(ipv4, ipv4 * np.exp(rng.normal(0, 0.01, 30)))["verdict"] == "equivalent"
    assert cell(ipv4, ipv4 * np.exp(rng.normal(0.02, 0.01, 30)))["verdict"] == "differs, within the margin"
    assert cell(ipv4, ipv4 * np.exp(rng.normal(0.2, 0.01, 30)))["verdict"] == "differs, beyond the margin"
    assert cell(ipv4, ipv4 * np.exp(rng.normal(-0.2, 0.01, 30)))["verdict"] == "differs, beyond the margin"
    assert cell(ipv4, ipv4 * np.exp(rng.normal(0.05, 0.02, 30)))["verdict"] == "differs, perhaps beyond the margin"
    assert cell(ipv4, ipv4 * np.exp(rng.normal(0, 0.5, 30)))["verdict"] == "undecided"


def test_interval_and_decision_of_equivalence_agree():
    rng = np.random.default_rng(5)
    for number in range(60):
        spread = 0.02 * (1 + number % 5)
        noise = rng.normal(0, spread, 12) if number % 2 else spread * rng.standard_t(1.5, 12)
        row = cell(np.full(12, 50.0), 50 * np.exp(noise), "rtt_mean_ms", tests=1 + number % 2 * 71)
        inside = row["ci90_low"] > -5 and row["ci90_high"] < 5
        assert (row["equivalent"] == "yes") == inside == (row["smallest_margin"] < 5)


def test_spread_too_large_for_any_number_of_pairs_is_said():
    row = cell([1.0, 1000, 1, 800, 2], [900.0, 1, 700, 2, 1000])
    assert "more than 10,000 pairs needed to show 5 %" in row["note"]
    assert pd.isna(row["pairs_needed"])


@pytest.mark.slow
def test_true_ratio_is_found_and_intervals_hold_it(tmp_path):
    study = tidy_tables.synthetic_study(replications=20, seed=3, ipv6_ratio=0.95)
    table = compare(study, tmp_path)
    goodput = table[table["metric"] == "goodput_mbps"]
    assert goodput["effect"].median() == pytest.approx(-5, abs=0.3)
    for low, high in (("ci_low", "ci_high"), ("hl_low", "hl_high")):
        held = (goodput[low] <= -5) & (goodput[high] >= -5)
        assert 0.87 <= held.mean() <= 1  # 72 cells at 95 %: three standard deviations


def test_power_is_that_at_the_corrected_level_and_has_an_interval():
    ipv4 = np.full(12, 100.0)
    noise = 3 * np.array([0.01, -0.01, 0.02, -0.02, 0.015, -0.015] * 2)
    alone, many = (cell(ipv4, ipv4 * np.exp(noise), tests=tests) for tests in (1, 72))
    assert many["pairs_needed"] > alone["pairs_needed"] and many["detectable"] > 1.5 * alone["detectable"]
    assert many["pairs_needed_low"] < many["pairs_needed"] < many["pairs_needed_high"]
    assert many["detectable_low"] < many["detectable"] < many["detectable_high"]
    # A difference that t would show with fewer pairs takes those with which the test can.
    assert cell(ipv4, ipv4 * np.exp(noise / 300), tests=72)["pairs_needed"] == 12
    few = cell(ipv4[:6], ipv4[:6] * np.exp(noise[:6]), tests=72)
    assert (
        pd.isna(few["detectable"]) and "too few pairs to be significant: 6; with 72 tests, 12 are needed" in few["note"]
    )


def test_the_family_is_all_cells_of_all_metrics(tmp_path):
    study = tidy_tables.synthetic_study(ONE, replications=10)
    table = compare(study, tmp_path)
    known = table.dropna(subset=["p"])
    first = known.loc[known["p"].idxmin()]
    assert len(known) > 20 and first["p_holm"] == pytest.approx(min(1, first["p"] * len(known)))
    assert (known["p_bh"] <= known["p_holm"] + 1e-12).all()


def test_one_ip_version_only(tmp_path):
    study = tidy_tables.synthetic_study(ONE, ["reno"], ip_versions=["ipv6"], replications=4)
    table = compare(study, tmp_path)
    assert len(table) == 4
    assert (table["pairs"] == 0).all()
    assert (table["note"] == "the study has IPv6 only").all()
    assert (table["verdict"] == "no test").all()


def test_excluded_runs_leave_their_partners_out(tmp_path):
    study = tidy_tables.synthetic_study(ONE, ["reno"], replications=6)
    runs = study["runs"]
    runs.loc[(runs["ip_version"] == "ipv6") & (runs["replication"] == 2), "valid"] = False
    runs.loc[(runs["ip_version"] == "ipv4") & (runs["replication"] == 2), "goodput_mbps"] = 1e9
    table = compare(study, tmp_path)
    assert (table["pairs"] == 5).all()
    assert table["note"].str.startswith("1 of 6 pairs is incomplete").all()
    assert (table["mean_ipv4"] < 1e6).all()


@pytest.mark.slow
@pytest.mark.parametrize("replications", [1, 2, 3, 4, 7])
def test_every_gap_has_its_note_and_nothing_is_nan(tmp_path, replications):
    study = tidy_tables.synthetic_study(
        tidy_tables.grid(delays_ms=(10,)), replications=replications, invalid_share=0.2, seed=replications
    )
    study["runs"].loc[study["runs"]["cca"] == "bbr", "retransmits"] = 7
    study["runs"].loc[study["runs"]["cca"] == "vegas", "goodput_mbps"] = 0.0
    study["runs"].loc[study["runs"]["cca"] == "veno", "loss_percent"] = math.nan
    table = compare(study, tmp_path)
    text = (tmp_path / "ip_versions.csv").read_text().lower()
    assert not any(f",{word}" in text for word in ("nan", "inf", "-inf"))
    gaps = table[["effect", "ci_low", "p", "p_tost"]].isna().any(axis=1)
    assert (table.loc[gaps, "note"] != "").all()
