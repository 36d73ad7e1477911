"""Each kind of claim is reproduced, not reproduced or undecided, as the given values determine."""

import numpy as np
import pandas as pd
import pytest

import claim_runs
from claim_runs import check
from topics.claims.check_claims import check_claims
from topics.claims.claims_file import load_claims
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


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1.0, REPRODUCED), (1.049, REPRODUCED), (1.3, NOT_REPRODUCED), (0.7, NOT_REPRODUCED), (1.05, NOT_SHOWN)],
)
def test_equivalence(tmp_path, factor, verdict):
    def values(scenario, cca, ip_version):
        wobble = [0, 0, 0, 0, 0, 0] if factor < 1.05 or ip_version == "ipv4" else [-1, 1, -0.5, 0.5, 0, 0]
        times = factor if ip_version == "ipv6" else 1
        return [(10 + step) * times + more for step, more in zip([0, 1, 2, 0, 1, 2], wobble, strict=True)]

    claim = {"kind": "equivalence", "margin": 5, "margin_unit": "percent", "requirement": {"at_least": 90}}
    row = check(tmp_path, values, claim)
    assert row["verdict"] == verdict, row["because"]
    assert row["requirement"] == "share of 6 cells in which IPv6 is within 5 % of IPv4: at least 90 %"


def test_equivalence_in_points(tmp_path):
    claim = {
        "kind": "equivalence", "quantity": "retransmit_percent", "margin": 0.5, "margin_unit": "points",
        "requirement": {"at_least": 90},
    }  # fmt: skip
    row = check(tmp_path, lambda s, cca, ip: [0.0 if ip == "ipv4" else {"1": 0.4, "2": 0.6}[s]] * 3, claim)
    assert (row["value"], row["verdict"]) == (50, NOT_REPRODUCED)
    assert "within 0.5 points of IPv4" in row["requirement"]
    assert row["because"].startswith("True in 3 of 6, not in scenario 2; ")


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
FAR_APART = {"reno": 10, "cubic": 200, "bbr": 900}


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


WITHIN_5_PERCENT = {"kind": "no_difference", "margin": 5, "margin_unit": "percent"}


@pytest.mark.parametrize(
    ("change", "values", "verdict", "because"),
    [
        (
            {}, lambda s, cca, ip: [
                FAR_APART[cca] * (1 if s == "1" else 0.3) * (1 + 0.01 * step) * (0.991 - 0.0004 * len(cca) if ip == "ipv6" else 1)
                for step in range(6)
            ],
            REPRODUCED, "finds no difference, p = 0.593; the paired test over 2 scenarios (one value each) has nothing to "
            "test: all differ by the same amount.",
        ),
        (
            {"quantity": "rtt_first_stream_ms"}, lambda s, cca, ip: [10 + step + 50 * (ip == "ipv6") for step in range(6)],
            NOT_REPRODUCED, "the paired test over 2 scenarios (one value each) has nothing to test: all differ by the same amount.",
        ),
        # A difference of nothing that the runs are too few and too scattered to show.
        (
            {}, lambda s, cca, ip: [10 + (1 if ip == "ipv6" else -1) * step for step in (1, -1, 2, -2, 3, -3)],
            NOT_SHOWN, "the paired test over 2 scenarios (one value each) has nothing to test: no scenario differs.",
        ),
        ({}, lambda s, cca, ip: [0 if cca == "bbr" else 5] * 3, REPRODUCED, "has nothing to test: no scenario differs."),
        (
            {}, lambda s, cca, ip: [10 + step + 0.1 * (ip == "ipv6") * (1 if s == "1" else -1) for step in range(6)],
            REPRODUCED, "the paired test over 2 scenarios (one value each) has nothing to test: 2 are too few; the test needs 6.",
        ),
        ({"quantity": "retransmits"}, lambda *cell: [0] * 3, NOT_TESTABLE, "or a divisor is 0."),
        (
            {"quantity": "retransmit_percent", "margin": 0.5, "margin_unit": "points"},
            lambda s, cca, ip: [0.4 * (ip == "ipv6") + step for step in (0, 0.1, 0.2)], REPRODUCED, "",
        ),
    ],
)  # fmt: skip
def test_no_difference(tmp_path, change, values, verdict, because):
    row = check(tmp_path, values, WITHIN_5_PERCENT | change)
    assert row["verdict"] == verdict, row["because"]
    assert row["because"].endswith(because), row["because"]


@pytest.mark.parametrize("order", [["ipv4", "ipv6"], ["ipv6", "ipv4"]])
def test_the_paired_test_names_the_ip_version_with_less_whatever_their_order_in_the_file(tmp_path, order):
    delays_ms = tuple(range(10, 80, 10))
    what = claim_runs.content(WITHIN_5_PERCENT, delays_ms=delays_ms) | {"ip_versions": order}
    file = load_claims(claim_runs.written(tmp_path / "claims.yaml", what))
    table = claim_runs.table(lambda s, cca, ip: [(90 if ip == "ipv6" else 100) + int(s)] * 3, delays_ms=delays_ms)
    because = check_claims(table, file, 0.95, 0.05).iloc[0]["because"]
    assert "U = 3,969 for 63 and 63 runs" in because  # all 63 x 63 pairs have more over IPv4
    assert "finds IPv6 lower, by 9.62 % on average" in because


@pytest.mark.parametrize("replications", [4, 100])
def test_no_difference_rests_on_the_margin_and_not_on_how_many_runs_there_are(tmp_path, replications):
    """IPv6 has 1.4 % less, within 5 %: the paper's own test found that in every study of 100 runs, and in none of 4."""
    rng = np.random.default_rng(4)
    verdicts = []
    for _ in range(20 if replications == 4 else 5):
        shared = {s: rng.normal(1, 0.02, replications) for s in "12"}

        def values(scenario, cca, ip, shared=shared):
            noise = rng.normal(1, 0.002, replications)
            return 100 * shared[scenario] * noise * (1428 / 1448 if ip == "ipv6" else 1)

        verdicts.append(check(tmp_path, values, WITHIN_5_PERCENT)["verdict"])
    assert set(verdicts) == {REPRODUCED}


REPLICATES = {"kind": "threshold", "pick": "mean", "requirement": {"replicates": 10, "standard_error": 0.5}}


@pytest.mark.parametrize(
    ("values", "verdict", "reason"),
    [
        ([10.2, 10.4, 10.6, 10.8], REPRODUCED, "our value lies inside the prediction interval."),
        ([11.4, 11.5, 11.6, 11.7], NOT_REPRODUCED, "our value lies outside the prediction interval."),
        # As wide as it is it would agree with anything.
        ([2, 8, 13, 17], NOT_SHOWN, "our value lies inside the prediction interval, but is less precise than the paper's, with 4 replications in the smallest cell."),
    ],
)  # fmt: skip
def test_a_printed_value_is_held_against_the_prediction_interval(tmp_path, values, verdict, reason):
    row = check(
        tmp_path, lambda *cell: values, REPLICATES | {"ccas": ["reno"], "scenarios": ["1"], "ip_versions": ["ipv4"]}
    )
    assert row["verdict"] == verdict, row["because"]
    assert row["because"].endswith(reason)
    assert "prediction interval for replicating 10 with a standard error of 0.5: at least " in row["requirement"]


def test_a_perfect_rerun_replicates_in_19_of_20(tmp_path):
    """The paper's mean of 40 runs against ours of 40: bounds of one standard error that whole intervals must meet would refuse nearly
    all."""
    rng = np.random.default_rng(7)
    claims, cells = [], 150
    for place in range(cells):
        printed = float(rng.normal(100, 4, 40).mean())
        cell = {
            "ccas": ["reno"],
            "scenarios": [str(place + 1)],
            "ip_versions": ["ipv4"],
            "kind": "threshold",
            "pick": "mean",
        }
        error = 4 / 40**0.5
        claims.append(cell | {"requirement": {"replicates": printed, "standard_error": error}})
        claims.append(cell | {"requirement": {"at_least": printed - error, "at_most": printed + error}})
    delays = tuple(range(10, 10 + cells))
    file = claim_runs.loaded(tmp_path, *claims, delays_ms=delays)
    table = check_claims(claim_runs.table(lambda *cell: rng.normal(100, 4, 40), delays), file, 0.95, 0.05)
    verdicts = [table["verdict"][first::2] for first in (0, 1)]
    assert (verdicts[0] != NOT_REPRODUCED).mean() >= 0.9
    assert (verdicts[1] == REPRODUCED).mean() < 0.05


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
