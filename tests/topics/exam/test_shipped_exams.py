"""The criteria, and whether the shipped exams answer them with enough runs."""

import pytest

from experiment.specification import RunSpecification
from inference.counts_of_draws import share_at_most
from study_files import study as studies
from study_files.study_design import StudyDesign
from topics.exam import card_tests
from topics.exam.criteria import CRITERIA, wanted_measures
from topics.exam.measure_exam import HARMED, SOLO
from topics.exam.topic import TOPIC


@pytest.mark.slow
@pytest.mark.parametrize("file", ["exam", "exam-quick"])
def test_shipped_exams_answer_every_criterion(file):
    """Each criterion that can be evaluated has a scenario, each scenario tests one, and each mandatory criterion decides somewhere."""
    path = f"config/studies/{file}.yaml"
    study = studies.resolve(studies.load(path), path)
    scenarios, primaries = [scenario["id"] for scenario in study["scenarios"]], study["exam"]["primaries"]
    assert all(c.reason or any(map(c.is_answered_by, scenarios)) for c in CRITERIA)
    assert all(wanted_measures(name) for name in scenarios)
    for criterion in CRITERIA:
        if criterion.scenarios and criterion.strength in ("MUST", "MUST consider"):
            assert any(
                criterion.is_answered_by(name) and set(measures) & set(criterion.measures)
                for name, measures in primaries.items()
            ), criterion


@pytest.mark.parametrize("file", ["exam", "exam-quick"])
def test_shipped_exams_have_enough_runs_for_their_tests(file):
    """Deciding rows have enough runs to show that most are worse if 85 % are, and, if none is worse, to bound their share."""
    path = f"config/studies/{file}.yaml"
    study = studies.resolve(studies.load(path), path)
    tests = 1 + sum(map(len, study["exam"]["primaries"].values()))
    level = card_tests.level_of_look(0.05, 0) / tests
    n = study["replications"]
    draws = ((1, n),)
    assert card_tests.fewest_for_most(draws, level) <= 0.85 * n
    most = share_at_most(0, draws, level / len(study["exam"]["standards"]))
    assert most <= study["exam"]["limits"]["worse_share"]
    own = {scenario["id"]: scenario["replications"] for scenario in study["scenarios"]}
    alone = {scenario["id"]: scenario.get("seeds_of") for scenario in study["scenarios"]}
    assert all(own[name] is None and own.get(alone[name]) is None for name in study["exam"]["primaries"])
    assert {name for name in own if "-solo" in name} == {*alone.values()} - {None}  # each flow alone is compared with


@pytest.mark.parametrize("file", ["exam", "exam-quick"])
def test_the_flow_alone_has_the_path_of_the_cases_that_are_compared_with_it(file):
    written = f"config/studies/{file}.yaml"
    study = studies.resolve(studies.load(written), written)
    others = {one["id"]: _number_of_other(one) for one in study["scenarios"]}
    compared = [(one["id"], one["seeds_of"]) for one in study["scenarios"] if one.get("seeds_of")]
    assert compared
    for case, alone in compared:
        assert case.startswith(HARMED) and alone.startswith(SOLO)
        for drawn in (("ipv4", 1), ("ipv6", 2)):
            path = _path(study, case, others[case], *drawn)
            assert path == _path(study, alone, others[alone], *drawn), case


def _number_of_other(scenario):
    return next((place for place, group in enumerate(scenario["groups"] or []) if group["name"] == "other"), 0)


def _path(study, scenario, flow, *drawn):
    run = RunSpecification(studies.run_specification(study, scenario, "reno", *drawn))
    return run.flow_pair(flow).rtt_ms, run.rate_mbps, run.queue_bytes


def test_harm_needs_the_flow_alone_with_each_seed():
    path = "config/studies/exam-quick.yaml"
    study = studies.load(path)
    of_harm = {
        name for name, measures in study["exam"]["primaries"].items() if any(one.startswith("harm") for one in measures)
    }
    alone = next(one["seeds_of"] for one in study["scenarios"] if one["id"] in of_harm)
    scenarios = [one | ({"replications": 6} if one["id"] == alone else {}) for one in study["scenarios"]]
    resolved = studies.resolve(study | {"scenarios": scenarios, "exam": study["exam"] | {"cca": "vegas"}}, path)
    problems = list(TOPIC.problems(StudyDesign(resolved)))
    assert problems and all(one.startswith(f"scenarios[{alone}].replications is 6, and 5.2.1-") for one in problems)


PAIR_OF_FLOWS = [{"name": "own", "cca": "own", "stop_s": 9}, {"name": "other", "cca": "cubic", "stop_s": 9}]


@pytest.mark.parametrize(
    "scenario, words",
    [
        ({"id": "5.2.1-beside-mine", "flows": PAIR_OF_FLOWS}, None),
        ({"id": "5.2.1-beside-mine", "flows": [one | {"name": one["name"] + "s"} for one in PAIR_OF_FLOWS]}, "one flow in a group named own"),
        ({"id": "5.2.1-beside-mine", "flows": [one | {"count": 2} for one in PAIR_OF_FLOWS]}, "one flow in a group named own"),
        ({"id": "5.2.2-mine", "flows": PAIR_OF_FLOWS}, "a group with application: web"),
        ({"id": "7.3-mine"}, "a path that changes"),
        ({"id": "7.8-crowd-mine", "flows": PAIR_OF_FLOWS}, "a group named crowd"),
        ({"id": "7.10-failover-mine", "topology": "cable", "multipath": {"by": "mptcp", "paths": 2}}, "multipath.outage"),
        ({"id": "mine", "flows": 2}, None),
    ],
)  # fmt: skip
def test_a_case_has_what_its_measures_need(scenario, words):
    """Without it, the measures of all runs would fail after the runs."""
    study = {
        "study": "mine",
        "ccas": ["reno", "cubic"],
        "exam": {"cca": "cubic", "standards": ["reno"]},
        "scenarios": [{"traffic": {"duration_s": 9, "sample_interval_ms": 50}} | scenario],
    }
    problems = list(TOPIC.problems(StudyDesign(studies.resolve(study, "mine.yaml"))))
    assert bool(problems) == bool(words) and all(words in one for one in problems[:1]), problems


def test_names_match_whole_sections():
    """7.10 is not a case of 7.1."""
    assert "during_percent" in wanted_measures("7.10-failover")
    assert "queueing_p95_ms" not in wanted_measures("7.10-failover")
