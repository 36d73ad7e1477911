"""Cells compared with themselves: false alarms as often as the tests' level allows, and far more often with a planted error."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from run_tables.metrics import METRICS
from run_tables.tidy_tables import RUNS
from tidy_tables import completed
from topics.ccas.compare_ccas import compare_ccas
from topics.controls.arms import arms_as_ccas, arms_as_ip_versions
from topics.controls.false_alarms import ALL, AS_CHANCE, MORE, counted, of_ccas, of_ip_versions, summary
from topics.controls.section import controls_sentence
from topics.controls.tables import AA_SUMMARY, AA_TESTS, OF_CCAS, OF_IP_VERSIONS
from topics.ip_version import compare_ip_versions

pytestmark = pytest.mark.slow

MARGINS = {metric.column: 5.0 for metric in METRICS}
PARAMS = SimpleNamespace(
    confidence=0.95, significance=0.05, power=0.8, margins=MARGINS,
    header_margin=0.5, detect=MARGINS,
)  # fmt: skip


def against_themselves(runs, controls, comparisons=(OF_IP_VERSIONS, OF_CCAS)):
    """Return `AA_TESTS`, made by the rules in turn."""
    tables = []
    if OF_IP_VERSIONS in comparisons:
        for version in runs["ip_version"].unique():
            arms = arms_as_ip_versions(runs, controls, version)
            tables.append(of_ip_versions(compare_ip_versions.compare_ip_versions(arms, PARAMS), version))
    if OF_CCAS in comparisons:
        tables.append(of_ccas(compare_ccas(arms_as_ccas(runs, controls), PARAMS)[1], 0.05))
    return pd.concat(tables, ignore_index=True)


def study_of(scenarios=40, ccas=("reno",), ip_versions=("ipv4", "ipv6"), n=8, seed=1):
    """Return runs and control runs of cells that differ from each other, and from themselves only by chance."""
    draw, rows = np.random.default_rng(seed), []
    for scenario in range(scenarios):
        for place, cca in enumerate(ccas):
            for ip_version in ip_versions:
                deviation = draw.standard_normal((2 * n, 4))
                rows += [
                    {
                        "scenario": f"s{scenario}", "scenario_label": f"s{scenario}", "cca": cca, "ip_version": ip_version,
                        "replication": replication + 1, "valid": True, "flows": 1, "mss_bytes": 1448.0, "duration_s": 10.0,
                        "goodput_mbps": (10 + scenario + place) * (1 + 0.05 * values[0]), "packets_sent": 1e5,
                        "rtt_mean_ms": 40 * np.exp(0.02 * values[1]), "loss_percent": 1 + 0.1 * values[2],
                        "retransmits": 1000 + round(50 * values[3]), "window_begin_ns": 0.0, "window_end_ns": 1e10,
                    }
                    for replication, values in enumerate(deviation)
                ]  # fmt: skip
    table = completed(pd.DataFrame(rows), RUNS)
    return table[table["replication"] <= n], table[table["replication"] > n]


@pytest.fixture(scope="module")
def null():
    """The comparisons of a study without any error."""
    return against_themselves(*study_of())


def overall(tests):
    """Return the row of all metrics of each comparison."""
    table = summary(tests, 0.05, 0.95)
    return table[table["metric"] == ALL].set_index("comparison")


def test_the_tables_are_as_declared(null):
    assert list(null.columns) == AA_TESTS.names
    assert len(null) == 2 * 4 * 40 * 2
    assert null.groupby("comparison").size().tolist() == [320, 320]
    assert not null.duplicated(["comparison", "metric", "scenario", "cca", "ip_version"]).any()
    table = summary(null, 0.05, 0.95)
    assert list(table.columns) == AA_SUMMARY.names
    assert table["metric"].tolist() == [*(metric.column for metric in METRICS), ALL] * 2


def test_a_study_without_fault_has_as_many_false_alarms_as_its_level(null):
    for _, row in overall(null).iterrows():
        assert row["tests"] == 320 and row["expected"] == 16
        assert stats.binomtest(int(row["below"]), 320, 0.05).pvalue > 0.01
        assert row["share_low"] < 5 < row["share_high"]
        assert row["different"] <= 1


def test_p_is_even_between_0_and_1(null):
    known = null[(null["comparison"] == OF_CCAS) & (null["metric"] == "goodput_mbps")]
    assert stats.kstest(known["p"], "uniform").pvalue > 0.01


def test_each_arm_is_told_from_the_other(null):
    runs, controls = study_of()
    row = null[(null["scenario"] == "s3") & (null["ip_version"] == "ipv6")].iloc[0]
    for table, column in ((runs, "mean"), (controls, "mean_control")):
        of_cell = table[(table["scenario"] == "s3") & (table["ip_version"] == "ipv6")]
        assert row[column] == pytest.approx(of_cell["goodput_mbps"].mean())


@pytest.mark.parametrize("alike", [0.0, pytest.param(0.7, marks=pytest.mark.long), 1.0])
def test_chance_alone_is_seldom_called_more_though_tests_of_a_scenario_lean_together(alike):
    draw, more = np.random.default_rng(3), 0
    for _ in range(200):
        common, own = draw.random((12, 1)), draw.random((12, 16))
        p = np.where(draw.random((12, 16)) < alike, common, own)
        tests = pd.DataFrame({"p": p.ravel(), "scenario": np.repeat(np.arange(12), 16), "different": False})
        more += counted(tests, 0.05, 0.95)["verdict"] == MORE
    # One in 40 studies by the interval's own level, and three standard errors.
    assert more <= 200 * (0.025 + 3 * 0.011)


def test_pairs_made_by_size_are_found(monkeypatch):
    """Planted: runs are paired in the order of their values, which makes differences look consistent."""
    whole = compare_ip_versions.pairs_of

    def by_size(runs, metric):
        pairs = whole(runs, metric)
        for column in ("ipv4", "ipv6"):
            pairs[column] = pairs.groupby(["scenario", "cca"])[column].transform(lambda values: np.sort(values))
        return pairs

    monkeypatch.setattr(compare_ip_versions, "pairs_of", by_size)
    row = overall(against_themselves(*study_of(20), [OF_IP_VERSIONS])).loc[OF_IP_VERSIONS]
    assert row["verdict"] == MORE
    assert row["share_low"] > 10


def test_control_runs_that_are_not_the_same_cells_are_found():
    """Planted: the control runs have 5 % more goodput."""
    runs, controls = study_of(20)
    tests = against_themselves(runs, controls.assign(goodput_mbps=1.05 * controls["goodput_mbps"]))
    table = summary(tests, 0.05, 0.95).set_index(["comparison", "metric"])
    for comparison in (OF_IP_VERSIONS, OF_CCAS):
        assert table.loc[(comparison, "goodput_mbps"), "verdict"] == MORE
        assert table.loc[(comparison, "rtt_mean_ms"), "verdict"] == AS_CHANCE
    assert "more than chance can explain" in controls_sentence(table.reset_index())


def test_copies_that_count_as_runs_are_found():
    """Planted: each run occurs twice, once under another number."""
    runs, controls = study_of(20, n=6)
    runs = pd.concat([runs, runs.assign(replication=runs["replication"] + 6)])
    controls = pd.concat([controls.assign(replication=controls["replication"] + more) for more in (6, 12)])
    row = overall(against_themselves(runs, controls, [OF_CCAS])).loc[OF_CCAS]
    assert row["verdict"] == MORE


def test_a_run_without_value_leaves_its_pair():
    runs, controls = study_of(2)
    broken = controls.assign(valid=controls["replication"] != 10)
    tests = against_themselves(runs, broken)
    assert set(tests["pairs"]) == {7}
    assert tests["note"].str.contains("1 of 8 pairs is incomplete").all()


def test_one_measurement_is_no_test():
    runs, controls = (table.assign(**{m.column: 5.0 for m in METRICS}) for table in study_of(2))
    tests = against_themselves(runs, controls)
    assert tests["p"].isna().all() and not tests["different"].any()
    table = summary(tests, 0.05, 0.95)
    assert (table["tests"] == 0).all() and table["share_percent"].isna().all()
    assert controls_sentence(table).startswith("No cell could be compared with itself")


def test_the_sentence_says_how_many_and_what_chance_makes(null):
    text = controls_sentence(summary(null, 0.05, 0.95))
    assert "of 320 tests of IPv6 against IPv4 (" in text
    assert "about 16" in text
    assert text.endswith(".") and "more than chance" not in text


def test_the_nth_control_run_belongs_to_the_nth_run():
    runs, controls = study_of(1, ccas=("reno", "cubic"))
    for arms, arm in (
        (arms_as_ip_versions(runs, controls, "ipv6"), "ip_version"),
        (arms_as_ccas(runs, controls), "cca"),
    ):
        numbers = arms.groupby([arm, "scenario", "cca" if arm == "ip_version" else "ip_version"])["replication"].apply(
            list
        )
        assert len(numbers) in (4, 8) and all(each == [*range(1, 9)] for each in numbers)
