"""Files of a base's source tree that a build gets as copies; links made by patches are never followed."""

import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "setup"))

import own_tree  # noqa: E402


@pytest.fixture
def source(tmp_path):
    """A base's tree, with one link to a folder of the machine and one to a file."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/passwd").write_text("root")
    for path in ("Makefile", "net/ipv4/tcp.c", "net/ipv4/tcp_yeah.c", "net/ipv4/netfilter/a.c", "net/core/a.c"):
        (tmp_path / "source" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / path).write_text(path)
    (tmp_path / "source/net/evil").symlink_to(tmp_path / "secret")
    (tmp_path / "source/net/link.c").symlink_to("../../secret/passwd")
    return tmp_path / "source"


@pytest.fixture
def mounted(source, tmp_path):
    """A function that applies patches to paths and returns the mounts, by path."""

    def change(names, changes):
        tree, work = tmp_path / "tree", tmp_path / "work"
        tree.mkdir()
        work.mkdir()
        had = own_tree.copy_files(source, names, tree)
        for path, text in changes.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).unlink() if text is None else (tree / path).write_text(text)
        return {path: file for file, path in own_tree.mounts(source, tree, had, work)}

    return change


def test_a_patch_names_files():
    patch = b"""diff --git a/net/old.c b/net/new.c
rename from net/old.c
rename to net/new.c
--- a/net/ipv4/tcp.c\t2026-11-25 03:13:54 +0000
+++ b/net/ipv4/tcp.c
--- /dev/null
+++ b/../../etc/passwd
--- b/net/a:b,c.c
"""
    named = own_tree.named_files([patch])
    assert {"net/old.c", "net/new.c", "net/ipv4/tcp.c"} <= named
    assert not any(".." in path or path.startswith("/") or ":" in path for path in named)


def test_a_changed_file_alone_is_a_copy(source, mounted):
    places = mounted({"net/ipv4/tcp.c", "Makefile"}, {"net/ipv4/tcp.c": "faster"})
    assert list(places) == ["", "net/ipv4/tcp.c"]
    assert places[""] == source
    assert places["net/ipv4/tcp.c"].read_text() == "faster"
    assert (source / "net/ipv4/tcp.c").read_text() == "net/ipv4/tcp.c"


def test_where_files_come_and_go_the_folder_is_a_copy(source, mounted):
    changes = {"net/ipv4/new.c": "new", "net/ipv4/tcp.c": None, "net/ipv4/tcp_yeah.c": "other", "net/core/a.c": "core"}
    places = mounted({"net/ipv4/tcp.c", "net/ipv4/tcp_yeah.c", "net/core/a.c"}, changes)
    assert list(places) == ["", "net/ipv4", "net/core/a.c"]
    folder = places["net/ipv4"]
    assert sorted(os.listdir(folder)) == ["netfilter", "new.c", "tcp_yeah.c"]
    assert (folder / "tcp_yeah.c").read_text() == "other"
    assert not (source / "net/ipv4/new.c").exists()
    assert (source / "net/ipv4/tcp.c").exists()
    inodes = {os.stat(path).st_ino for path in source.rglob("*") if path.is_file()}
    assert not inodes & {os.stat(path).st_ino for path in folder.rglob("*")}


def test_a_file_with_another_mode_is_a_copy(source, tmp_path):
    tree = tmp_path / "tree"
    had = own_tree.copy_files(source, {"net/ipv4/tcp.c", "Makefile"}, tree)
    (tree / "net/ipv4/tcp.c").chmod(0o755)
    places = own_tree.mounts(source, tree, had, tmp_path)
    assert places == [(source, ""), (tree / "net/ipv4/tcp.c", "net/ipv4/tcp.c")]


def test_a_new_folder_makes_the_one_above_a_copy(mounted):
    assert list(mounted(set(), {"net/mine/deep/a.c": "a"})) == ["", "net"]


def test_no_link_of_the_tree_is_followed(source, mounted, tmp_path):
    mounted({"net/evil/passwd", "net/link.c", "net/ipv4"}, {})
    assert not list((tmp_path / "tree").iterdir())


def test_a_file_behind_a_link_is_refused(mounted):
    with pytest.raises(own_tree.SetupError, match="net/evil is a link"):
        mounted(set(), {"net/evil/passwd": "mine"})


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/etc/passwd"), os.mkfifo])
def test_a_patch_makes_regular_files(source, tmp_path, make):
    (tmp_path / "tree").mkdir()
    make(tmp_path / "tree/tcp.c")
    with pytest.raises(own_tree.SetupError, match="tcp.c, which is not a regular file"):
        own_tree.mounts(source, tmp_path / "tree", {}, tmp_path)


def test_a_name_that_is_something_else_to_a_mount_is_refused(source, tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/a.c,:etc").write_text("a")
    with pytest.raises(own_tree.SetupError, match="allowed in names"):
        own_tree.mounts(source, tmp_path / "tree", {}, tmp_path)
