"""The folder of run documents by key: any fault of it or an entry is noticed, and no document is ever mistaken for another."""

import hashlib
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from mount_namespace import MountNamespace
from session.document_store import DocumentStore, StoreError

KEY, OTHER_KEY = "ab" * 32, "cd" * 32
DAY_S = 86400
SCRIPTS = Path(__file__).resolve().parents[2] / "workflow/scripts"


def store(tmp_path, most_bytes=1e9, longest_s=90 * DAY_S):
    return DocumentStore(tmp_path / "cache/runs", most_bytes, longest_s)


def entries(tmp_path):
    return sorted(path for path in (tmp_path / "cache/runs").rglob("*") if path.is_file())


def entry_of(tmp_path, key=KEY, content=b"document"):
    store(tmp_path).keep(key, content)
    (entry,) = (path for path in entries(tmp_path) if path.name.startswith(key))
    return entry


def test_a_document_is_taken_as_it_was_kept(tmp_path):
    assert store(tmp_path).take(KEY) == (None, None)
    assert not (tmp_path / "cache").exists()
    assert store(tmp_path).keep(KEY, b"document") and store(tmp_path).keep(KEY, b"document")
    assert store(tmp_path).take(KEY) == (b"document", None)
    assert store(tmp_path).take(OTHER_KEY) == (None, None)


def test_an_entry_is_the_file_itself_under_the_sum_of_its_bytes(tmp_path):
    entry = entry_of(tmp_path)
    assert entry.read_bytes() == b"document"
    assert entry.name == f"{KEY}-{hashlib.sha256(b'document').hexdigest()}.json.gz"
    assert (tmp_path / "cache/runs").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("damaged", [b"documenT", b"docu", b"", b"document and more"])
def test_a_damaged_or_truncated_entry_is_deleted(tmp_path, damaged):
    entry_of(tmp_path).write_bytes(damaged)
    assert store(tmp_path).take(KEY) == (None, "its entry was damaged and is deleted")
    assert entries(tmp_path) == []
    assert store(tmp_path).take(KEY) == (None, None)


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_an_entry_that_is_no_file_is_not_followed(tmp_path, kind):
    entry = entry_of(tmp_path)
    entry.unlink()
    if kind == "link":
        (tmp_path / "elsewhere").write_bytes(b"document")
        entry.symlink_to(tmp_path / "elsewhere")
    else:
        os.mkfifo(entry)
    assert store(tmp_path).take(KEY)[0] is None
    assert not os.path.lexists(entry)


def test_an_entry_of_another_user_is_deleted(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    entry = entry_of(tmp_path)
    os.chown(entry, 12345, 12345)
    assert store(tmp_path).take(KEY)[0] is None
    assert not entry.exists()


def test_two_different_documents_of_one_key_are_both_deleted(tmp_path):
    entry = entry_of(tmp_path)
    assert store(tmp_path).keep(KEY, b"other bytes") is False
    assert entries(tmp_path) == []
    # As two processes leave them that write at once.
    entry_of(tmp_path)
    entry.with_name(f"{KEY}-{hashlib.sha256(b'x').hexdigest()}.json.gz").write_bytes(b"x")
    content, problem = store(tmp_path).take(KEY)
    assert content is None and "differ" in problem
    assert entries(tmp_path) == []


def test_a_folder_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache/runs").symlink_to(tmp_path / "elsewhere")
    for call in (lambda: store(tmp_path).take(KEY), lambda: store(tmp_path).keep(KEY, b"document")):
        with pytest.raises(StoreError, match="is a link"):
            call()


def test_a_folder_that_others_can_write_is_refused(tmp_path):
    entry_of(tmp_path)
    (tmp_path / "cache/runs").chmod(0o777)
    with pytest.raises(StoreError, match="other users can write to it"):
        store(tmp_path).take(KEY)


def test_a_folder_of_another_user_is_refused(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    entry_of(tmp_path)
    os.chown(tmp_path / "cache/runs", 12345, 12345)
    with pytest.raises(StoreError, match="another user"):
        store(tmp_path).keep(KEY, b"document")


def test_a_full_disk_leaves_no_part_of_an_entry_and_a_read_only_one_is_read(tmp_path):
    """On a file system of 1 MB, in a separate mount namespace."""
    program = f"""
import os, sys
sys.path.insert(0, {str(SCRIPTS)!r})
from session.document_store import DocumentStore
place, what = sys.argv[1:]
store = DocumentStore(place + "/runs", 1e9, 1e9)
if what == "fill":
    store.keep({KEY!r}, b"document")
    try:
        store.keep({OTHER_KEY!r}, os.urandom(4_000_000))
    except OSError as error:
        print(error.strerror)
else:
    try:
        store.keep({OTHER_KEY!r}, b"other")
    except OSError as error:
        print(error.strerror)
print(store.take({KEY!r}), store.take({OTHER_KEY!r}), sum(len(files) for *_, files in os.walk(place)))
"""
    try:
        with MountNamespace() as namespace:
            namespace.run("mount", "-t", "tmpfs", "-o", "size=1m", "none", str(tmp_path))

            def said(what):
                command = [*namespace.within(str(tmp_path)), sys.executable, "-c", program, str(tmp_path), what]
                return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

            found = "(b'document', None) (None, None) 1"
            assert said("fill") == ["No space left on device", found]
            namespace.run("mount", "-o", "remount,ro", str(tmp_path))
            assert said("read") == ["Read-only file system", found]
    except OSError as error:
        pytest.skip(str(error))


def keep_many(place):
    mine = DocumentStore(place, 1e9, 1e9)
    return all(mine.keep(f"{number:064x}", bytes([number]) * 1000) for number in range(100))


def test_two_processes_may_fill_it_at_once(tmp_path):
    place = tmp_path / "cache/runs"
    with ProcessPoolExecutor(2) as pool:
        assert all(pool.map(keep_many, [place, place]))
    assert len(entries(tmp_path)) == 100
    for number in range(100):
        assert store(tmp_path).take(f"{number:064x}") == (bytes([number]) * 1000, None)


def keep_and_delete(place):
    mine = DocumentStore(place, 20_000, 1e9)
    for number in range(100):
        mine.keep(f"{number:064x}", bytes([number]) * 1000)
        mine.delete_old()
        content, problem = mine.take(f"{number:064x}")
        if problem or content not in (None, bytes([number]) * 1000):
            return False
    return True


def test_two_processes_may_delete_from_it_at_once(tmp_path):
    with ProcessPoolExecutor(2) as pool:
        assert all(pool.map(keep_and_delete, [tmp_path / "cache/runs"] * 2))
    assert 0 < sum(path.stat().st_size for path in entries(tmp_path)) <= 20_000


def test_the_entries_that_were_unused_for_longest_are_deleted_first(tmp_path):
    keys = [f"{number:064x}" for number in range(10)]
    now = time.time()
    for age, key in enumerate(keys):
        entry = entry_of(tmp_path, key, bytes(1000 + age))
        os.utime(entry, (now - 1000 * age, now - 1000 * age))
    assert store(tmp_path).take(keys[9])[0]  # now it is the youngest
    store(tmp_path, most_bytes=6000).delete_old()
    left = {key for key in keys if store(tmp_path).take(key)[0]}
    assert left == {*keys[:4], keys[9]}
    assert sum(path.stat().st_size for path in entries(tmp_path)) <= 0.9 * 6000


def test_an_entry_that_was_not_used_for_too_long_is_deleted(tmp_path):
    for key, days in ((KEY, 89), (OTHER_KEY, 91)):
        entry = entry_of(tmp_path, key)
        os.utime(entry, (time.time() - days * DAY_S,) * 2)
    store(tmp_path).keep("ef" * 32, b"one more")  # the first of a process looks at all
    assert store(tmp_path).take(KEY)[0] and not store(tmp_path).take(OTHER_KEY)[0]


def test_what_a_killed_process_left_is_deleted_and_what_is_being_written_is_not(tmp_path):
    entry = entry_of(tmp_path)
    left, at_work = (entry.with_name(f".partial-{name}") for name in "ab")
    for path in (left, at_work):
        path.write_bytes(b"docu")
    os.utime(left, (time.time() - 7200,) * 2)
    store(tmp_path).delete_old()
    assert entries(tmp_path) == sorted([entry, at_work])


def test_files_of_the_user_are_left_alone(tmp_path):
    """Any folder may be the cache, for example one that already has a folder `runs`."""
    entry = entry_of(tmp_path)
    theirs = [
        entry.parents[1] / "2024-thesis/measured.csv",
        entry.with_name("notes"),
        entry.with_name(f"{entry.name}.bak"),
    ]
    for path in theirs:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes(5000))
        os.utime(path, (time.time() - 91 * DAY_S,) * 2)
    store(tmp_path, most_bytes=1000).delete_old()
    assert entries(tmp_path) == sorted([entry, *theirs])
    assert store(tmp_path).take(KEY) == (b"document", None)
