"""A study of 14,400 runs is planned, started and watched like one of eight."""

import os
import re

import pytest

pytestmark = pytest.mark.long

FULL = "config/studies/ipv4-ipv6-full.yaml"
MINI = "config/studies/mini.yaml"
FIFTY = ("--set-resources", "emulate_run:runs=50", "--keep-incomplete")


@pytest.mark.parametrize(("settings", "jobs"), [((), 14_400), (FIFTY, 288)])
def test_the_full_study_is_planned_in_little_memory(fresh, settings, jobs):
    process = fresh.start("--cores", "1", "--dry-run", "--quiet", *settings, study=FULL)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, output[-2000:]
    assert sum(map(int, re.findall(r"^ emulate runs?(?: \d+)? +(\d+)", output, re.MULTILINE))) == jobs
    assert usage.ru_maxrss / 1024 < 2000


def test_jobs_are_looked_for_once_a_finished_run(fresh):
    """Not once per second for each run that has ever finished, which would finally occupy a core."""
    _, output = fresh.snakemake("--cores", "1", "--verbose", "--until", "emulate_run", "--configfile", MINI)
    assert re.findall(r"Ready jobs: (\d+)", output) == ["8", "7", "6", "5", "4", "3", "2", "1"]
    # A log file: how far it is at the first job, then once a minute; Snakemake counts those too that `--until` leaves away.
    first, *later = re.findall(r"(\d+) of \d+ jobs done \(\d+ %\), about \d+ min left", output)
    assert first == "1" and len(later) < 7
    assert "Activating" not in output


def test_how_many_runs_a_job_carries_makes_no_finished_run_stale(one_missing):
    """A study begun on one machine continues on a cluster: only the job with the missing run remains."""
    call = ("--configfile", "config/studies/mini.yaml", "--set-resources", "emulate_run:runs=3", "--keep-incomplete")
    planned = one_missing.planned(*call)
    jobs = {rule: count for rule, count in planned.items() if rule.startswith("emulate")}
    assert sum(jobs.values()) == 1
    assert "tidy_runs" in planned
