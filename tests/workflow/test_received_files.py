"""Received files are read with limits, and the first difference of two documents is reported with its place."""

import gzip
import itertools
import json
import multiprocessing
import os
import random
import stat
import tempfile
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from publishing.result_checks import results_again
from publishing.result_checks.compressed_json import decompress, parse
from publishing.result_checks.file_difference import file_difference
from publishing.result_checks.folder_walk import files_below
from publishing.result_checks.received_archive import unpack
from publishing.result_checks.received_documents import check_form
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import opened, read_file, temporary_folder
from publishing.result_checks.received_study import ReceivedStudy
from publishing.result_checks.reruns import finding
from publishing.result_checks.sampling import chance_of_finding, draw, least_changed
from run_tables.json_difference import NOTHING, first_byte, first_difference


@pytest.mark.parametrize(
    "one, other, place",
    [
        ({"a": [1, {"b": 2.5}]}, {"a": [1, {"b": 2.5}]}, None),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, None),
        ({"a": [1, {"b": 2.5}]}, {"a": [1, {"b": 2.6}]}, ("/a/1/b", 2.5, 2.6)),
        ({"a": 1}, {"a": 1.0}, ("/a", 1, 1.0)),
        ({"a": 1}, {"a": True}, ("/a", 1, True)),
        ({"a": None}, {}, ("/a", None, NOTHING)),
        ({}, {"a": None}, ("/a", NOTHING, None)),
        ([1, 2], [1, 2, 3], ("/2", NOTHING, 3)),
        ([1, 2, 3], [1, 2], ("/2", 3, NOTHING)),
        ({"a": []}, {"a": {}}, ("/a", [], {})),
        ({"x/y": {"~": 1}}, {"x/y": {"~": 2}}, ("/x~1y/~0", 1, 2)),
        ([], {}, ("", [], {})),
        ({"b": 1, "a": 1}, {"a": 2, "b": 2}, ("/a", 1, 2)),
    ],
)
def test_the_first_difference_of_two_json_values(one, other, place):
    # 1 == True in Python, so the types are compared as well.
    assert repr(first_difference(one, other)) == repr(place)


def compressed(value, **options):
    return gzip.compress(json.dumps(value, **options).encode(), mtime=0)


def test_a_difference_is_told_by_what_kind_it_is():
    value, other = ({"a": {"b": number}, "c": "x" * 100} for number in (1.5, 2.5))
    made = compressed(value)
    assert file_difference(made, made) is None
    assert "at /a/b: 2.5 was received, the run gives 1.5" in file_difference(compressed(other), made)
    assert "at /c: nothing was received" in file_difference(compressed({"a": {"b": 1.5}}), made)
    assert "only its compression differs" in file_difference(gzip.compress(gzip.decompress(made), mtime=1), made)
    assert "only its notation differs" in file_difference(compressed(value, indent=1), made)
    assert "it is truncated" in file_difference(made[:-9], made)
    assert "can't be read as gzip" in file_difference(b"nothing of the kind", made)
    assert f"its end, after {len(made) - 1} of {len(made)} bytes" in file_difference(made[:-1], made)
    assert f"byte {len(made)} of {len(made) + 1}" in file_difference(made + b"\0", made)


def test_the_first_byte_is_found_wherever_it_is():
    draws = random.Random(4)
    for _ in range(200):
        content = draws.randbytes(draws.randint(1, 50))
        place = draws.randrange(len(content))
        assert first_byte(content, content[:place] + bytes([content[place] ^ 1]) + draws.randbytes(3)) == place


def test_a_rerun_without_a_document_says_why(tmp_path):
    (tmp_path / "log").write_text("first\nrun far/reno/ipv4/1: step 'guest': did not end\n")
    result = finding(tmp_path, "far/reno/ipv4/1", tmp_path / "document.json.gz", 1)
    assert result == "NOT REPEATED: the rerun left no document: run far/reno/ipv4/1: step 'guest': did not end"


@pytest.mark.parametrize(
    "content, why",
    [
        (gzip.compress(bytes(2**20), mtime=0), "decompresses to more than 1000000 bytes"),
        (gzip.compress(b"{}", mtime=0)[:-1], "is truncated"),
        (b"", "is truncated"),
        (gzip.compress(b"{}", mtime=0) + gzip.compress(b"{}", mtime=0), "bytes after its end"),
        (b"{}", "can't be read as gzip"),
    ],
)
def test_what_is_not_one_whole_gzip_stream_is_refused(content, why):
    with pytest.raises(ReceivedError, match=why):
        decompress(content, limit=10**6)


@pytest.mark.parametrize(
    "text", [b"[" * 10**6, b"[NaN]", b"[Infinity]", b"\xff", b"{", b"1" * 10**5, b"[" * 700 + b"]" * 700]
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ReceivedError, match="JSON"):
        parse(text)


def test_a_document_that_is_not_of_the_schema_is_named(recorded):
    document = recorded("slow-vegas-ipv6")
    text = (json.dumps(document, separators=(",", ":"), ensure_ascii=False) + "\n").encode()
    check_form(document, text)
    with pytest.raises(ReceivedError, match="doesn't match the schema: verdict: .*'opinion' was unexpected"):
        check_form(document | {"verdict": document["verdict"] | {"opinion": "fine"}}, text)
    with pytest.raises(ReceivedError, match="not as written by the testbed"):
        check_form(document, text + b" ")


def archive_of(path, entries):
    """Write a zip archive of pairs (name or ZipInfo, content)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


def link(name):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def packed_by(name, method):
    entry = zipfile.ZipInfo(name)
    entry.compress_type = method
    return entry


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "entries, why",
    [
        ([("../outside", "")], "could lead out"),
        ([("runs/../../outside", "")], "could lead out"),
        ([("/outside", "")], "could lead out"),
        ([("runs\\outside", "")], "could lead out"),
        ([(link("runs"), "/tmp"), ("runs/outside", "")], "link or a device"),
        ([("runs/1", "a"), ("runs/1", "b")], "twice"),
        ([("runs/1", "a"), ("runs/./1", "b")], "twice"),
        ([("runs", "a"), ("runs/1", "b")], "can't be unpacked"),
        ([("bomb", bytes(2**24))], "over 100 times its own size"),
        ([("a/" * 1900 + "file", "")], "is in more than 12 nested folders"),
        ([(packed_by("runs/1", zipfile.ZIP_LZMA), "a")], "packed by method 14; allowed: 0"),
    ],
)
def test_a_hostile_archive_is_not_unpacked(tmp_path, entries, why):
    archive, place = archive_of(tmp_path / "a.zip", entries), tmp_path / "below" / "place"
    place.mkdir(parents=True)
    with pytest.raises(ReceivedError, match=why):
        unpack(archive, place)
    assert sorted(tmp_path.iterdir()) == [archive, place.parent]
    assert list(place.parent.iterdir()) == [place]


def test_a_damaged_archive_is_refused(tmp_path):
    archive = archive_of(tmp_path / "a.zip", [("runs/1", random.Random(1).randbytes(1000))])
    content = bytearray(archive.read_bytes())
    content[500] ^= 1
    archive.write_bytes(content)
    (tmp_path / "place").mkdir()
    with pytest.raises(ReceivedError, match="can't be unpacked"):
        unpack(archive, tmp_path / "place")


def test_an_archive_packed_by_another_program_is_unpacked(tmp_path):
    archive = archive_of(tmp_path / "a.zip", [("./", ""), ("./smoke/", ""), ("./smoke/runs/a", "1")])
    with opened(archive) as folder:
        assert (folder.name, (folder / "runs/a").read_text()) == ("smoke", "1")


@pytest.mark.parametrize("beside", ["report.html", "tidy/runs.csv", "ro-crate-metadata.json", ".hidden"])
def test_nothing_may_lie_beside_the_results_in_an_archive(beside, tmp_path):
    """A reader would open the forged page in the archive's root; only the results in the folder were compared."""
    archive = archive_of(tmp_path / "a.zip", [(beside, "forged"), ("smoke/runs/a", "1")])
    name = beside.split("/")[0]
    with pytest.raises(ReceivedError, match=rf"a\.zip contains {name} beside the results in smoke; "), opened(archive):
        pass


def test_an_archive_without_its_end_or_with_several_results_is_named(tmp_path):
    archive = archive_of(tmp_path / "a.zip", [("a/runs/1", "1"), ("b/runs/1", "1")])
    with pytest.raises(ReceivedError, match=r"a\.zip contains b beside the results in a; allowed: "), opened(archive):
        pass
    archive.write_bytes(archive.read_bytes()[:-50])
    with (
        pytest.raises(ReceivedError, match=r"a\.zip is an incomplete zip archive; copy or download it again\.$"),
        opened(archive),
    ):
        pass


def test_only_ordinary_files_of_the_folder_are_read(tmp_path):
    folder = tmp_path / "results"
    (folder / "tidy").mkdir(parents=True)
    (folder / "tidy/real").write_bytes(b"12345")
    (tmp_path / "secret").write_text("secret")
    (folder / "tidy/link").symlink_to(tmp_path / "secret")
    (folder / "behind").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    assert read_file(folder, "tidy/real", 5) == b"12345"
    for path in ("tidy/real", "tidy/link", "behind/secret", "pipe", "tidy", "none"):
        with pytest.raises(ReceivedError, match=path):
            read_file(folder, path, limit=4)


def test_results_that_fail_as_a_gate_are_made_again_like_any_others(tmp_path, monkeypatch):
    """A gate that fails ends the workflow with an error, so it isn't among the targets; nothing depends on it."""
    commands = []

    def start(command, *_):
        commands.append(command)
        return SimpleNamespace(wait=lambda: 0, poll=lambda: 0)

    monkeypatch.setattr(results_again, "start", start)
    study = SimpleNamespace(content={"study": "mine"}, commit=None, commit_date=None, dirty=False)
    assert results_again._carry_out(study, tmp_path, tmp_path, 1) is None
    (command,) = commands
    assert command[command.index("--") + 1 :] == ["results/mine/ro-crate-metadata.json"]


@pytest.mark.parametrize(
    "day, expected", [("2026-02-28", "2026-02-28"), ("2026-02-30", None), ("2026-19-39", None), (5, None)]
)
def test_the_date_of_the_commit_is_a_date(tmp_path, day, expected):
    (tmp_path / "tidy").mkdir()
    (tmp_path / "tidy/provenance.json").write_text(json.dumps({"workflow": {"commit_date": day}, "study": {}}))
    assert ReceivedStudy(tmp_path).commit_date == expected


def use_temporary_folders(count):
    for _ in range(count):
        with temporary_folder() as folder:
            (folder / "file").write_text("")


def test_temporary_folders_of_verifications_that_start_at_once_do_not_disturb_each_other(tmp_path, monkeypatch):
    """Each verification deletes the folders of killed ones, and no others."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "sawtooth-verify-left").mkdir()
    processes = [multiprocessing.Process(target=use_temporary_folders, args=(100,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    use_temporary_folders(1)
    assert not list(tmp_path.iterdir())


def deep(folder, depth):
    """Make nested folders, the innermost with a file."""
    here = os.getcwd()
    try:
        os.chdir(folder)
        for _ in range(depth):
            os.mkdir("a")
            os.chdir("a")
        Path("file").write_text("")
    finally:
        os.chdir(here)


def test_what_one_verification_left_does_not_hinder_the_next(tmp_path, monkeypatch):
    """Folders nested deeper than any path can name: 3,000 folders have a path of 6,000 characters."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "sawtooth-verify-left").mkdir()
    deep(tmp_path / "sawtooth-verify-left", 3000)
    with temporary_folder() as folder:
        deep(folder, 3000)
    assert not list(tmp_path.iterdir())


def test_what_can_not_be_removed_is_named_and_passed_over(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "rm").write_text("#!/bin/sh\n")
    (tmp_path / "rm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))  # an `rm` that removes nothing, as of a folder that root has locked
    left = tmp_path / "sawtooth-verify-left"
    left.mkdir()
    with temporary_folder() as folder:
        assert folder != left
    assert f"sawtooth: {left} can't be removed: please delete it." in capsys.readouterr().err


def test_a_received_folder_is_not_walked_without_end(tmp_path):
    deep(tmp_path, 700)
    with pytest.raises(ReceivedError, match="nested more than 12 folders deep"):
        list(files_below(tmp_path))
    (tmp_path / "few" / "runs").mkdir(parents=True)
    (tmp_path / "few" / "runs" / "link").symlink_to(tmp_path)
    assert [path for path, _ in files_below(tmp_path / "few")] == ["runs/link"]


def test_a_terminal_is_not_told_what_to_do():
    assert shown("a\x1b[2Jb\nc\udcff") == "a\\x1b[2Jb\\nc\\udcff"
    assert len(shown("x" * 1000)) == 200


def test_whoever_draws_with_a_seed_draws_the_same():
    """The draw is written down, so that another version of Python or of this workflow can't change it unnoticed."""
    names = [f"far/reno/ipv4/{replication}" for replication in range(1, 9)]
    assert draw(reversed(names), 3, seed=1) == draw(names, 3, seed=1)
    assert [name[-1] for name in draw(names, 3, seed=1)] == ["3", "5", "1"]


@pytest.mark.parametrize("total, changed, count", [(8, 1, 3), (8, 3, 2), (8, 6, 3), (8, 8, 1), (5, 2, 5)])
def test_the_chance_of_finding_is_that_of_all_draws(total, changed, count):
    draws = list(itertools.combinations(range(total), count))
    share = sum(1 for drawn in draws if min(drawn) < changed) / len(draws)
    assert chance_of_finding(total, changed, count) == pytest.approx(share)


def test_the_least_number_of_changed_documents_that_a_draw_finds():
    least = least_changed(0.95, 576, 10)
    assert chance_of_finding(576, least, 10) >= 0.95 > chance_of_finding(576, least - 1, 10)
