"""Programs declared by a study: what a run gets of them, and what is refused, in sentences."""

import json
import os
import re
import struct
from pathlib import Path

import pytest
import yaml

from experiment.programs import PLACEHOLDERS, Program, needs_files
from experiment.specification import RunSpecification
from publishing.result_checks.received_study import ReceivedError, check_specification
from session.candidate_programs import declarations, named_program
from study_files import study as studies
from study_files.kernels import names_files_unread
from study_files.program_ccas import programs_under_test
from testbed.machine.given_file import GivenFileError
from testbed.machine.program_files import digest_of, files_of, read_archive, write_archive
from wording.terminal_text import shown

MINE = {
    "path": "my/flow",
    "server": "{folder}/flow serve {server} {seconds}",
    "client": ["{folder}/flow", "get", "{server}", "two words"],
}
BULK = {"name": "mine", "program": "mine", "stop_s": 10}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """The user's folder, with a program in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my").mkdir()
    (tmp_path / "my/flow").write_text("#!/bin/sh\n")
    (tmp_path / "my/flow").chmod(0o755)
    return tmp_path


def study(*groups, scenario=None, **mine):
    scenarios = [{"id": "a", "flows": [*groups] or [BULK], **(scenario or {})}]
    return studies.resolve(
        {"study": "try", "ccas": ["cubic"], "programs": {"mine": MINE | mine}, "scenarios": scenarios}, "try.yaml"
    )


def refusal(*groups, **mine):
    with pytest.raises(studies.StudyError) as caught:
        study(*groups, **mine)
    return caught.value.problems[0]


def specification(of_study):
    return studies.run_specification(of_study, "a", "cubic", "ipv4", 1)


@pytest.mark.parametrize("under_test", [False, True])
def test_the_cca_in_the_name_of_a_program_over_tcp_may_be_defined_in_the_study(under_test):
    """The kernel of the program's runs then contains this CCA. A QUIC stack uses its own CCAs."""
    slow = {"slow": {"base": "cubic", "parameters": {"beta": 900}}}
    for protocol, expected in (("tcp", ["slow"]), ("udp", [])):
        config = {
            "study": "try", "ccas": ["mine:slow" if under_test else "reno"], "cca_definitions": slow,
            "programs": {"mine": MINE | {"protocol": protocol, "ccas": ["slow"]}},
            "scenarios": [{"id": "a", "flows": 1 if under_test else [BULK | {"program": "mine:slow"}]}],
        }  # fmt: skip
        of_study = studies.resolve(config, "try.yaml")
        run = studies.run_specification(of_study, "a", of_study["ccas"][0], "ipv4", 1)
        assert list(run.get("cca_definitions", {})) == expected


@pytest.mark.parametrize(
    ("ccas", "flows"),
    [
        (["cubic"], [{"name": "own", "stop_s": 10}, BULK | {"program": "mine:slow"}]),
        (["mine:slow"], [{"name": "own", "stop_s": 10}, {"name": "other", "cca": "cubic", "stop_s": 10}]),
    ],
)
def test_parameters_of_a_programs_cca_are_refused_beside_the_kernels_own(ccas, flows):
    """The parameters apply to all sockets: the flows called cubic would be slow, too. With a QUIC stack, no socket has them."""
    config = {
        "study": "try", "ccas": ccas, "cca_definitions": {"slow": {"base": "cubic", "parameters": {"beta": 900}}},
        "scenarios": [{"id": "a", "flows": flows}],
    }  # fmt: skip
    programs = {"mine": MINE | {"protocol": "tcp", "ccas": ["slow"]}}
    with pytest.raises(studies.StudyError, match="cubic.*need different parameters of tcp_cubic"):
        studies.resolve(config | {"programs": programs}, "try.yaml")
    studies.resolve(config | {"programs": {"mine": MINE | {"ccas": ["slow"]}}}, "try.yaml")


@pytest.mark.parametrize("under_test", [False, True])
def test_a_program_over_tcp_that_sends_by_dctcp_needs_marks(under_test):
    """As DCTCP in `ccas` and in groups of iperf3; the dctcp of a QUIC stack is its own."""
    marks = {"transport": {"ecn": "classic"}, "queue": {"discipline": "codel", "ecn": True}}
    config = {
        "study": "try", "ccas": ["mine:dctcp" if under_test else "reno"],
        "programs": {"mine": MINE | {"protocol": "tcp", "ccas": ["dctcp"]}},
        "scenarios": [{"id": "a", "flows": 1 if under_test else [BULK | {"program": "mine:dctcp"}]}],
    }  # fmt: skip
    with pytest.raises(studies.StudyError, match="mine:dctcp.* DCTCP without marks behaves like Reno"):
        studies.resolve(config, "try.yaml")
    studies.resolve(config | {"scenarios": [config["scenarios"][0] | marks]}, "try.yaml")
    studies.resolve(config | {"programs": {"mine": MINE | {"ccas": ["dctcp"]}}}, "try.yaml")


def test_a_group_has_the_whole_declaration():
    resolved = study(
        {"name": "one", "program": "mine:fast", "stop_s": 4, "count": 2}, {"name": "tcp", "stop_s": 10}, ccas=["fast"]
    )
    assert "programs" not in resolved and studies.resolve(resolved, "try.yaml") == resolved
    group = resolved["scenarios"][0]["groups"][0]
    assert group["application"] == "program" and group["program"] == {
        "name": "mine", "cca": "fast", "path": "my/flow", "sha256": digest_of(files_of("my/flow")),
        "server": ["{folder}/flow", "serve", "{server}", "{seconds}"], "client": ["{folder}/flow", "get", "{server}", "two words"],
        "protocol": "udp", "data_from": "server", "ready_line": None, "server_ends": "killed", "client_ends": "itself",
        "reports_bytes": None, "memory_mib": 256,
    }  # fmt: skip
    run = RunSpecification(specification(resolved))
    assert [(flow.number, flow.port, flow.program.label, flow.seconds) for flow in run.program_flows] == [
        (1, 14001, "mine:fast", 4),
        (2, 14002, "mine:fast", 4),
    ]
    assert 0 <= run.program_flows[0].start_s < run.rtt_longest_ms / 1e3
    assert run.program_flows[0].start_s != run.program_flows[1].start_s
    assert run.program_flows[0].seed != run.program_flows[1].seed


def test_a_program_that_logs_says_so_in_its_runs_and_another_has_no_such_key():
    logs = {"server": "{folder}/flow serve {server} {seconds} {logs}", "qlog": "*.sqlog"}
    group = specification(study(**logs))["scenario"]["groups"][0]
    assert group["program"]["qlog"] == "*.sqlog" and Program(**group["program"]).qlog == "*.sqlog"
    assert "qlog" not in specification(study(qlog=None))["scenario"]["groups"][0]["program"]


def test_a_runs_identity_covers_contents_names_and_modes(files):
    commands = {"server": "sh {folder}/flow {server} {seconds}", "client": "sh {folder}/flow"}
    before = specification(study(**commands))
    assert specification(study(**commands)) == before
    (files / "my/flow").touch()
    assert specification(study(**commands)) == before
    (files / "my/flow").chmod(0o644)
    other_mode = specification(study(**commands))
    (files / "my/flow").write_text("#!/bin/bash\n")
    other_content = specification(study(**commands))
    digests = {next(iter(needs_files(RunSpecification(one)).values())) for one in (before, other_mode, other_content)}
    assert len(digests) == 3


def test_a_program_is_not_named_like_the_cca_under_test(files):
    config = {"study": "try", "ccas": ["cubic", "own"], "programs": {"own": MINE}, "scenarios": [{"id": "a"}]}
    with pytest.raises(
        studies.StudyError, match="programs.own: own stands for the CCA under test; give the program another name."
    ):
        studies.resolve(config, "try.yaml")


def test_a_file_named_without_its_folder_is_checked_too(files):
    (files / "my/flow").chmod(0o644)
    wanted = "try.yaml: programs.mine.client begins with flow, which is not executable; allowed: an executable file (chmod +x)."
    assert wanted in refusal(server="sh {folder}/flow {seconds}", client="flow get")


def test_a_file_that_is_not_executable_begins_no_command(files):
    (files / "my/flow").chmod(0o644)
    wanted = "try.yaml: programs.mine.server begins with {folder}/flow, which is not executable; allowed: an executable file (chmod +x)."
    assert refusal() == wanted


def elf(machine=62, linker=b""):
    """Return the beginning of an ELF file for a machine; if it names a dynamic linker, its only program header does."""
    identity = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header = struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return identity + header + struct.pack("<IIQQQQQQ", 3 if linker else 1, 4, 120, 0, 0, len(linker), 0, 1) + linker


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (elf(183), "which is built for 64-bit Arm; allowed: a program for x86-64."),
        (elf(linker=b"/lib/ld-musl-x86_64.so.1\0"), "which needs the dynamic linker /lib/ld-musl-x86_64.so.1; allowed: a statically linked"),
        (elf()[:30], "which is a damaged ELF file; allowed: a program for x86-64."),
        (b"#!/bin/sh\r\necho\r\n", "whose first line ends with CR LF; allowed: a script with LF only."),
        (b"", "which is neither a program for Linux (ELF) nor a script; allowed: a script that begins with #!/bin/sh, for example."),
        (b"\xef\xbb\xbf#!/bin/sh\n", "which is neither a program for Linux (ELF) nor a script"),
        (b"#! \necho\n", "whose first line names no interpreter; allowed: a script that begins with #!/bin/sh, for example."),
        (elf()[:32] + b"\xff" * 8 + elf()[40:], "which is a damaged ELF file; allowed: a program for x86-64."),
        (elf(linker=b"\0"), "which is a damaged ELF file; allowed: a program for x86-64."),
    ],
)  # fmt: skip
def test_a_file_that_the_image_can_not_start_begins_no_command(files, content, why):
    """In the run, the kernel would say "No such file or directory" about a file that exists."""
    (files / "my/flow").write_bytes(content)
    assert refusal().startswith(f"try.yaml: programs.mine.server begins with {{folder}}/flow, {why}")
    assert study(server="python3 {folder}/flow {server} {seconds}", client="python3 {folder}/flow")


@pytest.mark.parametrize(
    "content",
    [elf(), elf(linker=b"/lib64/ld-linux-x86-64.so.2\0"), elf(linker=b"/program/ld.so\0"), b"#!/bin/sh", b"#!/bin/sh\ntrue\r\n"],
)  # fmt: skip
def test_a_file_that_the_image_may_start_is_accepted(files, content):
    (files / "my/flow").write_bytes(content)
    assert study()


def test_a_name_without_a_slash_may_be_a_file_of_the_program_or_of_the_image():
    assert study(client="flow get {server}")["scenarios"][0]["groups"][0]["program"]["client"][0] == "flow"
    assert study(client="python3 {folder}/flow")["scenarios"][0]["groups"][0]["program"]["client"][0] == "python3"


def test_a_declaration_in_a_file_of_its_own_is_refused_by_that_files_name(files):
    """The study that `make exam` writes doesn't exist yet."""
    (files / "mine.yaml").write_text(yaml.safe_dump(MINE | {"client": "{folder}/flwo get"}))
    with pytest.raises(studies.StudyError) as caught:
        named_program("", "mine.yaml", studies.StudyError)
    assert str(caught.value).startswith("mine.yaml: client begins with {folder}/flwo, and my/flow has no such file")


def test_a_study_without_programs_has_the_specifications_that_it_had():
    config = {"study": "try", "ccas": ["cubic"], "scenarios": [{"id": "a", "flows": [{"name": "tcp", "stop_s": 10}]}]}
    assert "program" not in specification(studies.resolve(config, "try.yaml"))["scenario"]["groups"][0]


def test_a_published_run_is_one_that_the_workflow_could_write(files):
    made = json.loads(json.dumps(specification(study())))
    (files / "my/flow").unlink()
    assert check_specification(made, "document") == made
    made["scenario"]["groups"][0]["program"]["sha256"] = None
    with pytest.raises(ReceivedError, match="not complete"):
        check_specification(made, "document")
    assert names_files_unread({"programs": {"mine": MINE}, "scenarios": []})


@pytest.mark.parametrize(
    ("groups", "mine", "sentence"),
    [
        ((), {"path": "my/other"}, "programs.mine.path is my/other; "),
        ((), {"path": "/etc/passwd"}, 'programs.mine.path is "/etc/passwd"; allowed: a path below this folder'),
        ((), {"server": "{folder}/flow {adress}"}, "programs.mine.server has {adress}; allowed: {folder}, {server}"),
        ((), {"qlog": "*.qlog"}, "programs.mine.qlog is *.qlog, and server, the sending side, has no {logs}; allowed: a command that passes {logs} to the program."),
        ((), {"qlog": "*.qlog", "server": "{folder}/flow ${logs}"}, "the sending side, has no {logs}"),
        ((), {"cca": "cubic"}, "programs.mine.cca is cubic; allowed here: ccas: [cubic]."),
        ((), {"name": "other"}, "programs.mine.name is other; allowed here: no name"),
        ((), {"server": "{folder}/flow {seconds} {cca}"}, "programs.mine.server has {cca}, and the program has no ccas; allowed: ccas with"),
        ((), {"qlog": "../*"}, "programs.mine.qlog is \"../*\"; allowed: a file's name, perhaps with * and ?, or null."),
        ((), {"client": "'unclosed"}, "programs.mine.client is 'unclosed; the quotes in it are invalid"),
        ((), {"client": ""}, "programs.mine.client is empty; allowed: a command."),
        ((), {"client": "cd {folder} && ./flow get"}, "programs.mine.client contains the word &&, but no shell interprets it; allowed: a command"),
        ((), {"client": "{folder}/flwo get"}, "programs.mine.client begins with {folder}/flwo, and my/flow has no such file; allowed: {folder}/flow."),
        ((), {"client": "./flow get"}, "programs.mine.client begins with ./flow, which is not looked up in {folder}; allowed: {folder}/flow."),
        ((), {"client": "my/flow get"}, "programs.mine.client begins with my/flow, which is not looked up in {folder}; allowed: {folder}/flow."),
        ((), {"client": "{folder} get"}, "programs.mine.client begins with {folder}, which is a folder; allowed: {folder}/flow."),
        ((), {"client": "${folder}/flow get"}, "programs.mine.client begins with ${folder}/flow, but no shell interprets it; allowed: {folder}/flow, or sh -c"),
        ((), {"client": "$HOME/flow get"}, "programs.mine.client begins with $HOME/flow, but no shell interprets it; allowed: a command without it, or sh -c"),
        ((), {"client": "LOG=1 {folder}/flow"}, "programs.mine.client begins with LOG=1, but no shell interprets it; allowed: env LOG=1, and then the command."),
        ((), {"client": "{folder}/flow {Server}"}, "programs.mine.client has {Server}; allowed: {folder}, {server}"),
        ((), {"client": "{folder}/flow {server-address}"}, "programs.mine.client has {server-address}; allowed: {folder}, {server}"),
        ((), {"client": "{folder}/flow {port2}"}, "programs.mine.client has {port2}; allowed: {folder}, {server}"),
        ((), {"client": "env A=1 {folder}/flwo"}, "programs.mine.client begins with {folder}/flwo, and my/flow has no such file"),
        ((), {"client": "env A=1 ./flow"}, "programs.mine.client begins with ./flow, which is not looked up in {folder}; allowed: {folder}/flow."),
        ((), {"client": "'' get"}, "programs.mine.client begins with '', which names no program; allowed: {folder}/flow."),
        ((), {"client": "/ get"}, "programs.mine.client begins with /, which is a folder; allowed: {folder}/flow."),
        ((), {"path": "my/two words"}, "allowed: a path below this folder such as my/mine, without .., of letters, digits and ._-/, or null."),
        ((), {"ccas": "cubic"}, "programs.mine.ccas is \"cubic\"; allowed: a list of names, such as [cubic]."),
        ((), {"ccas": ["a", "b"]}, "programs.mine.ccas is a, b, and neither server nor client has {cca}, so all of them would be the same"),
        ((), {"ccas": ["bbr", "mine"], "protocol": "tcp"}, "programs.mine.ccas is bbr, mine, neither server nor client has {cca}, and mine is not a CCA of the kernel or of"),
        ((), {"ccas": ["a", "b"], "server": "{folder}/flow {seconds} ${cca}"}, "neither server nor client has {cca}"),
        ((), {"server": "{folder}/flow"}, "stop_s is 10, and no command of mine has {seconds}"),
        ((), {"memory_mib": 5}, "programs.mine.memory_mib is 5; allowed: a whole number from 16 to 4096 (MiB)."),
        (({"name": "x", "program": "other", "stop_s": 5}, BULK), {}, "program is other; allowed: mine."),
        (({"name": "x", "program": "mine:slow", "stop_s": 5},), {}, "program is mine:slow; allowed: mine."),
        ((BULK,), {"ccas": ["a", "b"]}, "program is mine; allowed: mine:a, mine:b."),
        ((BULK | {"bytes": 1000},), {}, "bytes is 1000, and stop_s is 10; allowed: one of the two"),
        (({"name": "x", "program": "mine"},), {}, "bytes is null, and stop_s is null; allowed: one of the two"),
        (({"name": "x", "program": "mine", "bytes": 1000},), {}, "bytes is 1000, and no command of mine has {bytes}"),
        ((BULK | {"count": 17},), {}, "count is 17; allowed with application program: up to 16."),
        ((BULK | {"cca": "bbr"},), {}, "cca is bbr; allowed with application program: own"),
        ((BULK | {"on_s": 1, "off_s": 1},), {}, "on_s is 1; allowed with application program: null"),
        ((BULK | {"application": "web"},), {}, "allowed with application web: null"),
        (({"name": "x", "application": "program", "stop_s": 5}, BULK), {}, "program is null; allowed with application program: the name"),
        (({"name": "x", "stop_s": 10},), {}, "programs.mine is not used by any group of flows"),
        ((BULK,), {"scenario": {"platform": "host"}}, "program is mine; on host nothing confines a program"),
    ],
)  # fmt: skip
def test_what_can_not_be_is_said_in_a_sentence(groups, mine, sentence):
    with pytest.raises(studies.StudyError) as caught:
        study(*groups, **mine)
    assert any(sentence in problem for problem in caught.value.problems), caught.value.problems


def test_the_page_declares_what_the_workflow_takes(files, root):
    """The example on the page and that in `examples/`, and all placeholders."""
    text = (root / "docs/programs.md").read_text()
    block, under_test, logs = re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S)
    for program in ("mine", "quic-go", "quinn", "aioquic", "s2n-quic", "quiche"):
        (files / "my" / program).write_text("#!/bin/sh\n")
        (files / "my" / program).chmod(0o755)
    of_page = studies.resolve(yaml.safe_load(block), "docs/programs.md")
    labels = [Program(**group["program"]).label for group in of_page["scenarios"][0]["groups"] if group["program"]]
    assert labels == ["mine:bbr", "mine:cubic"]
    assert set(re.findall(r"`\{([a-z_]+)\}`", text)) == {*PLACEHOLDERS}
    example = studies.resolve(studies.load(root / "examples/quic-go.yaml"), "examples/quic-go.yaml")
    assert [scenario["id"] for scenario in example["scenarios"]] == ["alone", "beside", "file"]
    declared = yaml.safe_load(logs)["programs"]["quic-go"]
    of_stacks = studies.resolve(studies.load(root / "examples/quic.yaml"), "examples/quic.yaml")
    logged = {program["name"]: program.get("qlog") for program in programs_under_test(of_stacks).values()}
    assert logged == {
        "quic-go": declared["qlog"],
        "quiche": "*.sqlog",
        "aioquic": "*.qlog",
        "quinn": None,
        "s2n-quic": None,
    }
    of_page = studies.resolve(yaml.safe_load(under_test), "docs/programs.md")
    of_quinn = studies.resolve(studies.load(root / "examples/quinn.yaml"), "examples/quinn.yaml")
    assert list(programs_under_test(of_page)) == ["mine:cubic"]
    assert list(programs_under_test(of_quinn)) == ["quinn:cubic", "quinn:newreno", "quinn:bbr"]


def test_a_link_to_a_folder_is_refused_and_a_link_to_a_file_followed(files):
    """Such a link would be missing from the run, and the program's libraries with it."""
    (files / "my/stack/lib").mkdir(parents=True)
    (files / "my/stack/lib/one").write_text("1")
    (files / "my/stack/two").symlink_to("lib/one")
    assert files_of(files / "my/stack") == {"lib/one": (b"1", False), "two": (b"1", False)}
    (files / "my/stack/lib64").symlink_to("lib")
    assert refusal(path="my/stack") == (
        "try.yaml: programs.mine.path is my/stack; its subfolder lib64 is a symbolic link; replace the link by a copy."
    )


@pytest.mark.parametrize("name", [b"lib/\xff.so", b"lib/a\nb"])
def test_names_of_files_are_printable_utf_8(files, name):
    (files / "my/stack/lib").mkdir(parents=True)
    (files / "my/stack/größe").touch()
    assert [*files_of(files / "my/stack")] == ["größe"]
    Path(os.fsdecode(bytes(files / "my/stack") + b"/" + name)).touch()
    sentence = f"its file {ascii(os.fsdecode(name))} has a name that isn't printable UTF-8"
    assert refusal(path="my/stack") == f"try.yaml: programs.mine.path is my/stack; {shown(sentence)}."


def test_an_archive_has_no_such_names_either(files):
    write_archive({"a\nb": (b"x", False)}, files / "one.tar")
    with pytest.raises(GivenFileError, match="isn't printable UTF-8"):
        read_archive(files / "one.tar")


def test_braces_after_percent_and_dollar_are_the_programs():
    """curl's ``-w '%{size_download}'``, and a shell's ``${x}``."""
    of_study = study(client="curl -w 'bytes %{size_download}' ${x} {server}", scenario={"id": "a"})
    (flow,) = RunSpecification(specification(of_study)).program_flows
    assert flow.words(flow.program.client, {"server": "10.0.0.1:1"}) == [
        "curl",
        "-w",
        "bytes %{size_download}",
        "${x}",
        "10.0.0.1:1",
    ]


def test_a_program_without_ccas_that_is_called_like_one_of_the_kernels():
    config = {"study": "try", "ccas": ["cubic", "bbr"], "programs": {"bbr": MINE}, "scenarios": [{"id": "a"}]}
    with pytest.raises(
        studies.StudyError, match="bbr in ccas is a CCA of the kernel .*; give the program another name"
    ):
        studies.resolve(config, "try.yaml")


def test_the_page_on_exams_declares_a_program_that_can_be_examined(files, root):
    (block,) = re.findall(r"^```yaml\n(path: .*?)^```$", (root / "docs/exam.md").read_text(), re.M | re.S)
    (files / "my/mine.yaml").write_text(block)
    programs, explanation = declarations("my/mine.yaml", studies.StudyError)
    assert programs["mine"]["ccas"] == ["cubic", "bbr"] and explanation.startswith("It grows")
