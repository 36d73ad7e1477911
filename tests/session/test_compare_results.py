"""Two results folders side by side: what improved and what got worse, in pairs, and what can't be compared."""

import copy
import json
import re

import numpy as np
import pandas as pd
import pytest

import claim_runs
from run_tables.tidy_tables import RUNS
from session import compare_results
from session.comparable_results import Results, pairs_of_ccas, problem_of
from session.compare_results import page, table_text
from session.result_comparison import compared
from study_files import study as studies
from topics.exam.criteria import NEVER

CONFIG = {
    "study": "base", "replications": 8, "ccas": ["reno", "mine"], "ip_versions": ["ipv4"],
    "cca_definitions": {"mine": {"base": "cubic", "parameters": {"hystart": 0}}},
    "scenarios": [{"id": "10ms", "link": {"rate_mbps": 10, "delay_ms": 10}}],
}  # fmt: skip
RENO = np.linspace(8.0, 8.7, 8)
NOISE = np.array([0.05, -0.1, 0.02, 0.08, -0.04, 0.01, -0.06, 0.04])


def results(folder="results/a", cubic=RENO, seeds=0, reno=RENO, **changes):
    study = studies.resolve(copy.deepcopy(CONFIG) | changes, "base.yaml")
    of = dict(zip(study["ccas"], (reno, cubic), strict=True))
    options = {"delays_ms": (10,), "ccas": study["ccas"], "ip_versions": ("ipv4",)}
    runs = claim_runs.table(lambda scenario, cca, ip_version: of[cca], **options)
    runs["seed"], runs["excluded_by"] = runs["replication"] + seeds, ""
    for constant in ("rtt_mean_ms", "loss_percent", "retransmits"):
        runs[constant] = 20.0
    return Results(folder, study, runs)


def goodput_of(table, cca="mine"):
    return table[(table["measure"] == "Goodput") & (table["cca"] == cca)].iloc[0]


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


def both_ip_versions(folder):
    made = results(folder, ip_versions=["ipv4", "ipv6"])
    return Results(folder, made.study, pd.concat([made.runs, made.runs.assign(ip_version="ipv6")], ignore_index=True))


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


def test_what_only_one_folder_has_is_named():
    first, second = both_ip_versions("results/a"), results("results/b")
    table = compared(first, second)
    assert set(table["ip_version"]) == {"ipv4"} and problem_of(first, second) is None
    assert "Only in results/a, and not compared: ipv6." in compare_results.summary_words(first, second, table)
    part = both_ip_versions("results/b")
    part = Results(
        "results/b", part.study, part.runs[(part.runs["cca"] == "mine") | (part.runs["ip_version"] == "ipv4")]
    )
    words = compare_results.summary_words(first, part, compared(first, part))
    assert "Only in results/a, and not compared: 10ms reno ipv6." in words
    more = {"ccas": ["mine", "reno", "bbr", "vegas"]}
    third = Results("results/c", first.study | more, first.runs)
    assert "Only in results/c, and not compared: bbr and vegas." in compare_results.summary_words(third, first, table)
    alone = Results("results/b", second.study, second.runs.assign(ip_version="ipv6"))
    assert problem_of(second, alone).startswith(
        "results/b and results/b have no scenario, CCA and IP version in common"
    )


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"scenarios": [{"id": "10ms", "link": {"rate_mbps": 20, "delay_ms": 10}}]},
            "scenarios[10ms].link.rate_mbps is 10 in results/a and 20 in results/b; only results of the same conditions can be compared.",
        ),
        (
            {"scenarios": [{"id": "20ms", "link": {"rate_mbps": 10, "delay_ms": 20}}]},
            "scenario 10ms is in results/a and not in results/b; only results",
        ),
        (
            {"ccas": ["vegas", "lp"]},
            "results/a and results/b have no CCA in common, and don't have exactly one CCA each",
        ),
    ],
)
def test_other_conditions_are_refused(change, message):
    assert problem_of(results(), results("results/b", **change)).startswith(message)


def test_other_columns_are_refused():
    second = results("results/b")
    second = Results(second.folder, second.study, second.runs.assign(new=1))
    assert problem_of(results(), second).startswith(
        "only one of results/a and results/b has the column new in runs.csv"
    )
    assert problem_of(results(), results("results/b")) is None


SCORE = {
    "rfc_section": "5.1.2", "criterion": "short queues", "scenario": "10ms", "measure": "queueing_p95_ms", "unit": "ms",
    "better": "lower", "margin": 2.0, "limit": np.nan, "verdict": "like",
}  # fmt: skip


def exam(folder="results/a", values=RENO, cca="mine", **score):
    first = results(folder)
    study = first.study | {"exam": {"cca": cca, "margins": {"index": 0.05}}}
    runs = first.runs[first.runs["cca"] == cca]
    table = runs[["scenario", "cca", "ip_version", "replication"]].assign(measure="queueing_p95_ms", value=values)
    return Results(folder, study, first.runs, pd.DataFrame([SCORE | score]), table)


def test_scorecards_are_compared_in_pairs_by_the_exams_margins():
    values = 40 + 10 * NOISE
    (row,) = compared(exam(values=values), exam("results/b", values=values + 3, verdict="worse")).to_dict("records")
    assert (row["change"], row["effect"], row["n"], row["margin"]) == ("worse", pytest.approx(3), 8, 2)
    assert (row["paired"], row["first_verdict"], row["second_verdict"]) == (True, "like", "worse")
    (row,) = compared(exam(values=values), exam("results/b", values=values + 0.02)).to_dict("records")
    assert (row["change"], row["p_corrected"]) == ("like", pytest.approx(np.nan, nan_ok=True))
    (row,) = compared(exam(values=values), exam("results/b", values=values)).to_dict("records")
    assert row["change"] == "the same"


def test_a_limit_is_a_count_of_runs():
    """One more run beyond a limit is no finding, even if it changes the verdict on a mean; a majority is."""
    values = np.array([4.0, 4.5, 4.9, 4.2, 4.4, 4.6, 4.7, 4.8])
    absolute = {"margin": np.nan, "limit": 5.0, "verdict": "passed"}
    second = values + np.array([0, 0, 2.0, 0, 0, 0, 0, 0])
    (row,) = compared(
        exam(values=values, **absolute), exam("results/b", second, **absolute | {"verdict": "failed"})
    ).to_dict("records")
    assert (row["change"], row["measure"], row["second"], row["n_needed"]) == (
        "not enough",
        "queueing_p95_ms: beyond 5",
        1,
        44,
    )
    row = compared(exam(values=values, **absolute), exam("results/b", values + 2, **absolute)).iloc[0]
    assert (row["change"], row["pairs_worse"]) == ("worse", 8)


def test_infinite_values_are_called_so():
    """Half of the second runs have too many short flows that never finish: the median lies between a number and infinity."""
    values = 2 + NOISE
    never = np.where(np.arange(8) < 4, NEVER, values + 1)
    table = compared(exam(values=values), exam("results/b", values=never))
    for text in (table_text(table), page(exam(values=values), exam("results/b", values=never), table)):
        assert "infinite" in text and "000,000" not in text and "499,999" not in text


def test_what_neither_evaluates_is_left_out():
    nothing = {"measure": "", "margin": np.nan, "verdict": "not evaluated"}
    assert compared(exam(**nothing), exam("results/b", **nothing)).empty
    assert compared(exam(), exam("results/b", **nothing)).empty
    words = compare_results.summary_words(exam(), exam("results/b", **nothing), compared(exam(), exam(**nothing)))
    assert "2 rows of the scorecards are left out: they were measured in at most one of the folders." in words


def test_what_has_no_value_is_not_measured():
    row = compared(exam(), exam("results/b", values=np.nan)).iloc[0]
    assert (row["change"], row["n"]) == ("not measured", 0)


def test_exams_by_other_margins_are_refused():
    second = exam("results/b")
    second.study["exam"] = {"cca": "mine", "margins": {"index": 0.1}}
    assert problem_of(exam(), second).startswith("exam.margins.index is 0.05 in results/a and 0.1 in results/b")
    assert problem_of(exam(), results("results/b")).startswith("results/a is an exam, and results/b is not")


def test_texts_looks_and_numbers_of_replications_are_no_conditions():
    """An exam with an explanation, or with more runs of open rows; runs of the same replication form pairs."""
    values = 40 + 10 * NOISE
    first, second = exam(values=values), exam("results/b", values=values + 3)
    second.study["exam"] |= {"explanation": "It is new.", "looks": [4], "population": {"rates": "RFC 7928"}}
    second.study["scenarios"] = [one | {"replications": 12} for one in second.study["scenarios"]]
    assert problem_of(first, second) is None
    first = Results(first.folder, first.study, first.runs, first.scorecard, first.exam_values[:6])
    (row,) = compared(first, second).to_dict("records")
    assert (row["change"], row["n"]) == ("worse", 6)


def test_table_and_page_are_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for folder, values in (("a", RENO), ("b", RENO * 1.1 + NOISE)):
        made = results(folder, values)
        for name in ("workflow", "tidy"):
            (tmp_path / folder / name).mkdir(parents=True)
        (tmp_path / folder / "workflow/study.json").write_text(json.dumps(made.study))
        made.runs[RUNS.names].to_csv(tmp_path / folder / "tidy/runs.csv", index=False)
    assert compare_results.main(["a", "b"]) == 0
    printed = capsys.readouterr().out
    assert (
        "From a to b, 8 rows: 0 worse, 1 better, 0 too variable, 0 not enough, 0 not measured, 0 like, 7 the same."
        in printed
    )
    assert "Margins from a (`analysis.equivalence_margin`): Goodput 5 %, Round-trip time 5 %" in printed
    assert pd.read_csv("results/comparison-a-b.csv")["change"].tolist() == ["better"] + ["the same"] * 7
    assert "verdict good" in (tmp_path / "results/comparison-a-b.html").read_text()


@pytest.mark.parametrize(
    ("folders", "message"),
    [
        ([], "EXAMS names 0 folders; allowed: two"),
        (["x", "./x"], "EXAMS names x twice; allowed: two folders."),
        (["x", "y"], "x is not a folder of finished results: x/workflow/study.json is missing"),
    ],
)
def test_folders_that_are_none_are_refused(folders, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert compare_results.main(folders) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"sawtooth: {message}") and error.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"study": "x', "not JSON (Unterminated string starting at: line 1 column 11 (char 10))"),
        ("[" * 100_000, "not the description of a study"),
        ('{"scenarios": [1], "ccas": ["reno"], "analysis": {}}', "not the description of a study"),
    ],
)
def test_a_file_that_can_not_be_read_is_named(text, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("workflow", "tidy"):
        (tmp_path / "x" / folder).mkdir(parents=True)
    (tmp_path / "x/workflow/study.json").write_text(text)
    (tmp_path / "x/tidy/runs.csv").write_text("")
    with pytest.raises(
        compare_results.ComparisonError, match=f"^{re.escape(f'x/workflow/study.json: {problem}; run the study again')}"
    ):
        compare_results.read_results("x")


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
