"""Expectations that a study may have, and the sentence on each that can't be checked."""

import pytest
import yaml

import claim_runs
from claim_runs import mistakes
from run_tables.tidy_tables import TIDY_TABLES
from study_files import study as studies
from topics.cells.tables import DESCRIPTIVE
from topics.claims.claims_file import load_claims
from topics.claims.tables import CLAIMS
from topics.expectations.expectation_list import ExpectationError, expectations_of, expected_of_claims
from topics.queues.tables import QUEUE_CELLS

STUDY = """
study: gate
replications: 3
ccas: [reno, cubic]
ip_versions: [ipv4]
scenarios:
  - {id: near, link: {rate_mbps: 10, delay_ms: 5}}
  - {id: far, link: {rate_mbps: 10, delay_ms: 20}}
"""
FAST = {"id": "fast", "kind": "threshold", "quantity": "goodput_mbps", "pick": "lowest", "requirement": {"at_least": 9}}
ROWS = {"id": "rows", "table": "runs", "column": "valid", "one_of": [True]}


def expectations(*entries):
    config = yaml.safe_load(STUDY) | {"analysis": {"expect": list(entries)}}
    return expectations_of(
        studies.resolve(config, "gate.yaml"), "gate.yaml", (*TIDY_TABLES, CLAIMS, DESCRIPTIVE, QUEUE_CELLS)
    )


def test_predicates_are_completed_as_claims_of_the_studys_own_names():
    completed = expectations(FAST | {"ccas": ["cubic"]}, ROWS)
    (claim,) = completed["predicates"]["claims"]
    assert completed["ids"] == ["fast", "rows"]
    assert claim["ccas"] == ["cubic"] and claim["scenarios"] == ["near", "far"] and claim["must_be"] == "shown"
    assert completed["predicates"]["scenarios"] == [{"id": name, "scenario": [name]} for name in ("near", "far")]
    assert completed["rows"] == [
        ROWS | {"where": {}, "statement": "", "must_be": "shown", "accept": [], "interval": []}
    ]


def test_a_study_without_expectations_asks_nothing():
    assert expectations() == {"ids": [], "predicates": None, "rows": []}


@pytest.mark.parametrize(
    ("change", "message"),
    mistakes("""
{id: Fast}
  analysis.expect[Fast].id is "Fast"; allowed: 1 to 64 lower-case letters, digits, dots and hyphens, a letter or digit first.
{pikc: lowest}
  unknown key 'analysis.expect[fast].pikc'; did you mean 'pick'?
{quantity: speed}
  analysis.expect[fast].quantity is "speed"; allowed: one of
{quantity: transfer_s, flows: {}}
  analysis.expect[fast].quantity is "transfer_s"; allowed with flows: one of goodput_mbps
{ccas: [vegas]}
  analysis.expect[fast].ccas has 'vegas'; allowed: the names in the file's list: reno, cubic.
{scenarios: [middle]}
  analysis.expect[fast].scenarios has 'middle'; allowed: the names in the file's list: near, far.
{requirement: {at_least: 5, at_most: 1}}
  analysis.expect[fast].requirement is {at_least: 5, at_most: 1}; allowed: an upper bound above the lower one.
{kind: treshold}
  analysis.expect[fast].kind is "treshold"; did you mean 'threshold'? Allowed: one of ordering
{must_be: true}
  analysis.expect[fast].must_be is true; YAML takes a bare yes, no, on or off for true or false; allowed: one of shown, not-refuted.
{section: "4"}
  unknown key 'analysis.expect[fast].section'
"""),
)
def test_a_predicate_that_cannot_be_checked_is_refused(change, message):
    with pytest.raises(ExpectationError) as error:
        expectations(FAST | change)
    assert message in str(error.value) and str(error.value).startswith("gate.yaml: ")


@pytest.mark.parametrize(
    ("change", "message"),
    mistakes("""
{table: run}
  analysis.expect[rows].table is run; did you mean 'runs'? Allowed: the tables that this study will have: runs, flows, paths, bottlenecks, checks, scenarios, claims, descriptive, queue_cells.
{table: groups}
  analysis.expect[rows].table is groups; did you mean 'runs'? Allowed: the tables that this study will have: runs
{column: vlaid}
  analysis.expect[rows].column is vlaid; did you mean 'valid'? Allowed: the columns of runs: scenario
{where: {ccca: cubic}}
  analysis.expect[rows].where.ccca is ccca; did you mean 'cca'?
{none_of: [false]}
  analysis.expect[rows].none_of is given as well as one_of; allowed: one of the keys requirement, one_of, none_of.
{column: goodput_mbps}
  analysis.expect[rows].one_of is given, and goodput_mbps of runs is number; allowed: requirement.
{interval: [rtt_mean_ms, loss_percent]}
  analysis.expect[rows].interval is ["rtt_mean_ms", "loss_percent"]; allowed: only with requirement, and only for a number.
{one_of: []}
  analysis.expect[rows].one_of is []; allowed: a list of values, as in [better, like].
{accept: [""]}
  analysis.expect[rows].accept is [""]; allowed: only with none_of.
{one_of: ["True"]}
  analysis.expect[rows].one_of has "True", and valid is true or false; allowed: true and false, without quotes.
{one_of: [1]}
  analysis.expect[rows].one_of has 1, and valid is true or false; allowed: true and false, without quotes.
{where: {replication: [1, "2"]}}
  analysis.expect[rows].where.replication has "2", and replication is a number; allowed: numbers, without quotes.
{where: {replication: true}}
  analysis.expect[rows].where.replication has true, and replication is a number; allowed: numbers, without quotes.
"""),
)
def test_rows_that_cannot_be_checked_are_refused(change, message):
    with pytest.raises(ExpectationError) as error:
        expectations(ROWS | change)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    mistakes("""
{interval: [cca, rtt_mean_ms]}
  analysis.expect[rows].interval[0] is cca, and this column is text; allowed: columns of numbers.
{interval: [rtt_mean_ms, valid]}
  analysis.expect[rows].interval[1] is valid, and this column is truth; allowed: columns of numbers.
{requirement: {at_least: 9, at_most: 1}}
  analysis.expect[rows].requirement is {at_least: 9, at_most: 1}; allowed: an upper bound above the lower one.
{requirement: {at_least: 9, above: 1}}
  analysis.expect[rows].requirement has two bounds on the same side; allowed: one.
{requirement: {at_least: .nan}}
  analysis.expect[rows].requirement.at_least is .nan; allowed: a number from -1000000000000 to 1000000000000.
"""),
)
def test_a_requirement_that_cannot_be_checked_is_refused(change, message):
    with pytest.raises(ExpectationError) as error:
        expectations({"id": "rows", "table": "runs", "column": "goodput_mbps", "requirement": {"above": 9}} | change)
    assert message in str(error.value)


def test_a_predicate_may_name_a_program_of_the_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stack").mkdir()
    (tmp_path / "stack/stack").write_text("#!/bin/sh\n")
    (tmp_path / "stack/stack").chmod(0o755)
    commands = {side: f"{{folder}}/stack {side} {{server}} {{seconds}} {{cca}}" for side in ("server", "client")}
    program = {"path": "stack", "protocol": "udp", "ccas": ["reno"], **commands}
    config = yaml.safe_load(STUDY) | {"ccas": ["reno", "stack:reno"], "programs": {"stack": program}}
    study = studies.resolve(config | {"analysis": {"expect": [FAST | {"ccas": ["stack:reno"]}]}}, "gate.yaml")
    (claim,) = expectations_of(study, "gate.yaml", TIDY_TABLES)["predicates"]["claims"]
    assert claim["ccas"] == ["stack:reno"]
    study["analysis"]["expect"] = [FAST | {"ccas": ["stack:cubic"]}]
    with pytest.raises(ExpectationError, match=r'ccas\[0\] is "stack:cubic"; .* yeah, stack:reno, or several'):
        expectations_of(study, "gate.yaml", TIDY_TABLES)


NOT_WORSE = {"id": "rows", "table": "claims", "column": "verdict", "none_of": ["not reproduced"]}
FAST_CELLS = {"id": "rows", "table": "descriptive", "column": "mean", "requirement": {"above": 9}}


@pytest.mark.parametrize(
    ("one", "change", "message"),
    [
        (NOT_WORSE, {"accept": ["not testabel"]}, 'accept has "not testabel"; allowed: values that mean that nothing was measured: "not testable", "".'),
        (NOT_WORSE, {"column": "kind"}, "none_of is given, and claims doesn't declare which values of kind mean that nothing was measured; allowed: one_of."),
        (FAST_CELLS, {}, "interval is missing, and mean of descriptive is an estimate; allowed: an interval, such as [low, high], or must_be: not-refuted."),
    ],
)  # fmt: skip
def test_a_gate_that_could_pass_without_evidence_is_refused(one, change, message):
    with pytest.raises(ExpectationError) as error:
        expectations(one | change)
    assert str(error.value) == f"gate.yaml: analysis.expect[rows].{message}"


def test_the_interval_that_a_table_declares_is_the_default():
    (measure, *_) = (column for column in QUEUE_CELLS if column.interval)
    one = {"id": "rows", "table": QUEUE_CELLS.name, "column": measure.name, "requirement": {"above": 0}}
    (row,) = expectations(one)["rows"]
    assert row["interval"] == [f"{measure.name}_low", f"{measure.name}_high"]
    assert set(row["interval"]) < set(QUEUE_CELLS.names)


def test_what_needs_no_interval_has_none():
    """A run's number was measured in that run; for an estimate the study may require that it isn't refuted."""
    of_runs = {"id": "runs", "table": "runs", "column": "goodput_mbps", "requirement": {"above": 1}}
    rows = expectations(of_runs, FAST_CELLS | {"must_be": "not-refuted"}, NOT_WORSE | {"id": "c", "accept": [""]})[
        "rows"
    ]
    assert [row["interval"] for row in rows] == [[], [], []]


def test_a_name_stands_once():
    with pytest.raises(ExpectationError, match=r"analysis.expect\[rows\] occurs twice; allowed: each name once."):
        expectations(ROWS, ROWS)


def test_claims_say_which_verdicts_pass(tmp_path):
    claim = {"kind": "threshold", "pick": "mean", "requirement": {"above": 1}}

    def expected(**of_all):
        content = claim_runs.content(claim, claim | {"expect": ["reproduced", "not shown"]}) | of_all
        return expected_of_claims(load_claims(claim_runs.written(tmp_path / "claims.yaml", content)))

    (second,) = expected()
    assert second["where"] == {"claim": ["claim-2"]} and second["one_of"] == ["reproduced", "not shown"]
    both = expected(expect=["reproduced"])
    assert [one["one_of"] for one in both] == [["reproduced"], ["reproduced", "not shown"]]
    assert [one["id"] for one in expectations(*both)["rows"]] == ["claim-1", "claim-2"]
    assert expected_of_claims(None) == []
