"""Two results folders side by side: what got better and worse, in pairs, and what can't be compared."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import claim_runs
from run_tables.tidy_tables import RUNS
from session import compare_results
from session.result_comparison import Results, compared, pairs_of_ccas, problem_of
from study_files import study as studies

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
    runs["seed"] = runs["replication"] + seeds
    for constant in ("rtt_mean_ms", "loss_percent", "retransmits"):
        runs[constant] = 20.0
    return Results(folder, study, runs)


def goodput_of(table, cca="mine"):
    return table[(table["measure"] == "Goodput") & (table["cca"] == cca)].iloc[0]


def test_runs_of_one_seed_are_pairs():
    second = RENO * 1.05 + NOISE
    table = compared(results(), results("results/b", second))
    row = goodput_of(table)
    assert (row["change"], row["paired"], row["n"]) == ("better", True, 8)
    log_ratio = np.log(second) - np.log(RENO)
    assert row["effect"] == pytest.approx(100 * np.expm1(log_ratio.mean()))
    assert row["low"] < row["effect"] < row["high"] and row["p_holm"] < 0.05
    # What is the same in every run is no test, and does not make the correction stricter.
    assert goodput_of(table, "reno")["change"] == "the same"
    assert table["p"].notna().sum() == 1 and row["p"] == row["p_holm"]
    back = goodput_of(compared(results("results/b", second), results()))
    assert back["change"] == "worse" and back["p"] == pytest.approx(row["p"])


def test_worse_is_first_and_less_delay_is_better():
    first, second = results(), results("results/b", RENO - 1 + NOISE)
    second.runs.loc[second.runs["cca"] == "mine", "rtt_mean_ms"] = 15 + NOISE
    table = compared(first, second)
    assert table["change"].tolist()[:2] == ["worse", "better"]
    assert table["measure"].tolist()[:2] == ["Goodput", "Round-trip time"]


def test_other_seeds_are_independent_samples():
    second = RENO * 1.5 + NOISE
    row = goodput_of(compared(results(), results("results/b", second, seeds=100)))
    assert (row["change"], row["paired"]) == ("better", False)
    assert row["p"] == pytest.approx(stats.ttest_ind(np.log(second), np.log(RENO), equal_var=False).pvalue, rel=1e-3)
    assert "other seeds" in row["note"]


def test_chance_alone_shows_nothing():
    row = goodput_of(compared(results(), results("results/b", RENO + NOISE)))
    assert row["change"] == "no difference shown" and row["p_holm"] > 0.05


def test_one_measurement_repeated_has_no_test():
    table = compared(results(cubic=np.full(8, 9.0)), results("results/b", np.full(8, 7.0)))
    row = goodput_of(table)
    assert row["change"] == "worse" and pd.isna(row["p"]) and "one measurement repeated" in row["note"]


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
        ({"ccas": ["vegas", "lp"]}, "results/a and results/b have no CCA in common, nor each one of its own"),
    ],
)
def test_other_conditions_are_refused(change, message):
    assert problem_of(results(), results("results/b", **change)).startswith(message)


def test_other_columns_are_refused():
    second = results("results/b")
    second = Results(second.folder, second.study, second.runs.assign(new=1))
    assert problem_of(results(), second).startswith("runs.csv has new in only one of results/a and results/b")
    assert problem_of(results(), results("results/b")) is None


SCORE = {
    "rfc_section": "5.1.2", "criterion": "short queues", "scenario": "10ms", "measure": "queueing_p95_ms", "unit": "ms",
    "better": "lower", "n": 8.0, "value": 40.0, "low": 38.0, "high": 42.0, "verdict": "like", "reason": "",
}  # fmt: skip


def exam(folder="results/a", values=None, cca="mine", **score):
    first = results(folder)
    study = first.study | {"exam": {"cca": cca, "margins": {"index": 0.05}}}
    scorecard = pd.DataFrame([SCORE | score])
    if values is None:
        return Results(folder, study, first.runs, scorecard)
    runs = first.runs[first.runs["cca"] == cca]
    table = runs[["scenario", "cca", "ip_version", "replication"]].assign(measure="queueing_p95_ms", value=values)
    return Results(folder, study, first.runs, scorecard.assign(value=np.mean(values)), table)


def test_scorecards_are_compared_by_their_intervals_where_there_are_no_runs():
    (row,) = compared(exam(), exam("results/b", value=50.0, low=48.0, high=52.0, verdict="worse")).to_dict("records")
    assert (row["change"], row["effect"], row["paired"], row["second_verdict"]) == ("worse", 10, False, "worse")
    error = 2 / stats.t.ppf(0.975, 7)
    welch = stats.ttest_ind_from_stats(40, error * 8**0.5, 8, 50, error * 8**0.5, 8, equal_var=False)
    assert row["p"] == pytest.approx(welch.pvalue)
    overlapping = compared(exam(), exam("results/b", value=41.0, low=39.0, high=43.0))
    assert overlapping["change"].tolist() == ["no difference shown"]


def test_scorecards_are_compared_in_pairs_where_the_runs_make_their_values():
    values = 40 + 10 * NOISE
    (row,) = compared(exam(values=values), exam("results/b", values=values - 1 + NOISE / 10)).to_dict("records")
    assert (row["change"], row["paired"], row["n"]) == ("better", True, 8)
    (row,) = compared(exam(values=values), exam("results/b", values=values)).to_dict("records")
    assert row["change"] == "the same"


def test_a_limit_that_is_crossed_needs_no_test():
    (row,) = compared(exam(verdict="passed"), exam("results/b", verdict="failed")).to_dict("records")
    assert row["change"] == "worse" and row["note"].endswith("crossed the limit")


def test_what_neither_evaluates_is_left_out():
    nothing = {"value": np.nan, "low": np.nan, "high": np.nan, "verdict": "not evaluated", "reason": "no such path"}
    assert compared(exam(**nothing), exam("results/b", **nothing)).empty
    (row,) = compared(exam(), exam("results/b", **nothing)).to_dict("records")
    assert (row["change"], row["note"], row["second_verdict"]) == (
        "no difference shown",
        "no such path",
        "not evaluated",
    )


def test_exams_by_other_margins_are_refused():
    second = exam("results/b")
    second.study["exam"] = {"cca": "mine", "margins": {"index": 0.1}}
    assert problem_of(exam(), second).startswith("exam.margins.index is 0.05 in results/a and 0.1 in results/b")
    assert problem_of(exam(), results("results/b")).startswith("results/a is an exam, and results/b is none")


def test_table_and_page_are_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for folder, values in (("a", RENO), ("b", RENO * 1.05 + NOISE)):
        made = results(folder, values)
        for name in ("workflow", "tidy"):
            (tmp_path / folder / name).mkdir(parents=True)
        (tmp_path / folder / "workflow/study.json").write_text(json.dumps(made.study))
        made.runs[RUNS.names].to_csv(tmp_path / folder / "tidy/runs.csv", index=False)
    assert compare_results.main(["a", "b"]) == 0
    printed = capsys.readouterr().out
    assert "From a to b: of 8 metrics of cells 0 worse, 1 better, 0 no difference shown, 7 the same." in printed
    assert pd.read_csv("results/comparison-a-b.csv")["change"].tolist() == ["better"] + ["the same"] * 7
    assert "verdict good" in (tmp_path / "results/comparison-a-b.html").read_text()


@pytest.mark.parametrize(
    ("folders", "message"),
    [
        ([], "EXAMS names 0 folders; allowed are two"),
        (["x", "./x"], "EXAMS names x twice; allowed are two folders."),
        (["x", "y"], "x is no folder of finished results: x/workflow/study.json is missing"),
    ],
)
def test_folders_that_are_none_are_refused(folders, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert compare_results.main(folders) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"sawtooth: {message}") and error.count("\n") == 1
