"""The exam section of a study."""

import pytest

from study_files import study
from study_files.study_design import StudyDesign
from topics.outline import study_outline

SAMPLED = {"id": "near", "traffic": {"sample_interval_ms": 50}}


def resolved(**given):
    """Return a study with an exam, resolved."""
    config = {"study": "small", "ccas": ["reno", "cubic"], "scenarios": [SAMPLED]} | given
    return study.resolve(config, "small.yaml")


def test_the_examined_cca_runs_with_the_others():
    assert resolved(exam={"cca": "vegas"})["ccas"] == ["reno", "cubic", "vegas"]
    assert resolved(exam={"cca": "cubic"})["ccas"] == ["reno", "cubic"]
    assert resolved()["exam"]["cca"] is None


def test_an_examined_cca_may_be_the_studys_own():
    defined = {"mine": {"base": "cubic", "parameters": {"hystart": 0}}}
    assert resolved(exam={"cca": "mine"}, cca_definitions=defined)["ccas"][-1] == "mine"


def test_margins_are_merged_key_by_key():
    """A call that changes one margin keeps the file's others."""
    exam = resolved(exam={"cca": "vegas", "margins": {"delay_ms": 7}})["exam"]
    assert (exam["margins"]["delay_ms"], exam["margins"]["goodput_points"]) == (7, 5)


def test_dctcp_is_examined_without_marks_too():
    """Elsewhere it is refused, but an exam also covers its behaviour on today's paths."""
    assert "dctcp" in resolved(exam={"cca": "dctcp"})["ccas"]
    with pytest.raises(study.StudyError, match="behaves like Reno"):
        resolved(ccas=["reno", "dctcp"])


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"exam": {"cca": "nonsense"}}, "exam.cca is nonsense; allowed: one of bbr"),
        (
            {"exam": {"cca": "vegas", "standards": ["bbr"]}},
            "exam.standards has bbr; allowed: CCAs in ccas, reno, cubic, vegas",
        ),
        ({"exam": {"cca": "reno"}, "mixes": "ordered-pairs"}, "ccas has mixes; allowed in an exam: single CCAs"),
        ({"exam": {"cca": "reno", "margin": {}}}, "margin"),
        (
            {"exam": {"cca": "reno"}, "scenarios": [{"id": "near"}]},
            "traffic.sample_interval_ms is null in all scenarios",
        ),
        ({"exam": {"cca": "reno", "limits": {"starved_share": 2}}}, "exam.limits.starved_share is 2"),
        (
            {"exam": {"cca": "reno", "looks": [20, 10]}},
            "exam.looks is .*; allowed: different numbers of replications in ascending order",
        ),
    ],
)
def test_what_an_exam_can_not_be(given, sentence):
    with pytest.raises(study.StudyError, match=sentence):
        resolved(**given)


@pytest.mark.parametrize(
    "primaries, sentence",
    [
        (
            {"6.3-fat": ["utilisation_percent"]},
            "exam.primaries has 6.3-fat; allowed: scenarios of the study, such as 6.3-far.",
        ),
        (
            {"6.3-far": ["utilization"]},
            "exam.primaries.6.3-far has utilization; allowed: loss_percent, queueing_p95_ms, utilisation_percent.",
        ),
        (
            {"near": ["loss_percent"]},
            "exam.primaries.near has loss_percent; no criterion requires a measure in this scenario.",
        ),
        ({"6.3-far": ["utilisation_percent"]}, None),
    ],
)
def test_what_decides_must_be_there(primaries, sentence):
    scenarios = [SAMPLED, SAMPLED | {"id": "6.3-far"}]
    made = resolved(exam={"cca": "reno", "primaries": primaries}, scenarios=scenarios)
    assert study_outline(StudyDesign(made)).problems == ([sentence] if sentence else [])


def test_ip_versions_that_alternate():
    """Each replication runs over one of them, in turn, the same for all CCAs."""
    made = resolved(exam={"cca": "reno", "ip_versions": "alternate"}, replications=3)
    runs = [run[2:] for run in study.runs(made) if run[1] == "reno"]
    assert sorted(runs, key=lambda run: run[1]) == [("ipv4", 1), ("ipv6", 2), ("ipv4", 3)]
    assert study.count_runs(made, {"near": 3}) == len(list(study.runs(made))) == 6
    with pytest.raises(KeyError):
        study.run_specification(made, "near", "reno", "ipv6", 1)


def test_a_scenario_may_have_replications_and_seeds_of_another():
    """The same seeds draw the same path, so two scenarios can be compared run by run."""
    varied = SAMPLED | {"variation": {"rtt_percent": 20}}
    made = resolved(
        scenarios=[varied, varied | {"id": "beside", "label": "b", "seeds_of": "near", "replications": 2, "flows": 2}]
    )
    assert sum(run[0] == "beside" for run in study.runs(made)) == 2 * 2 * 2
    first, second = (study.run_specification(made, name, "reno", "ipv4", 2) for name in ("near", "beside"))
    assert (first["seed"], first["scenario"]["link"]) == (second["seed"], second["scenario"]["link"])
    assert not {"replications", "seeds_of"} & second["scenario"].keys()
    with pytest.raises(
        study.StudyError, match=r"seeds_of is far; allowed: the id of a scenario that has its own seeds: near"
    ):
        resolved(scenarios=[SAMPLED, SAMPLED | {"id": "b", "label": "b", "seeds_of": "far"}])
    with pytest.raises(study.StudyError, match="replications is 2; allowed with controls aa: null"):
        resolved(scenarios=[SAMPLED | {"replications": 2}], controls="aa")
