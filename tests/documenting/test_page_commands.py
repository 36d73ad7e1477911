"""Each command on the pages does what they claim: it is executed in a fresh clone, planned, or listed with a reason."""

import re
import shlex
import subprocess

import pytest
import yaml

import page_commands
from fresh_clone import Clone, users_own
from page_commands import COMMAND_PAGES, blocks_of, planning, reason_not_to_run, spans_of, steps_of, text_of

#: A word of a command that a reader fills in.
OPEN = re.compile(r"[<>*]|\.\.\.|=$")
STEPS = {page: steps_of(text_of(page)) for page in COMMAND_PAGES}
CARRIED_OUT = {step.command for steps in STEPS.values() for step in steps if not reason_not_to_run(step.command)} | {
    command for commands in page_commands.BEFORE.values() for command in commands
}
SPANS = sorted({span for page in COMMAND_PAGES for span in spans_of(text_of(page))})
of_each_page = pytest.mark.parametrize("page", COMMAND_PAGES)


@of_each_page
def test_a_block_is_of_a_language_that_is_tested(page):
    known = {"sh", "python", "text", *page_commands.TESTED_ELSEWHERE}
    assert [(block.line, block.language) for block in blocks_of(text_of(page)) if block.language not in known] == []


@of_each_page
def test_printed_lines_follow_a_command(page):
    """A text block before the first command would be compared with nothing."""
    for block in blocks_of(text_of(page)):
        if block.language in ("sh", "python"):
            break
        assert block.language != "text", f"line {block.line}"


@of_each_page
def test_yaml_can_be_read(page):
    for block in blocks_of(text_of(page)):
        if block.language == "yaml":
            assert isinstance(yaml.safe_load(block.text), dict | list), f"line {block.line}"


@pytest.mark.parametrize("span", SPANS)
def test_a_command_in_a_sentence_is_one_of_a_block(span):
    """Or it is part of one, as `make verify` is of `make verify RESULTS=...`; placeholders for the reader are ignored."""
    if reason_not_to_run(span) or span in page_commands.PLANNED:
        return
    words = {word for word in span.split() if not OPEN.search(word)}
    assert any(words <= set(shlex.split(command)) for command in CARRIED_OUT), (
        "add it to a block or tests/page_commands.py"
    )


def test_what_is_declared_stands_on_a_page():
    commands = [*SPANS, *(step.command for steps in STEPS.values() for step in steps)]
    stale = [
        declared
        for declared in (*page_commands.PLANNED, *page_commands.NOT_RUN)
        if not any(one == declared or declared.endswith("*") and one.startswith(declared[:-1]) for one in commands)
    ]
    assert stale == []
    assert page_commands.BEFORE.keys() | page_commands.OWN_RUNS <= {*COMMAND_PAGES}


def test_what_tests_a_command_instead_exists(root):
    reasons = [*page_commands.NOT_RUN.values(), *page_commands.TESTED_ELSEWHERE.values()]
    named = {path for reason in reasons for path in re.findall(r"tests/[\w/.]+\.py", reason)}
    assert [path for path in named if not (root / path).is_file()] == []


def test_lines_that_are_not_printed_are_found():
    assert page_commands.not_printed(["verdict: all is well"], "verdict: no problem was found\n")
    assert page_commands.not_printed(["emulate run 16"], " emulate run          15\n")


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in COMMAND_PAGES if STEPS[page]])
def test_make_knows_its_words(root, page):
    """make itself parses each call, with its variables and the study's name, and executes nothing."""
    calls = [step.command for step in STEPS[page] if re.match(r"make(?: |$)", step.command)]
    for call in calls:
        words = re.split(r"&&|;|\|", call)[0]
        done = subprocess.run(
            ["bash", "-c", f"{words} --dry-run"], cwd=root, env=users_own(), capture_output=True, text=True
        )
        assert "there is no study" in done.stderr and "=mine" in call or done.returncode == 0, done.stderr


@pytest.mark.long
@pytest.mark.pages
@pytest.mark.parametrize("page", [page for page in COMMAND_PAGES if STEPS[page]])
def test_the_commands_of_a_page_work(root, page, tmp_path):
    clone = Clone(root, tmp_path, own_runs=page in page_commands.OWN_RUNS)
    for command in ("make setup", *page_commands.BEFORE.get(page, [])):
        status, printed = clone.run(command)
        assert status == 0, f"{command}:\n{printed[-3000:]}"
    for step in STEPS[page]:
        if reason_not_to_run(step.command):
            continue
        is_planned = step.command in page_commands.PLANNED
        status, printed = clone.run(planning(step.command) if is_planned else step.command)
        assert (status == 0) is not step.is_refused, f"line {step.line}: {step.command}:\n{printed[-3000:]}"
        if not is_planned:
            assert [path for path in step.makes if not (clone.folder / path).exists()] == [], step.command
        assert not (is_planned and "report:" in printed), f"{step.command}: there is none"
        assert page_commands.not_printed(step.prints, printed) == [], f"line {step.line}: {step.command}:\n{printed}"
