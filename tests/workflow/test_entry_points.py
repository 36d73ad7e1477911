"""Both Snakefiles are the workflow, and their form passes Snakemake's linter, on a clone where nothing is set up."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("entry", ["Snakefile", "workflow/Snakefile"])
def test_a_finished_study_is_finished_by_either_entry(smoke, entry):
    """A rule that depended on the entry point would be executed again."""
    plan = smoke.snakemake("--cores", "1", "-n", "-s", entry, "--configfile", "config/studies/smoke.yaml")[1]
    assert "Nothing to be done" in plan, plan


def test_the_linter_finds_nothing_before_set_up(fresh):
    for link in (fresh.folder / "envs").iterdir():
        link.unlink()
    done = subprocess.run(
        [Path(sys.executable).with_name("snakemake"), "--lint"], cwd=fresh.folder, capture_output=True, text=True, env={"HOME": os.environ["HOME"], "PATH": "/usr/bin:/bin"}
    )  # fmt: skip
    assert done.returncode == 0 and "Congratulations" in done.stderr, done.stdout + done.stderr


@pytest.mark.parametrize("words", [["-n", "--cores", "1"], ["--rulegraph"], ["--dag"]])
def test_plan_and_graphs_need_no_set_up(fresh, words):
    """The catalog of workflows calls them in a fresh checkout. Only a call that would run jobs is refused."""
    for link in (fresh.folder / "envs").iterdir():
        link.unlink()
    status, printed = fresh.snakemake(*words, "--configfile", "config/studies/smoke.yaml", check=False)
    assert status == 0 and "emulate_run" in printed.replace(" ", "_"), printed
    assert ("the images are missing, so this plan" in printed) == ("-n" in words)


def test_jobs_need_the_images(fresh):
    for link in (fresh.folder / "envs").iterdir():
        link.unlink()
    status, printed = fresh.snakemake("--cores", "1", "--configfile", "config/studies/smoke.yaml", check=False)
    assert status != 0 and "the images are missing, run `make setup`" in printed and "Traceback" not in printed, printed
    assert not (fresh.folder / "results/smoke/runs").exists()


def test_a_rule_without_a_log_would_be_found(fresh):
    with (fresh.folder / "workflow/rules/tidy.smk").open("a") as rules:
        rules.write(
            '\n\nrule unlogged:\n    output:\n        "x",\n    container:\n        "envs/analysis.sif"\n    shell:\n        "touch x"\n'
        )
    status, printed = fresh.snakemake("--lint", check=False)
    assert status != 0 and "No log directive defined" in printed
