"""`make compare`: folders that can't be compared or read, and the table and page that are written."""

import json
import re

import pandas as pd
import pytest

from results_folders import NOISE, RENO, both_ip_versions, results
from run_tables.tidy_tables import RUNS
from session import compare_results
from session.comparable_results import Results, problem_of
from session.result_comparison import compared


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
        (["a", "b", "c"], "EXAMS names 3 folders; allowed: two, separated by a space"),
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
