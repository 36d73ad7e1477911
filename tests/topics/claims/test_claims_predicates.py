"""Each kind of claim is reproduced, not reproduced or undecided, as the given values determine."""

import pandas as pd
import pytest

import claim_runs
from claim_runs import check
from topics.claims.check_claims import check_claims
from topics.claims.tables import NOT_REPRODUCED, NOT_SHOWN, NOT_TESTABLE, REPRODUCED


def steady(**means):
    """Return values of six replications, 0.1 apart, around a mean for each CCA; others are at 10."""
    return lambda scenario, cca, ip_version: [means.get(cca, 10) + 0.1 * step for step in range(-3, 3)]


def alternating(high, low):
    """Return values of bbr alternating from high to low, with those of the others around 10.5."""
    of_bbr = [high, (high + low) / 2, low] * 2
    return lambda scenario, cca, ip_version: of_bbr if cca == "bbr" else [10, 10.5, 11] * 2


BBR_FIRST = {"kind": "ordering", "ccas": ["bbr"], "place": "highest", "requirement": {"above": 50}}


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        (steady(bbr=20), REPRODUCED),
        (steady(bbr=5), NOT_REPRODUCED),
        (alternating(40, 30), REPRODUCED),
        (alternating(30, 12), NOT_SHOWN),
        (alternating(12, 9), NOT_TESTABLE),
    ],
)
def test_ordering(tmp_path, values, verdict):
    row = check(tmp_path, values, BBR_FIRST)
    assert row["verdict"] == verdict, row["because"]


def test_ordering_counts_comparisons(tmp_path):
    row = check(tmp_path, lambda s, cca, ip: steady(bbr=20 if (s, ip) == ("1", "ipv4") else 5)(s, cca, ip), BBR_FIRST)
    assert row["value"] == row["low"] == row["high"] == 25
    assert row["unit"] == "%"
    assert row["requirement"] == "share of 4 comparisons in which bbr has the highest mean: above 50 %"
    assert (
        row["because"] == "True in 1 of 4, namely in scenario 1 (IPv4); no part of the interval meets the requirement."
    )
    assert row["runs"] == 72


@pytest.mark.parametrize(
    ("change", "share"),
    [
        ({"ccas": ["cubic"], "place": "middle"}, 100),
        ({"ccas": ["bbr"], "place": "middle"}, 0),
        ({"ccas": ["cubic"], "place": "lowest"}, 0),
        ({"ccas": ["cubic"], "place": "lowest", "places": 2}, 100),
        ({"ccas": ["cubic"], "place": "highest", "tie_percent": 1}, 100),
        ({"ccas": ["cubic"], "place": "highest", "tie_percent": 0.5}, 0),
        ({"ccas": ["cubic"], "place": "highest", "among": ["reno", "cubic"]}, 100),
        ({"ccas": ["cubic", "bbr"], "place": "highest"}, 50),
    ],
)
def test_places_ties_and_field(tmp_path, change, share):
    row = check(tmp_path, steady(reno=90, cubic=100, bbr=100.7), BBR_FIRST | change)
    assert row["value"] == share


def test_nobody_is_first_where_all_are_equal(tmp_path):
    row = check(tmp_path, lambda *cell: [0, 0, 0], BBR_FIRST)
    assert row["verdict"] == NOT_TESTABLE
    assert row["because"] == "There is nothing to compare: all values are equal, or a divisor is 0."
    assert row[["value", "low", "high"]].isna().all()

    row = check(tmp_path, lambda s, cca, ip: [0, 0, 0] if s == "1" else steady(bbr=20)(s, cca, ip)[:3], BBR_FIRST)
    assert (row["verdict"], row["value"]) == (REPRODUCED, 100)
    assert row["because"].startswith("True in 2 of 2 (excluding 2 comparisons in which all are equal); ")


@pytest.mark.parametrize(
    ("pick", "requirement", "verdict"),
    [
        ("lowest", {"above": 4.5}, REPRODUCED),
        ("lowest", {"above": 5.5}, NOT_REPRODUCED),
        ("lowest", {"at_least": 4.95}, NOT_SHOWN),
        ("highest", {"below": 20.5}, REPRODUCED),
        ("highest", {"at_most": 19}, NOT_REPRODUCED),
        ("highest", {"at_most": 19.95}, NOT_SHOWN),
        ("farthest", {"at_least": 4, "at_most": 21}, REPRODUCED),
        ("farthest", {"at_least": 6, "at_most": 21}, NOT_REPRODUCED),
        ("farthest", {"at_least": 4, "at_most": 19.95}, NOT_SHOWN),
        ("mean", {"at_least": 11, "at_most": 12}, REPRODUCED),
        ("mean", {"below": 11}, NOT_REPRODUCED),
        ("mean", {"below": 11.617}, NOT_SHOWN),
        ("median", {"at_least": 9, "at_most": 11}, REPRODUCED),
        ("median", {"above": 15}, NOT_REPRODUCED),
    ],
)
def test_threshold(tmp_path, pick, requirement, verdict):
    # Means: reno 4.95, cubic 9.95, bbr 19.95; of all 11.617.
    claim = {"kind": "threshold", "pick": pick, "requirement": requirement}
    row = check(tmp_path, steady(reno=5, bbr=20), claim)
    assert row["verdict"] == verdict, row["because"]
    assert row["unit"] == "Mbit/s"


def test_threshold_says_which_cells(tmp_path):
    def values(scenario, cca, ip_version):
        return steady(bbr=20 if (scenario, ip_version) == ("2", "ipv6") else 10)(scenario, cca, ip_version)

    row = check(tmp_path, values, {"kind": "threshold", "pick": "highest", "requirement": {"at_most": 15}})
    assert row["because"] == (
        "The deciding cell is bbr in scenario 2, IPv6; the bound is met in 11 of 12, not in scenario 2 (bbr IPv6); "
        "no part of the interval meets the requirement."
    )
    assert row["value"] == pytest.approx(19.95)


BBR_OVER_RENO = {
    "kind": "ratio", "numerator": {"ccas": ["bbr"]}, "denominator": {"ccas": ["reno", "cubic"], "pick": "highest"},
    "each": ["scenario", "ip_version"], "combine": "lowest", "requirement": {"at_least": 2},
}  # fmt: skip


@pytest.mark.parametrize(("bbr", "verdict"), [(25, REPRODUCED), (15, NOT_REPRODUCED), (20, NOT_SHOWN)])
def test_ratio(tmp_path, bbr, verdict):
    def values(scenario, cca, ip_version):
        # The others' noise runs against bbr's, so their ratio scatters.
        noise = [0, 1, -1, 2, -2, 0] if cca == "bbr" else [0, -1, 1, -1, 1, 0]
        return [{"bbr": bbr, "reno": 5}.get(cca, 10) + 0.3 * step for step in noise]

    row = check(tmp_path, values, BBR_OVER_RENO)
    assert row["verdict"] == verdict, row["because"]
    assert row["value"] == pytest.approx(bbr / 10)
    assert row["unit"] == "times"


@pytest.mark.parametrize(
    ("change", "value", "subject"),
    [
        # Means by scenario and IP version: reno 2, cubic 4, bbr 8, times 3 in scenario 2, times 1.5 with IPv6.
        (
            {"numerator": {"scenarios": ["2"]}, "denominator": {"scenarios": ["1"]}},
            3, "the mean in scenario 2 divided by the mean in scenario 1",
        ),
        (
            {"numerator": {"ip_versions": ["ipv6"]}, "denominator": {"ip_versions": ["ipv4"]}, "ccas": ["bbr"]},
            1.5, "the mean with IPv6 divided by the mean with IPv4",
        ),
        (
            {"numerator": {"pick": "highest"}, "denominator": {"pick": "lowest"}},
            8 * 4.5 / 2, "the highest of all CCAs divided by the lowest of all CCAs",
        ),
        (
            {"numerator": {"pick": "highest"}, "denominator": {"pick": "lowest"}, "each": ["cca"], "combine": "mean"},
            4.5, "geometric mean of 3 ratios (one for each CCA) of the highest divided by the lowest",
        ),
        (
            {"numerator": {"ccas": ["reno", "bbr"]}, "denominator": {"ccas": ["cubic"]}, "each": ["scenario"]},
            5 / 4, "geometric mean of 2 ratios (one for each scenario) of the mean of reno and bbr divided by cubic",
        ),
        (
            {"ccas": ["reno"], "numerator": {"scenarios": ["2"], "ip_versions": ["ipv4"]},
             "denominator": {"pick": "highest"}},
            1 / 1.5, "reno in scenario 2 with IPv4 divided by the highest of reno in all scenarios with IPv4 and IPv6",
        ),
    ],
)  # fmt: skip
def test_ratio_of_groups(tmp_path, change, value, subject):
    def values(scenario, cca, ip_version):
        mean = {"reno": 2, "cubic": 4, "bbr": 8}[cca]
        return [mean * (3 if scenario == "2" else 1) * (1.5 if ip_version == "ipv6" else 1)] * 3

    row = check(tmp_path, values, {"kind": "ratio", "requirement": {"above": 1}} | change)
    assert row["value"] == pytest.approx(value)
    assert row["requirement"] == f"{subject}: above 1"


def test_ratio_with_a_divisor_of_zero(tmp_path):
    sides = {"numerator": {"ccas": ["bbr"]}, "denominator": {"ccas": ["reno"]}}
    claim = {"kind": "ratio", **sides, "requirement": {"above": 2}}
    row = check(tmp_path, lambda scenario, cca, ip_version: [0, 0, 0], claim)
    assert row["verdict"] == NOT_TESTABLE
    row = check(tmp_path, lambda scenario, cca, ip_version: [0 if cca == "reno" else 5] * 3, claim)
    assert row["verdict"] == NOT_TESTABLE
    assert row[["value", "low", "high"]].isna().all()

    row = check(tmp_path, lambda s, cca, ip: [0, 0.5, 1] if cca == "reno" else [8, 9, 10], claim)
    assert row["verdict"] == REPRODUCED
    assert row["value"] == pytest.approx(18)
    assert row["low"] > 2
    assert row[["high"]].isna().all()
    assert row["because"].endswith("and has no upper end, because a divisor may be 0.")


def dominance(**requirement):
    return {"kind": "dominance", "stronger": "cca", "weaker": "ip_version", "requirement": requirement}


def test_dominance_against_a_hand_calculation(tmp_path):
    """One scenario, means 8, 10, 12 (IPv4) and 9, 11, 13 (IPv6), grand mean 10.5.

    Between CCAs: 2 * ((8.5 - 10.5)^2 + 0 + (12.5 - 10.5)^2) / 2 = 8; between IP versions:
    3 * 2 * 0.5^2 / 1 = 1.5; both over 10.5^2, which cancels out. 8 / 9.5 = 84.2 %.
    """

    def values(scenario, cca, ip_version):
        return [{"reno": 8, "cubic": 10, "bbr": 12}[cca] + (ip_version == "ipv6")] * 3

    row = check(tmp_path, values, dominance(above=50), delays_ms=(10,))
    assert row["value"] == pytest.approx(100 * 8 / 9.5)
    assert row["verdict"] == REPRODUCED


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        (lambda s, cca, ip: [(20 if ip == "ipv6" else 10) + step + (cca == "bbr") for step in (-0.1, 0, 0.1)], NOT_REPRODUCED),
        # Both differ by as much as their runs scatter.
        (lambda s, cca, ip: [10 + {"reno": -0.5, "cubic": 0, "bbr": 0.5}[cca] + 0.4 * (ip == "ipv6") + step for step in ORDERS[cca]], NOT_SHOWN),
        (lambda *cell: [7, 7, 7], NOT_TESTABLE),
    ],
)  # fmt: skip
def test_dominance_false_undecided_and_without_any_spread(tmp_path, values, verdict):
    row = check(tmp_path, values, dominance(above=50))
    assert row["verdict"] == verdict
    assert row[["value", "low", "high"]].isna().all() == (values("1", "reno", "ipv4") == [7, 7, 7])


ORDERS = {"reno": [0, 1, 2, 3], "cubic": [3, 0, 1, 2], "bbr": [1, 3, 0, 2]}


@pytest.mark.parametrize(
    ("values", "verdict", "p", "because"),
    [
        (
            lambda s, cca, ip: [3 if cca == "bbr" else 1000 + step if cca == "reno" else step for step in range(6)],
            REPRODUCED, (0, 0.05), "",
        ),
        (
            lambda s, cca, ip: [
                {"reno": -0.6, "cubic": 0, "bbr": 0.6}[cca] + step for step in (-1.3, -0.6, -0.2, 0.2, 0.6, 1.3)
            ],
            NOT_SHOWN, (0.05, 1), "a test that doesn't reject normality doesn't show that values are normal.",
        ),
        (lambda *cell: [3, 3, 3], NOT_TESTABLE, None, ""),
    ],
)  # fmt: skip
def test_normality(tmp_path, values, verdict, p, because):
    row = check(tmp_path, values, {"kind": "normality"})
    assert row["verdict"] == verdict
    assert pd.isna(row["value"]) if p is None else p[0] <= row["value"] <= p[1]
    assert row["because"].endswith(because)


def test_claims_that_no_run_can_refute_get_no_verdict(tmp_path):
    always = {"kind": "threshold", "pick": "mean", "requirement": {"above": 1}}
    row = check(tmp_path, lambda *cell: [5, 6, 7], always | {"untestable": "They measured another thing."})
    assert (row["verdict"], row["because"], row["value"]) == (NOT_TESTABLE, "They measured another thing.", 6)
    file = claim_runs.loaded(tmp_path, always | {"needs_real_clock": "headers decide it."})
    runs = claim_runs.table(lambda *cell: [5, 6, 7])
    verdicts = {
        platform: check_claims(runs.assign(platform=platform), file, 0.95, 0.05).iloc[0] for platform in ("uml", "host")
    }
    assert verdicts["uml"]["because"] == "Under a virtual clock the claim could hardly fail: headers decide it."
    assert (verdicts["uml"]["verdict"], verdicts["host"]["verdict"]) == (NOT_TESTABLE, REPRODUCED)
