"""Texts from users and studies never become commands: checked by reading the code and by trying."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import snakemake_forks
from study_files import study as studies

#: Leave a file `pwned` if a shell sees them unquoted, or quoted only by double or single quotes.
HOSTILE = ["x; touch pwned #`touch pwned`$$(touch pwned)", "x'; touch pwned; '", "x\ntouch pwned"]


def starts_a_shell(node):
    """Return whether a call passes a string to a shell: shell=True, os.system, os.popen, subprocess.getoutput, sh -c."""
    name = ast.unparse(node.func)
    if name in ("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"):
        return True
    if any(key.arg == "shell" and ast.unparse(key.value) != "False" for key in node.keywords):
        return True
    command = node.args[0] if node.args else None
    if name.startswith("subprocess.") and not isinstance(command, (ast.List, ast.Name, ast.ListComp, ast.BinOp)):
        return isinstance(command, (ast.Constant, ast.JoinedStr))
    return False


def shell_calls(text):
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return [ast.unparse(node) for node in calls if starts_a_shell(node)]


def test_no_program_of_ours_hands_a_string_to_a_shell(root):
    files = [path for folder in ("workflow", "setup", "benchmarks") for path in (root / folder).rglob("*.py")]
    assert len(files) > 60
    assert {path.name: calls for path in files if (calls := shell_calls(path.read_text()))} == {}


@pytest.mark.parametrize(
    "call", ["os.system(f'ls {x}')", "subprocess.run('ls', shell=True)", "subprocess.run(f'ls {x}')"]
)
def test_such_a_string_would_be_found(call):
    assert shell_calls(call) == [call]


def rule_files(root):
    return [root / "Snakefile", root / "workflow/Snakefile", *sorted((root / "workflow").rglob("*.smk"))]


def unquoted(text):
    """Return Snakemake's placeholders that are unquoted in a text, except numbers from our own functions and paths of scripts."""
    text = re.sub(r'^\s+"\S+\.py"$', "", text, flags=re.M)  # no shell sees them
    placeholders = re.findall(r"\{(?:wildcards|params|input|output|config|log)\b[^{}]*\}", text)
    return [placeholder for placeholder in placeholders if not placeholder.endswith(":q}")]


def test_every_placeholder_in_a_shell_command_is_quoted(root):
    command_line = re.compile(r"^.*\{(?:wildcards|params|input|output|log)\..*", re.M)
    commands = {path.name: "\n".join(command_line.findall(path.read_text())) for path in rule_files(root)}
    assert any(commands.values())  # a rule that has a command
    assert {name: words for name, command in commands.items() if (words := unquoted(command))} == {}


def test_only_runs_their_kernels_and_their_programs_have_shell_commands(root):
    """All other rules are scripts, which receive their values as objects."""
    with_commands = [
        f"{path.parent.name}/{path.name}"
        for path in rule_files(root)
        if re.search(r"^\s+(shell|run):", path.read_text(), re.M)
    ]
    assert with_commands == ["rules/emulate.smk", "rules/kernels.smk", "rules/programs.smk", "repetitions/rules.smk"]


@pytest.fixture
def checkout(root, tmp_path):
    """A folder that has everything that `make` needs, except the set-up."""
    for name in ("config", "envs", "profiles", "report", "setup", "workflow", "Snakefile", "Makefile"):
        (tmp_path / name).symlink_to(root / name)
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    return tmp_path


def call(checkout, *command):
    """Return a command's exit status and its output."""
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(command, cwd=checkout, timeout=120, **output)
    return done.returncode, done.stdout


def make(checkout, *arguments):
    return call(checkout, "make", "--old-file", "setup", *arguments)  # as if it were set up


@pytest.mark.slow
@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize(
    "target, variable",
    [("publish", "RESULTS"), ("publish", "STUDY"), ("publish", "CONFIG"), ("setup", "PYTHON"), ("run", "STUDY"),
     ("verify", "RESULTS"), ("verify", "RUNS"), ("verify", "N"), ("verify", "SEED"), ("evaluate", "CCA"), ("exam", "CCA"), ("exam", "QUICK"), ("compare", "EXAMS"), ("gallery", "CCAS"), ("atlas", "STUDIES")],
)  # fmt: skip
def test_no_value_given_to_make_becomes_a_command(target, variable, value, checkout):
    old = [] if target == "setup" else ["--old-file", "setup"]
    status, output = call(checkout, "make", *old, target, f"{variable}={value}")
    assert status != 0
    assert not (checkout / "pwned").exists(), output


def test_such_a_value_would_be_seen(checkout):
    """The words in ARGS are the user's own part of the command, as typed, so a shell does interpret them."""
    make(checkout, "publish", "RESULTS=nowhere", "ARGS=; touch pwned")
    assert (checkout / "pwned").exists()


def test_a_value_with_spaces_and_quotes_arrives_whole(checkout):
    status, output = make(checkout, "publish", 'RESULTS=it\'s a/place "here"')
    assert status != 0
    assert 'it\'s a/place "here": there is no such folder' in output


@pytest.mark.parametrize(
    "override",
    [
        *[{"study": name} for name in ("x; touch pwned", "../../pwned", "-rf")],
        {"ccas": ["reno; touch pwned"]},
        {"ip_versions": ["ipv4`touch pwned`"]},
        {"replications": "1; touch pwned"},
        {"seed": "$(touch pwned)"},
        *[{"scenarios": [{"id": name}]} for name in ("a; touch pwned", "../../pwned")],
        {"scenarios": [{"id": "a", "link": {"rate_mbps": "10; touch pwned"}}]},
        {"analysis": {"claims": "../../pwned"}},
        {"analysis": {"compare_with": "; touch pwned"}},
    ],
)
def test_a_study_can_not_name_what_a_shell_or_a_path_would_act_on(override, root):
    path = root / "config/studies/smoke.yaml"
    with pytest.raises(studies.StudyError):
        studies.resolve(studies.load(path, override), path)


def plan(checkout, *arguments):
    return snakemake_forks.call(("--cores", "1", "--dry-run", *arguments), checkout, dict(os.environ), 120)


def test_an_override_is_refused_before_anything_runs(checkout):
    status, output = plan(checkout, "--config", "ccas=['reno; touch pwned']", "study=x`touch pwned`")
    assert status != 0
    assert "sawtooth: config/config.yaml: " in output
    assert list(checkout.rglob("pwned")) == []


@pytest.mark.slow
def test_a_study_file_of_any_name_is_read(checkout):
    odd = checkout / "it's; $(touch pwned) `touch pwned`.yaml"
    odd.write_text((checkout / "config/studies/smoke.yaml").read_text())
    status, output = plan(checkout, "--configfile", os.path.relpath(odd, checkout))
    assert status == 0, output
    assert list(checkout.rglob("pwned")) == []


#: Ways in which Snakemake's own reader of configuration files would carry out Python (YTE).
CODE = {
    "definitions": "__use_yte__: true\n__definitions__:\n  - import os\n  - os.system('touch pwned')\nstudy: x\n",
    "expression": "__use_yte__: true\nstudy: ?__import__('os').system('touch pwned')\n",
    "key": "__use_yte__: true\n?if __import__('os').system('touch pwned') == 0:\n  study: x\n",
    "JSON": '{"__use_yte__": true, "__definitions__": ["import os", "os.system(\'touch pwned\')"], "study": "x"} #',
}


@pytest.mark.parametrize("text", CODE.values(), ids=CODE)
def test_a_study_file_is_data(text, checkout):
    (checkout / "received.yaml").write_text(text)
    status, output = plan(checkout, "--configfile", "received.yaml")
    assert status != 0
    assert "sawtooth: received.yaml: unknown key '__use_yte__'" in output
    assert not (checkout / "pwned").exists()


@pytest.mark.slow
def test_a_study_file_is_data_for_who_calls_from_elsewhere(checkout, tmp_path_factory):
    (checkout / "received.yaml").write_text(CODE["definitions"])
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    place = ("-s", str(checkout / "Snakefile"), "-d", str(checkout))
    status, output = plan(elsewhere, *place, "--configfile", str(checkout / "received.yaml"))
    assert status != 0
    assert "received.yaml: unknown key '__use_yte__'" in output
    assert not list(elsewhere.iterdir()) and not (checkout / "pwned").exists()
    status, output = plan(elsewhere, *place, "--config", "replications=1")
    assert status == 0, output


def test_make_takes_a_study_file_for_data(checkout):
    (checkout / "config").unlink()
    (checkout / "config/studies").mkdir(parents=True)
    (checkout / "config/studies/received.yaml").write_text(CODE["definitions"])
    status, output = make(checkout, "STUDY=received", "ARGS=-n")  # a `make` without a goal runs the study
    assert status != 0
    assert "sawtooth: config/studies/received.yaml: unknown key '__use_yte__'" in output
    assert not (checkout / "pwned").exists()


def test_such_code_would_be_carried_out_and_the_user_told(checkout):
    """Without the workflow's own profile Snakemake reads the file itself, before the workflow can intervene."""
    (checkout / "received.yaml").write_text(CODE["definitions"])
    status, output = plan(checkout, "--configfile", "received.yaml", "--workflow-profile", "none")
    assert status != 0
    assert "sawtooth: profiles/default was not loaded" in output
    assert (checkout / "pwned").exists()


@pytest.mark.slow
def test_nothing_of_a_caller_is_handed_into_containers(checkout):
    """This includes Apptainer's variables and the location of matplotlib's cache."""
    snakefile = (checkout / "Snakefile").read_text()
    (checkout / "Snakefile").unlink()
    (checkout / "Snakefile").write_text(
        snakefile + '\nprint("handed in:", sorted(name for name in os.environ if name.startswith("APPTAINERENV_")))\n'
        'print("matplotlib:", os.environ["APPTAINERENV_MPLCONFIGDIR"])\n'
    )
    command = (Path(sys.executable).with_name("snakemake"), "--cores", "1", "--dry-run", "--config", "replications=1")
    status, output = call(checkout, "env", "APPTAINERENV_PYTHONPATH=/x", "SINGULARITYENV_A=1", *command)
    assert status == 0, output
    assert "PYTHONPATH" not in re.search("handed in: (.*)", output)[1]
    assert f"matplotlib: {checkout}/.snakemake/matplotlib" in output
