"""Kernels and runs of commits that earlier calls have left."""

import gzip
import json
from pathlib import Path

import pytest

import git_history
from bisecting.commits import Commits
from bisecting.condition import BisectError
from study_files import study as studies
from study_files.kernels import completed_kernel
from testbed.machine.failure import document_of


@pytest.fixture
def linux(tmp_path, monkeypatch):
    """A repository with a commit from which guests could be built, and a worktree of it."""
    monkeypatch.chdir(tmp_path)
    folder = git_history.repository(tmp_path / "linux")
    makefile = "VERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 0\nEXTRAVERSION =\n"
    commit = git_history.commit(folder, {"Makefile": makefile, "arch/um/Kconfig": "config UML_TIME_TRAVEL_SUPPORT\n"}, "Linux")  # fmt: skip
    git_history.git(folder, "worktree", "add", "--quiet", "--detach", "../worktree")
    return folder, commit


def test_runs_are_reused_wherever_the_repository_is(linux, root, tmp_path):
    """The kernel and the document of a run exist, so nothing is built or executed."""
    folder, commit = linux
    study = studies.resolve(studies.load(root / "config/studies/smoke.yaml"), "smoke")
    cell = next(iter(studies.cells(study)))
    for tree in ("linux", "linux/", f"../{tmp_path.name}/linux", str(folder), "worktree"):
        commits = Commits(tree, study, "goodput_mbps", tmp_path / "results", 1)
        if tree == "linux":
            leave(commits, commit, cell)
        commits.build(commit, [cell])
        (run,) = commits.runs(commit, [cell], [1])[cell]
        assert (run.value, run.why) == (None, "it ended")


def test_a_commit_whose_files_a_partial_clone_lacks_is_not_skipped(linux, root, tmp_path):
    """A skipped commit would stay skipped after its files are fetched."""
    _, first = linux
    git_history.commit(
        tmp_path / "linux", {"Makefile": "VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 0\nEXTRAVERSION =\n"}, "Next"
    )
    git_history.git(tmp_path / "linux", "config", "uploadpack.allowFilter", "true")
    git_history.git(tmp_path, "clone", "--quiet", "--filter=blob:none", f"file://{tmp_path}/linux", "partial")
    study = studies.resolve(studies.load(root / "config/studies/smoke.yaml"), "smoke")
    commits = Commits("partial", study, "goodput_mbps", tmp_path / "results", 1)
    with pytest.raises(
        BisectError, match=f"commit {first[:12]}: revision is {first}, of partial; its file .* is missing"
    ):
        commits.build(first, [next(iter(studies.cells(study)))])


def leave(commits, commit, cell):
    """Write a kernel and the document of a failed run to the folder of the results, as an earlier call would have."""
    commits._kernels[commit] = completed_kernel({"tree": commits.tree, "revision": commit})
    (name,) = commits._identities(commit, [cell])
    document = document_of(commits._specification(commit, cell, 1), {}, "boot", "it ended")
    for path, content in (
        (commits.folder / "kernels" / name / "linux", b"a kernel"),
        (
            commits.folder / "runs" / commit[:12] / Path(*cell) / "1.json.gz",
            gzip.compress(json.dumps(document).encode()),
        ),
    ):
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
