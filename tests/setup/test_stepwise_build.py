"""The source tree from which the kernels of successive commits are built, in which only files that differ are replaced."""

import sys
from pathlib import Path

import pytest

import git_history

sys.path.append(str(Path(__file__).resolve().parents[2] / "setup"))

import build_container  # noqa: E402
import given_trees  # noqa: E402
import stepwise_build  # noqa: E402
from progress import SetupError  # noqa: E402


@pytest.fixture
def kernels(tmp_path):
    """Commits in which the same path is a folder, a link to a folder, a file, and missing."""
    folder = git_history.repository(tmp_path / "linux")
    git_history.commit(folder, {"include/y/a.h": "y\n", "Makefile": "all:\n"}, "Missing")
    names = {"missing": git_history.git(folder, "rev-parse", "HEAD")}
    names["folder"] = git_history.commit(folder, {"include/x/a.h": "x\n", "include/x/b/c.h": "c\n"}, "Folder")
    git_history.git(folder, "rm", "-r", "--quiet", "include/x")
    (folder / "include/x").symlink_to("y")
    names["link"] = git_history.commit(folder, {}, "Link")
    (folder / "include/x").unlink()
    names["file"] = git_history.commit(folder, {"include/x": "a file\n"}, "File")
    return {name: {"tree": str(folder), "revision": commit} for name, commit in names.items()}


@pytest.fixture
def step(tmp_path):
    """A function that turns the tree into that of a commit and returns the tree's files; ``patched`` are files that patches change."""

    def step(kernel, **patched):
        source, other, state = tmp_path / "source", tmp_path / "patched", tmp_path / "state.json"
        source.mkdir(exist_ok=True)
        wanted = given_trees.digests(kernel)
        for path, text in patched.items():
            (other / path).parent.mkdir(parents=True, exist_ok=True)
            (other / path).write_text(text)
            wanted[path] = f"patched {text}"
        stepwise_build.replace_files(kernel, wanted, source, other, state)
        return files_in(source)

    return step


def files_in(folder):
    paths = {path: str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink() or path.is_file()}
    return {name: f"-> {path.readlink()}" if path.is_symlink() else path.read_text() for path, name in paths.items()}


def test_a_folder_may_become_a_file_or_a_link(kernels, step, tmp_path):
    """Each of the four kinds becomes each other kind."""
    order = "missing folder link file missing link folder file folder missing file link missing".split()
    for number, name in enumerate(order):
        fresh = tmp_path / f"fresh-{number}"
        given_trees.write_files(kernels[name], given_trees.digests(kernels[name]), fresh)
        assert step(kernels[name]) == files_in(fresh), order[: number + 1]


@pytest.mark.parametrize("before", ["missing", "folder", "link", "file"])
def test_a_patched_file_takes_any_place(kernels, step, before):
    had = step(kernels[before])
    patched = step(kernels["file"], **{"include/x": "patched\n"})
    assert patched == {"Makefile": "all:\n", "include/y/a.h": "y\n", "include/x": "patched\n"}
    assert step(kernels[before]) == had


def test_a_patched_file_is_not_written_through_a_link(kernels, step, tmp_path):
    """The link of an earlier commit leads out of the tree."""
    folder = Path(kernels["file"]["tree"])
    (tmp_path / "mine").write_text("mine\n")
    (folder / "include/x").unlink()
    (folder / "include/x").symlink_to(tmp_path / "mine")
    step({"tree": str(folder), "revision": git_history.commit(folder, {}, "Link to a file")})
    assert step(kernels["file"], **{"include/x": "patched\n"})["include/x"] == "patched\n"
    assert (tmp_path / "mine").read_text() == "mine\n"


@pytest.mark.parametrize("after", ["missing", "folder", "file"])
def test_a_tree_is_repaired_after_an_interruption(kernels, step, tmp_path, after):
    """An object that the repository doesn't have ends a step in the middle."""
    step(kernels["folder"])
    wanted = given_trees.digests(kernels["link"]) | {"none.c": f"100644 {'0' * 40}"}
    with pytest.raises(SetupError):
        stepwise_build.replace_files(
            kernels["link"], wanted, tmp_path / "source", tmp_path / "patched", tmp_path / "state.json"
        )
    repaired = step(kernels[after])
    given_trees.write_files(kernels[after], given_trees.digests(kernels[after]), tmp_path / "fresh")
    assert repaired == files_in(tmp_path / "fresh")


@pytest.mark.parametrize(
    "words, is_of_the_machine",
    [
        ("cc1: fatal error: net/a.o: Disk quota exceeded", True),
        ("fork: Resource temporarily unavailable", True),
        ("ld: final link failed: Read-only file system", True),
        ("net/a.c:7:1: error: expected ';' before '}' token", False),
    ],
)
def test_a_fault_of_the_machine_is_no_commit_that_does_not_compile(words, is_of_the_machine):
    """A commit that doesn't compile stays skipped in all later calls."""
    assert bool(stepwise_build.OF_THE_MACHINE.search(words)) == is_of_the_machine


def test_the_limit_that_a_build_exceeded_is_named():
    with pytest.raises(SetupError, match="the kernel was not built within 0.2 s, the time limit of a build."):
        build_container.said_by(["timeout", "--kill-after=10", "0.2", "sleep", "9"])
