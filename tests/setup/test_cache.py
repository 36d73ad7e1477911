"""Deleting the cache deletes only what Sawtooth put there."""

import re

import pytest

import cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache with one entry of each kind."""
    monkeypatch.setenv("SAWTOOTH_CACHE", str(tmp_path / "cache"))
    for kind in cache.KINDS:
        (tmp_path / "cache" / kind / "entry").mkdir(parents=True)
    return tmp_path / "cache"


def test_a_tilde_is_the_users_folder(tmp_path):
    """No shell replaces it in a file of variables, and some don't in `make SAWTOOTH_CACHE=~/cache`."""
    from session.run_cache import cache_folder

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path))
        given = {"SAWTOOTH_CACHE": "~/cache"}
        assert cache.cache_dir(given) == cache_folder(tmp_path, given) == tmp_path / "cache"


def test_all_kinds_of_entries_are_listed(root):
    """Otherwise, `make clean-cache` would leave some of them."""
    sources = "\n".join(path.read_text() for path in (root / "setup").glob("*.py"))
    assert {*re.findall(r'cache_entry\("([^"]+)"', sources)} <= {*cache.KINDS}


def test_the_whole_cache_is_deleted(folder):
    assert cache.clear_cache() == [] and not folder.exists()
    assert cache.clear_cache() == []


def test_other_files_in_the_folder_are_kept(folder):
    """SAWTOOTH_CACHE may name a folder of the user's, such as /scratch/ann."""
    (folder / "thesis").mkdir()
    (folder / "thesis/chapter").touch()
    assert cache.clear_cache() == [folder / "thesis"]
    assert [*folder.rglob("*")] == [folder / "thesis", folder / "thesis/chapter"]


def test_links_to_another_disk_are_followed(folder, tmp_path, monkeypatch):
    (tmp_path / "disk").mkdir()
    (folder / "runs").rename(tmp_path / "disk/runs")
    (folder / "runs").symlink_to(tmp_path / "disk/runs")
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.setenv("SAWTOOTH_CACHE", str(tmp_path / "link"))
    assert cache.clear_cache() == []
    assert [*folder.iterdir()] == [*(tmp_path / "disk").iterdir()] == [] and (tmp_path / "link").is_dir()


def test_an_entry_that_stays_is_named(folder, monkeypatch):
    from progress import SetupError

    monkeypatch.setattr(cache, "remove_tree", lambda path: None)
    with pytest.raises(SetupError, match=f"{folder}/images can't be deleted"):
        cache.clear_cache()
