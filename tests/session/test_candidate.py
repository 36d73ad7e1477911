"""A study with one more CCA: the resulting study, and the sentence on each CCA that can't be added."""

import json
from pathlib import Path

import pytest
import yaml

from session import candidate
from session.candidate import Candidate, CandidateError, candidate_of, with_candidate
from study_files import study as studies

ROOT = Path(__file__).resolve().parents[2]
AIMD = (ROOT / "examples/tcp_aimd.c").read_text()
STUDY = {
    "study": "base", "ccas": ["reno", "cubic"],
    "scenarios": [{"id": "near", "link": {"rate_mbps": 10, "delay_ms": 5}}],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that the workflow runs in, with a study, C files and definitions."""
    (tmp_path / "run/my").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "run")
    files = {
        "base.yaml": yaml.safe_dump(STUDY),
        "my/tcp_mine.c": AIMD.replace('"aimd"', '"mine"'),
        "my/tcp_none.c": 'static int name;\nstruct other x = {.name = "x"};\n',
        "my/tcp_copy.c": AIMD.replace('"aimd"', '"cubic"'),
        "my/tcp_two.c": AIMD + AIMD.replace('"aimd"', '"second"'),
        "my/tcp_upper.c": AIMD.replace('"aimd"', '"Mine"'),
        "my/tcp_long.c": AIMD.replace('"aimd"', '"sixteen_letters_"'),
        "my/tcp_under.c": AIMD.replace('"aimd"', '"_mine"'),
        "my/tcp_line.c": AIMD.replace('"aimd"', '"_"'),
        "my/program.yaml": "{path: my/flow, server: 'serve {seconds}', client: get, ccas: [a, b]}",
        "my/programs.yaml": "{study: x, programs: {flow: {server: 'serve {seconds}', client: get}}}",
        "my/Tcp-Mine.c": AIMD,
        "my/no-hystart.yaml": "{base: cubic, parameters: {hystart: 0}}",
        "my/typo.yaml": "{base: cubic, parameter: {hystart: 0}}",
        "my/neither.yaml": "{parameters: {hystart: 0}}",
        "my/reno.yaml": "{base: cubic, parameters: {hystart: 0}}",
        "my/Bad Name.yaml": "{base: cubic}",
        "../tcp_far.c": AIMD.replace('"aimd"', '"far"'),
    }
    for name, text in files.items():
        Path(name).write_text(text)
    Path("my/tcp_zero.c").symlink_to("/dev/zero")
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("cca", "name", "definition"),
    [
        ("vegas", "vegas", None),
        ("my/tcp_mine.c", "mine", {"source": "my/tcp_mine.c"}),
        ("my/no-hystart.yaml", "no-hystart", {"base": "cubic", "parameters": {"hystart": 0}}),
        ("my/tcp_under.c", "mine", {"source": "my/tcp_under.c"}),
        ("my/tcp_line.c", "tcp-line", {"source": "my/tcp_line.c"}),
    ],
)
def test_a_study_with_one_cca_more_can_be_run(folder, cca, name, definition):
    output, resolved = candidate.write(cca, "base.yaml")
    assert output == f"results/base-{name}.yaml" and resolved["study"] == f"base-{name}"
    assert resolved["ccas"] == ["reno", "cubic", name]
    written = studies.load(output)
    assert written.get("cca_definitions", {}).get(name) == definition
    # Scenarios and seed are the same, so the other CCAs' runs have the packets that they have in the study itself.
    assert studies.resolve(written, output)["scenarios"] == studies.resolve(STUDY, "base.yaml")["scenarios"]
    seeds = [studies.run_seed(study["seed"], "near", 1) for study in (studies.resolve(STUDY, "base.yaml"), resolved)]
    assert seeds[0] == seeds[1]


def test_a_path_from_elsewhere_is_that_of_a_copy(folder):
    for text in ("/* first */", "/* changed */"):
        Path("../tcp_far.c").write_text(AIMD.replace('"aimd"', '"far"') + text)
        _, resolved = candidate.write(str(folder.parent / "tcp_far.c"), "base.yaml")
        source = resolved["cca_definitions"]["far"]["source"]
        assert source == "results/base-far-source/tcp_far.c" and Path(source).read_text().endswith(text)


@pytest.mark.parametrize("path", ["my/my dir/tcp_mine.c", "my/versionen-für-später/tcp_mine.c", "my/link/tcp_mine.c"])
def test_a_path_that_no_study_can_name_is_that_of_a_copy(folder, path):
    """The path contains special characters, or is a link to a file whose name can't be a module's name."""
    Path(path).parent.mkdir()
    Path("my/link/Version-2.c" if "link" in path else path).write_text(Path("my/tcp_mine.c").read_text())
    if "link" in path:
        Path(path).symlink_to("Version-2.c")
    _, resolved = candidate.write(path, "base.yaml")
    source = resolved["cca_definitions"]["mine"]["source"]
    assert source == "results/base-mine-source/tcp_mine.c" and Path(source).read_text() == Path(path).read_text()


def test_a_tilde_is_the_users_folder(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))
    assert candidate_of("~/my/tcp_mine.c").definition == {"source": "my/tcp_mine.c"}
    with pytest.raises(CandidateError, match="program.yaml: path is my/flow; there is no such file"):
        candidate_of("b", "~/my/program.yaml")


def test_an_absolute_path_inside_is_one_from_here(folder):
    assert candidate_of(str(folder / "my/tcp_mine.c")).definition == {"source": "my/tcp_mine.c"}


@pytest.mark.parametrize(
    ("cca", "message"),
    [
        ("cubik", "CCA=cubik: is not a CCA of the guest kernel; did you mean 'cubic'? Allowed: bbr, bic"),
        ("", "CCA=: is not a CCA of the guest kernel; allowed: bbr, bic"),
        ("a\x1b[31mb", r"CCA=a\x1b[31mb: is not a CCA"),
        ("cubic", "CCA=cubic: the study has cubic already; allowed: a CCA that isn't in the study."),
        ("my/tcp_gone.c", "CCA=my/tcp_gone.c: there is no such file; allowed: the path of a C file"),
        (
            "my/gone.yaml",
            "my/gone.yaml: can't be read (No such file or directory); a definition of a CCA is a YAML file.",
        ),
        ("my/", "CCA=my: is a folder; allowed: the path of a C file"),
        ("my/tcp_zero.c", "CCA=my/tcp_zero.c: can't be read (it is a device; allowed: a regular file)."),
        ("my/tcp_none.c", "CCA=my/tcp_none.c: registers no CCA; a C file needs a struct tcp_congestion_ops"),
        ("my/tcp_two.c", 'CCA=my/tcp_two.c: names 2 CCAs (aimd, second) in .name = "..."; choose one'),
        ("my/tcp_upper.c", 'CCA=my/tcp_upper.c: calls its CCA Mine in .name = "..."; allowed: 1 to 15 lower-case'),
        ("my/tcp_long.c", "CCA=my/tcp_long.c: calls its CCA sixteen_letters_ in .name"),
        ("my/program.yaml", "my/program.yaml: declares a program; use PROGRAM=my/program.yaml, with CCA=<one of its"),
        ("my/programs.yaml", "my/programs.yaml: declares a program; use PROGRAM=my/programs.yaml"),
        (
            "my/tcp_copy.c",
            "CCA=my/tcp_copy.c: the kernel already has a CCA named cubic; give the new one another name.",
        ),
        ("my/Tcp-Mine.c", "CCA=my/Tcp-Mine.c: the kernel module is named after the file; allowed: a file name"),
        ("my/typo.yaml", "my/typo.yaml: unknown key 'parameter'; did you mean 'parameters'? Allowed here: base"),
        ("my/neither.yaml", "my/neither.yaml: is {parameters: {hystart: 0}}; allowed: either base"),
        ("my/reno.yaml", "CCA=my/reno.yaml: the kernel already has a CCA named reno; give the new one another name."),
        ("my/Bad Name.yaml", 'my/Bad Name.yaml: name is "bad name"; allowed: a name of 1 to 32'),
    ],
)
def test_a_cca_that_cannot_be_added_is_refused_in_a_sentence(folder, capsys, cca, message):
    assert candidate.main([cca, "base.yaml"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(f"sawtooth: {message}") and captured.err.count("\n") == 1, captured.err
    assert captured.out == "" and not Path("results").exists()


def test_a_name_of_the_studys_own_is_taken():
    config = STUDY | {"cca_definitions": {"mine": {"base": "cubic"}}}
    with pytest.raises(CandidateError, match="the study already has a CCA named mine; give the new one another name"):
        with_candidate(config, Candidate("mine", {"base": "reno"}), "CCA=mine.yaml")


@pytest.mark.parametrize(
    ("examined", "cca", "ccas"),
    [
        ("cubic", "vegas", ["reno", "cubic", "bbr", "vegas"]),
        ("cubic", "reno", ["reno", "cubic", "bbr"]),
        ("lp", "vegas", ["reno", "cubic", "bbr", "vegas"]),
    ],
)
def test_an_exam_keeps_the_standard_ccas_and_examines_another(examined, cca, ccas):
    listed = list(dict.fromkeys(["reno", "cubic", "bbr", examined]))
    config = STUDY | {"study": "exam", "ccas": listed, "exam": {"cca": examined, "margins": {"index": 0.1}}}
    study = with_candidate(config, Candidate(cca), f"CCA={cca}")
    assert study["study"] == f"exam-{cca}" and study["ccas"] == ccas
    assert study["exam"] == {"cca": cca, "margins": {"index": 0.1}}


def test_an_exam_of_dctcp_has_ecn():
    """Without ECN DCTCP is Reno by another name; ECN settings of single cases are kept."""
    study = STUDY | {"study": "exam", "exam": {"cca": "cubic", "margins": {"index": 0.1}}, "defaults": {"flows": 2}}
    for one in (Candidate("dctcp"), Candidate("mine", {"base": "dctcp"})):
        assert with_candidate(study, one, "x")["defaults"] == {"flows": 2, "transport": {"ecn": "classic"}}
    assert with_candidate(study, Candidate("vegas"), "x")["defaults"] == {"flows": 2}
    accurate = study | {"defaults": {"transport": {"ecn": "accurate"}}}
    assert with_candidate(accurate, Candidate("dctcp"), "x")["defaults"] == {"transport": {"ecn": "accurate"}}
    assert "defaults" not in with_candidate(STUDY, Candidate("dctcp"), "x")


def test_a_trace_goes_along(folder):
    """The trace's file is beside the original study."""
    source = ROOT / "config/studies/changes.yaml"
    output, resolved = candidate.write("my/tcp_mine.c", source)
    assert resolved["scenarios"] == studies.resolve(studies.load(source), str(source))["scenarios"]
    assert studies.resolve(studies.load(output), output) == resolved


SCENARIOS = [
    {"id": "5.2.1-solo"},
    {"id": "5.2.1-after-reno", "seeds_of": "5.2.1-solo"},
    {"id": "6.3-x"},
    {"id": "6.3-y", "replications": 2},
]
EXAM = STUDY | {
    "study": "exam", "replications": 20, "exam": {"cca": "cubic"}, "scenarios": SCENARIOS,
    "defaults": {"link": {"rate_mbps": 10, "delay_ms": 5}, "traffic": {"sample_interval_ms": 50}},
}  # fmt: skip
#: Scorecards: scenario -> verdict and look of its primary row; "" is the row on all scenarios.
OPEN = {"": ("not enough", 1), "5.2.1-after-reno": ("too variable", 1), "6.3-x": ("like", 1)}
ALL_OPEN = {"": ("not enough", 1)}


def finish(study, card=None, folder="results/exam-vegas"):
    """Write the results of an exam: its resolved study, unless it is interrupted before the end, and its scorecard."""
    Path(folder, "workflow").mkdir(parents=True, exist_ok=True)
    Path(folder, "analysis").mkdir(exist_ok=True)
    if study:
        Path(folder, "workflow/study.json").write_text(json.dumps(study))
    if card:
        rows = [f"primary,{verdict},{scenario},{look}.0" for scenario, (verdict, look) in card.items()]
        rows = ["role,verdict,scenario,look", *rows, "secondary,,6.3-y,"]
        Path(folder, "analysis/scorecard.csv").write_text("\n".join(rows))


def more_of(more, **settings):
    """Return the looks and the numbers of replications of an exam of Vegas with ``MORE``."""
    Path("exam.yaml").write_text(yaml.safe_dump(EXAM))
    output, resolved = candidate.write("vegas", "exam.yaml", more=more, **settings)
    assert studies.resolve(studies.load(output), output) == resolved
    return resolved["exam"]["looks"], [one["replications"] for one in resolved["scenarios"]]


def resolved_exam(**settings):
    Path("exam.yaml").write_text(yaml.safe_dump(EXAM))
    return candidate.write("vegas", "exam.yaml", **settings)[1]


def test_more_runs_of_what_is_open(folder):
    """Scenarios of open rows, and those that their harm is measured against, get more runs; the others keep theirs, and the look is
    recorded."""
    finish(resolved_exam(), OPEN)
    assert more_of(10) == ([20], [30, 30, 20, 2])
    finish(resolved_exam(more=10), OPEN | {"5.2.1-after-reno": ("too variable", 2)})
    assert more_of(10) == ([20, 30], [40, 40, 20, 2])


def test_an_unfinished_extension_is_the_same_if_the_command_is_repeated(folder):
    """Also if only its cost was printed, if its scorecard is there already, and if another number is asked for."""
    finish(resolved_exam(), OPEN)
    assert more_of(20) == more_of(20) == ([20], [40, 40, 20, 2])
    finish(None, OPEN | {"5.2.1-after-reno": ("like", 2)})
    assert more_of(20) == ([20], [40, 40, 20, 2])
    assert more_of(30) == ([20], [50, 50, 20, 2])


def test_more_runs_on_a_platform_are_those_of_its_own_card(folder):
    finish(resolved_exam(), {"6.3-x": ("not enough", 1)})
    with pytest.raises(CandidateError, match="there is no results/exam-vegas-host/analysis/scorecard.csv yet"):
        more_of(10, platform="host")
    finish(resolved_exam(), OPEN, "results/exam-vegas-host")
    assert more_of(10, platform="host") == ([20], [30, 30, 20, 2])


@pytest.mark.parametrize(
    ("before", "card", "message"),
    [
        ({"scenarios": SCENARIOS[:3]}, OPEN, "the exam has other scenarios than the one that was run (results/exam-vegas/workflow/study.json); run"),
        ({"scenarios": [*SCENARIOS, {"id": "7-gone"}]}, OPEN, "the exam has other scenarios than the one that was run"),
        ({}, OPEN | {"7-gone": ("too variable", 1)}, "the exam has other scenarios than the one that was run"),
        ({}, ALL_OPEN, "no row of a single case is open in results/exam-vegas/analysis/scorecard.csv; allowed: MORE if"),
        ({}, {"": ("like", 1), "6.3-x": ("worse", 1)}, "no row of results/exam-vegas/analysis/scorecard.csv is open"),
        ({}, None, "there is no results/exam-vegas/analysis/scorecard.csv yet: MORE adds runs for the open rows"),
        ({}, {"6.3-y": ("not enough", 1)}, "6.3-y has 2 replications, and others have 20; allowed with MORE: the same number in all open cases"),
        ({"replications": {"until": {}}}, OPEN, "replications.until in results/exam-vegas/workflow/study.json determines"),
    ],
)  # fmt: skip
def test_more_runs_that_cannot_be_are_refused(folder, before, card, message):
    finish(resolved_exam() | before, card)
    with pytest.raises(CandidateError) as caught:
        more_of(10)
    assert str(caught.value).startswith(f"MORE=10: {message}")


def test_more_runs_are_for_exams(folder):
    with pytest.raises(CandidateError, match="MORE=10: base-vegas is not an exam; allowed: MORE with make exam."):
        candidate.write("vegas", "base.yaml", more=10)


def test_a_ccas_competitor_of_the_same_module_is_refused_with_a_way_out(folder):
    """Both exams have flows of CUBIC."""
    with pytest.raises(studies.StudyError) as caught:
        candidate.write("my/no-hystart.yaml", str(ROOT / "config/studies/exam-quick.yaml"))
    assert (
        "need different parameters of tcp_cubic, which apply to all sockets of a kernel; allowed: one of the two CCAs, or, as source of no-hystart, a copy of net/ipv4/tcp_cubic.c with another file name and another .name."
        in str(caught.value)
    )
    copied = AIMD.replace('"aimd"', '"no-hystart"').replace("increase", "hystart")
    Path("my/tcp_no_hystart.c").write_text(copied)
    Path("my/no-hystart.yaml").write_text("{source: my/tcp_no_hystart.c, parameters: {hystart: 0}}")
    _, resolved = candidate.write("my/no-hystart.yaml", str(ROOT / "config/studies/exam-quick.yaml"))
    assert resolved["cca_definitions"]["no-hystart"]["parameters"] == {"hystart": 0}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cca_definitions: 3", "cca_definitions is 3; allowed: a mapping"),
        ("exam: 3", "exam is 3; allowed: a mapping"),
        ("analysis: []", "analysis is []; allowed: a mapping"),
        ("programs: 3", "programs is 3; allowed: a mapping"),
        ("defaults: x", 'defaults is "x"; allowed: a mapping'),
        ("title: [3]", "title is [3]; allowed: text"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--gate",), ("--more", "3")])
def test_a_mistake_in_the_study_is_told_of_its_own_file(folder, capsys, line, message, options):
    Path("base.yaml").write_text(yaml.safe_dump(STUDY) + line)
    assert candidate.main(["my/tcp_mine.c", "base.yaml", *options]) == 1
    assert capsys.readouterr().err.startswith(f"sawtooth: base.yaml: {message}")
