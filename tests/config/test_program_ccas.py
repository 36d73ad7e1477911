"""A program among a study's CCAs: what its runs have in place of the flows under test, and what is refused, in sentences."""

import json

import pytest

from experiment.specification import RunSpecification
from publishing.result_checks.received_study import ReceivedError, check_specification
from run_tables.flows_under_test import numbers_under_test, pair_of
from run_tables.group_metrics import _who
from study_files import study as studies
from study_files.kernels import names_files_unread
from study_files.named_programs import names_of
from study_files.program_ccas import GROUP, program_of
from study_files.programs import program_files_of
from study_files.study_groups import counted_flows
from testbed.traffic.client_plan import plan_clients

MINE = {
    "path": "my/flow", "server": "{folder}/flow serve {server} {seconds}", "client": "{folder}/flow get {server}", "ccas": ["fast"],
}  # fmt: skip
BESIDE = [{"name": "own", "stop_s": 10, "count": 2}, {"name": "other", "cca": "bbr", "stop_s": 10}]

WEB = {"name": "web", "application": "web", "cca": "cubic", "count": 2, "bytes": 1000}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """The user's folder, with a program in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my").mkdir()
    (tmp_path / "my/flow").write_text("#!/bin/sh\n")
    (tmp_path / "my/flow").chmod(0o755)


def config(ccas=("cubic", "mine:fast"), programs=None, **scenario):
    return {
        "study": "try", "ccas": list(ccas), "programs": {"mine": MINE} if programs is None else programs,
        "scenarios": [{"id": "a", **scenario}],
    }  # fmt: skip


def study(*given, **scenario):
    return studies.resolve(config(*given, **scenario), "try.yaml")


def specification(of_study, cca):
    return studies.run_specification(of_study, "a", cca, "ipv4", 1)


def test_flows_under_test_are_the_programs():
    """Identical flows become one group; other groups stay, and groups with a kernel CCA are the same as without programs."""
    alone = RunSpecification(specification(study(flows=3, traffic={"duration_s": 7}), "mine:fast"))
    assert (alone.flows, [flow.program.label for flow in alone.program_flows]) == (0, ["mine:fast"] * 3)
    assert {flow.seconds for flow in alone.program_flows} == {7} and numbers_under_test(alone) == {0, 1, 2}
    run = RunSpecification(specification(study(flows=BESIDE, traffic={"duration_s": 10}), "mine:fast"))
    assert [flow.cca for flow in run.long_flows] == ["bbr"] and numbers_under_test(run) == {1, 2}
    assert pair_of(run, 2) == run.program_flows[1].pair and pair_of(run, 0) == run.flow_pair(0)
    for scenario in ({"flows": 3}, {"flows": BESIDE, "traffic": {"duration_s": 10}}):
        without = studies.resolve(config(["cubic"], {}, **scenario), "try.yaml")
        assert specification(study(**scenario), "cubic") == specification(without, "cubic")


def test_a_program_under_test_starts_when_the_flow_in_its_place_would():
    """So do the other flows: runs with the same seed differ only in the sender."""
    groups = [{"name": "first", "cca": "bbr", "stop_s": 9}, *BESIDE, {"name": "late", "start_s": 4, "stop_s": 9}]
    of_study = study(flows=groups, traffic={"duration_s": 10})
    kernel, program = (RunSpecification(specification(of_study, cca)) for cca in of_study["ccas"])
    starts = {(kernel.long_flows[one.flows[0]].group, one.start_offset_s) for one in plan_clients(kernel)}
    others = {(program.long_flows[one.flows[0]].group, one.start_offset_s) for one in plan_clients(program)}
    assert starts == others | {(flow.group, flow.start_s) for flow in program.program_flows}
    assert len(starts) == 5 and {group for group, _ in others} == {"first", "other"}


def test_a_neighbour_of_the_same_program_is_not_under_test():
    groups = [{"name": "own", "stop_s": 10}, {"name": "other", "program": "mine:fast", "stop_s": 10}]
    of_study = study(flows=groups, traffic={"duration_s": 10})
    assert numbers_under_test(RunSpecification(specification(of_study, "mine:fast"))) == {0}
    assert numbers_under_test(RunSpecification(specification(of_study, "cubic"))) == {0}


def test_a_resolved_study_has_the_programs_that_its_ccas_are_and_no_others():
    of_study = study(flows=BESIDE, traffic={"duration_s": 10})
    assert list(of_study["programs"]) == ["mine"] and studies.resolve(of_study, "try.yaml") == of_study
    assert not names_files_unread(of_study) and names_files_unread(config())
    assert len(program_files_of(of_study)) == 1
    assert program_of(of_study, "cubic") is program_of(of_study, "mine") is program_of(of_study, "mine:slow") is None
    assert "programs" not in study(["cubic"], {}, flows=2)


def test_a_kernels_cca_wins_over_a_program_of_its_name():
    plain = {key: value for key, value in MINE.items() if key != "ccas"}
    groups = [{"name": "own", "stop_s": 10}, {"name": "x", "program": "cubic", "stop_s": 10}]
    of_study = study(["cubic"], {"cubic": plain}, flows=groups, traffic={"duration_s": 10})
    assert "programs" not in of_study and RunSpecification(specification(of_study, "cubic")).flows == 1


def test_what_stands_for_alike_flows_has_the_defaults_of_a_group():
    (group,) = counted_flows({"flows": [{"name": "own"}], "groups": []})["groups"]
    assert group == GROUP and list(group) == list(GROUP)


def test_a_published_run_of_a_program_is_one_that_the_workflow_could_write():
    for scenario in ({"flows": 3}, {"flows": BESIDE, "traffic": {"duration_s": 10}}):
        made = json.loads(json.dumps(specification(study(**scenario), "mine:fast")))
        assert check_specification(made, "document") == made
    made["scenario"]["groups"][0]["cca"] = "mine:slow"
    with pytest.raises(ReceivedError):
        check_specification(made, "document")


def test_names_of_programs_as_somebody_wrote_them():
    assert names_of({"a": {"ccas": ["x", "y"]}, "b": {}, "c": None, "d": {"ccas": 5}}) == ["a:x", "a:y", "b"]
    assert names_of(["a"]) == []


@pytest.mark.parametrize(
    ("given", "scenario", "sentence"),
    [
        ((["cubic", "mine:slow"],), {}, "ccas[1] is \"mine:slow\"; did you mean 'mine:fast'?"),
        ((["cubic", "mine"],), {}, 'ccas[1] is "mine"; did you mean'),
        ((["cubic+mine:fast"],), {}, "ccas has the mix cubic+mine:fast; allowed: mixes of the kernel's CCAs"),
        ((), {"flows": 20}, "count is 20; allowed with application program: up to 16 (ccas has the program mine:fast)."),
        ((), {"topology": "cable"}, "allowed with topology cable: no programs, which need a dumbbell (ccas has"),
        ((), {"transport": {"segmentation_offload": True}}, "segmentation_offload is true; allowed where flows is a list of groups"),
        ((), {"flows": [{"name": "web", "application": "web", "arrivals_per_s": 1, "sizes": "main-object", "stop_s": 10}], "traffic": {"duration_s": 10}}, "flows[web].cca is own; allowed with application web: a CCA of the kernel (ccas has"),
        ((), {"flows": [{"name": "x", "stop_s": 9, "on_s": 3, "off_s": 3}]}, "on_s is 3; allowed with application program: null"),
        ((), {"flows": [{"name": "x", "cca": "mine:fast", "stop_s": 9}]}, 'flows[0].cca is "mine:fast"; '),
        ((["cubic"],), {}, "programs.mine is not used by any group of flows or in ccas"),
    ],
)  # fmt: skip
def test_what_can_not_be_is_said_in_a_sentence(given, scenario, sentence):
    with pytest.raises(studies.StudyError) as caught:
        study(*given, **scenario)
    assert any(sentence in problem for problem in caught.value.problems), caught.value.problems


def test_a_program_may_be_examined():
    scenario = {"traffic": {"sample_interval_ms": 50}}
    written = config(["reno", "cubic"], **scenario) | {"exam": {"cca": "mine:fast", "inapplicable": {"b": "no web"}}}
    assert studies.resolve(written, "try.yaml")["ccas"] == ["reno", "cubic", "mine:fast"]
    with pytest.raises(studies.StudyError, match=r"exam.cca is mine:slow; allowed: one of .*mine:fast"):
        studies.resolve(written | {"exam": {"cca": "mine:slow"}}, "try.yaml")


def test_programs_compete_like_long_flows():
    run = RunSpecification(specification(study(flows=[WEB, *BESIDE], traffic={"duration_s": 10}), "mine:fast"))
    web = next(group for group in run.groups if group.application == "web")
    assert "mine:fast" in _who(run, web)["beside"].split("+")
