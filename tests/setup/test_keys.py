"""The cache is keyed by content: the inputs of an entry change its key, and nothing else does."""

import multiprocessing
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

DEFINITION = """\
Bootstrap: localimage
From: {{ base }}
Stage: one

%files
    # a comment
    envs/first /build/first
    {{ wheels }} /build/wheels

%post
    envs/not-copied

%files from one
    /envs/other /other

%files
    envs/folder /folder
"""


@pytest.fixture
def envs(tmp_path, monkeypatch):
    """A checkout with a base, and a definition that copies a file and a folder."""
    monkeypatch.chdir(tmp_path)
    folder = Path("envs")
    (folder / "folder").mkdir(parents=True)
    (folder / "base.def").write_text("Bootstrap: debootstrap\n")
    (folder / "x.def").write_text(DEFINITION)
    (folder / "first").write_text("1")
    (folder / "folder" / "second").write_text("2")
    return folder


def test_copied_files_of_a_definition(envs):
    import images

    assert images.files_of(envs / "x.def") == [Path("envs/first"), Path("envs/folder")]


@pytest.mark.parametrize("changed", ["x.def", "base.def", "first", "folder/second", "folder/third"])
def test_key_follows_content(envs, changed):
    import images

    before = images.definition_key(envs / "x.def")
    with open(envs / changed, "a") as file:
        file.write("\n")
    assert images.definition_key(envs / "x.def") != before


def test_key_ignores_the_rest(envs):
    import images

    before = images.definition_key(envs / "x.def")
    (envs / "other").write_text("3")
    os.utime(envs / "first", (0, 0))
    assert images.definition_key(envs / "x.def") == before


def test_missing_file_is_named(envs):
    import images
    from progress import SetupError

    (envs / "first").unlink()
    with pytest.raises(SetupError, match=r"envs/x.def: %files names envs/first, which doesn't exist"):
        images.definition_key(envs / "x.def")


def test_digest_keeps_parts_apart():
    import cache

    assert cache.digest("ab", "c") != cache.digest("a", "bc")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"SAWTOOTH_CACHE": "/a"}, "/a"),
        ({"SAWTOOTH_CACHE": "", "XDG_CACHE_HOME": "/b"}, "/b/sawtooth"),
        ({}, f"{Path.home()}/.cache/sawtooth"),
    ],
)
def test_place_of_the_cache(environ, expected):
    import cache

    assert cache.cache_dir(environ) == Path(expected)


def test_a_cache_with_other_files_is_not_deleted(tmp_path, root):
    import cache
    from progress import SetupError

    kinds = {
        kind
        for file in (root / "setup").glob("*.py")
        for kind in re.findall(r'cache_entry\("([^"]+)"', file.read_text())
    }
    assert kinds <= {*cache.KINDS}
    for folder in ("images", "runs", ".bundle.x", "thesis"):
        (tmp_path / "mine" / folder).mkdir(parents=True)
    with pytest.raises(
        SetupError, match=r"mine is not deleted, because it also contains thesis, .* are images, runs\.$"
    ):
        cache.delete_cache({"SAWTOOTH_CACHE": str(tmp_path / "mine")})
    assert (tmp_path / "mine/images").exists()
    (tmp_path / "mine/thesis").rmdir()
    cache.delete_cache({"SAWTOOTH_CACHE": str(tmp_path / "mine")})
    assert not (tmp_path / "mine").exists()


def slow_maker(final, made):
    """Make an entry slowly, and record that it was made."""
    import cache

    with cache.made_once(final) as partial:
        if partial:
            time.sleep(0.5)
            (partial / "content").write_text("whole")
            with open(made, "a") as file:
                file.write("made\n")
    assert (final / "content").read_text() == "whole"


def test_two_at_a_time_make_once(tmp_path):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=slow_maker, args=(tmp_path / "entry", tmp_path / "made")) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert (tmp_path / "made").read_text() == "made\n"


def test_failure_and_killed_predecessor_leave_nothing(tmp_path):
    import cache

    final = tmp_path / "entry"
    (tmp_path / ".entry.killed").mkdir()
    with pytest.raises(RuntimeError), cache.made_once(final) as partial:
        (partial / "half").touch()
        raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["entry.lock"]


def test_an_active_environment_does_not_make_itself_anew(root):
    """`make` with the Python of the checkout's own environment, and with the one that built it: the same key, the same interpreter."""
    program = (
        "import sys; from pathlib import Path; sys.path.insert(0, 'setup'); import environment\n"
        "print(environment.environment_key(environment.LOCK, environment.VENV), Path(sys._base_executable).resolve())"
    )
    answers = {
        subprocess.run([python, "-c", program], cwd=root, capture_output=True, text=True, check=True).stdout
        for python in (sys.executable, sys._base_executable)
    }
    assert sys.prefix != sys.base_prefix, "the tests run in an environment"
    assert len(answers) == 1


def test_an_environment_behind_a_link_is_one_and_not_made_anew_for_each_checkout(tmp_path):
    import environment

    (tmp_path / "venv").mkdir()
    (tmp_path / ".venv").symlink_to("venv")
    keys = {environment.environment_key(environment.LOCK, tmp_path / place) for place in ("venv", ".venv")}
    assert len(keys) == 1
    assert environment.environment_key(environment.LOCK, tmp_path / "other") not in keys
