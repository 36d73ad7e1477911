"""Platforms compared: the verdicts on known differences, and where no statement is possible."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest

import tidy_tables
from run_tables.tidy_tables import RUNS
from study_files.study import resolve
from study_files.study_design import StudyDesign
from topics.platforms.compare_platforms import AGREE, DIFFER, METRICS, NOT_SHOWN, platform_differences
from topics.platforms.platform_causes import ALIKE, BOTH, NEW_VERSION, OLD_VERSION, SIMULATOR, UNKNOWN, causes, turned
from topics.platforms.plot_platform_differences import draw_differences
from topics.platforms.topic import TOPIC
from wording.scenario_series import compared_platforms, main_pairs

PARAMS = SimpleNamespace(confidence=0.95, significance=0.05)
AGREEMENT = {"goodput_percent": 10, "jain_index": 0.1, "rtt_percent": 10, "loss_factor": 2, "retransmits_factor": 2}
PLATFORMS = ("uml", "ns3:3.39", "ns3:3.44")
# The true values of all runs of a platform.
TRUE = {"goodput_mbps": 60.0, "jain_index": 0.6, "rtt_mean_ms": 130.0, "loss_percent": 1.0, "retransmits": 1000.0}


def tables(changes=None, replications=6, platforms=PLATFORMS, spread=0.008):
    """Return runs and scenarios of one CCA and buffer: platform -> metric -> factor applied to `TRUE`."""
    scenarios, rows = tidy_tables.buffers(platforms, (10,), 100), []
    scenarios["scenario"] = scenarios["platform"].str.replace(":", "-")
    for platform, name in zip(platforms, scenarios["scenario"], strict=True):
        run = {"scenario": name, "cca": "bbr", "ip_version": "ipv4", "platform": platform, "valid": True}
        run |= {"flows": 16, "duration_s": 60.0, "protocol": "tcp", "application": "iperf3"}
        factors = (changes or {}).get(platform, {})
        for replication in range(1, replications + 1):
            shift = 1 + spread * (replication - (replications + 1) / 2)
            values = {name: value * shift * factors.get(name, 1.0) for name, value in TRUE.items()}
            rows.append(run | {"replication": replication} | values)
    return tidy_tables.completed(pd.DataFrame(rows), RUNS), scenarios


def compared(*arguments, **more):
    return platform_differences(*tables(*arguments, **more), AGREEMENT, PARAMS)


def pick(table, platform_a, platform_b, metric):
    wanted = [platform_a, platform_b, metric]
    return table[table[["platform_a", "platform_b", "metric"]].eq(wanted).all(axis=1)].iloc[0]


def test_equal_platforms_agree_in_everything():
    table = compared()
    assert len(table) == 3 * len(METRICS)
    assert set(table["verdict"]) == {AGREE}
    pairs = {("uml", "ns3:3.39"), ("uml", "ns3:3.44"), ("ns3:3.39", "ns3:3.44")}
    assert set(zip(table["platform_a"], table["platform_b"], strict=True)) == pairs


def test_two_kernels_are_compared_the_guests_first():
    table = compared({"host": {"rtt_mean_ms": 1.5}}, platforms=("host", "uml"))
    assert len(table) == len(METRICS)
    assert set(table["between"]) == {"two kernels"}
    assert set(zip(table["platform_a"], table["platform_b"], strict=True)) == {("uml", "host")}
    assert pick(table, "uml", "host", "rtt_mean_ms")["verdict"] == DIFFER
    assert set(table.loc[table["metric"] != "rtt_mean_ms", "verdict"]) == {AGREE}


def test_a_simulators_version_is_held_against_the_guest_though_the_machine_ran_too():
    table = compared({"ns3:3.39": {"goodput_mbps": 1.6}}, platforms=("host", "ns3:3.44", "uml", "ns3:3.39"))
    assert set(causes(table)["kernel"]) == {"uml"}


@pytest.mark.parametrize(
    ("metric", "factor", "expected"),
    [
        ("goodput_mbps", 1.05, AGREE), ("goodput_mbps", 1.11, NOT_SHOWN), ("goodput_mbps", 1.5, DIFFER),
        ("goodput_mbps", 0.85, DIFFER), ("jain_index", 1.1, AGREE), ("jain_index", 1.5, DIFFER),
        ("rtt_mean_ms", 0.97, AGREE), ("rtt_mean_ms", 1.3, DIFFER), ("loss_percent", 1.9, AGREE),
        ("loss_percent", 2.0, NOT_SHOWN), ("loss_percent", 3.0, DIFFER), ("retransmits", 0.55, AGREE),
        ("retransmits", 0.3, DIFFER),
    ],
)  # fmt: skip
def test_verdicts_of_known_differences(metric, factor, expected):
    table = compared({"ns3:3.39": {metric: factor}})
    row = pick(table, "uml", "ns3:3.39", metric)
    assert row["verdict"] == expected
    if metric == "jain_index":
        assert row["effect"] == pytest.approx(0.6 * (factor - 1)) and row["effect_unit"] == ""
    else:
        assert row["effect"] == pytest.approx(100 * (factor - 1)) and row["effect_unit"] == "%"
    assert pick(table, "uml", "ns3:3.44", metric)["verdict"] == AGREE


def test_a_factor_is_a_tolerance_to_both_sides():
    row = pick(compared(), "uml", "ns3:3.39", "loss_percent")
    assert (row["tolerance_low"], row["tolerance_high"]) == pytest.approx((-50, 100))


def test_a_loss_of_zero_is_compared_as_part_of_the_mean():
    runs, scenarios = tables()
    runs.loc[(runs["scenario"] == "ns3-3.39") & (runs["replication"] == 1), "loss_percent"] = 0.0
    row = pick(platform_differences(runs, scenarios, AGREEMENT, PARAMS), "uml", "ns3:3.39", "loss_percent")
    # One is twice the other where their difference is two thirds of their mean.
    assert row["scale"] == "relative" and row["tolerance_high"] == pytest.approx(200 / 3)
    assert "no ratio" in row["note"]


def test_no_loss_anywhere_agrees():
    runs, scenarios = tables()
    runs["loss_percent"] = 0.0
    row = pick(platform_differences(runs, scenarios, AGREEMENT, PARAMS), "uml", "ns3:3.39", "loss_percent")
    assert row["verdict"] == AGREE and math.isnan(row["p_agree"])


def test_platform_without_a_valid_run():
    runs, scenarios = tables()
    runs.loc[runs["scenario"] == "ns3-3.39", "valid"] = False
    table = platform_differences(runs, scenarios, AGREEMENT, PARAMS)
    row = pick(table, "uml", "ns3:3.39", "goodput_mbps")
    assert row["verdict"] == NOT_SHOWN and row["n_b"] == 0 and math.isnan(row["effect"])
    assert row["note"] == "no valid run with a value on the second platform"
    assert pick(table, "uml", "ns3:3.44", "goodput_mbps")["verdict"] == AGREE
    assert set(causes(table)["cause"]) == {UNKNOWN}


def test_one_replication_shows_nothing():
    table = compared({"ns3:3.39": {"goodput_mbps": 3.0}}, replications=1)
    assert set(table["verdict"]) == {NOT_SHOWN}
    assert pick(table, "uml", "ns3:3.39", "goodput_mbps")["effect"] == pytest.approx(200)
    assert table["note"].str.contains("one run: an interval needs 6").all()


def test_one_platform_has_nothing_to_compare():
    table = compared(platforms=("uml",))
    assert table.empty and "verdict" in table
    assert causes(table).empty


def test_more_comparisons_ask_for_more():
    # A difference that alone is shown, drowned among many that aren't.
    row = pick(
        compared({"ns3:3.39": {"goodput_mbps": 1.16}}, replications=6, spread=0.02), *PLATFORMS[:2], "goodput_mbps"
    )
    assert row["p_differ"] < 0.05 and row["p_differ_bh"] >= row["p_differ"]


def test_kernels_of_two_clocks_are_compared():
    runs, scenarios = tables({"host": {"goodput_mbps": 0.5}}, platforms=("uml", "host"))
    table = platform_differences(runs, scenarios, AGREEMENT, PARAMS)
    assert set(table["between"]) == {"two kernels"}
    assert main_pairs(compared_platforms(table)) == [("uml", "host")]
    panels = draw_differences(table).panels
    assert [panel.description.split(":")[0] for panel in panels] == ["host Linux against Linux"] * 3


def test_platforms_are_a_question_where_they_share_conditions():
    def design(**of_second):
        scenarios = [{"id": "a", "platform": "uml"}, {"id": "b", "platform": "ns3:3.44", **of_second}]
        config = {"study": "two", "ccas": ["reno"], "defaults": {"link": {"rate_mbps": 10}}, "scenarios": scenarios}
        return StudyDesign(resolve(config, "two.yaml"))

    assert TOPIC.applies(design()) and TOPIC.applies(design(transport={"recovery": "classic"}))
    assert not TOPIC.applies(design(link={"delay_ms": 20}))
    assert not TOPIC.applies(design(platform="uml"))


def test_other_conditions_are_not_compared():
    runs, scenarios = tables()
    scenarios.loc[scenarios["platform"] == "ns3:3.39", "delay_forward_ms"] = 10
    table = platform_differences(runs, scenarios, AGREEMENT, PARAMS)
    assert set(zip(table["platform_a"], table["platform_b"], strict=True)) == {("uml", "ns3:3.44")}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ALIKE),
        ({"ns3:3.39": 1.6}, OLD_VERSION),
        ({"ns3:3.44": 1.6}, NEW_VERSION),
        ({"ns3:3.39": 1.6, "ns3:3.44": 1.6}, SIMULATOR),
        ({"ns3:3.39": 1.6, "ns3:3.44": 0.6}, BOTH),
        ({"ns3:3.39": 1.11, "ns3:3.44": 1.0}, UNKNOWN),
    ],
)
def test_what_a_difference_comes_from(changes, expected):
    table = compared({platform: {"goodput_mbps": factor} for platform, factor in changes.items()})
    row = causes(table).set_index("metric").loc["goodput_mbps"]
    assert row["cause"] == expected
    assert tuple(row[["kernel", "oldest", "newest"]]) == ("uml", "ns3:3.39", "ns3:3.44")
    # The two steps make the whole.
    factor = (1 + row["kernel_to_newest"] / 100) * (1 + row["newest_to_oldest"] / 100)
    assert factor == pytest.approx(1 + row["kernel_to_oldest"] / 100)


def test_a_difference_from_the_other_side():
    assert turned(25.0, "ratio") == pytest.approx(-20)
    assert turned(25.0, "points") == -25 and turned(25.0, "relative") == -25
    assert turned(float("nan"), "ratio") is None
