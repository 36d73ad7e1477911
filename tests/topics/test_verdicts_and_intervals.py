"""No topic's verdict contradicts the interval beside it, on data of every spread and size."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import share_studies
import tidy_tables
from known_truth import FACTORS
from run_tables.queue_sizes import queues_of
from run_tables.tidy_tables import FLOWS, RUNS
from topics.ccas.compare_ccas import compare_ccas
from topics.claims.claim_verdicts import interval_verdict as claim_verdict
from topics.claims.tables import NOT_REPRODUCED, NOT_SHOWN, REPRODUCED
from topics.fairness.flow_shares import pairs_of
from topics.fairness.measure_shares import shares_of_flows
from topics.fairness.pair_shares import compare_pairs
from topics.fairness.share_theory import MARGIN, compare_with_theory
from topics.ip_version.compare_ip_versions import compare_ip_versions
from topics.multipath.equations import EQUATION_MARGIN_PERCENT, FAILS, HOLDS, OPEN, as_factors, equation_verdict, ratio
from topics.platforms.compare_platforms import AGREE, DIFFER, platform_differences
from topics.theory.response_exponents import agrees
from topics.time_series.window_verdicts import ABOVE, AS_THEORY, BELOW, verdict

MARGINS = {"goodput_mbps": 5.0, "rtt_mean_ms": 5.0, "loss_percent": 0.5, "retransmits": 20.0}
PARAMS = SimpleNamespace(
    confidence=0.95, significance=0.05, power=0.8, seed=1, header_margin=0.5, margins=MARGINS,
    detect={"goodput_mbps": 1.0, "rtt_mean_ms": 1.0, "loss_percent": 0.1, "retransmits": 10.0},
)  # fmt: skip
AGREEMENT = {"goodput_percent": 10, "jain_index": 0.1, "rtt_percent": 10, "loss_factor": 2, "retransmits_factor": 2}


@pytest.fixture(scope="module", params=[2, 6, pytest.param(12, marks=pytest.mark.long)])
def runs(request):
    """Runs of a synthetic study whose goodput has each of the generator's spreads, one per CCA, with IPv6 0 to 8 % lower."""
    study = tidy_tables.synthetic_study(tidy_tables.grid(), list(FACTORS), ["ipv4", "ipv6"], replications=request.param)
    table, rng = study["runs"].copy(), np.random.default_rng(request.param)
    for cca, draw in FACTORS.items():
        here = table["cca"] == cca
        of_scenario = pd.Series(rng.choice([1, 0.99, 0.95, 0.92], 12), study["scenarios"]["scenario"])
        lower = table.loc[here, "scenario"].map(of_scenario)
        lower = lower.where(table.loc[here, "ip_version"] == "ipv6", 1.0)
        table.loc[here, "goodput_mbps"] = 100 * draw(rng, here.sum()) * lower
    return table


def excludes(row, low, high, point=0.0):
    return row[high] < point or row[low] > point


@pytest.mark.slow
def test_ip_versions(runs):
    table = compare_ip_versions(runs, PARAMS)
    assert table["verdict"].nunique() > 1
    for row in table.to_dict("records"):
        words, known = row["verdict"], not pd.isna(row["ci90_low"])
        inside = known and -row["margin"] < row["ci90_low"] and row["ci90_high"] < row["margin"]
        assert inside == (row["equivalent"] == "yes")
        assert words.startswith("equivalent") <= inside and words.startswith("differs, within") <= inside
        assert words.startswith("differs, beyond") <= excludes(row, "ci90_low", "ci90_high") and not (
            words.startswith("differs, beyond") and inside
        )
        if not pd.isna(row["ci_low"]):
            assert words.startswith(("differs", "perhaps")) <= excludes(row, "ci_low", "ci_high"), row
            assert words.startswith("undecided") <= (not excludes(row, "ci_low", "ci_high") and not inside), row
        if row["n"] == 1:
            assert pd.isna(row["p"]) and pd.isna(row["ci_low"]) and "measurement" in words or words == "no test"


@pytest.mark.slow
def test_pairs_of_ccas(runs):
    _, table = compare_ccas(runs, PARAMS)
    for row in table[table["p"].notna()].to_dict("records"):
        # The test of a mean and its interval are one: p below 5 % is an interval without 0.
        if not pd.isna(row["ci_low"]):
            assert (row["p"] < 0.05) == excludes(row, "ci_low", "ci_high"), row
        assert row["p_holm"] >= row["p"]
    assert table.loc[table["n"] <= 1, ["p", "p_holm", "ci_low"]].isna().all(axis=None)


@pytest.mark.slow
@pytest.mark.parametrize("replications", [2, 6, pytest.param(12, marks=pytest.mark.long)])
def test_platforms(replications):
    scenarios = tidy_tables.buffers(("uml", "ns3:3.44"), tuple(range(10, 60, 5)), 100)
    rng, rows = np.random.default_rng(replications), []
    scenarios["scenario"] = scenarios["label"] = [f"s{place}" for place in range(len(scenarios))]
    for scenario in scenarios.to_dict("records"):
        factor = rng.choice([1, 1.05, 1.1, 1.3]) if scenario["platform"] != "uml" else 1.0
        for cca, draw in FACTORS.items():
            for place, spread in enumerate(draw(rng, replications), start=1):
                rows.append(
                    {"scenario": scenario["scenario"], "cca": cca, "ip_version": "ipv4", "replication": place, "valid": True,
                     "platform": scenario["platform"], "flows": 16, "duration_s": 40.0, "goodput_mbps": 40 * factor * spread,
                     "jain_index": min(1.0, 0.7 * spread), "rtt_mean_ms": 70 * spread, "loss_percent": spread, "retransmits": 9.0}
                )  # fmt: skip
    table = platform_differences(tidy_tables.completed(pd.DataFrame(rows), RUNS), scenarios, AGREEMENT, PARAMS)
    assert {AGREE, DIFFER} <= set(table["verdict"]) or replications == 2
    for row in table[table["tost_low"].notna()].to_dict("records"):
        low, high = row["tolerance_low"], row["tolerance_high"]
        assert (row["verdict"] == AGREE) == (low < row["tost_low"] and row["tost_high"] < high), row
        assert (row["verdict"] == DIFFER) <= (row["tost_high"] < low or row["tost_low"] > high), row
    untested = table[table["tost_low"].isna()]
    assert untested[["p_agree", "p_differ", "p_differ_bh"]].isna().all(axis=None)
    assert (untested.loc[untested["verdict"] != "not shown", "note"].str.contains("one measurement")).all()


@pytest.mark.parametrize("noise", [0.0, 1.0, pytest.param(0.1, marks=pytest.mark.long)])
def test_shares(noise):
    study = share_studies.sharing_study(replications=7, noise=noise)
    pairs = pairs_of(shares_of_flows(study["runs"], tidy_tables.completed(study["flows"], FLOWS)))
    for row in compare_pairs(pairs, PARAMS).to_dict("records"):
        if not pd.isna(row["share_low"]) and not pd.isna(row["p"]):
            assert (row["p"] < 0.05) == excludes(row, "share_low", "share_high", 0.5), row
        if not pd.isna(row["order_low"]):
            assert (row["order_p"] < 0.05) == excludes(row, "order_low", "order_high"), row
    theory = compare_with_theory(pairs, share_studies.scenarios(), queues_of(study["runs"]), PARAMS)
    for row in theory[theory["share_low"].notna()].to_dict("records"):
        half = pd.isna(row["predicted"])
        low, high = (0.5, 1.0) if half else (row["predicted"] - MARGIN, row["predicted"] + MARGIN)
        assert (row["agrees"] == "yes") == (low < row["share_low"] and row["share_high"] <= high)
        assert (row["agrees"] == "no") == (row["share_high"] <= low or row["share_low"] > high)


def test_verdicts_on_drawn_intervals():
    """Equations of several paths, windows, exponents and claims, with intervals anywhere around their bounds."""
    rng = np.random.default_rng(9)
    for _ in range(2000):
        value, half = rng.normal(4, 0.4), abs(rng.normal(0, 0.3))
        low, high = value - half, value + half
        inside, outside = low >= 3.8 and high <= 4.2, high < 3.8 or low > 4.2
        assert equation_verdict(value, low, high, 4) == (HOLDS if inside else FAILS if outside else OPEN)
        word = verdict(low, high, 3.8, 4.2)
        assert (word == AS_THEORY) == inside and (word in (ABOVE, BELOW)) == outside
        assert agrees(4.0, {"ci_low": low, "ci_high": high}, 0.2) == ("yes" if inside else "no" if outside else "")
        drawn, _ = claim_verdict(low, value, high, {"at_least": 3.8, "at_most": 4.2})
        assert drawn == (REPRODUCED if inside else NOT_REPRODUCED if outside else NOT_SHOWN)
    assert EQUATION_MARGIN_PERCENT == 5


def test_paths_that_repeat_one_measurement_are_judged_by_what_they_can_tell():
    for factor, word in ((4.0, HOLDS), (3.5, FAILS), (3.8, OPEN)):
        one = pd.Series([100.0, 100.01])
        apart = ratio(factor * one, one, (0.2, 0.05))
        assert apart.exact and equation_verdict(*as_factors(apart.effect, apart.bounds(0.95)), 4) == word
