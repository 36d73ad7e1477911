"""Finished results changed by something else are found by their hashes, whatever their dates, and made again."""

import os
from pathlib import Path

import pytest

from publishing.damaged_results import ASIDE, FINISHED, damaged_files, note_begun
from publishing.result_checks.manifest import MANIFEST

pytestmark = pytest.mark.slow

MINI = ("--configfile", "config/studies/mini.yaml")
DAMAGED = (
    "runs/near/reno/ipv4/1.json.gz",
    "tidy/flows.csv",
    "figures/goodput.svg",
    "report.html",
    "details.html",
    "findings.json",
)


def damage(path, keep_date=True):
    """Change one bit in the middle of a file."""
    before, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    if keep_date:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.fixture
def results(copy_of_mini):
    return copy_of_mini.folder / "results/mini"


def damage_some(results):
    """Damage six files and delete one; return the contents of the six by path."""
    for path in DAMAGED:
        damage(results / path, keep_date=path != "figures/goodput.svg")
    (results / "tidy/runs.csv").unlink()
    return {path: (results / path).read_bytes() for path in DAMAGED}


def test_damaged_files_are_named(copy_of_mini, results):
    contents = damage_some(results)
    planned, printed = copy_of_mini.snakemake("--cores", "1", *MINI, "-n")
    assert planned == 0
    assert (
        "6 files in results/mini changed since the results were finished: details.html, figures/goodput.svg, findings.json"
        in printed
    )
    assert "would be made again" in printed
    assert {path: (results / path).read_bytes() for path in DAMAGED} == contents


@pytest.mark.faults
@pytest.mark.long
def test_damaged_files_are_set_aside_and_made_again(copy_of_mini, results, mini):
    contents = damage_some(results)
    _, printed = copy_of_mini.snakemake("--cores", "all", *MINI)
    assert "moved to logs/damaged in this folder and made again" in printed
    assert "Traceback" not in printed
    copy_of_mini.same_results_as(mini)
    assert {path: (results / ASIDE / path).read_bytes() for path in DAMAGED} == contents
    assert damaged_files(results) == []


@pytest.mark.faults
@pytest.mark.long
def test_a_damaged_manifest_vouches_for_nothing(copy_of_mini, results, mini):
    damage(results / MANIFEST)
    damage(results / "analysis/checks.csv")
    assert damaged_files(results)[0] == MANIFEST
    copy_of_mini.snakemake("--cores", "all", *MINI)
    copy_of_mini.same_results_as(mini)


def test_what_an_interrupted_call_has_made_is_newer_and_no_damage(results):
    assert (results / FINISHED).exists()
    note_begun(results)
    damage(results / "analysis/checks.csv", keep_date=False)
    assert damaged_files(results) == []
    damage(results / "tidy/flows.csv")
    assert damaged_files(results) == ["tidy/flows.csv"]


def test_a_folder_without_results_has_no_damage(tmp_path):
    assert damaged_files(tmp_path) == []
    (tmp_path / MANIFEST).write_text("{")
    assert damaged_files(Path(tmp_path)) == [MANIFEST]
