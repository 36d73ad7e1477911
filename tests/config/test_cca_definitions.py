"""CCAs defined by a study: what a run gets of them, and what is refused."""

import hashlib

import pytest

from experiment.definitions import boot_arguments, kernel_id
from experiment.specification import RunSpecification
from publishing.result_checks.received_study import check_specification
from report_page.method import defined_ccas
from session.cca_needs import kernels_of, parameter_problem
from session.host_needs import needs
from study_files import study as studies
from study_files.cca_definitions import names_in
from study_files.study_runs import job_runs
from testbed.checks.definition_checks import check_parameters
from testbed.machine.uml import memory_mib

SLOW = {"slow": {"base": "cubic", "parameters": {"beta": 512, "hystart": 0}}}
SOURCE = """
module_param(gain, int, 0644);
static struct tcp_congestion_ops tcp_mine = { .ssthresh = mine_ssthresh, .name = "mine", };
"""


def study(**keys):
    given = {"study": "try", "ccas": ["cubic", "slow"], "cca_definitions": SLOW, "scenarios": [{"id": "a", "flows": 2}]}
    return studies.resolve({**given, **keys}, "try.yaml")


def refusal(**keys):
    with pytest.raises(studies.StudyError) as caught:
        study(**keys)
    return caught.value.problems[0]


def specification(of_study, cca):
    return RunSpecification(studies.run_specification(of_study, "a", cca, "ipv4", 1))


def test_only_runs_of_a_defined_cca_know_of_it():
    of_study = study(ccas=["cubic", "slow", "reno+slow"])
    assert "cca_definitions" not in specification(of_study, "cubic").document
    run = specification(of_study, "reno+slow")
    assert run.document["cca_definitions"] == SLOW
    assert [run.flow_cca(0), run.flow_cca(1)] == ["reno", "slow"]
    assert [run.flow_kernel_cca(0), run.flow_kernel_cca(1)] == ["reno", "cubic"]
    assert boot_arguments(run) == ["tcp_cubic.beta=512", "tcp_cubic.hystart=0"]


LONG = {"stop_s": 10}


def test_groups_and_cross_flows_may_have_a_defined_cca(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tcp_mine.c").write_text(SOURCE)
    definitions = {**SLOW, "mine": {"source": "tcp_mine.c"}}
    groups = {
        "id": "a",
        "flows": [
            {"name": "own", **LONG},
            {"name": "other", "cca": "mine", **LONG},
            {"name": "web", "application": "web", "cca": "slow", "count": 3, "bytes": 20000},
        ],
    }
    chain = {"id": "b", "topology": "chain", "chain": {"cross_cca": "slow"}}
    of_study = study(ccas=["reno", "bbr"], cca_definitions=definitions, scenarios=[groups, chain, {"id": "c"}])
    run, crossed, plain = (
        RunSpecification(studies.run_specification(of_study, name, "reno", "ipv4", 1)) for name in "abc"
    )
    assert list(run.document["cca_definitions"]) == ["mine", "slow"]
    assert [run.flow_kernel_cca(flow) for flow in range(2)] == ["reno", "mine"]
    assert run.server_kernel_cca(run.groups[2]) == "cubic" and boot_arguments(run) == [
        "tcp_cubic.beta=512",
        "tcp_cubic.hystart=0",
    ]
    assert crossed.document["cca_definitions"] == {"slow": of_study["cca_definitions"]["slow"]}
    assert {crossed.flow_kernel_cca(flow) for flow in range(crossed.flows)} == {"reno", "cubic"}
    assert "cca_definitions" not in plain.document
    # The file is in the kernel of those runs alone that have flows of it.
    ((kernel, sources),) = kernels_of(of_study, "0" * 64).values()
    assert (
        kernel is None
        and [one.cca for one in sources] == ["mine"] == [one.cca for one in run.sources]
        and not crossed.sources
    )
    assert check_specification(run.document, "received") == run.document


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ({"flows": [{"name": "own", **LONG}, {"name": "x", "cca": "slow", **LONG}]}, "scenarios[a] has flows of slow in addition to those of cubic, but cubic and slow need different parameters of tcp_cubic, which apply to all sockets of a kernel"),
        ({"topology": "chain", "chain": {"cross_cca": "dctcp"}}, "scenarios[a].chain.cross_cca is dctcp; allowed with ECN off behind drop-tail: another CCA"),
        ({"topology": "chain", "chain": {"cross_cca": "slow"}}, "need different parameters of tcp_cubic"),
        ({"flows": [{"name": "own", **LONG}, {"name": "x", "cca": "slowly", **LONG}]}, "flows[1].cca is \"slowly\"; did you mean 'slow'?"),
        ({"flows": [{"name": "own", **LONG}, {"name": "x", "cca": "marked", **LONG}]}, "scenarios[a].flows[x].cca is marked; allowed with ECN off behind drop-tail: another CCA, because DCTCP without marks"),
    ],
)  # fmt: skip
def test_what_a_group_or_cross_flows_can_not_have_is_refused(scenario, words):
    definitions = {**SLOW, "marked": {"base": "dctcp", "parameters": {}}}
    assert words in refusal(ccas=["cubic"], cca_definitions=definitions, scenarios=[{"id": "a"} | scenario])


def test_a_resolved_study_resolves_to_itself():
    assert studies.resolve(study(), "again") == study()


def test_runs_of_one_job_need_the_same_kernel():
    jobs = job_runs(study(replications=4), 100, needs_of=lambda scenario, cca: cca == "slow")
    assert [{cca for _, cca, _, _ in job} for job in jobs] == [{"cubic"}, {"slow"}]
    (only,) = job_runs(study(replications=4), 100)
    assert {cca for _, cca, _, _ in only} == {"cubic", "slow"}


@pytest.mark.parametrize(
    ("value", "text", "ok"), [(0, "0", True), (1, "0", False), (1, "Y", True), (False, "N", True), (717, "512", False)]
)
def test_parameters_are_judged_by_what_the_kernel_says(value, text, ok):
    run = specification(study(cca_definitions={"slow": {"base": "cubic", "parameters": {"hystart": value}}}), "slow")
    document = {"network": {"read_back": {"cca_parameters": {"tcp_cubic": {"hystart": text, "beta": "717"}}}}}
    check = check_parameters(run, document)
    assert (check.name, check.ok) == ("parameters", ok)
    assert check.observed == f"tcp_cubic.hystart {text}"


@pytest.mark.parametrize("ccas", [["cubic+slow"], ["reno", "slow+reno+cubic"]])
def test_one_kernel_has_one_value_of_a_parameter(ccas):
    assert "need different parameters of tcp_cubic" in refusal(ccas=ccas)


def test_two_files_that_register_one_name_cannot_meet(tmp_path, monkeypatch):
    """The kernel would refuse the second CCA, so every run of the mix would fail."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / f"tcp_{name}.c").write_text(SOURCE)
    definitions = {"one": {"source": "tcp_one.c"}, "two": {"source": "tcp_two.c"}}
    assert (
        "ccas has the mix one+two, but one and two both register as mine, and a kernel can't have two CCAs with the same name"
        in refusal(ccas=["one+two"], cca_definitions=definitions)
    )
    study(ccas=["one", "two"], cca_definitions=definitions)
    study(ccas=["one+two"], cca_definitions={**definitions, "two": definitions["one"]})


def test_two_names_for_the_same_parameters_may_meet():
    study(ccas=["slow+too"], cca_definitions={**SLOW, "too": SLOW["slow"]})


@pytest.mark.parametrize(
    ("definitions", "words"),
    [
        ({"reno": {"base": "cubic"}}, "cca_definitions.reno has the name of one of the kernel's CCAs"),
        ({"slow": {"base": "kubic"}}, "did you mean 'cubic'?"),
        ({"slow": {"base": "reno", "parameters": {"beta": 1}}}, "reno has no parameters"),
        ({"slow": {"base": "cubic", "source": "a.c"}}, "either base, one of the kernel's CCAs, or source"),
        ({"slow": {"source": "../tcp_mine.c"}}, "a path below this folder"),
        (
            {"slow": {"source": "nowhere/tcp_mine.c"}},
            "cca_definitions.slow.source is nowhere/tcp_mine.c; there is no such file",
        ),
        ({"slow": {"base": "cubic", "parameters": {"beta": 0.7}}}, "parameters.beta is 0.7; allowed: a whole number"),
        ({"slow": {"base": "cubic", "parameters": {"b=1 init": 1}}}, "the name of a parameter"),
        ({"Slow": {"base": "cubic"}}, "a name of 1 to 32 lower-case letters"),
    ],
)
def test_what_a_definition_cannot_be(definitions, words):
    assert words in refusal(cca_definitions=definitions, ccas=["cubic"])


@pytest.mark.parametrize("platform", ["host", "ns3:3.44"])
def test_parameters_are_set_in_the_guest_kernel_only(platform):
    assert f"on {platform}" in refusal(scenarios=[{"id": "a", "platform": platform}], ccas=["cubic"])


def test_a_file_names_its_cca(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tcp_mine.c").write_text(SOURCE)
    of_study = study(cca_definitions={"slow": {"source": "tcp_mine.c", "parameters": {"gain": 2}}})
    run = specification(of_study, "slow")
    assert run.definitions["slow"].sha256 == hashlib.sha256(SOURCE.encode()).hexdigest()
    assert run.kernel_cca("slow") == "mine"
    assert boot_arguments(run) == ["tcp_mine.gain=2"]
    assert parameter_problem(of_study) is None
    gone = study(cca_definitions={"slow": {"source": "tcp_mine.c", "parameters": {"gian": 2}}})
    assert parameter_problem(gone).endswith("tcp_mine.c has the parameters gain.")


@pytest.mark.parametrize(
    "macro",
    ["module_param_named(gain, its, int", "module_param_unsafe(gain, int", "module_param_array( gain, int, NULL"],
)
def test_a_parameter_may_be_declared_by_any_macro(tmp_path, monkeypatch, macro):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tcp_mine.c").write_text(SOURCE.replace("module_param(gain, int", macro))
    definition = {"source": "tcp_mine.c", "parameters": {"gain": 2}}
    assert parameter_problem(study(cca_definitions={"slow": definition})) is None


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("tcp_mine.c", SOURCE.replace("mine", "cubic"), "a CCA that the kernel has"),
        ("tcp_cubic.c", SOURCE, "the kernel has a module tcp_cubic"),
        ("tcp_mine.c", "int x;", "it names 0 CCAs"),
        ("tcp_mine.c", SOURCE.replace("mine", "sixteen-letters-"), "calls its CCA sixteen-letters- in .name"),
        (
            "tcp_mine.c",
            SOURCE.replace("mine", "Mine"),
            'it calls its CCA Mine in .name = "..."; allowed: 1 to 15 lower-case letters',
        ),
        ("Mine.c", SOURCE, "allowed: a file name of lower-case letters"),
    ],
)
def test_files_that_cannot_be_a_cca(tmp_path, monkeypatch, name, text, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    assert words in refusal(cca_definitions={"slow": {"source": name}}, ccas=["slow"])


def test_a_kernel_is_named_by_its_content(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = []
    for text in (SOURCE, SOURCE + "\n", SOURCE):
        (tmp_path / "tcp_mine.c").write_text(text)
        one = study(cca_definitions={"slow": {"source": "tcp_mine.c"}})
        names.append(kernel_id("0" * 64, specification(one, "slow").sources))
    assert names[0] == names[2] != names[1]
    assert kernel_id("0" * 64, []) is None


def test_the_machines_own_kernel_is_asked_for_the_cca_by_its_name_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tcp_mine.c").write_text(SOURCE)
    on_host = study(cca_definitions={"slow": {"source": "tcp_mine.c"}}, scenarios=[{"id": "a", "platform": "host"}])
    assert [need.cca for need in needs(on_host) if need.cca] == ["cubic", "mine"]


def test_a_cca_of_ones_own_has_the_room_of_the_most_eager(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tcp_mine.c").write_text(SOURCE)
    far = [{"id": "a", "link": {"delay_ms": 100}}]
    one = study(ccas=["slow", "cubic", "bbr"], cca_definitions={"slow": {"source": "tcp_mine.c"}}, scenarios=far)
    own, cubic, bbr = (memory_mib(specification(one, cca)) for cca in ("slow", "cubic", "bbr"))
    assert own == bbr > cubic


@pytest.mark.parametrize(
    ("scenario", "beside"),
    [
        ({"flows": [{"name": "own", "stop_s": 10}, {"name": "other", "cca": "cubic", "stop_s": 10}]}, True),
        ({"flows": [{"name": "own", "stop_s": 10}, {"name": "other", "cca": "reno", "stop_s": 10}]}, False),
        ({"topology": "chain", "chain": {"cross_cca": "cubic"}}, True),
    ],
)
def test_flows_beside_cannot_need_another_parameter_of_the_same_module(scenario, beside):
    config = {
        "study": "s", "ccas": ["slow"], "cca_definitions": {"slow": {"base": "cubic", "parameters": {"hystart": 0}}},
        "scenarios": [{"id": "a", "link": {"rate_mbps": 10, "delay_ms": 10}, "traffic": {"duration_s": 10}, **scenario}],
    }  # fmt: skip
    if not beside:
        assert studies.resolve(config, "s.yaml")
        return
    sentence = r"scenarios\[a\] has flows of cubic in addition to those of slow, but slow and cubic need different parameters of tcp_cubic"
    with pytest.raises(studies.StudyError, match=sentence):
        studies.resolve(config, "s.yaml")


def test_the_report_says_of_each_definition_where_it_is_from():
    definitions = {
        "slow": {"base": "cubic", "parameters": {"hystart": 0}},
        "mine": {"source": "examples/tcp_aimd.c", "sha256": "0" * 64, "cca": "aimd", "parameters": {}},
    }
    rows = defined_ccas({"cca_definitions": definitions})
    assert [(row["name"], row["parameters"]) for row in rows] == [("slow", "hystart 0"), ("mine", "defaults")]
    assert rows[0]["origin"] == "the kernel's CUBIC"
    assert rows[1]["origin"] == f"examples/tcp_aimd.c (SHA-256 {'0' * 64}), as aimd"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('static struct tcp_congestion_ops a __read_mostly = { .owner = THIS_MODULE, .name = "a" };', ["a"]),
        ('/* was .name = "old" */ static struct tcp_congestion_ops a = { // .name = "older",\n .name = "a", };', ["a"]),
        ('#define N "mine"\nstruct foo f = {.name="bar"};\nstruct tcp_congestion_ops a = { .name = N };', []),
        ('struct tcp_congestion_ops a = { .name = "mi" "ne" };', []),
        ('struct foo f = {.name="mine_stats"};\nstruct tcp_congestion_ops a = { .x = { 1 }, .name = "Mine" };', ["Mine"]),
        ('struct tcp_congestion_ops a[] = { { .name = "b" }, { .name = "a" } };', ["a", "b"]),
        ('char *u = "http://x/*"; struct tcp_congestion_ops a = { .name = "a" };', ["a"]),
    ],
)  # fmt: skip
def test_names_are_those_of_the_operations_alone(text, names):
    assert names_in(text) == names
