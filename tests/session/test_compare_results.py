"""Two results folders side by side: what improved and what got worse, in pairs of runs."""

import numpy as np
import pandas as pd
import pytest

from results_folders import CONFIG, NOISE, RENO, goodput_of, results
from session import compare_results
from session.comparable_results import Results, pairs_of_ccas
from session.result_comparison import compared


def test_a_pair_is_worse_by_more_than_the_margin():
    second = RENO * 0.93 * (1 + NOISE / 10)
    table = compared(results(), results("results/b", second))
    row = goodput_of(table)
    assert (row["change"], row["paired"], row["n"], row["pairs_worse"], row["pairs_better"]) == ("worse", True, 8, 8, 0)
    # Sign tests: 8 of 8 pairs, by themselves and as the one row of the table that has any.
    assert row["p"] == row["p_corrected"] == 2 / 2**8
    change = 100 * (second / RENO - 1)
    ends = np.sort(change)[[0, -1]]
    assert row["effect"] == pytest.approx(np.median(change), abs=0.01)
    assert (row["low"], row["high"]) == pytest.approx(tuple(ends))
    back = goodput_of(compared(results("results/b", second), results()))
    assert back["change"] == "better" and back["p"] == row["p"]


def test_less_than_the_margin_is_no_harm():
    """The margin of goodput is 5 %: 3 % less in each pair is like, not worse, however many pairs show it."""
    row = goodput_of(compared(results(), results("results/b", RENO * 0.97)))
    assert (row["change"], row["pairs_worse"], row["note"]) == (
        "like",
        0,
        "up to 31 % of pairs may differ by more than the margin",
    )
    assert row["margin"] == 5
    wider = {"analysis": {"equivalence_margin": {"goodput_percent": 10}}}
    row = goodput_of(compared(results(**wider), results("results/b", RENO * 0.93, **wider)))
    assert (row["change"], row["margin"]) == ("like", 10)


def test_worse_is_first_and_less_delay_is_better():
    first, second = results(), results("results/b", RENO - 1 + NOISE)
    second.runs.loc[second.runs["cca"] == "mine", "rtt_mean_ms"] = 15 + NOISE
    first.runs.loc[first.runs["cca"] == "mine", "rtt_mean_ms"] = 20 + NOISE
    table = compared(first, second)
    assert table["change"].tolist()[:2] == ["worse", "better"]
    assert table["measure"].tolist()[:2] == ["Goodput", "Round-trip time"]


def test_runs_of_other_seeds_are_paired_by_their_number():
    second = RENO * 1.5 + NOISE
    row = goodput_of(compared(results(), results("results/b", second, seeds=100)))
    assert (row["change"], row["paired"], row["n"]) == ("better", False, 8)
    half = results("results/b", second)
    half.runs.loc[half.runs["replication"] > 6, "seed"] += 100
    row = goodput_of(compared(results(), half))
    assert (row["change"], row["paired"], row["n"]) == ("better", True, 6)


def test_runs_that_differ_too_much_say_so():
    """Half of the runs starve on either side: no verdict, and the starved runs are counted."""
    starved = np.array([1, 0.1, 1, 0.1, 0.1, 1, 0.1, 1])
    table = compared(results(cubic=RENO * starved), results("results/b", RENO * np.roll(starved, 1)))
    assert goodput_of(table)["change"] == "too variable"
    far = table[table["measure"] == "Goodput: far worse"].iloc[0]
    assert (far["change"], far["first"], far["second"], far["unit"]) == ("too variable", 4, 4, "runs")


def test_few_pairs_say_how_many_would_do():
    few = {"replications": 4}
    four = (
        results(cubic=RENO[:4], reno=RENO[:4], **few),
        results("results/b", RENO[:4] * 0.8 + NOISE[:4], reno=RENO[:4], **few),
    )
    row = goodput_of(compared(*four))
    assert (row["change"], row["pairs_worse"], row["n"], row["n_needed"]) == ("not enough", 4, 4, 6)


def test_copies_are_one_pair():
    table = compared(results(cubic=np.full(8, 9.0)), results("results/b", np.full(8, 7.0)))
    row = goodput_of(table)
    assert (row["change"], row["n"], row["p"]) == ("not enough", 1, 1)
    assert "8 pairs repeat one measurement, and count as one" in row["note"]
    assert not table["measure"].str.contains("far worse").any()
    row = goodput_of(compared(results(cubic=np.full(8, 9.0)), results("results/b", np.full(8, 9.0))))
    assert row["change"] == "the same" and pd.isna(row["p"])


def test_invalid_runs_are_counted():
    second = results("results/b", RENO + NOISE)
    lost = (second.runs["cca"] == "mine") & (second.runs["replication"] <= 7)
    second.runs.loc[lost, ["valid", "excluded_by"]] = [False, "sender"]
    table = compared(results(), second)
    row = table[table["measure"] == "Invalid runs"].iloc[0]
    assert (row["change"], row["cca"], row["first"], row["second"], row["effect"]) == ("worse", "mine", 0, 7, 7)
    row = goodput_of(table)
    assert (row["change"], row["n"], row["note"]) == ("not enough", 1, "7 pairs without a value")
    second.runs.loc[second.runs["cca"] == "mine", "valid"] = False
    assert goodput_of(compared(results(), second))["change"] == "not measured"


@pytest.mark.parametrize("cause", ["not run", "instrument"])
def test_runs_that_the_machine_spoilt_are_no_harm(cause):
    first, second = results(), results("results/b", RENO + NOISE)
    lost = (second.runs["cca"] == "mine") & (second.runs["replication"] <= 7)
    second.runs.loc[lost, ["valid", "excluded_by"]] = [False, cause]
    row = compared(first, second).set_index("measure").loc["Invalid runs"]
    assert (row["change"], row["n"], row["first"], row["second"]) == ("the same", 1, 0, 0)
    assert row["note"] == "7 pairs left out: not run, or excluded by the instrument"
    assert "worse" not in set(compared(first, second)["change"])
    # A pair with such a run counts on neither side, whatever the other run did.
    first.runs.loc[first.runs["cca"] == "mine", ["valid", "excluded_by"]] = [False, "sender"]
    row = compared(first, second).set_index("measure").loc["Invalid runs"]
    assert (row["n"], row["first"], row["second"]) == (1, 1, 0)
    second.runs.loc[second.runs["cca"] == "mine", ["valid", "excluded_by"]] = [False, cause]
    row = compared(first, second).set_index("measure").loc["Invalid runs"]
    assert (row["change"], row["n"]) == ("not measured", 0)


@pytest.mark.parametrize("factors, pairs", [((0.8, 1), (8, 0)), ((0.8, 1.25), (8, 8)), ((0.8, 0.8), (16, 0))])
def test_scenarios_that_share_seeds_are_counted_in_pairs(factors, pairs):
    """Two scenarios share their seeds: the row for both counts all pairs, and is worse only if more than half of all pairs are worse."""
    scenarios = [CONFIG["scenarios"][0], CONFIG["scenarios"][0] | {"id": "again", "seeds_of": "10ms"}]
    tables = []
    for folder, of in (("results/a", (1, 1)), ("results/b", factors)):
        made = [results(folder, RENO * factor, scenarios=scenarios) for factor in of]
        runs = [one.runs.assign(scenario=scenario["id"]) for one, scenario in zip(made, scenarios, strict=True)]
        tables.append(Results(folder, made[0].study, pd.concat(runs, ignore_index=True)))
    table = compared(*tables)
    row = table[
        (table["scenario"] == "all scenarios") & (table["measure"] == "Goodput") & (table["cca"] == "mine")
    ].iloc[0]
    assert (row["n"], row["pairs_worse"], row["pairs_better"]) == (16, *pairs)
    assert (row["change"] == "worse") == (pairs == (16, 0))
    assert row["change"] != "like"


def test_runs_without_a_partner_are_counted():
    first, second = results(), results("results/b")
    fewer = Results("results/b", second.study, second.runs[second.runs["replication"] <= 3])
    table = compared(first, fewer)
    assert (table["note"].str.startswith("5 of 11 runs have no partner")).all() and set(table["change"]) == {"the same"}
    assert (
        "8 rows leave out runs without a partner in the other folder; the notes give their number."
        in compare_results.summary_words(first, fewer, table)
    )
    # If some pairs have the same seed, the others are left out.
    second.runs.loc[second.runs["replication"] > 6, "seed"] += 100
    assert goodput_of(compared(first, second))["note"] == "4 of 16 runs have no partner"
    row = goodput_of(compared(first, results("results/b")))
    assert row["note"] == ""


def test_candidates_of_their_own_names_are_held_against_each_other():
    other = {"ccas": ["reno", "yours"], "cca_definitions": {"yours": {"base": "cubic"}}}
    first, second = results(), results("results/b", **other)
    assert pairs_of_ccas(first, second) == [("mine", "yours"), ("reno", "reno")]
    assert "mine, yours" in set(compared(first, second)["cca"])


def with_retransmits(folder, values):
    made = results(
        folder, cubic=np.resize(RENO, len(values)), reno=np.resize(RENO, len(values)), replications=len(values)
    )
    made.runs.loc[made.runs["cca"] == "mine", "retransmits"] = np.array(values, float)
    return made


@pytest.mark.parametrize(
    ("first", "second", "change"),
    [([0] * 20, [0] * 20, "the same"), ([0] * 20, [0, 1] * 10, "the same"), ([0] * 20, [2] * 20, "worse"), ([0, 1] * 10, [3, 4] * 10, "worse")],
)  # fmt: skip
def test_counts_differ_by_more_than_one_in_runs_that_are_no_copies(first, second, change):
    """Goodput varies between the runs, so equal counts are equal by chance."""
    table = compared(with_retransmits("a", first), with_retransmits("b", second))
    row = table[(table["cca"] == "mine") & (table["measure"] == "Retransmissions")].iloc[0]
    assert (row["change"], row["n"]) == (change, 20)


def test_a_difference_to_zero_is_a_ratio():
    second = np.concatenate([[0.0], RENO[1:] / 2])
    row = goodput_of(compared(results(), results("results/b", second)))
    assert row["effect"] == pytest.approx(-50) and row["low"] >= -100
    row = goodput_of(compared(results(), results("results/b", np.zeros(8))))
    assert row["effect"] == -100
