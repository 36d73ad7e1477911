"""Expectations compared with tables, and the line on each that isn't met."""

from types import SimpleNamespace

import pandas as pd
import pytest

import claim_runs
from run_tables.scenario_table import SCENARIOS
from run_tables.table import Table, number_column, text_column, verdict_column
from run_tables.tidy_tables import FLOWS, RUNS
from study_files import study as studies
from tidy_tables import completed
from topics.expectations import gate
from topics.expectations.check_expectations import main
from topics.expectations.expectation_list import expectations_of
from topics.expectations.judge_study import main as judge
from topics.expectations.predicate_expectations import runs_of_claims
from topics.expectations.row_expectations import check_rows
from topics.expectations.section import gate_sentence
from topics.expectations.tables import EXPECTATIONS

SCORES = Table(
    "scores", "a score",
    (text_column("section", ""), verdict_column("verdict", "", unmeasured=("not evaluated", "not measured")), number_column("value", "ms", ""), number_column("low", "ms", ""), number_column("high", "ms", "")),
)  # fmt: skip
SCORED = pd.DataFrame(
    [
        ["5.1", "like", 10.0, 9.0, 11.0],
        ["5.2", "worse", 30.0, 28.0, 32.0],
        ["5.10", "better", float("nan"), None, None],
        ["5.4", "not evaluated", 8.0, None, None],
        ["5.5", "", 30.0, 28.0, None],
    ],
    columns=SCORES.names,
)
STUDY = {"scenarios": [{"id": "near"}], "ccas": ["reno"], "ip_versions": ["ipv4"]}


def checked(**asked):
    one = {
        "id": "score",
        "statement": "",
        "table": "scores",
        "where": {},
        "must_be": "shown",
        "accept": [],
        "interval": [],
    }
    one |= asked
    return check_rows(one, SCORED, SCORES, STUDY)


def test_each_row_that_misses_is_told():
    row, *_ = checked(column="verdict", none_of=["worse", "starves"])
    assert (row["outcome"], row["passed"], row["found"], row["value"]) == ("not met", False, "worse", 30)
    assert row["subject"] == "verdict of scores, 5.2" and row["expected"] == "measured, and not worse or starves"
    (row,) = checked(column="verdict", where={"section": ["5.1", "5.10"]}, none_of=["worse"])
    assert (row["outcome"], row["passed"], row["number"]) == ("met", True, 2)


def test_what_was_not_measured_is_not_what_it_must_not_be():
    """A card without measurements has no worse row, but doesn't pass."""
    asked = {"column": "verdict", "where": {"section": ["5.1", "5.4", "5.5"]}, "none_of": ["worse"]}
    rows = checked(**asked)
    assert [(row["outcome"], row["passed"], row["found"]) for row in rows] == [
        ("not testable", False, "not evaluated"),
        ("not testable", False, ""),
    ]
    (row,) = checked(**asked, accept=["not evaluated"])
    assert row["subject"] == "verdict of scores, 5.5" and row["expected"] == "measured or not evaluated, and not worse"
    (row,) = checked(**asked, accept=["not evaluated", ""])
    assert row["passed"] and row["number"] == 3


def test_each_value_that_is_asked_for_has_a_row():
    (row,) = checked(column="verdict", where={"section": ["5.1", "6.1"]}, none_of=["worse"])
    assert (row["outcome"], row["passed"]) == ("not testable", False)
    assert row["because"] == "No row of scores is about section 6.1."


def test_a_gate_without_rows_fails():
    (row,) = checked(column="verdict", where={"section": ["6"]}, none_of=["worse"])
    assert (row["outcome"], row["passed"], row["number"]) == ("not testable", False, 0)


@pytest.mark.parametrize(
    ("requirement", "must_be", "outcome", "passed"),
    [
        ({"below": 20}, "shown", "met", True),
        ({"below": 10.5}, "shown", "not shown", False),
        ({"below": 10.5}, "not-refuted", "not shown", True),
        ({"below": 8}, "not-refuted", "not met", False),
    ],
)
def test_a_number_is_judged_with_its_interval(requirement, must_be, outcome, passed):
    where = {"where": {"section": ["5.1"]}, "interval": ["low", "high"], "must_be": must_be}
    (row,) = checked(column="value", requirement=requirement, **where)
    assert (row["outcome"], row["passed"]) == (outcome, passed)


@pytest.mark.parametrize(
    ("section", "requirement", "must_be", "outcome", "passed"),
    [
        ("5.4", {"below": 20}, "shown", "not shown", False),
        ("5.4", {"below": 20}, "not-refuted", "not shown", True),
        ("5.4", {"below": 5}, "not-refuted", "not met", False),
        ("5.5", {"below": 60}, "shown", "not shown", False),
        ("5.5", {"above": 20}, "shown", "met", True),
    ],
)
def test_no_interval_is_no_evidence(section, requirement, must_be, outcome, passed):
    """If both ends are missing, nothing is certain; a single missing end is infinite."""
    asked = {"where": {"section": [section]}, "interval": ["low", "high"], "must_be": must_be}
    (row,) = checked(column="value", requirement=requirement, **asked)
    assert (row["outcome"], row["passed"]) == (outcome, passed)
    assert ("no interval" in row["because"]) == (section == "5.4" and not passed)


def test_a_missing_number_fails():
    (row,) = checked(column="value", where={"section": ["5.10"]}, requirement={"below": 1000})
    assert (row["outcome"], row["passed"]) == ("not testable", False)


@pytest.fixture
def results(tmp_path):
    """A function that compares expectations with runs whose goodput is given by CCA; it returns the lines about failures."""

    def check(*expect, reno=(8.0, 8.1, 8.2), cubic=(9.4, 9.5, 9.6)):
        config = {
            "study": "gate", "replications": len(cubic), "ccas": ["reno", "cubic"], "ip_versions": ["ipv4"],
            "scenarios": [{"id": "10ms", "link": {"rate_mbps": 10, "delay_ms": 10}}], "analysis": {"expect": list(expect)},
        }  # fmt: skip
        study = studies.resolve(config, "gate.yaml")
        asked = expectations_of(study, "gate.yaml", [RUNS])
        of = {"reno": reno, "cubic": cubic}
        options = {"delays_ms": (10,), "ccas": ["reno", "cubic"], "ip_versions": ("ipv4",)}
        runs = claim_runs.table(lambda scenario, cca, ip_version: of[cca], **options)
        paths = {name: tmp_path / f"{name}.csv" for name in ("runs", "flows", "scenarios")}
        runs.to_csv(paths["runs"], index=False)
        pd.DataFrame(columns=FLOWS.names).to_csv(paths["flows"], index=False)
        scenarios = completed(runs[["scenario", "scenario_label", "platform"]].drop_duplicates("scenario"), SCENARIOS)
        truths = {column.name: False for column in SCENARIOS if column.kind == "truth"}
        scenarios.assign(**truths).to_csv(paths["scenarios"], index=False)
        inputs = SimpleNamespace(**paths, sockets=None, tables=[paths["runs"]] if asked["rows"] else [])
        (tmp_path / "analysis").mkdir(exist_ok=True)
        tables = sorted({one["table"] for one in asked["rows"]})
        params = SimpleNamespace(
            expectations=asked, tables=tables, confidence=0.95, significance=0.05, study=study, claims=None
        )
        main(inputs, SimpleNamespace(expectations=tmp_path / gate.TABLE), params)
        assert list(pd.read_csv(tmp_path / gate.TABLE).columns) == EXPECTATIONS.names
        return gate.failures(tmp_path, "gate's.yaml")

    return check


FAST = {
    "id": "fast", "kind": "threshold", "quantity": "goodput_mbps", "ccas": ["cubic"], "pick": "lowest",
    "requirement": {"at_least": 9},
}  # fmt: skip
FASTER = {
    "id": "faster", "kind": "ratio", "quantity": "goodput_mbps", "numerator": {"ccas": ["cubic"]},
    "denominator": {"ccas": ["reno"]}, "requirement": {"above": 1},
}  # fmt: skip


def test_what_is_met_leaves_no_line(results):
    assert results(FAST, FASTER, {"id": "valid", "table": "runs", "column": "valid", "one_of": [True]}) == []


def test_a_line_has_number_interval_what_was_expected_and_the_run_farthest_off(results, tmp_path):
    (line,) = results(FAST, FASTER, cubic=(8.5, 8.3, 8.7), reno=(7.0, 7.1, 7.2))
    assert line.startswith(
        "fast is not met: goodput; lowest mean of 1 cell: 8.5 Mbit/s, interval 8.0032 to 8.9968, expected at least 9 Mbit/s"
    ), line
    assert line.endswith(
        f"; repeat: snakemake --cores 1 --use-apptainer --configfile 'gate'\"'\"'s.yaml' "
        f"--force {tmp_path}/runs/10ms/cubic/ipv4/2.json.gz"
    )


def test_what_is_not_shown_fails_unless_it_may(results):
    spread = {"cubic": (8.0, 9.3, 10.6)}
    assert "fast is not shown" in results(FAST, **spread)[0]
    assert results(FAST | {"must_be": "not-refuted"}, **spread) == []


@pytest.mark.parametrize("cubic", [(9.5, 9.5, 9.5), (9.4, 9.5, 0.3)], ids=["copies", "a collapse"])
def test_runs_that_allow_no_interval_show_nothing(results, cubic):
    (line,) = results(FAST | {"pick": "mean", "requirement": {"at_least": 1}}, cubic=cubic)
    assert "fast is not shown" in line
    # Beside an expectation with an interval the missing ends are missing numbers.
    of_reno = FAST | {"id": "reno", "ccas": ["reno"], "requirement": {"at_least": 1}}
    assert results(FAST | {"pick": "mean", "requirement": {"at_least": 1}}, of_reno, cubic=cubic) == [line]
    asked = FAST | {"pick": "mean", "requirement": {"at_least": 1}, "must_be": "not-refuted"}
    assert results(asked, cubic=cubic) == []


def test_one_run_far_from_the_others_excuses_no_regression(results):
    """A collapse leaves no interval; the other runs and the mean are below the bound in any case."""
    asked = FAST | {"pick": "mean", "must_be": "not-refuted"}
    reno = (8.0, 8.1, 8.2, 8.0, 8.1, 8.2)
    for cubic in ((8.4, 8.5, 8.6, 8.5, 8.4, 8.6), (8.4, 8.5, 8.6, 8.5, 8.4, 0.3)):
        (line,) = results(asked, reno=reno, cubic=cubic)
        assert "fast is not met" in line, line
    more = FASTER | {"quantity": "goodput_mbps", "requirement": {"at_most": 1}, "must_be": "not-refuted"}
    (line,) = results(more, reno=reno, cubic=(80.0, 81.0, 79.0, 80.0, 82.0, 500.0))
    assert "faster is not met" in line


def test_without_valid_runs_the_gate_fails(results):
    (line,) = results(FAST | {"must_be": "not-refuted"}, cubic=(None, None, None))
    assert (
        "fast is not testable" in line
        and "No valid run of cubic" in line
        and line.endswith("/runs/10ms/cubic/ipv4/1.json.gz")
    )


def test_many_rows_of_one_expectation_are_counted(results):
    lines = results({"id": "none", "table": "runs", "column": "valid", "one_of": [False]}, reno=[8.0] * 20)
    assert len(lines) == gate.MOST_LINES + 1 and lines[-1].startswith("none: and 13 more rows of ")


def test_a_study_that_fails_leaves_its_lines_and_one_that_passes_none(results, tmp_path, capsys):
    (tmp_path / "logs").mkdir()
    inputs = SimpleNamespace(expectations=str(tmp_path / gate.TABLE))
    assert results(FAST) == []
    params = SimpleNamespace(configfile="gate's.yaml", platform=None)
    judge(inputs, None, params)
    gate.show_failures(tmp_path)
    assert capsys.readouterr().err == ""
    (line,) = results(FAST, cubic=(8.5, 8.3, 8.7))
    with pytest.raises(SystemExit, match="1"):
        judge(inputs, None, params)
    gate.show_failures(tmp_path)
    assert capsys.readouterr().err.startswith(
        f"sawtooth: gate: {line}\nsawtooth: gate: report and tables are complete: "
    )
    gate.forget_failures(tmp_path)
    gate.show_failures(tmp_path)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("passed", "sentence"),
    [
        ([True, True], "The study passes as a gate: 2 of 2 expectations met."),
        ([True, False], "The study doesn't pass as a gate: 1 of 2 expectations not met (b)."),
    ],
)
def test_the_report_says_whether_the_study_passes(passed, sentence):
    assert gate_sentence(pd.DataFrame({"expectation": ["a", "b"], "passed": passed})) == sentence


def test_a_claim_has_a_run_to_repeat_by_its_own_scenarios(tmp_path):
    """The file calls the scenario 1, the study calls it 10ms."""
    claim = {"kind": "threshold", "ccas": ["cubic"], "pick": "lowest", "requirement": {"at_least": 9}}
    values = {"reno": (7, 7, 7), "cubic": (8, 7.5, 8.2), "bbr": (9, 9, 9)}
    runs = claim_runs.table(lambda scenario, cca, ip_version: values[cca], delays_ms=(10,))
    file = claim_runs.loaded(tmp_path, claim, delays_ms=(10,))
    table = pd.DataFrame({"claim": ["claim-1"], "value": [7.9]})
    assert runs_of_claims(file, table, runs, None, None, None) == {"claim-1": "10ms/cubic/ipv4/2"}
