"""CCA against CCA on tables with known truth, and with few values left by exclusions or ties."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tidy_tables
from rule_files import carry_out
from run_tables.reading import read_table
from topics.ccas import compare_ccas
from topics.ccas.tables import CCA_PAIRS, CCA_TESTS

pytestmark = pytest.mark.filterwarnings("error")

PARAMS = SimpleNamespace(confidence=0.95, significance=0.05)
ONE = tidy_tables.grid(delays_ms=(10,), losses_percent=(1,), flows=(1,))


def compare(study, folder):
    tidy = tidy_tables.write_tidy(study, folder)
    outputs = SimpleNamespace(ccas=folder / "ccas.csv", cca_pairs=folder / "cca_pairs.csv")
    carry_out(compare_ccas.__name__, SimpleNamespace(runs=tidy / "runs.csv"), outputs, PARAMS)
    return (read_table(outputs.ccas, CCA_TESTS), read_table(outputs.cca_pairs, CCA_PAIRS))


def frame(*columns):
    return pd.DataFrame(dict(zip("abcdefg", columns, strict=False)), dtype=float)


def test_columns_rows_and_order(tmp_path):
    study = tidy_tables.synthetic_study(ONE, ["vegas", "reno", "bbr"], replications=6)
    together, by_pair = compare(study, tmp_path)
    assert len(together) == 4 * 2 and len(by_pair) == 4 * 2 * 3
    first = by_pair.iloc[:3][["cca_a", "cca_b"]].values.tolist()
    assert first == [["vegas", "reno"], ["vegas", "bbr"], ["reno", "bbr"]]
    assert (together["test"] == "Friedman").all()
    goodput = together[together["metric"] == "goodput_mbps"]
    assert (goodput["kendall_w"] == 1).all() and goodput["p"].to_numpy() == pytest.approx(6.0**-5)


def test_true_differences_are_found_with_their_sign(tmp_path):
    study = tidy_tables.synthetic_study(ONE, ["reno", "bbr"], replications=20)
    together, by_pair = compare(study, tmp_path)
    truth = study["truth"].set_index(["cca", "ip_version", "metric"])["mean"]
    row = by_pair.iloc[0]
    expected = 100 * (truth["reno", "ipv4", "goodput_mbps"] / truth["bbr", "ipv4", "goodput_mbps"] - 1)
    assert row["effect"] == pytest.approx(expected, abs=0.1)
    assert row["hl_low"] < row["hl"] < row["hl_high"] < 0
    assert row["cliffs_delta"] == -1
    assert row["p_holm"] < 1e-3
    assert (together["test"] == "").all()
    assert together["note"].eq("two CCAs: the test of the pair suffices").all()


@pytest.mark.slow
def test_pairs_are_tested_where_all_ccas_differ_and_corrected_over_the_study(tmp_path):
    study = tidy_tables.synthetic_study(tidy_tables.grid(delays_ms=(10, 50), flows=(1,)), replications=16)
    together, by_pair = compare(study, tmp_path)
    known = together.dropna(subset=["p"])
    assert known["p_holm"].min() == pytest.approx(min(1, known["p"].min() * len(known)))
    place = ["metric", "scenario", "ip_version"]
    opened = by_pair.merge(together[[*place, "p_holm"]], on=place, suffixes=("", "_all"))["p_holm_all"] < 0.05
    assert opened.any() and not opened.all()
    tested = by_pair[opened.to_numpy()].dropna(subset=["p"])
    assert tested["p_holm"].min() == pytest.approx(min(1, tested["p"].min() * by_pair["p"].notna().sum()))
    assert (by_pair[~opened.to_numpy()].dropna(subset=["p"])["p_holm"] == 1).all()


def test_gate_of_two_ccas_is_open():
    pairs = pd.DataFrame(
        {"metric": "m", "scenario": ["a", "b", "c"], "ip_version": "ipv4", "p": [0.01, 0.02, math.nan]}
    )
    together = pairs.drop(columns="p").assign(ccas=[2, 3, 3], p_holm=[math.nan, 0.06, 0.01])
    assert compare_ccas.gated(pairs, together, 0.05).tolist() == [0.02, 1.0, pytest.approx(math.nan, nan_ok=True)]


def test_pair_is_compared_by_replication():
    metric = compare_ccas.METRICS[0]
    a = np.array([10.0, 20.0, math.nan, 40.0, 52.0, 61.0, 30.0, 45.0])
    b = np.array([9.0, 18.5, 30.0, math.nan, 50.0, 60.0, 28.0, 44.0])
    row = compare_ccas.compare_pair(metric, a, b, 0.0, 1, PARAMS)
    log_ratios = np.log([10 / 9, 20 / 18.5, 52 / 50, 61 / 60, 30 / 28, 45 / 44])
    assert row["pairs"] == 6
    assert (row["p"], row["statistic"]) == (2 / 64, pytest.approx(stats.ttest_1samp(log_ratios, 0).statistic))
    assert row["note"] == "2 of 8 pairs are incomplete"
    few = compare_ccas.compare_pair(metric, a, b, 0.0, 30, PARAMS)
    assert few["p"] == 2 / 64 and "too few pairs to be significant: 6; with 30 tests, 11 are needed" in few["note"]


@pytest.mark.parametrize(
    "blocks, expected, note",
    [
        (frame(), (0, 0, ""), "nothing to compare"),
        (frame([1, 2, 3]), (1, 3, ""), "one CCA: nothing to compare"),
        (frame([1, 2, 3], [2, 3, 4]), (2, 3, ""), "two CCAs: the test of the pair suffices"),
        (frame([1, 2], [2, 3], [3, 4]), (3, 2, ""), "2 blocks of 3 CCAs can't give p < 0.05"),
        (frame([1], [2], [3]), (3, 1, ""), "1 block of 3 CCAs can't give p < 0.05"),
        (frame([1, 2, 3], [2, 3, 4], [3, 4, 5]), (3, 3, "Friedman"), ""),
        (frame([7] * 4, [7] * 4, [7] * 4), (3, 4, ""), "all 4 blocks repeat one measurement: n = 1, so no test"),
        (frame([7] * 4, [8] * 4, [9] * 4), (3, 4, ""), "all 4 blocks repeat one measurement: n = 1, so no test"),
        (frame([7, 8, 9], [7, 8, 9], [7, 8, 9]), (3, 3, ""), "all CCAs equal in every block, so no test"),
        (
            frame([1, 2, 3], [None] * 3, [3, 4, 5], [5, 6, 7]), (3, 3, "Friedman"),
            "no value of b",
        ),
        (
            frame([1, 2, 3, 4, 5, None], [11, 12, 13, 14, None, 15], [None, 31, 32, 33, 34, 35]), (3, 3, "Friedman"),
            "3 of 6 blocks are incomplete",
        ),
        (
            frame([1, 2, 3, 4, None, None], [None, None, 13, 14, 15, 16], [31, 32, None, None, 33, 34]),
            (3, 0, "Kruskal-Wallis"),
            "6 of 6 blocks are incomplete; too few complete blocks, so the values count as independent",
        ),
        (
            frame([7, 7, 7, 7, None, None], [None, None, 7, 7, 7, 7], [7, 7, None, None, 7, 7]), (3, 0, ""),
            "all values equal, so no test",
        ),
        (frame([1, None], [None, 2], [3, 4]), (3, 0, ""), "too few values for p < 0.05"),
    ],
)  # fmt: skip
def test_what_exclusions_and_ties_leave(blocks, expected, note):
    row = compare_ccas.compare_group(blocks, 0.05)
    assert (row["ccas"], row["blocks"], row["test"]) == expected
    assert note in row["note"] if note else row["note"] == ""
    assert (row.get("p") is not None) == bool(row["test"])


@pytest.mark.slow
@pytest.mark.parametrize("ccas", [["reno"], ["reno", "bbr"], tidy_tables.ALL_CCAS])
@pytest.mark.parametrize("replications", [1, 2, 4])
def test_every_gap_has_its_note_and_nothing_is_nan(tmp_path, ccas, replications):
    study = tidy_tables.synthetic_study(ONE, ccas, replications=replications, invalid_share=0.2, seed=4)
    study["runs"].loc[study["runs"]["cca"] == "bbr", "goodput_mbps"] = 0.0
    study["runs"].loc[study["runs"]["cca"] == "cubic", "retransmits"] = math.nan
    together, by_pair = compare(study, tmp_path)
    assert len(by_pair) == 4 * 2 * len(ccas) * (len(ccas) - 1) // 2
    for name in ("ccas.csv", "cca_pairs.csv"):
        text = (tmp_path / name).read_text().lower()
        assert not any(f",{word}" in text for word in ("nan", "inf", "-inf"))
    assert (together.loc[together["p"].isna(), "note"] != "").all()
    assert (by_pair.loc[by_pair["p"].isna(), "note"] != "").all()
