"""Who is fastest and what that costs: in few words what the tables hold, and nothing where they hold nothing."""

from types import SimpleNamespace

import pandas as pd
import pytest

import tidy_tables
from run_tables.exclusions import NOT_RUN
from topics.speed import sentences

SCENARIOS = tidy_tables.grid(delays_ms=(10, 50), losses_percent=(1, 0), flows=(1,))
LOSSY, CLEAN = list(SCENARIOS["scenario"][:2]), list(SCENARIOS["scenario"][2:])


def descriptive(rows, metric="goodput_mbps"):
    table = pd.DataFrame(rows, columns=["scenario", "ip_version", "cca", "mean"])
    return table.assign(metric=metric, scenario_label=table["scenario"].str[:12], n=4)


def at(place, **means):
    """Return a place's rows over IPv4: a mean for each CCA."""
    return [(place, "ipv4", cca, mean) for cca, mean in means.items()]


def all_runs(scenarios=tuple(SCENARIOS["scenario"]), ccas=("bbr", "reno", "cubic"), **columns):
    """Return a run of each CCA in each scenario over IPv4, all valid."""
    runs = pd.DataFrame([(scenario, cca) for scenario in scenarios for cca in ccas], columns=["scenario", "cca"])
    return runs.assign(ip_version="ipv4", valid=True, invalid_because="", **columns)


def cca_tests(p_holm, test="Friedman"):
    return pd.DataFrame({"metric": "goodput_mbps", "test": test, "p_holm": p_holm})


def speed(rows, tests=None, pairs=None, runs=None):
    tables = SimpleNamespace(
        runs=all_runs() if runs is None else runs,
        descriptive=descriptive(rows), scenarios=SCENARIOS,
        ccas=cca_tests([0.01]) if tests is None else tests,
        cca_pairs=cca_tests([]) if pairs is None else pairs,
    )  # fmt: skip
    return sentences.speed_sentence(tables, 0.05)


def test_leader_is_named_with_and_without_loss_and_with_the_test():
    rows = at(LOSSY[0], reno=10.0, bbr=800.0, cubic=20.0) + at(LOSSY[1], reno=5.0, bbr=500.0, cubic=4.0)
    rows += at(CLEAN[0], reno=930.0, bbr=900.0)
    assert speed(rows, cca_tests([0.01, 0.2, None])) == (
        "With random loss BBR leads by 10 % or more in both combinations of scenario and IP version, with 40 to 100 "
        "times the next CCA's goodput; without random loss no CCA leads so clearly in the only one; the CCAs' goodput differs "
        "significantly in 1 of 2 (Friedman, Holm-corrected)."
    )


def test_the_second_half_counts_and_names_for_itself():
    rows = at(LOSSY[0], reno=10.0, bbr=800.0) + at(CLEAN[0], reno=930.0, bbr=400.0)
    rows += at(CLEAN[1], reno=930.0, bbr=900.0)
    assert "; without random loss Reno leads so clearly in 1 of 2, with 2.33 times; " in speed(rows)


def test_two_ccas_are_held_against_the_test_of_the_pair():
    rows = at(CLEAN[0], reno=9.3, bbr=9.4)
    sentence = speed(rows, cca_tests([None], test=""), cca_tests([0.001, 0.7], test="paired t"))
    assert sentence.startswith(
        "Without random loss no CCA leads by 10 % or more in the only combination of scenario and IP "
    )
    assert sentence.endswith("the CCAs' goodput differs significantly in 1 of 2 (paired t, Holm-corrected).")
    lone = speed(rows, cca_tests([None], test=""), cca_tests([0.7], test="paired t"))
    assert lone.endswith("the CCAs' goodput does not differ significantly there (paired t).")
    untested = speed(rows, cca_tests([None], test=""), cca_tests([None], test=""))
    assert untested.endswith("no test of the CCAs could be made.")


@pytest.mark.parametrize("p, words", [([0.9, 0.8], "none of 2"), ([0.01, 0.02], "all 2"), ([0.01, 0.2], "1 of 2")])
def test_significant_differences_are_counted(p, words):
    rows = at(CLEAN[0], reno=9.3, bbr=9.4)
    assert f"differs significantly in {words} (" in speed(rows, cca_tests(p))


def test_lead_over_nothing_is_no_ratio():
    sentence = speed(at(CLEAN[0], reno=0.0, bbr=5.0))
    assert "inf" not in sentence
    assert "no CCA leads" in sentence


def test_ccas_are_ranked_only_where_all_have_all_their_runs():
    rows = at(CLEAN[0], reno=930.0, bbr=400.0, cubic=9.0) + at(CLEAN[1], bbr=900.0, cubic=9.0)
    runs = all_runs(CLEAN)
    absent = (runs["scenario"] == CLEAN[1]) & (runs["cca"] == "reno")
    for why in (NOT_RUN, "cca: something else"):
        lacking = runs.assign(valid=~absent, invalid_because=runs["cca"].where(~absent, why).where(absent, ""))
        assert "Without random loss Reno leads by 10 % or more in the only combination" in speed(rows, runs=lacking)
    # One of several runs that is still to come is one that others have.
    more = pd.concat([runs, runs[absent].assign(valid=False, invalid_because=NOT_RUN)])
    assert "Without random loss Reno leads by 10 % or more in the only combination" in speed(rows, runs=more)
    nowhere = runs.assign(valid=False, invalid_because=NOT_RUN)
    assert speed(rows, runs=nowhere) == sentences.NOWHERE


def test_one_cca_has_nothing_to_be_compared_with():
    assert speed(at(CLEAN[0], reno=1.0)).startswith(
        "The study has values of one CCA only, Reno, whose mean goodput was 1 Mbit/s in 1 cell"
    )


def test_ccas_that_never_meet_are_not_compared():
    rows = at(CLEAN[0], reno=1.0) + at(CLEAN[1], bbr=2.0)
    assert speed(rows).startswith("No two CCAs have a goodput in the same scenario over the same IP version; ")
    assert price(rows, [], []) == "What speed costs can't be said, for no two CCAs have values in the same place."


CELL = CLEAN[0]
PLACE = f"scenario {CELL[:12]} over IPv4 (RTT 20 ms, no loss)"
FAST = at(CELL, bbr=900.0, reno=450.0, cubic=400.0)


def price(goodput, again, rtt, path=20.0):
    table = pd.concat([descriptive(goodput), descriptive(again, "retransmit_percent"), descriptive(rtt, "rtt_mean_ms")])
    runs = all_runs(rtt_path_ms=path)
    scenarios = SCENARIOS.assign(label=SCENARIOS["scenario"].str[:12])
    return sentences.price_sentence(SimpleNamespace(descriptive=table, runs=runs, scenarios=scenarios))


def cells(*values, scenario=CELL):
    return at(scenario, **dict(zip(("bbr", "reno", "cubic"), values, strict=True)))


def test_price_of_the_fastest_is_held_against_the_highest_of_the_others():
    assert price(FAST, cells(21.42, 0.5, 0.7), cells(30.0, 22.0, 21.0)) == (
        f"BBR, which leads most often, pays for it: in {PLACE} it retransmitted 21.4 % of its segments, the others at "
        "most 0.7 %, and its mean RTT was 30 ms, theirs at most 22 ms (empty path: 20 ms)."
    )
    # Another CCA that sends more again or waits longer is not what the fastest pays.
    assert price(FAST, cells(0.5, 21.42, 0.7), cells(22.0, 30.0, 21.0)) == (
        "BBR, which leads most often, pays no clear price: nowhere was its share of segments retransmitted 10 % and 0.1 "
        "percentage points above all others' and nowhere was its mean RTT 10 % above all others'."
    )


def test_price_in_one_currency_only():
    assert price(FAST, cells(21.42, 0.5, 0.7), cells(21.0, 22.0, 21.0)).endswith(
        "the others at most 0.7 %, but nowhere was its mean RTT 10 % above all others'."
    )
    assert price(FAST, cells(0.0, 0.0, 0.0), cells(30.0, 22.0, 21.0), path=0) == (
        f"BBR, which leads most often, pays for it with delay: in {PLACE} its mean RTT was 30 ms, theirs at most 22 "
        "ms, but nowhere was its share of segments retransmitted 10 % and 0.1 percentage points above all others'."
    )
    assert price(FAST, [], cells(30.0, 22.0, 21.0)).endswith("theirs at most 22 ms (empty path: 20 ms).")
    elsewhere = cells(30.0, 30.0, 21.0) + cells(150.0, 100.0, 100.0, scenario=CLEAN[1])
    assert price(FAST, cells(21.42, 0.5, 0.7), elsewhere).endswith(
        ", and elsewhere its mean RTT was up to 1.5 times the highest of theirs."
    )


def test_price_names_the_place_where_it_is_highest():
    again = cells(5.0, 4.0, 4.0) + cells(9.0, 1.0, 1.0, scenario=CLEAN[1])
    assert "(RTT 100 ms, no loss) it retransmitted 9 % of its segments, the others at most 1 %" in (
        price(FAST, again, [])
    )


def test_who_does_not_lead_pays_for_no_speed():
    close = at(CELL, bbr=900.0, reno=901.0)
    none = "No CCA leads by 10 % or more anywhere, so there is no speed that one pays for."
    assert price(close, cells(1.0, 2.0, 1.0), cells(20.0, 40.0, 20.0)) == none
    # A lead in one place is one, wherever else it is close.
    once = close + at(CLEAN[1], bbr=900.0, reno=450.0)
    assert price(once, cells(2.0, 1.0, 1.0), []).startswith("BBR, which leads most often, pays for it: in ")


def test_a_few_segments_in_a_hundred_thousand_are_no_price():
    assert price(FAST, cells(0.004, 0.0, 0.0), cells(21.0, 22.0, 21.0)).startswith(
        "BBR, which leads most often, pays no clear price: nowhere was its share of segments retransmitted 10 % and 0.1 "
    )
    assert "it retransmitted 0.2 % of its segments" in price(FAST, cells(0.2, 0.0, 0.0), [])


def test_price_without_values():
    assert price(FAST, [], []) == "What speed costs can't be said, for neither retransmissions nor RTTs are known."


def test_price_of_a_lone_cca():
    assert price(FAST[:1], at(CELL, bbr=1.25), at(CELL, bbr=30.0)) == (
        f"BBR, the only CCA under test, retransmitted 1.25 % of its segments in {PLACE} and had a mean RTT of 1.5 times the empty "
        "path's."
    )
    assert price(FAST[:1], [], [], path=0).startswith("What speed costs can't be said")
