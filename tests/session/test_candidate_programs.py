"""A program as the candidate of an exam: how a call names it, which cases don't apply, and the sentence on each impossible one."""

import json
from pathlib import Path

import pytest
import yaml

from session import candidate, more_runs
from session.candidate import CandidateError, candidate_of
from session.candidate_programs import declarations, missing_stack
from study_files import study as studies

ROOT = Path(__file__).resolve().parents[2]
ONE = {"path": "my/flow", "server": "{folder}/flow serve {server} {seconds}", "client": "{folder}/flow get {server}"}
TUNNEL = {"id": "6.2-tunnel", "topology": "cable", "multipath": {"by": "gre", "paths": 1}}
WEB = [
    {"name": "long", "stop_s": 9},
    {"name": "web", "application": "web", "arrivals_per_s": 1, "sizes": "main-object", "stop_s": 9},
]
EXAM = {
    "study": "small", "replications": 2, "ccas": ["reno", "cubic"], "defaults": {"traffic": {"duration_s": 9, "sample_interval_ms": 50}},
    "exam": {"cca": "cubic", "primaries": {"6.2-tunnel": ["utilisation_percent"], "5.2.1-solo": ["utilisation_percent"]}},
    "scenarios": [{"id": "5.2.1-solo"}, TUNNEL, {"id": "5.1.5-short", "flows": WEB}],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that the workflow runs in, with an exam, a program, and declarations of it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my").mkdir()
    files = {
        "small.yaml": EXAM,
        "my/flow": "#!/bin/sh\n",
        "my/one.yaml": ONE | {"ccas": ["fast"], "explanation": "It is new."},
        "my/two.yaml": {"study": "any", "ccas": ["cubic"], "programs": {"one": ONE | {"ccas": ["a", "Bb"], "client": "{folder}/flow get {server} {cca}"}, "two": ONE | {"ccas": ["a"]}}},
        "my/plain.yaml": ONE,
        "my/typo.yaml": ONE | {"protokol": "udp"},
        "my/no-seconds.yaml": ONE | {"server": "{folder}/flow serve {server}"},
        "my/Bad Name.yaml": ONE,
        "my/bbr.yaml": ONE,
        "my/with-cca.yaml": ONE | {"cca": "cubic"},
        "my/with-name.yaml": ONE | {"name": "other"},
        "my/definition.yaml": {"base": "cubic", "parameters": {"hystart": 0}},
    }  # fmt: skip
    for name, content in files.items():
        Path(name).write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    Path("my/flow").chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("cca", "program", "name"),
    [
        ("", "my/one.yaml", "one:fast"),
        ("fast", "my/one.yaml", "one:fast"),
        ("one:fast", "my/one.yaml", "one:fast"),
        ("one:Bb", "my/two.yaml", "one:Bb"),
        ("Bb", "my/two.yaml", "one:Bb"),
        ("two", "my/two.yaml", "two:a"),
        ("", "my/plain.yaml", "plain"),
    ],
)
def test_a_call_names_a_program_and_its_cca(folder, cca, program, name):
    made = candidate_of(cca, program)
    assert made.name == name and list(made.programs) == [name.partition(":")[0]]


@pytest.mark.parametrize(
    ("stack", "cca"),
    [("quic-go", "reno"), ("quinn", "bbr"), ("aioquic", "reno"), ("s2n-quic", "bbr"), ("quiche", "bbr2")],
)
def test_a_stack_that_comes_with_the_checkout_needs_no_file(folder, stack, cca):
    with pytest.raises(CandidateError, match=f"my/{stack} doesn't exist. `make stack STACK={stack}` builds it."):
        candidate_of(f"{stack}:{cca}")
    assert missing_stack(f"{stack}:{cca}", "") == stack
    Path("my", stack).write_text("#!/bin/sh\n")
    Path("my", stack).chmod(0o755)
    assert missing_stack(f"{stack}:{cca}", "") is None
    made = candidate_of(f"{stack}:{cca}")
    declared, _ = declarations(ROOT / f"examples/{stack}.yaml", CandidateError)
    assert (made.name, made.programs) == (f"{stack}:{cca}", declared)


@pytest.mark.parametrize(
    ("cca", "file", "stack"),
    [
        ("http3:reno", "", "http"),
        ("bbr", ROOT / "examples/quinn.yaml", "quinn"),
        ("quinn:brr", "", None),
        ("unknown:reno", "", None),
        ("", "my/plain.yaml", None),
        ("", "my/absent.yaml", None),
    ],
)
def test_the_stack_that_an_exam_must_build_first(folder, cca, file, stack):
    assert missing_stack(cca, file) == stack


def test_an_exam_leaves_out_what_no_program_can_have_and_says_why(folder):
    output, resolved = candidate.write("", "small.yaml", program="my/one.yaml")
    assert output == "results/small-one-fast.yaml" and resolved["ccas"] == ["reno", "cubic", "one:fast"]
    assert [scenario["id"] for scenario in resolved["scenarios"]] == ["5.2.1-solo"]
    exam = resolved["exam"]
    assert (exam["cca"], list(exam["primaries"]), exam["explanation"]) == ("one:fast", ["5.2.1-solo"], "It is new.")
    assert exam["inapplicable"] == {
        "6.2-tunnel": "its path is a tunnel or has several paths, and programs run on a dumbbell only.",
        "5.1.5-short": "its short flows are objects of a web server with the CCA under test, and programs have no web server.",
    }
    # The standards' runs are those of every exam, which the run cache has.
    plain = studies.resolve(studies.load("small.yaml"), "small.yaml")
    for cca in ("reno", "cubic"):
        runs = [studies.run_specification(one, "5.2.1-solo", cca, "ipv4", 1) for one in (plain, resolved)]
        assert runs[0] == runs[1]


def test_the_short_exam_keeps_most_of_its_cases(folder):
    _, resolved = candidate.write("", str(ROOT / "config/studies/exam-quick.yaml"), program="my/one.yaml")
    assert (len(resolved["scenarios"]), len(resolved["exam"]["inapplicable"])) == (38, 5)
    # What is left out has a reason in words, and not in terms of a study's keys.
    assert not any(";" in reason for reason in resolved["exam"]["inapplicable"].values())


@pytest.mark.parametrize(
    ("cca", "program", "sentence"),
    [
        ("", "my/two.yaml", "CCA must name one of its programs; allowed: one of one:a, one:Bb, two:a."),
        ("a", "my/two.yaml", "CCA=a matches several of its programs; allowed: one of one:a, one:Bb, two:a."),
        ("one:Bv", "my/two.yaml", "CCA=one:Bv matches none of its programs; did you mean 'one:Bb'? Allowed: one of"),
        ("", "my/none.yaml", "my/none.yaml"),
        ("", "my/typo.yaml", "unknown key 'protokol'; did you mean 'protocol'?"),
        ("", "my/Bad Name.yaml", "The program is named after the file unless the file has the key programs."),
        ("other:cubic", None, "other has no declaration in examples; allowed: aioquic, http1, http2, http3, iperf3, quic-go, quiche, quinn, s2n-quic, tcp, or another program with PROGRAM=<file>."),
        ("", "my/no-seconds.yaml", "no command of no-seconds has {seconds}"),
        ("", "my/bbr.yaml", "PROGRAM=my/bbr.yaml: the kernel already has a CCA named bbr; give the new one another name."),
        ("", "my/with-cca.yaml", "my/with-cca.yaml: cca is cubic; allowed here: ccas: [cubic]."),
        ("", "my/with-name.yaml", "my/with-name.yaml: name is other; allowed here: no name, because a program is named by its key"),
        ("", "my/definition.yaml", "my/definition.yaml: defines a CCA of the kernel; use CCA=my/definition.yaml."),
    ],
)  # fmt: skip
def test_what_can_not_be_is_said_in_a_sentence(folder, cca, program, sentence):
    with pytest.raises(studies.FileError) as caught:
        candidate.write(cca, "small.yaml", program=program)
    assert sentence in str(caught.value)


def test_a_study_with_programs_of_its_own_takes_another(folder):
    """Programs of its groups stay, and a program that it already has may be examined beside itself."""
    rival = {"name": "rival", "program": "two:a", "stop_s": 5}
    scenarios = [{"id": "5.2.1-two", "flows": [{"name": "own", "cca": "own", "stop_s": 5}, rival]}]
    own = ONE | {"ccas": ["a"]}
    Path("has.yaml").write_text(
        yaml.safe_dump(EXAM | {"exam": {"cca": "cubic"}, "programs": {"two": own}, "scenarios": scenarios})
    )
    _, resolved = candidate.write("", "has.yaml", program="my/one.yaml")
    groups = resolved["scenarios"][0]["groups"]
    assert groups[1]["program"]["name"] == "two" and list(resolved["programs"]) == ["one"]
    Path("my/same.yaml").write_text(yaml.safe_dump({"study": "s", "programs": {"two": own}}))
    _, resolved = candidate.write("two:a", "has.yaml", program="my/same.yaml")
    assert list(resolved["programs"]) == ["two"]


def test_scenarios_whose_seeds_were_those_of_one_that_is_left_out_share_others(folder):
    own, web = (
        {"name": "own", "cca": "own", "stop_s": 5},
        {"name": "own", "application": "web", "count": 3, "bytes": 1000},
    )
    scenarios = [
        {"id": "5.1.5-short", "flows": [web]},
        {"id": "5.2.1-solo", "seeds_of": "5.1.5-short", "flows": [own]},
        {"id": "5.2.1-pair", "seeds_of": "5.1.5-short", "flows": [own, {"name": "other", "cca": "cubic", "stop_s": 5}]},
    ]
    Path("has.yaml").write_text(yaml.safe_dump(EXAM | {"exam": {"cca": "cubic"}, "scenarios": scenarios}))
    _, resolved = candidate.write("", "has.yaml", program="my/one.yaml")
    assert [(one["id"], one["seeds_of"]) for one in resolved["scenarios"]] == [
        ("5.2.1-solo", None),
        ("5.2.1-pair", "5.2.1-solo"),
    ]
    assert list(resolved["exam"]["inapplicable"]) == ["5.1.5-short"]


def test_a_study_may_not_have_the_program_already(folder):
    Path("has.yaml").write_text(yaml.safe_dump(EXAM | {"programs": {"one": ONE | {"memory_mib": 99}}}))
    with pytest.raises(CandidateError, match="the study already has a program named one"):
        candidate.write("", "has.yaml", program="my/one.yaml")


def test_more_runs_go_to_open_rows_of_the_programs_exam(folder):
    output, study = candidate.write("", "small.yaml", program="my/one.yaml")
    card, finished = (Path(output.removesuffix(".yaml"), name) for name in ("analysis/scorecard.csv", more_runs.STUDY))
    for file in (card, finished):
        file.parent.mkdir(parents=True)
    finished.write_text(json.dumps(study))
    card.write_text("role,verdict,scenario,look\nprimary,too variable,5.2.1-solo,1\n")
    _, resolved = candidate.write("", "small.yaml", program="my/one.yaml", more=3)
    assert [scenario["replications"] for scenario in resolved["scenarios"]] == [resolved["replications"] + 3]


def test_a_gate_makes_an_exam_fail_if_a_row_that_decides_is_worse(folder):
    _, resolved = candidate.write("", "small.yaml", program="my/one.yaml", gate=True)
    (expected,) = resolved["analysis"]["expect"]
    assert (expected["table"], expected["where"], expected["none_of"]) == ("scorecard", {"role": "primary"}, ["worse"])
    Path("base.yaml").write_text(yaml.safe_dump({key: value for key, value in EXAM.items() if key != "exam"}))
    with pytest.raises(CandidateError, match="base.yaml is not an exam; allowed: GATE with make exam."):
        candidate.write("vegas", "base.yaml", gate=True)


def test_two_candidates_never_share_a_results_folder(folder):
    """A study's name has only lower-case letters, digits, hyphens and dots."""
    both = ONE | {"ccas": ["new_reno", "new-reno"], "client": "{folder}/flow get {server} {cca}"}
    Path("my/both.yaml").write_text(yaml.safe_dump(both))
    for _ in range(2):
        candidate.write("new_reno", "small.yaml", program="my/both.yaml")
    with pytest.raises(CandidateError) as caught:
        candidate.write("new-reno", "small.yaml", program="my/both.yaml")
    assert str(caught.value) == (
        "results/small-both-new-reno.yaml: this study examines both:new_reno, not both:new-reno; rename or delete it and the folder "
        "results/small-both-new-reno."
    )
