"""The effect of the IP version in few words, from the tests over all cells."""

from types import SimpleNamespace

import pandas as pd
import pytest

import tidy_tables
from topics.ip_version.sentences import ip_version_sentence

SCENARIOS = tidy_tables.grid(delays_ms=(10, 50), losses_percent=(1, 0), flows=(1,))


def ip_cells(p_holm, **columns):
    row = {
        "metric": "goodput_mbps", "effect": -1.4, "p_holm": p_holm, "equivalent": "yes", "margin": 5.0,
        "as_expected": "yes", "expected_effect": -1.381,
    }  # fmt: skip
    return pd.DataFrame(row | columns)


def overall(
    pooled,
    equal,
    ratio,
    directions=("IPv4 higher", "IPv4 higher"),
    within=("inside", "inside"),
    of_pooled="IPv4 higher",
):
    by_scenario = "Mean over scenarios, one value each"
    return pd.DataFrame(
        {"metric": "goodput_mbps", "null": ["equal", "equal", "ratio of the MSSs"], "cca": "",
         "p": [pooled, equal, ratio], "p_holm": [None, equal, ratio],
         "method": ["Mann-Whitney, pooled", by_scenario, by_scenario], "direction": [of_pooled, *directions],
         "effect": [None, -1.4, -0.02], "ci_low": [None, -1.6, -0.2], "ci_high": [None, -1.2, 0.18],
         "margin": [None, 5.0, 0.5], "within": ["", *within], "scenarios": [1, 12, 12]}
    )  # fmt: skip


def ip_sentence(rows, over):
    runs = tidy_tables.synthetic_study(SCENARIOS, ["reno"], replications=1)["runs"]
    return ip_version_sentence(SimpleNamespace(runs=runs, ip_versions=rows, ip_overall=over), 0.05)


def test_a_pooled_test_with_the_opposite_result_is_no_agreement():
    for direction, words in (
        ("IPv4 higher", "a difference, too"),
        ("IPv6 higher", "a difference in the opposite direction"),
    ):
        text = ip_sentence(ip_cells([0.5]), overall(0.01, 0.01, 0.7, of_pooled=direction))
        assert text.endswith(f"; the published, pooled test finds {words} (p = 0.010).")


def test_the_difference_is_shown_to_be_the_headers():
    assert ip_sentence(ip_cells([0.001, 0.3, None]), overall(0.62, 0.0001, 0.413)) == (
        "Over 12 scenarios IPv6's goodput is lower than IPv4's (mean −1.40 %, −1.60 to −1.20 %, p < 0.001); "
        "that is what 20 more bytes of header cost: −0.20 to +0.18 % off the segment-size ratio 1428/1448 (−1.38 %), "
        "within ±0.5 %; the published, pooled test finds none (p = 0.620)."
    )


@pytest.mark.parametrize(
    "direction, within, words",
    [
        ("IPv6 higher", "outside", "that is higher than what 20 more bytes of header cost: −0.20 to +0.18 % off the "
         "segment-size ratio 1428/1448 (−1.38 %), beyond ±0.5 %"),
        ("IPv4 higher", "outside", "that is lower than what 20 more bytes of header cost"),
        ("IPv4 higher", "across", "it is open whether 20 more bytes of header cost that much: −0.20 to +0.18 % off"),
    ],
)  # fmt: skip
def test_no_agreement_without_its_proof(direction, within, words):
    # p = 0.605 against the ratio: the old sentence said "in agreement".
    over = overall(0.5, 0.002, 0.605, ("IPv4 higher", direction), ("inside", within))
    assert words in ip_sentence(ip_cells([0.5, 0.5]), over)


@pytest.mark.parametrize(
    "pooled, equal, words",
    [
        (0.01, 0.01, "; the published, pooled test finds a difference, too (p = 0.010)."),
        (0.5, 0.6, "Over 12 scenarios IPv6's goodput is within ±5 % of IPv4's and not shown to differ (mean −1.40 %, −1.60 to "
         "−1.20 %, p = 0.600); against the segment-size ratio 1428/1448 (−1.38 %) it is −0.20 to +0.18 % off, within ±0.5 %"),
        (0.01, 0.6, "; the published, pooled test finds a difference (p = 0.010)."),
    ],
)  # fmt: skip
def test_pooled_test_and_cells_are_told_apart(pooled, equal, words):
    assert words in ip_sentence(ip_cells([0.5]), overall(pooled, equal, 0.7))


def test_nothing_is_claimed_where_nothing_was_tested():
    rows = ip_cells([None], as_expected="", equivalent="")
    assert ip_sentence(rows, overall(None, None, None)) == (
        "None of 1 cell allows a test of IPv6's goodput; the median difference from IPv4's is −1.40 %."
    )
    assert ip_sentence(ip_cells([0.01, 0.2]), overall(None, None, None)) == (
        "IPv6's goodput differs significantly from IPv4's in 1 of 2 cells tested (Holm-corrected); the median "
        "difference from IPv4's is −1.40 %."
    )
    # Runs may be valid all the same: round trips of single messages have none.
    assert ip_sentence(ip_cells([None], effect=float("nan")), overall(None, None, None)) == (
        "No cell has goodputs over both IP versions, so goodput can't be compared."
    )
