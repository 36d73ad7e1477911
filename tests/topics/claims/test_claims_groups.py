"""Claims that compare groups of cells: two bounds, growth from scenario to scenario, the place of the largest difference."""

import pytest

from claim_runs import check
from topics.claims.tables import NOT_REPRODUCED, NOT_SHOWN, NOT_TESTABLE, REPRODUCED

EACH_CCA = {
    "kind": "ratio", "numerator": {"ip_versions": ["ipv6"]}, "denominator": {"ip_versions": ["ipv4"]},
    "each": ["cca", "scenario"], "requirement": {"at_least": 0.95, "at_most": 1.05},
}  # fmt: skip


@pytest.mark.parametrize(
    ("factors", "combine", "value", "verdict"),
    [
        # The lowest of six ratios says nothing of an upper bound.
        ({"bbr": 1.2}, "lowest", 1, REPRODUCED),
        ({"bbr": 1.2}, "farthest", 1.2, NOT_REPRODUCED),
        ({"bbr": 0.8, "reno": 1.2}, "farthest", 0.8, NOT_REPRODUCED),
        # Distances are factors: a half is farther from 1 than 1.9 is.
        ({"bbr": 0.5, "reno": 1.9}, "farthest", 0.5, NOT_REPRODUCED),
        ({"bbr": 0.955, "reno": 1.04}, "farthest", 0.955, REPRODUCED),
    ],
)
def test_the_ratio_farthest_from_the_middle_of_two_bounds(tmp_path, factors, combine, value, verdict):
    def values(scenario, cca, ip_version):
        return [10 * (factors.get(cca, 1) if ip_version == "ipv6" else 1)] * 3

    row = check(tmp_path, values, EACH_CCA | {"combine": combine})
    assert row["value"] == pytest.approx(value)
    assert row["verdict"] == verdict, row["because"]
    if combine == "farthest":
        assert row["requirement"].startswith("farthest from 0.9987 of 6 ratios (one for each CCA and scenario) of ")
        farthest = min(factors, key=factors.get) if value < 1 else "bbr"
        assert row["because"].startswith(f"The deciding ratio is the one for scenario 1, {farthest}; ")


@pytest.mark.parametrize(("zero", "verdict"), [("ipv6", NOT_REPRODUCED), ("ipv4", NOT_TESTABLE)])
def test_the_farthest_ratio_may_be_0_or_infinite(tmp_path, zero, verdict):
    claim = EACH_CCA | {"combine": "farthest"}
    row = check(tmp_path, lambda s, cca, ip: [0 if (cca, ip) == ("bbr", zero) else 10] * 3, claim)
    assert row["verdict"] == verdict
    assert row["value"] == 0 or zero == "ipv4"


STEPS = {
    "kind": "ratio", "numerator": {"scenarios": ["2", "3"]}, "denominator": {"scenarios": ["1", "2"]},
    "each": ["scenario", "ip_version"], "combine": "lowest", "requirement": {"above": 1},
}  # fmt: skip


@pytest.mark.parametrize(
    ("means", "value", "verdict"), [((10, 12, 15), 1.2, REPRODUCED), ((10, 30, 27), 0.9, NOT_REPRODUCED)]
)
def test_growth_is_tested_from_each_scenario_to_the_next(tmp_path, means, value, verdict):
    row = check(tmp_path, lambda s, *_: [means[int(s) - 1]] * 3, STEPS, delays_ms=(10, 20, 50))
    assert row["value"] == pytest.approx(value)
    assert row["verdict"] == verdict
    assert row["requirement"] == (
        "lowest of 4 ratios (one for each scenario and IP version) of the mean in scenarios 2 and 3 divided by "
        "the mean in scenarios 1 and 2: above 1"
    )
    if verdict == NOT_REPRODUCED:
        assert row["because"].startswith(
            "The deciding ratio is the one for scenario 3 over 2, IPv4; the bound is met in 2 of 4, not in scenario 3 over 2; "
        )


LARGEST = {
    "kind": "largest_difference", "minuend": {"ip_versions": ["ipv4"]}, "subtrahend": {"ip_versions": ["ipv6"]},
    "at": "2", "requirement": {"above": 1},
}  # fmt: skip


@pytest.mark.parametrize(
    ("differences", "value", "verdict"),
    [
        ((1, 4, 2), 2, REPRODUCED),
        ((-5, 4, 2), 0.8, NOT_REPRODUCED),
        ((1, -4, 2), 2, REPRODUCED),
        ((3, 3, 0), 1, NOT_REPRODUCED),
    ],
)
def test_where_a_difference_is_largest(tmp_path, differences, value, verdict):
    def values(scenario, cca, ip_version):
        return [10 + (differences[int(scenario) - 1] if ip_version == "ipv4" else 0)] * 3

    row = check(tmp_path, values, LARGEST, delays_ms=(10, 20, 50))
    assert (row["value"], row["unit"]) == (pytest.approx(value), "times")
    assert row["verdict"] == verdict, row["because"]
    assert row["requirement"] == (
        "difference between the mean with IPv4 and the mean with IPv6 in scenario 2, divided by the largest difference "
        "in 2 other scenarios: above 1"
    )
    if differences == (1, 4, 2):
        amounts = "4 Mbit/s in scenario 2, 2 Mbit/s in scenario 3, 1 Mbit/s in scenario 1"
        assert row["because"] == (
            f"The differences in descending order are {amounts}; each cell's runs repeat one measurement, so there is no interval: "
            "our value meets the requirement."
        )


def test_differences_of_scenarios_that_belong_together(tmp_path):
    means = {"1": 10, "2": 20, "3": 13, "4": 21}
    sides = {"minuend": {"scenarios": ["3", "4"]}, "subtrahend": {"scenarios": ["1", "2"]}, "at": "3"}
    row = check(tmp_path, lambda s, *_: [means[s]] * 3, LARGEST | sides, delays_ms=(10, 20, 50, 80))
    assert (row["value"], row["verdict"]) == (pytest.approx(3), REPRODUCED)
    assert "in scenario 3 over 1, divided by the largest difference in the other scenario" in row["requirement"]


def test_a_difference_among_none_has_no_place(tmp_path):
    assert check(tmp_path, lambda *cell: [10] * 3, LARGEST)["verdict"] == NOT_TESTABLE
    only = check(tmp_path, lambda scenario, cca, ip: [10 + (scenario == "2" and ip == "ipv4")] * 3, LARGEST)
    assert only["verdict"] == NOT_TESTABLE


def test_no_events_in_one_scenario_hide_no_increase_in_another(tmp_path):
    """A ratio that is 0 in six runs is not 0 for certain, and would decide the mean of all ratios."""

    def values(scenario, cca, ip_version):
        usual = {"1": [2, 1, 3, 2, 1, 2], "2": [50, 51, 49, 52, 48, 50]}[scenario]
        return usual if cca == "reno" else [0] * 6 if scenario == "1" else [100 * one for one in usual]

    claim = {
        "kind": "ratio", "numerator": {"ccas": ["cubic"]}, "denominator": {"ccas": ["reno"]}, "each": ["scenario"], "combine": "mean",
        "requirement": {"at_most": 1},
    }  # fmt: skip
    row = check(tmp_path, values, claim)
    assert row["verdict"] == NOT_SHOWN, row["because"]


def test_an_interval_that_is_cut_at_0_is_not_more_precise(tmp_path):
    """Loss of 0, 0 and 0.3 %: the half-width is 0.43, so 0.45 is within the prediction interval, but our value is less precise."""
    requirement = {"replicates": 0.45, "standard_error": 0.05}
    claim = {
        "kind": "threshold",
        "quantity": "loss_percent",
        "ccas": ["reno"],
        "pick": "mean",
        "requirement": requirement,
    }
    row = check(tmp_path, lambda *_: [0.0, 0.0, 0.3], claim | {"scenarios": ["1"], "ip_versions": ["ipv4"]})
    assert row["low"] == 0 and row["verdict"] == NOT_SHOWN, row["because"]
