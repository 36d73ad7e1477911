"""Place of the cache, and deletion of a cache with parts on other disks."""

import pytest

import cache
from progress import SetupError


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


def test_links_to_another_disk_are_followed(folder, tmp_path, monkeypatch):
    (tmp_path / "disk").mkdir()
    (folder / "runs").rename(tmp_path / "disk/runs")
    (folder / "runs").symlink_to(tmp_path / "disk/runs")
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.setenv("SAWTOOTH_CACHE", str(tmp_path / "link"))
    cache.delete_cache()
    assert not folder.exists() and not (tmp_path / "link").is_symlink() and not (tmp_path / "disk/runs").exists()


def test_an_entry_that_stays_is_named(folder, monkeypatch):
    monkeypatch.setattr(cache, "remove_tree", lambda path: None)
    with pytest.raises(SetupError, match=f"{folder}/bundle-wheels can't be deleted"):
        cache.delete_cache()


def test_an_entry_that_changes_is_in_a_cache_that_can_be_written(tmp_path, monkeypatch):
    """Another user's entry may exist; root could write everywhere, so permission is decided by the mode here."""
    monkeypatch.setenv("SAWTOOTH_CACHE", str(tmp_path / "shared"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert cache.writable_entry("packages", "uv") == tmp_path / "shared/packages/uv"
    (tmp_path / "shared/packages/uv").mkdir(parents=True)
    monkeypatch.setattr(cache.os, "access", lambda path, _: "shared" not in str(path))
    assert cache.writable_entry("packages", "uv") == tmp_path / "own/sawtooth/packages/uv"
