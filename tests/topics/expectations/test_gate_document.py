"""The examples in config/gate.md are valid as printed."""

import re
from pathlib import Path

import pytest
import yaml

from run_tables.tidy_tables import TIDY_TABLES
from study_files import study as studies
from topics.cells.tables import DESCRIPTIVE
from topics.claims.tables import CLAIMS
from topics.exam.tables import SCORECARD
from topics.expectations.expectation_list import expectations_of

STUDY, ROWS, OF_MINE, WORKFLOW = re.findall(r"```yaml\n(.*?)```", Path("config/gate.md").read_text(), re.DOTALL)


def expected(entries):
    """Return the expectations of the example's study with some more entries, and with the CCA that a call adds."""
    config = yaml.safe_load(STUDY)
    config["analysis"]["expect"] += entries
    config |= {"ccas": [*config["ccas"], "mine"], "cca_definitions": {"mine": {"source": "examples/tcp_aimd.c"}}}
    return expectations_of(
        studies.resolve(config, "gate.yaml"), "gate.yaml", (*TIDY_TABLES, DESCRIPTIVE, CLAIMS, SCORECARD)
    )


@pytest.mark.parametrize("more", ["[]", ROWS, OF_MINE])
def test_examples_of_expectations_are_valid(more):
    entries = yaml.safe_load(more)
    assert expected(entries)["ids"] == [
        "cubic-fast",
        "no-more-retransmits",
        "all-valid",
        *(one["id"] for one in entries),
    ]


def test_steps_of_the_workflow_call_what_there_is():
    """Each make command has its target, and each folder is made by a step."""
    (job,) = yaml.safe_load(WORKFLOW)["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    targets = {command.split()[1] for command in commands if command.startswith("make")}
    assert targets == {"setup", "evaluate"}
    assert all(re.search(rf"^{target}:", Path("Makefile").read_text(), re.MULTILINE) for target in targets)
    assert {step.get("working-directory") for step in job["steps"]} == {None, "sawtooth"}
