"""Whether the IP version matters: in few words what the tests over all cells say."""

from types import SimpleNamespace

import pandas as pd
import pytest

import tidy_tables
from topics.ip_version.sentences import ip_version_sentence

SCENARIOS = tidy_tables.grid(delays_ms=(10, 50), losses_percent=(1, 0), flows=(1,))


def ip_cells(p_holm, **columns):
    row = {
        "metric": "goodput_mbps", "effect": -1.4, "p_holm": p_holm, "equivalent": "yes", "margin": 5.0,
        "p_expected_holm": 0.9, "expected_effect": -1.381,
    }  # fmt: skip
    return pd.DataFrame(row | columns)


def overall(pooled, paired, ratio, directions=("IPv4 higher", "IPv4 higher")):
    aligned = "aligned ranks, by pair and cell"
    return pd.DataFrame(
        {"metric": "goodput_mbps", "null": ["equal", "equal", "ratio of the MSSs"], "p": [pooled, paired, ratio],
         "method": ["Mann-Whitney, pooled", aligned, aligned], "direction": ["", *directions]}
    )  # fmt: skip


def ip_sentence(rows, over):
    runs = tidy_tables.synthetic_study(SCENARIOS, ["reno"], replications=1)["runs"]
    return ip_version_sentence(SimpleNamespace(runs=runs, ip_versions=rows, ip_overall=over), 0.05)


def test_the_difference_agrees_with_the_header():
    assert ip_sentence(ip_cells([0.001, 0.3, None]), overall(0.62, 0.0001, 0.413)) == (
        "Over all cells IPv6's goodput is lower than IPv4's (median −1.40 %, paired test p < 0.001), in agreement "
        "with what 20 more bytes of header cost: against the segment-size ratio 1428/1448 (−1.38 %) the test finds no "
        "difference (p = 0.413); the published, pooled test misses it (p = 0.620)."
    )


@pytest.mark.parametrize(
    "ratio, equal_direction, ratio_direction, words",
    [
        (0.001, "IPv4 higher", "IPv6 higher", "is lower than IPv4's (median −1.40 %, paired test p = 0.002), but by "
         "less than 20 more bytes of header would cost: it differs from the segment-size ratio 1428/1448 (−1.38 %, "
         "p = 0.001) too"),
        (0.001, "IPv4 higher", "IPv4 higher", "but by more than 20 more bytes of header would cost"),
        (0.001, "IPv6 higher", "IPv6 higher", "is higher than IPv4's (median −1.40 %, paired test p = 0.002), which 20 "
         "more bytes of header can't explain"),
        (None, "IPv4 higher", "", "(median −1.40 %, paired test p = 0.002); the published, pooled test misses it"),
    ],
)  # fmt: skip
def test_a_difference_that_the_header_does_not_explain(ratio, equal_direction, ratio_direction, words):
    over = overall(0.5, 0.002, ratio, (equal_direction, ratio_direction))
    assert words in ip_sentence(ip_cells([0.5]), over)


@pytest.mark.parametrize(
    "pooled, paired, ratio, words",
    [
        (0.01, 0.01, 0.5, "; the published, pooled test sees it too (p = 0.010)."),
        (0.5, 0.6, 0.7, "Over all cells the paired test finds no difference between IPv6's goodput and IPv4's "
         "(p = 0.600, median −1.40 %), nor one from what 20 more bytes of header would cost, the segment-size ratio "
         "1428/1448 (−1.38 %, p = 0.700); the published, pooled test sees none either (p = 0.500)."),
        (0.01, 0.6, 0.001, "though 20 more bytes of header should cost some: it differs from the segment-size ratio "
         "1428/1448 (−1.38 %, p = 0.001); the published, pooled test sees one (p = 0.010)."),
    ],
)  # fmt: skip
def test_pooled_and_paired_test_are_told_apart(pooled, paired, ratio, words):
    assert words in ip_sentence(ip_cells([0.5]), overall(pooled, paired, ratio))


def test_the_stratified_test_stands_in_for_the_paired_one():
    over = overall(0.5, 0.01, 0.7)
    over["method"] = over["method"].replace("aligned ranks, by pair and cell", "van Elteren, by cell")
    assert "stratified test p = 0.010" in ip_sentence(ip_cells([0.5]), over)


def test_nothing_is_claimed_where_nothing_was_tested():
    rows = ip_cells([None], p_expected_holm=None, equivalent="")
    assert ip_sentence(rows, overall(None, None, None)) == (
        "IPv6's goodput could be tested in none of 1 cell; the median difference from IPv4's is −1.40 %."
    )
    assert ip_sentence(ip_cells([0.01, 0.2]), overall(None, None, None)) == (
        "IPv6's goodput differs significantly from IPv4's in 1 of 2 cells tested (Holm-corrected); the median "
        "difference from IPv4's is −1.40 %."
    )
    # Runs may be valid all the same: round trips of single messages have none.
    assert ip_sentence(ip_cells([None], effect=float("nan")), overall(None, None, None)) == (
        "No cell has a goodput with both IP versions, so that can't be compared."
    )
