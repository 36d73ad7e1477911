"""Keys of the run cache, the documents that it keeps, and that a fault of the cache costs no more than another execution."""

import gzip
import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from session import run_cache
from session.run_cache import CacheSettingError, RunCache, cache_folder, is_on, origin_words, store_of
from session.testbed_identity import program_content
from study_files import study as studies

RUN = "results/small/runs/near/reno/ipv4/1.json.gz"
CONFIG = {"study": "small", "ccas": ["reno"], "scenarios": [{"id": "near", "link": {"rate_mbps": 10, "delay_ms": 5}}]}


def study_of(**changes):
    return studies.resolve(CONFIG | changes, "small.yaml")


def job_of(study=None, cca="reno", image="i", testbed="t", program=None, **described):
    """Return the part that the cache reads of a job with one run."""
    study = study or study_of()
    conditions = studies.run_conditions(study, "near", cca=cca)
    job = {"runs": [[cca, "ipv4", 1, 7]], "log": None, "program": program or program_content()} | described
    params = SimpleNamespace(conditions=json.dumps(conditions), job=json.dumps(job), image=image, testbed=testbed)
    return SimpleNamespace(params=params, output=[RUN], log=[str(run_cache.log_of(RUN))], benchmark=None)


def document_of(job, **changes):
    specification = json.loads(job.params.conditions) | {
        "cca": "reno",
        "ip_version": "ipv4",
        "replication": 1,
        "seed": 7,
    }
    environment = {"image_digest": job.params.image, "testbed_digest": job.params.testbed}
    document = {"specification": specification, "environment": environment, "verdict": {"valid": True, "checks": []}}
    return gzip.compress(json.dumps(document | changes).encode(), mtime=0)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A function that returns the cache of another call, in a folder without results."""
    monkeypatch.chdir(tmp_path)
    return lambda **environ: RunCache(store_of(tmp_path, {"SAWTOOTH_CACHE": str(tmp_path / "kept")} | environ), "l")


def made(job, content=None):
    Path(RUN).parent.mkdir(parents=True, exist_ok=True)
    Path(RUN).write_bytes(document_of(job) if content is None else content)


def is_taken(cache, job):
    Path(RUN).unlink(missing_ok=True)
    return cache.take(job) == {RUN}


def test_a_document_that_was_made_is_taken_by_the_next_call(cache):
    job = job_of()
    made(job)
    cache().keep(job)
    assert is_taken(cache(), job)
    assert Path(RUN).read_bytes() == document_of(job)
    log = run_cache.log_of(RUN).read_text()
    assert log.splitlines()[-1].startswith("run near/reno/ipv4/1: ")  # as `testbed.job.was_cut_off` looks for
    assert origin_words("small", [RUN]).startswith("0 runs of small were executed here, 1 taken from the run cache")


def test_the_name_of_the_study_is_no_part_of_a_run(cache):
    job = job_of()
    made(job)
    cache().keep(job)
    assert is_taken(cache(), job_of(study_of(study="another", ccas=["cubic", "reno"], replications=9)))


@pytest.mark.parametrize(
    "other",
    [
        {"image": "another"},
        {"testbed": "another"},
        {"cca": "cubic", "study": study_of(ccas=["cubic"])},
        {"runs": [["reno", "ipv6", 1, 7]]},
        {"runs": [["reno", "ipv4", 2, 7]]},
        {"runs": [["reno", "ipv4", 1, 8]]},
        {"study": study_of(scenarios=[{"id": "near", "link": {"rate_mbps": 11, "delay_ms": 5}}])},
    ],
)
def test_whatever_the_bytes_follow_from_makes_another_key(cache, other):
    job = job_of()
    made(job)
    cache().keep(job)
    assert not is_taken(cache(), job_of(**other))


def test_a_c_file_counts_by_its_content_and_an_own_kernel_by_its_identity(tmp_path):
    def key(content, linux="l"):
        source = tmp_path / "tcp_mine.c"
        source.write_text(f"{content} tcp_register_congestion_control")
        os.chdir(tmp_path)
        definitions = {"mine": {"source": "tcp_mine.c", "cca": "mine"}}
        study = study_of(ccas=["mine"], cca_definitions=definitions)
        ((_, run),) = RunCache(None, linux)._runs(job_of(study, cca="mine"))
        return run.key

    before = os.getcwd()
    try:
        assert key("a") == key("a") != key("b")
        assert key("a") != key("a", linux="another")
    finally:
        os.chdir(before)


@pytest.mark.parametrize(
    "changes",
    [
        {"failure": {"step": "traffic", "cause": "no memory"}},
        {"environment": {"image_digest": "another", "testbed_digest": "t"}},
        {"environment": {"image_digest": "i", "testbed_digest": "another"}},
        {"specification": {}},
        {"verdict": {}},
    ],
)
def test_a_document_of_a_failure_or_of_something_else_is_not_kept(cache, changes):
    job = job_of()
    made(job, document_of(job, **changes))
    cache().keep(job)
    assert not is_taken(cache(), job)


@pytest.mark.parametrize("content", [b"", b"docu", gzip.compress(b"[]", mtime=0)])
def test_a_file_that_is_no_document_is_not_kept(cache, content):
    job = job_of()
    made(job, content)
    cache().keep(job)
    assert not is_taken(cache(), job)


def test_a_program_that_was_edited_since_the_workflow_began_takes_and_keeps_nothing(cache):
    job = job_of()
    made(job)
    cache().keep(job_of(program="of other files"))
    assert not is_taken(cache(), job)
    made(job)
    cache().keep(job)
    assert not is_taken(cache(), job_of(program="of other files"))


def test_a_damaged_entry_is_named_and_the_run_carried_out(cache, capsys, tmp_path):
    job = job_of()
    made(job)
    cache().keep(job)
    (entry,) = (tmp_path / "kept").rglob("*.json.gz")
    entry.write_bytes(entry.read_bytes()[:-1])
    assert not is_taken(cache(), job)
    assert capsys.readouterr().err == (
        "sawtooth: run cache: run near/reno/ipv4/1: its entry was damaged and is deleted; the run is carried out\n"
    )
    made(job)
    cache().keep(job)
    assert is_taken(cache(), job)


def test_other_bytes_than_before_are_named_and_neither_is_kept(cache, capsys, tmp_path):
    job = job_of()
    for valid in (True, False):
        made(job, document_of(job, verdict={"valid": valid, "checks": []}))
        cache().keep(job)
    assert "differs from an earlier one made with the same image and testbed" in capsys.readouterr().err
    assert list((tmp_path / "kept").rglob("*.json.gz")) == []


def test_a_folder_that_is_not_ours_is_passed_over_with_one_line(cache, capsys, tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/runs").symlink_to(tmp_path)
    one, job = cache(), job_of()
    for _ in range(3):
        assert not is_taken(one, job)
        made(job)
        one.keep(job)
    assert capsys.readouterr().err == f"sawtooth: run cache: {tmp_path}/kept/runs is not used: it is a link\n"


def test_a_folder_that_cannot_be_made_is_passed_over_with_one_line(cache, capsys, tmp_path):
    (tmp_path / "kept").write_text("a file")
    one, job = cache(), job_of()
    made(job)
    one.keep(job)
    one.keep(job)
    line = capsys.readouterr().err
    assert line.count("\n") == 1 and f"run cache: {tmp_path}/kept/runs is not used: " in line


def test_results_that_cannot_be_written_are_left_to_the_run_itself(cache):
    job = job_of()
    made(job)
    cache().keep(job)
    shutil.rmtree("results")
    Path("results").write_text("a file")
    assert cache().take(job) == set()


def test_a_cache_that_is_switched_off_in_a_call_takes_and_keeps_nothing(cache, tmp_path):
    job, environ, off = job_of(), {}, cache()
    made(job)
    off.switch_off(environ)
    off.keep(job)
    assert not (tmp_path / "kept").exists() and environ == {"SAWTOOTH_RUN_CACHE": "0"} and not is_on(environ)


def test_a_document_that_is_there_already_is_left_alone(cache):
    job = job_of()
    made(job)
    cache().keep(job)
    Path(RUN).write_bytes(b"earlier")
    assert cache().take(job) == set()
    assert Path(RUN).read_bytes() == b"earlier"


def test_the_switch(monkeypatch):
    assert is_on({}) and is_on({"SAWTOOTH_RUN_CACHE": ""}) and is_on({"SAWTOOTH_RUN_CACHE": "1"})
    assert not is_on({"SAWTOOTH_RUN_CACHE": "0"})
    with pytest.raises(CacheSettingError, match=r"SAWTOOTH_RUN_CACHE is no; allowed: 0 \(off\) and 1 \(on\)"):
        is_on({"SAWTOOTH_RUN_CACHE": "no"})


@pytest.mark.parametrize("value", ["0", "-1", "much", "nan", "inf"])
@pytest.mark.parametrize("name", ["SAWTOOTH_RUN_CACHE_GB", "SAWTOOTH_RUN_CACHE_DAYS"])
def test_a_limit_that_is_no_number_above_0_is_refused(name, value, tmp_path):
    with pytest.raises(CacheSettingError, match=f"{name} is {value}; allowed: numbers above 0"):
        store_of(tmp_path, {name: value})


def test_the_limits(tmp_path):
    default = store_of(tmp_path, {})
    assert (default.most_bytes, default.longest_s) == (10e9, 90 * 86400)
    given = store_of(tmp_path, {"SAWTOOTH_RUN_CACHE_GB": "0.5", "SAWTOOTH_RUN_CACHE_DAYS": "7"})
    assert (given.most_bytes, given.longest_s) == (5e8, 7 * 86400)


@pytest.mark.parametrize("environ", [{}, {"SAWTOOTH_CACHE": "/a/b"}, {"XDG_CACHE_HOME": "/c"}])
@pytest.mark.parametrize("bundle", [False, True])
def test_it_lies_beside_the_images_of_set_up(root, tmp_path, monkeypatch, environ, bundle):
    monkeypatch.syspath_prepend(str(root / "setup"))
    from cache import cache_dir

    monkeypatch.chdir(tmp_path)
    if bundle:
        (tmp_path / "bundle").mkdir()
    assert cache_folder(tmp_path, environ) == cache_dir(environ)
