"""Programs whose runs are executed twice by the workflow; one of them reads random numbers of the processor."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from program_runs import PROGRAMS, SENDER

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("rdrand" not in Path("/proc/cpuinfo").read_text(), reason="the processor has no RDRAND"),
]

TCP = SENDER | {"path": "my/sender.py", "protocol": "tcp", "ccas": ["tcp"]}
STUDY = {
    "study": "twice", "ccas": ["reno", "plain:tcp", "odd:tcp"], "ip_versions": ["ipv4"], "replications": 2,
    "programs": {"plain": TCP, "odd": TCP | {"client": TCP["client"].replace("sender.py", "sender.py random")}},
    "defaults": {"link": {"rate_mbps": 10, "delay_ms": 20}, "traffic": {"duration_s": 3}}, "scenarios": [{"id": "alone"}],
}  # fmt: skip


def test_what_is_not_reproducible_is_said_on_the_page_and_on_the_terminal(fresh):
    (fresh.folder / "my").mkdir()
    shutil.copy(PROGRAMS / "sender.py", fresh.folder / "my")
    (fresh.folder / "my/twice.yaml").write_text(yaml.safe_dump(STUDY))
    _, printed = fresh.snakemake("--cores", "2", "--configfile", "my/twice.yaml", started=True)
    results = fresh.folder / "results/twice"
    table = pd.read_csv(results / "analysis/repetitions.csv").set_index("programs")
    assert table["result"].to_dict() == {"plain:tcp": "same bytes", "odd:tcp": "different"}
    sentence = "1 of 2 runs that were compared with a repetition gave a different document for the same seed, so runs with odd:tcp can't be reproduced."
    assert f"sawtooth: {sentence}" in printed
    assert "sawtooth: 1 run was repeated with the same bytes: with plain:tcp." in printed
    head = (results / "report.html").read_text().split("<nav")[0]
    assert sentence.replace("'", "&#39;") in head
    # Nothing is repeated once more.
    _, printed = fresh.snakemake("--cores", "2", "--configfile", "my/twice.yaml", started=True)
    assert "Nothing to be done" in printed
    # With gaps=true, the repetitions that exist are still compared.
    assert "compare_repetitions" not in fresh.planned("--configfile", "my/twice.yaml", "--config", "gaps=true")
    # Another label executes nothing.
    labelled = STUDY | {"scenarios": [{"id": "alone", "label": "one flow"}]}
    (fresh.folder / "my/twice.yaml").write_text(yaml.safe_dump(labelled))
    planned = fresh.planned("--configfile", "my/twice.yaml")
    assert planned["compare_repetitions"] == 1 and not {"emulate_run", "repeat_run"} & set(planned)
    # Limits of runs apply to their repetitions; one that the machine ends says nothing about the program.
    short = ("--configfile", "my/twice.yaml", "-R", "repeat_run", "--set-resources", "emulate_run:wall_limit_s=1")
    _, printed = fresh.snakemake("--cores", "2", *short, started=True)
    assert "2 repeated runs are no evidence of reproducibility: alone/" in printed and "time limit of 1 s" in printed
    assert "can't be reproduced" not in printed
    assert "Not reproducible" not in (results / "report.html").read_text()
    # A table of programs that the study no longer has isn't reported.
    without = {key: value for key, value in STUDY.items() if key != "programs"} | {"ccas": ["reno"]}
    (fresh.folder / "my/twice.yaml").write_text(yaml.safe_dump(without))
    _, printed = fresh.snakemake("--cores", "2", "--configfile", "my/twice.yaml", started=True)
    assert (results / "analysis/repetitions.csv").exists() and "repetition" not in printed


def test_a_report_without_executions_says_that_nothing_was_repeated(fresh):
    (fresh.folder / "my").mkdir()
    shutil.copy(PROGRAMS / "sender.py", fresh.folder / "my")
    alone = STUDY | {"ccas": ["plain:tcp"], "programs": {"plain": TCP}, "replications": 1}
    (fresh.folder / "my/twice.yaml").write_text(yaml.safe_dump(alone))
    call = ("--cores", "2", "--configfile", "my/twice.yaml")
    fresh.snakemake(*call, "--until", "emulate_run")
    fresh.snakemake(*call, "--config", "gaps=true")
    page = (fresh.folder / "results/twice/details.html").read_text()
    assert "so no run was executed twice" in page and "two runs of each program and CCA were executed twice" not in page
