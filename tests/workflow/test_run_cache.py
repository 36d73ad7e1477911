"""The run cache returns documents of executed runs, in another checkout too, but never where execution is required."""

import shutil
from pathlib import Path

import pytest

from session.host_needs import kernel_now

MINI = "config/studies/mini.yaml"
RUNS = ("--cores", "2", "--configfile", MINI, "--until", "emulate_run")
RUN = "runs/near/reno/ipv4/1.json.gz"
ONE = (f"results/mini/{RUN}", "--cores", "1", "--configfile", MINI)


@pytest.fixture(autouse=True)
def kept(tmp_path_factory, monkeypatch):
    """The folder of an empty cache, with caching enabled."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("SAWTOOTH_CACHE", str(folder))
    monkeypatch.setenv("SAWTOOTH_RUN_CACHE", "1")
    return folder / "runs"


def origins(output):
    """Return the last sentence of a call's output."""
    return next(line for line in output.splitlines() if line.startswith("sawtooth: ") and "executed here" in line)


def log(checkout, run=RUN):
    return (checkout.folder / "results/mini/logs" / run.replace(".json.gz", ".log")).read_text()


def was_taken(checkout):
    return "not executed here" in log(checkout)


@pytest.mark.long
def test_another_checkout_takes_all_runs_and_its_results_are_the_same_to_the_byte(tmp_path, checkout_in, kept, mini):
    first, second = (checkout_in(tmp_path / name) for name in ("first", "second"))
    _, output = first.snakemake(*RUNS)
    assert origins(output) == "sawtooth: 8 runs of mini were executed here, 0 taken from the run cache"
    assert len(list(kept.rglob("*.json.gz"))) == 8
    _, output = second.snakemake("--cores", "2", "--configfile", MINI)
    assert "0 runs of mini were executed here, 8 taken from the run cache" in origins(output)
    assert (
        origins(output).removeprefix("sawtooth: ") in (second.folder / "results/mini/logs/run-origins.txt").read_text()
    )
    second.same_results_as(first, "runs")
    second.same_results_as(mini)  # all of whose runs were executed
    for checkout in (first, second):
        names = {path.name for path in (checkout.folder / "results/mini/benchmarks/runs/near/reno/ipv4").iterdir()}
        assert names == {"1.tsv", "2.tsv"}
    heads = (second.folder / "results/mini/benchmarks/runs/near/reno/ipv4/1.tsv").read_text().splitlines()
    assert len(heads) == 1 and heads[0].startswith("s\t")
    # Nothing is left to be done.
    assert second.planned("--configfile", MINI) == {}


@pytest.mark.slow
def test_another_study_takes_the_runs_that_it_shares(fresh, kept):
    fresh.snakemake(*ONE)
    study = (
        (fresh.folder / MINI)
        .read_text()
        .replace("study: mini", "study: other")
        .replace("[reno, cubic]", "[vegas, reno]")
    )
    (fresh.folder / "config/studies/other.yaml").write_text(study)
    wanted = [f"results/other/runs/near/{cca}/ipv4/1.json.gz" for cca in ("reno", "vegas")]
    fresh.snakemake(*wanted, "--cores", "1", "--configfile", "config/studies/other.yaml")
    assert (fresh.folder / wanted[0]).read_bytes() == (fresh.folder / "results/mini" / RUN).read_bytes()
    logs = [
        (fresh.folder / path.replace("/runs/", "/logs/runs/").replace(".json.gz", ".log")).read_text()
        for path in wanted
    ]
    assert ["not executed here" in text for text in logs] == [True, False]


@pytest.mark.slow
def test_what_is_damaged_forced_or_switched_off_is_executed(fresh, kept, monkeypatch):
    document = fresh.folder / "results/mini" / RUN
    fresh.snakemake(*ONE)
    original = document.read_bytes()

    def again(*options):
        if "--force" not in options:
            document.unlink()
        _, output = fresh.snakemake(*ONE, *options)
        assert document.read_bytes() == original
        return output

    again()
    assert was_taken(fresh)
    again("--force")
    assert not was_taken(fresh)
    (entry,) = kept.rglob("*.json.gz")
    entry.write_bytes(original[:-10])
    assert "its entry was damaged and is deleted; the run is carried out" in again()
    assert not was_taken(fresh) and entry.read_bytes() == original
    again()
    assert was_taken(fresh)
    monkeypatch.setenv("SAWTOOTH_RUN_CACHE", "0")
    again()
    assert not was_taken(fresh)
    monkeypatch.setenv("SAWTOOTH_RUN_CACHE", "perhaps")
    document.unlink()
    status, output = fresh.snakemake(*ONE, check=False)
    assert status and "sawtooth: SAWTOOTH_RUN_CACHE is perhaps; allowed: 0 (off) and 1 (on)." in output


@pytest.mark.slow
def test_jobs_of_several_runs_carry_out_what_is_not_kept(fresh, kept):
    fresh.snakemake(*ONE)
    shutil.rmtree(fresh.folder / "results")
    many = ("--keep-incomplete", "--set-resources", "emulate_run:runs=4")
    _, output = fresh.snakemake(
        "--cores", "2", "--configfile", MINI, "--until", "emulate_runs_1", "emulate_runs_2", *many
    )
    assert origins(output).startswith("sawtooth: 7 runs of mini were executed here, 1 taken from the run cache")
    assert was_taken(fresh)
    # All runs of the job are in the cache: no container starts, and the job's log says so.
    shutil.rmtree(fresh.folder / "results")
    _, output = fresh.snakemake(
        "--cores", "2", "--configfile", MINI, "--until", "emulate_runs_1", "emulate_runs_2", *many
    )
    assert "0 runs of mini were executed here, 8 taken" in origins(output)
    of_job = fresh.folder / "results/mini/logs/jobs/1.log"
    assert of_job.read_text().count("not executed here") == 4


def test_a_calibration_is_always_executed(fresh, kept):
    study = (fresh.folder / MINI).read_text() + "analysis: {calibration: true}\n"
    (fresh.folder / MINI).write_text(study)
    for _ in range(2):
        fresh.snakemake(*ONE)
        assert not was_taken(fresh)
        (fresh.folder / "results/mini" / RUN).unlink()
    assert not kept.exists()


def test_a_run_under_a_real_clock_is_never_kept(fresh, kept):
    if refused := kernel_now()["refused"]:
        pytest.skip(f"this machine can't carry out a run of its own: {refused}")
    cable = "config/studies/cable.yaml"
    shutil.copy(Path(__file__).with_name("cable.yaml"), fresh.folder / cable)
    wanted = "results/cable-host/runs/alone/reno/ipv4/1.json.gz"
    fresh.snakemake(wanted, "--cores", "1", "--configfile", cable, "--config", "platform=host")
    assert (fresh.folder / wanted).exists()
    assert not kept.exists()
