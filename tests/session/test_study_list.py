"""The studies by name, and what each is said to take, held against what runs took."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.session.test_run_cost import shared_by_runs

from session import study_list, study_names
from session.machine_speed import DEFAULT_PART, Measured, measured_in
from session.run_cost import document_kb


@pytest.fixture(autouse=True)
def in_checkout(root, monkeypatch):
    monkeypatch.chdir(root)


def test_every_shipped_study_answers_to_its_name():
    for file in dict.fromkeys(study_names.study_files().values()):
        name = re.search(r"^study: *(\S+)", file.read_text(), re.MULTILINE)[1]
        assert study_names.file_of(name) == file


@pytest.mark.parametrize("name", ["smok", "", "../config", "config", "a\nb", "-h"])
def test_an_unknown_name_gets_one_sentence(name):
    with pytest.raises(LookupError, match=r"there is no study of that name.*make studies") as caught:
        study_names.file_of(name)
    assert "\n" not in caught.value.args[0]


def test_list_of_a_study_that_has_some_runs(tmp_path):
    folder = tmp_path / "smoke" / "runs" / "a" / "reno" / "ipv4"
    folder.mkdir(parents=True)
    (folder / "1.json.gz").touch()
    study, runs, done, *_, file = study_list.row_of(
        study_list.cost_of(study_names.file_of("smoke"), tmp_path), Measured()
    )
    assert (study, runs, done, file) == ("smoke", "16", "1", "config/studies/smoke.yaml")


def benchmark(folder, scenario, number, text):
    file = folder / "benchmarks" / "runs" / scenario / "reno" / "ipv4" / f"{number}.tsv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_speed_is_that_of_the_runs_carried_out_here(tmp_path):
    """Cached runs have a heading alone; a damaged file and a scenario that the study no longer has count nothing."""
    for number in range(10):
        benchmark(tmp_path, "a", number, "s\th:m:s\n0.5\t0:00:00\n")
    benchmark(tmp_path, "a", 10, "s\th:m:s\n")
    benchmark(tmp_path, "a", 11, "s\th:m:s\n?\t0\n")
    benchmark(tmp_path, "gone", 1, "s\th:m:s\n99\t0\n")
    measured = measured_in(tmp_path, {"a": 2.0})
    assert (measured.runs, measured.part) == (10, 0.25)
    assert Measured(9, 1.0, 9.0).part == DEFAULT_PART


def test_finished_study_says_how_far_off_its_estimate_was(tmp_path):
    file = study_names.file_of("smoke")
    bound_s = study_list.cost_of(file, tmp_path).bound_s / 16
    for number in range(16):
        benchmark(tmp_path / "smoke", "10mbit-20ms-0pct-1flow", number, f"s\n{bound_s}\n")
    cost = study_list.cost_of(file, tmp_path)
    part = cost.measured.part
    assert study_list.row_of(cost, Measured(10, part, 1.0))[4] == "+0%"
    assert study_list.row_of(cost, Measured(10, 2 * part, 1.0))[4] == "-50%"
    assert study_list.row_of(cost, Measured(10, part, 1.0))[3] == f"{part * cost.bound_s / 3600:.2g}"


# kB of the documents of shipped studies, a mean over the runs of a scenario.
@pytest.mark.parametrize(
    ("scenario", "kilobytes"),
    [
        ({"flows": 1, "traffic": {"duration_s": 10}}, 7.3),
        ({"flows": 12, "traffic": {"duration_s": 10}}, 19.5),
        ({"flows": 1, "traffic": {"duration_s": 12, "sample_interval_ms": 20}}, 24.4),
        ({"flows": 4, "traffic": {"duration_s": 12, "sample_interval_ms": 20}}, 72.9),
    ],
)
def test_size_of_a_document(scenario, kilobytes):
    assert document_kb(shared_by_runs(scenario)) == pytest.approx(kilobytes, rel=0.2)


MISTYPED = [
    (["studdies"], "make has no target studdies"),
    (["STUDI=smoke"], "make has no variable STUDI"),
    (["study=smoke"], "make has no variable study"),
    (["STUDY=smok"], "there is no study of that name (nearest: smoke"),
    (["STUDY=config/studies/none.yaml"], "there is no such file, or it can't be read"),
    (["sensitivity", "STUDY=smoke", "N=x"], "sawtooth: N is 'x'; allowed are whole numbers from 1 on."),
    (["sensitivity", "STUDY=smoke", "SEED=-1"], "sawtooth: SEED is '-1'; allowed are whole numbers from 0 on."),
    (["verify", "RESULTS=nowhere"], "sawtooth: nowhere: there is no such folder"),
]


@pytest.mark.parametrize("words, sentence", MISTYPED)
def test_a_mistyped_call_of_make_is_told_in_a_sentence(words, sentence, tmp_path, root):
    """And nothing is begun: a misspelt variable left unread would run the default study for an hour."""
    for name in ("Makefile", "config", "workflow", "profiles", "Snakefile", "envs"):
        (tmp_path / name).symlink_to(root / name)
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    command = ["make", "--old-file", "setup", *words]
    done = subprocess.run(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
    )
    assert done.returncode != 0 and sentence in done.stdout and "Traceback" not in done.stdout, done.stdout
    assert not (tmp_path / "results").exists() and not (tmp_path / ".snakemake").exists()
