"""Control runs are the replications after the last one: other seeds, the same specification, and none unless requested."""

import pytest

from study_files import study as studies
from study_files.study_runs import control_runs


def resolved(small, **changes):
    return studies.resolve(small | {"replications": 3} | changes, "small.yaml")


def test_controls_follow_upon_the_replications(small):
    study = resolved(small, controls="aa")
    assert {run[3] for run in studies.runs(study)} == {1, 2, 3}
    assert {run[3] for run in control_runs(study)} == {4, 5, 6}
    assert [*studies.all_runs(study)] == [*studies.runs(study), *control_runs(study)]
    assert sorted(run for job in studies.job_runs(study, 5) for run in job) == sorted(studies.all_runs(study))


def test_a_control_run_is_what_a_further_replication_would_be(small):
    study, longer = resolved(small, controls="aa"), resolved(small, replications=6)
    for run in control_runs(study):
        assert studies.run_specification(study, *run) == studies.run_specification(longer, *run)
    with pytest.raises(KeyError):
        studies.run_specification(study, "near", "reno", "ipv4", 7)
    with pytest.raises(KeyError):
        studies.run_specification(resolved(small), "near", "reno", "ipv4", 4)


def test_without_controls_there_are_none(small):
    study = resolved(small)
    assert study["controls"] == "none"
    assert not [*control_runs(study)]
    assert [*studies.all_runs(study)] == [*studies.runs(study)]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"controls": "ab"}, "small.yaml: controls is \"ab\"; allowed: one of none, aa."),
        ({"controls": "aa", "replications": 10_000, "ccas": ["reno", "cubic", "bbr"]}, "makes 240,000 runs"),
        ({"controls": "aa", "analysis": {"calibration": True}}, "controls is aa; allowed with analysis.calibration: none"),
    ],
)  # fmt: skip
def test_what_can_have_no_controls_is_refused(small, changes, sentence):
    with pytest.raises(studies.StudyError) as refused:
        resolved(small, **changes)
    assert any(sentence in problem for problem in refused.value.problems), refused.value.problems
