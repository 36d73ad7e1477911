"""What a study says of an exam."""

import pytest

from study_files import study

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
    """What a call changes leaves the file's other margins."""
    exam = resolved(exam={"cca": "vegas", "margins": {"delay_ms": 7}})["exam"]
    assert (exam["margins"]["delay_ms"], exam["margins"]["goodput_points"]) == (7, 5)


def test_dctcp_is_examined_without_marks_too():
    """Elsewhere it is refused: an exam asks what it does on today's paths."""
    assert "dctcp" in resolved(exam={"cca": "dctcp"})["ccas"]
    with pytest.raises(study.StudyError, match="does what Reno does"):
        resolved(ccas=["reno", "dctcp"])


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"exam": {"cca": "nonsense"}}, "exam.cca is nonsense; allowed is one of bbr"),
        (
            {"exam": {"cca": "vegas", "standards": ["bbr"]}},
            "exam.standards has bbr; allowed are those of ccas, reno, cubic, vegas",
        ),
        ({"exam": {"cca": "reno"}, "mixes": "ordered-pairs"}, "ccas has mixes; allowed in an exam are single CCAs"),
        ({"exam": {"cca": "reno", "margin": {}}}, "margin"),
        (
            {"exam": {"cca": "reno"}, "scenarios": [{"id": "near"}]},
            "traffic.sample_interval_ms is null in all scenarios",
        ),
        ({"exam": {"cca": "reno", "limits": {"starved_share": 2}}}, "exam.limits.starved_share is 2"),
    ],
)
def test_what_an_exam_can_not_be(given, sentence):
    with pytest.raises(study.StudyError, match=sentence):
        resolved(**given)
