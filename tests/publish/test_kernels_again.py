"""Kernels of received runs that were built from a source tree: the tree is used if it is here with the same files."""

import json
import shutil
from pathlib import Path

import pytest

import git_history
from publishing.result_checks import kernels_again
from publishing.result_checks.received_errors import ReceivedError
from publishing.run_again import FinishedRun, own_kernels
from study_files import study as studies

NAME = "a" * 16
LINUX = {
    "Makefile": "VERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 0\nEXTRAVERSION =\n",
    "arch/um/Kconfig": "config UML_TIME_TRAVEL_SUPPORT\n",
    "net/ipv4/tcp_cubic.c": "cubic\n",
}


@pytest.fixture(params=["folder", "revision"])
def run(request, tmp_path, monkeypatch):
    """A finished run whose kernel was built from a source tree, which is in the folder ``linux`` beside its checkout, ``here``."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    git_history.commit(git_history.repository(tmp_path / "linux"), LINUX, "Linux")
    kernel = {"tree": "../linux", "ccas": {"mine": "cubic"}} | (
        {"revision": "main"} if request.param == "revision" else {}
    )
    written = {
        "study": "a", "ccas": ["mine"], "kernels": {"mine": kernel}, "ip_versions": ["ipv4"],
        "scenarios": [{"id": "a", "link": {"rate_mbps": 10, "delay_ms": 5}, "queue": {"packets": 100}}],
    }  # fmt: skip
    of_run = studies.run_specification(studies.resolve(written, "a"), "a", "mine", "ipv4", 1)
    folder = tmp_path / "results"
    (folder / "workflow").mkdir(parents=True)
    (folder / f"workflow/kernel-{NAME}.json").write_text(json.dumps({"linux_sha256": "b" * 64, "files": []}))
    monkeypatch.setattr(kernels_again, "kernel_name", lambda *_: NAME)
    return FinishedRun(folder, "a/mine/ipv4/1", of_run, {})


def published(run):
    return kernels_again._published(run.specification, run.folder, Path.cwd(), run.folder.parent / "place")


def test_the_tree_is_used_if_it_has_the_same_files(run, tmp_path, monkeypatch):
    git_history.git(tmp_path / "linux", "commit", "--quiet", "--allow-empty", "--message", "later")
    kernel, files, linux_sha256 = published(run)
    assert (files, linux_sha256) == ([], "b" * 64)
    assert Path(kernel["tree"]).resolve() == tmp_path / "linux"
    monkeypatch.chdir(tmp_path)  # paths in a study are relative to the checkout
    shutil.rmtree(tmp_path / "place")
    again = kernels_again._published(run.specification, run.folder, tmp_path / "here", tmp_path / "place")
    assert again == (kernel | {"tree": str(tmp_path / "here/../linux")}, [], "b" * 64)


def test_a_tree_with_other_files_is_refused(run, tmp_path):
    git_history.commit(tmp_path / "linux", {"net/ipv4/tcp_cubic.c": "faster\n"}, "be faster")
    if "revision" in run.specification["cca_definitions"]["mine"]["kernel"]:
        published(run)  # the commit is still there
    else:
        with pytest.raises(ReceivedError, match="which has other files here: SHA-256 [0-9a-f]{64} instead of"):
            published(run)


def test_a_missing_tree_is_named(run, tmp_path):
    shutil.rmtree(tmp_path / "linux")
    with pytest.raises(
        ReceivedError, match=r"the source tree \.\./linux, Linux 7\.2\.0.*can't be read here: .*no such"
    ):
        published(run)
    assert "no such" in kernels_again.build(run.specification, run.folder, Path.cwd(), tmp_path / "other")


def test_nothing_is_built_without_permission(run, tmp_path):
    with pytest.raises(ReceivedError, match="BUILD=1 builds it again"):
        own_kernels(run, tmp_path / "place", False)
