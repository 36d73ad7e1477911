"""Runs with programs that are executed twice: which runs, how their documents are compared, and what is said about them."""

import csv
import gzip
import json

import pytest

from publishing.result_checks.received_repetitions import problems
from study_files import study as studies
from topics.repetitions.chosen_runs import runs_to_repeat
from topics.repetitions.compare_repetitions import compared
from topics.repetitions.sentences import not_reproducible_words, repetition_sentences
from topics.repetitions.tables import DIFFERENT, FAILED, REPETITIONS, SAME

PROGRAM = {"server": "python3 serve {server} {seconds}", "client": "python3 get {server}"}


def study_of(**keys):
    study = {
        "study": "s", "replications": 3, "ip_versions": ["ipv4", "ipv6"], "ccas": ["reno"], "programs": {"p": PROGRAM},
        "scenarios": [{"id": name, "link": {"rate_mbps": 20, "delay_ms": 10}} for name in "abc"],
    }  # fmt: skip
    return studies.resolve(study | keys, "s.yaml")


def chosen(study):
    return runs_to_repeat(study, studies.runs(study))


def test_the_first_run_and_the_last_scenario_of_each_program_are_repeated():
    of_two = study_of(ccas=["reno", "p", "q:mine"], programs={"p": PROGRAM, "q": PROGRAM | {"ccas": ["mine"]}})
    assert chosen(of_two) == {
        (scenario, name, ip_version, 1): [name]
        for scenario, ip_version in (("a", "ipv4"), ("c", "ipv6"))
        for name in ("p", "q:mine")
    }


def test_programs_that_compete_are_repeated_with_any_cca():
    groups = [{"name": "own", "cca": "own", "stop_s": 10}, {"name": "other", "program": "p", "stop_s": 10}]
    beside = study_of(ccas=["reno", "cubic"], scenarios=[{"id": "a"}, {"id": "b", "flows": groups}, {"id": "c"}])
    assert chosen(beside) == {("b", "reno", "ipv4", 1): ["p"], ("b", "cubic", "ipv6", 1): ["p"]}


def test_nothing_is_repeated_without_programs_or_without_runs():
    assert chosen(study_of(programs={})) == {}
    assert runs_to_repeat(study_of(ccas=["p"]), []) == {}


def test_one_run_is_repeated_once():
    alone = study_of(ccas=["p"], ip_versions=["ipv4"], replications=1, scenarios=[{"id": "a"}])
    assert list(chosen(alone)) == [("a", "p", "ipv4", 1)]


def document(**keys):
    return gzip.compress(json.dumps({"a": {"b": [1, 2]}} | keys).encode(), mtime=0)


def crashed(**keys):
    checks = [{"name": "loss_forward", "ok": False, "observed": "no packet"}, {"name": "programs", "ok": False, "observed": "the client failed (exit status 1)"}]  # fmt: skip
    return document(verdict={"checks": checks}, **keys)


@pytest.mark.parametrize(
    "first, second, result, difference",
    [
        (document(), document(), SAME, ""),
        (document(), document(a={"b": [1, 3]}), DIFFERENT, "/a/b/1: 2 in the run, 3 in its repetition"),
        (document(), document(failure={"cause": "the guest ended"}), FAILED, "the repetition failed: the guest ended"),
        (document(failure={"cause": "x"}), document(), FAILED, "the run failed: x"),
        (document(failure={"cause": "x"}), document(failure={"cause": "x"}), FAILED, "the run failed: x"),
        (crashed(), crashed(), FAILED, "the programs failed in the same way in both executions: the client failed (exit status 1)"),
        (crashed(a=1), crashed(a=2), DIFFERENT, "/a: 1 in the run, 2 in its repetition"),
        (document(), gzip.compress(b'{"a":{"b":[1,2]}}', mtime=0), DIFFERENT, "only the notation of the JSON differs"),
    ],
)  # fmt: skip
def test_documents_are_compared_byte_for_byte(first, second, result, difference):
    assert compared(first, second) == (result, difference)


def row(result, programs="p:mine", replication=1.0, difference=""):
    return {
        "programs": programs, "scenario": "a", "cca": "p:mine", "ip_version": "ipv4", "replication": replication,
        "result": result, "difference": difference,
    }  # fmt: skip


def test_each_result_has_a_sentence():
    assert repetition_sentences([]) == [] and not_reproducible_words([]) == ""
    same = [row(SAME), row(SAME, replication="2")]
    assert repetition_sentences(same) == ["2 runs were repeated with the same bytes: with p:mine."]
    assert not_reproducible_words(same) == ""
    both = [
        row(DIFFERENT, "p:mine; q", difference="/x: 1 in the run, 2 in its repetition"),
        row(FAILED, "r", difference="the run failed: x"),
        *same,
    ]
    assert repetition_sentences(both) == [
        "1 of 3 runs that were compared with a repetition gave a different document for the same seed, so runs with q can't be reproduced.",
        "First difference: a/p:mine/ipv4/1, /x: 1 in the run, 2 in its repetition.",
        "2 runs were repeated with the same bytes: with p:mine.",
        "1 repeated run is no evidence of reproducibility: a/p:mine/ipv4/1, the run failed: x.",
    ]


def test_many_programs_are_counted_and_few_differences_are_quoted():
    rows = [row(DIFFERENT, f"p:{number}", number, f"/{number}") for number in range(1, 7)]
    whole, first = repetition_sentences(rows)
    assert "6 of 6 runs" in whole and "runs with 6 combinations of program and CCA can't be reproduced" in whole
    assert first == "First differences: a/p:mine/ipv4/1, /1; a/p:mine/ipv4/2, /2; and 4 more."


@pytest.mark.parametrize(
    "different, same, blamed",
    [
        (["odd; plain"], ["plain"], "odd"),
        (["odd", "odd; plain; bare"], ["plain", "bare; plain"], "odd"),
        (["odd; plain"], [], "odd and plain"),
        (["odd; plain"], ["odd", "plain"], "odd and plain"),
        (["odd"], ["odd"], "odd"),
    ],
)
def test_a_program_that_shares_a_run_with_another_is_not_blamed_for_it(different, same, blamed):
    rows = [*(row(DIFFERENT, names) for names in different), *(row(SAME, names) for names in same)]
    assert f"so runs with {blamed} can't be reproduced" in not_reproducible_words(rows)


def received(folder, rows, heading=REPETITIONS.names):
    (folder / "analysis").mkdir(exist_ok=True)
    with (folder / REPETITIONS.path).open("w", newline="") as file:
        csv.writer(file).writerows([heading, *rows])
    return list(problems(folder, study_of(ccas=["p"])))


def test_a_received_table_has_only_runs_of_the_study(tmp_path):
    good = ["p", "a", "a", "p", "ipv4", "1", SAME, ""]
    assert list(problems(tmp_path, study_of(ccas=["p"]))) == []
    assert received(tmp_path, []) == received(tmp_path, [good, [*good[:5], "2", DIFFERENT, "/x"]]) == []
    assert "has other columns than programs, scenario" in received(tmp_path, [good[:-1]], REPETITIONS.names[:-1])[0]
    assert "row 1: 7 values instead of 8" in received(tmp_path, [good[:-1]])[0]
    for place, value in enumerate(("q", "z", "<b>", "reno", "ipv6x", "", "maybe", "difference")):
        (problem,) = received(tmp_path, [good[:place] + [value] + good[place + 1 :]])
        assert problem.startswith("analysis/repetitions.csv, row 1: ") and value in problem
    assert "occurs twice" in received(tmp_path, [good, good])[0]
    (tmp_path / REPETITIONS.path).write_bytes(b"\x00\xff\xfe")
    assert list(problems(tmp_path, study_of(ccas=["p"]))) == ["analysis/repetitions.csv is not a CSV table"]
    (tmp_path / REPETITIONS.path).write_bytes(b"")
    assert list(problems(tmp_path, study_of(ccas=["p"]))) == ["analysis/repetitions.csv is not a CSV table"]
