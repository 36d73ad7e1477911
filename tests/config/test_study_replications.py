"""Replications until a study is precise enough: the times of the looks, and what is known of a scenario at each."""

import itertools
import json

import pytest

from study_files import study as studies
from study_files.study_replications import look_path, looks, replications_of, wanted_replications

RULE = {"until": {"goodput_percent": 1}, "at_most": 100}


def resolved(replications, **more):
    written = {"study": "x", "ccas": ["reno", "bbr"], "scenarios": [{"id": "near"}, {"id": "far"}]}
    return studies.resolve(written | {"replications": replications} | more, "x.yaml")


@pytest.mark.parametrize(
    "first, last", [(6, 100), (10, 10), (10, 11), (10, 14), (10, 1000), (6, 10_000), (5000, 10_000)]
)
def test_looks_go_from_the_first_to_the_last_by_about_half_as_many_more(first, last):
    steps = looks(resolved(RULE | {"at_least": first, "at_most": last}, ccas=["reno"], ip_versions=["ipv4"]))
    assert (steps[0], steps[-1]) == (first, last)
    ratios = [later / earlier for earlier, later in itertools.pairwise(steps)]
    assert all(1 < ratio < 1.9 for ratio in ratios)
    # Between looks of many values, where rounding is nothing, all grow alike.
    assert all(ratio > 1.2 for ratio in ratios) or last < 1.25 * first


def test_the_default_looks_are_these():
    assert looks(resolved(RULE)) == (10, 15, 22, 32, 46, 68, 100)
    assert looks(resolved(7)) == (7,)


def test_numbers_given_on_the_command_line_are_those_of_a_file(tmp_path):
    """Snakemake's `--config` passes numbers inside mappings on as text."""
    (tmp_path / "x.yaml").write_text("study: x\nccas: [reno]\nscenarios: [{id: a}]\nreplications: 3\n")
    given = {"replications": {"until": {"goodput_percent": "1.5"}, "at_most": "20"}}
    study = studies.resolve(studies.load(tmp_path / "x.yaml", given), "x.yaml")
    assert study["replications"] == {"until": {"goodput_percent": 1.5}, "at_least": 10, "at_most": 20}


def test_a_run_is_the_same_as_in_a_study_of_a_fixed_number():
    fixed, ruled = resolved(40), resolved(RULE)
    for run in (("near", "reno", "ipv4", 1), ("far", "bbr", "ipv6", 40)):
        assert studies.run_specification(fixed, *run) == studies.run_specification(ruled, *run)
    studies.run_specification(ruled, "near", "reno", "ipv4", 100)
    with pytest.raises(KeyError):
        studies.run_specification(ruled, "near", "reno", "ipv4", 101)


@pytest.mark.parametrize("per_job", [1, 3, 50])
def test_no_job_goes_on_beyond_a_look_or_a_scenario_that_may_end_there(per_job):
    study = resolved(RULE)
    jobs = studies.job_runs(study, per_job)
    assert sorted(run for job in jobs for run in job) == sorted(studies.all_runs(study))
    assert max(map(len, jobs)) == per_job
    for job in jobs:
        assert len({scenario for scenario, *_ in job}) == 1
        assert len({sum(look < replication for look in looks(study)) for *_, replication in job}) == 1


def test_jobs_of_a_fixed_number_have_as_many_runs_as_they_may():
    jobs = studies.job_runs(resolved(5), 6)
    assert [len(job) for job in jobs] == [6] * 6 + [4]
    assert jobs[0][:3] == [("near", "reno", "ipv4", 1), ("near", "reno", "ipv6", 1), ("near", "bbr", "ipv4", 1)]
    assert {scenario for scenario, *_ in jobs[3]} == {"near", "far"}


def test_a_job_lasts_as_long_as_it_may():
    """Runs of 10 s and 1 s in jobs of 25 s; a run that takes longer is alone in its job."""
    study = resolved(5)

    def sizes(of_far, **more):
        jobs = studies.job_runs(
            study, 100, 25, seconds_of=lambda scenario, cca: {"near": 10, "far": of_far}[scenario], **more
        )
        assert sorted(run for job in jobs for run in job) == sorted(
            run for run in studies.all_runs(study) if run[0] in more.get("scenarios", ("near", "far"))
        )
        return [len(job) for job in jobs]

    assert sizes(1) == [2] * 9 + [2 + 5, 15]
    assert sizes(30) == [2] * 10 + [1] * 20
    assert sizes(1, scenarios=["far"]) == [20]


def test_wanted_are_as_many_as_the_next_look_needs(tmp_path):
    study = resolved(RULE)

    def take(scenario, replications, goes_on):
        path = tmp_path / look_path(scenario, replications)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"goes_on": goes_on}))

    assert wanted_replications(study, tmp_path) == {"near": 10, "far": 10}
    take("near", 10, False)
    take("far", 10, True)
    assert wanted_replications(study, tmp_path) == {"near": 10, "far": 15}
    for replications in looks(study)[1:]:
        take("far", replications, replications < 100)
    assert wanted_replications(study, tmp_path) == {"near": 10, "far": 100}
    assert wanted_replications(resolved(3), tmp_path) == {"near": 3, "far": 3}


def test_documents_say_how_far_a_scenario_was_run():
    study = resolved(RULE)
    there = [("near", "reno", "ipv4", number) for number in range(1, 11)] + [("far", "bbr", "ipv6", 11)]
    assert replications_of(study, there) == {"near": 10, "far": 15}
    assert replications_of(study, []) == {"near": 10, "far": 10}
    assert replications_of(resolved(4), there[:2]) == {"near": 4, "far": 4}


def test_too_many_runs_are_named_by_the_key_that_makes_them():
    with pytest.raises(
        studies.StudyError, match=r"replications\.at_most is 10,000, which .* makes 120,000 runs; allowed"
    ):
        resolved(RULE | {"at_most": 10_000}, scenarios=[{"id": name} for name in "abc"])
