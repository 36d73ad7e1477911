"""Files of declared programs, from the user's folder to the run's; sequence numbers of a TCP stream; last words."""

import gzip
import io
import os
import random
import tarfile

import pytest

from testbed.machine.given_file import GivenFileError
from testbed.machine.program_files import digest_of, files_of, lay, main, read_archive, write_archive
from testbed.readings.sequence_numbers import SequenceNumbers
from testbed.traffic.program_process import STYLES, quoted, reported


@pytest.fixture
def folder(tmp_path):
    """A program of two files."""
    (tmp_path / "stack/data").mkdir(parents=True)
    (tmp_path / "stack/run").write_bytes(b"\x7fELF")
    (tmp_path / "stack/run").chmod(0o755)
    (tmp_path / "stack/data/key").write_text("secret")
    return tmp_path / "stack"


def test_files_come_to_the_run_as_they_are(folder, tmp_path):
    files = files_of(folder)
    assert files == {"run": (b"\x7fELF", True), "data/key": (b"secret", False)}
    write_archive(files, tmp_path / "a.tar")
    os.utime(folder / "run", (0, 0))
    write_archive(files_of(folder), tmp_path / "b.tar")
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()
    lay(tmp_path / "job/programs/x", tmp_path / "a.tar", digest_of(files))
    assert files_of(tmp_path / "job/programs/x") == files
    assert (tmp_path / "job/programs/x/run").stat().st_mode & 0o777 == 0o755


def test_a_changed_archive_is_refused(folder, tmp_path):
    write_archive({"run": (b"other", True)}, tmp_path / "a.tar")
    with pytest.raises(GivenFileError, match="its files differ from those"):
        lay(tmp_path / "laid", tmp_path / "a.tar", digest_of(files_of(folder)))
    assert not (tmp_path / "laid").exists()


def test_a_compressed_archive_is_refused(folder, tmp_path):
    """The limit on its size would apply to the compressed bytes only."""
    write_archive(files_of(folder), tmp_path / "a.tar")
    (tmp_path / "b.tar").write_bytes(gzip.compress((tmp_path / "a.tar").read_bytes())[:-20])
    with pytest.raises(GivenFileError, match="it is not an archive of a program"):
        read_archive(tmp_path / "b.tar")


@pytest.mark.parametrize(
    ("name", "kind"), [("../up", tarfile.REGTYPE), ("/etc/x", tarfile.REGTYPE), ("x", tarfile.SYMTYPE), ("x", tarfile.FIFOTYPE)]
)  # fmt: skip
def test_an_archive_of_somebody_else_leads_nowhere(tmp_path, name, kind):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, "/etc/passwd"
        tar.addfile(entry, io.BytesIO())
    with pytest.raises(GivenFileError, match="an entry that is not a program's file"):
        read_archive(tmp_path / "a.tar")


def test_what_is_no_file_is_refused(folder, capsys):
    os.mkfifo(folder / "pipe")
    with pytest.raises(GivenFileError, match=r"its file pipe can't be used \(it is a pipe; allowed: a regular file\)"):
        files_of(folder)
    assert main(str(folder), "0" * 64, "nowhere") == 1
    assert "a pipe" in capsys.readouterr().err


def test_links_to_files_must_stay_in_the_folder(folder, tmp_path):
    (folder / "data/alias").symlink_to("../run")
    assert files_of(folder)["data/alias"] == (b"\x7fELF", True)
    (tmp_path / "outside").touch()
    (folder / "data/far").symlink_to(tmp_path / "outside")
    with pytest.raises(GivenFileError, match="its file data/far is a symbolic link that leads out of the folder"):
        files_of(folder)
    (tmp_path / "outside").unlink()
    with pytest.raises(GivenFileError, match="its file data/far is a dangling link"):
        files_of(folder)
    # The program itself may be a link.
    (tmp_path / "link").symlink_to(folder / "run")
    assert files_of(tmp_path / "link") == {"link": (b"\x7fELF", True)}


def test_a_file_that_changed_since_the_study_was_read_is_not_archived(folder, tmp_path, capsys):
    assert main(str(folder), "0" * 64, str(tmp_path / "a.tar")) == 1
    assert "start the study again" in capsys.readouterr().err and not (tmp_path / "a.tar").exists()
    assert main(str(folder), digest_of(files_of(folder)), str(tmp_path / "a.tar")) == 0
    assert read_archive(tmp_path / "a.tar") == files_of(folder)


def test_bytes_of_a_stream_count_once():
    """Compared with a set of all bytes, for segments in any order, across the wrap of the sequence numbers."""
    draw, seen, known = random.Random(5), SequenceNumbers(), set()
    first = 2**32 - 3000
    for _ in range(400):
        begin, length = draw.randrange(6000), draw.randrange(1, 300)
        whole = set(range(begin, begin + length))
        assert seen.add((first + begin) % 2**32, length) == len(whole - known)
        known |= whole
    assert seen.distinct == len(known)


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (b"one\ntwo \x1b[31m\xc3\xa9\n\n", "one | two \\x1b[31m\\xc3\\xa9"),
        ("can't find \u2018mine\u2019 or \u201cyours\u201d".encode(), "can't find 'mine' or \"yours\""),
        (b"x" * 4000, "x" * 120 + " | ... | " + "x" * 171),
        (b"no such flag: -x\nusage: " + b"y" * 400, "no such flag: -x | ... | " + "y" * (300 - 25)),
        (b"", ""),
        (b"\n" * 9000 + b"why\n", "why"),
        (b"1\n2\n3\n4\n5\n", "1 | 2 | 3 | 4 | 5"),
        (b"1\n2\n3\n4\n5\n6\n", "1 | ... | 3 | 4 | 5 | 6"),
        (b"no such flag: -x\n" + b"  -a  what it does\n" * 1000, "no such flag: -x | ... | " + " | ".join(["  -a  what it does"] * 4)),
        (b"x" + b"e" * 9000 + b"\nend\n", "x" + "e" * 119 + " | ... | " + ("e" * 300)[: 300 - 129 - 6] + " | end"),
    ],
)  # fmt: skip
def test_output_is_quoted_without_control_characters_and_in_short(output, words):
    assert quoted(output[:1024], output[-4096:]) == words


@pytest.mark.parametrize(
    ("tail", "bytes_"),
    [(b"bytes 12\nbytes 34 seconds 5\n", 34), (b"bytes: 7", 7), (b"megabytes 12", None), (b"bytes ten", None), (b"bytes=" + b"9" * 30, None), (b'{"bytes": 9}', 9), (b"bytes  9 kB", None), (b"bytes 9 bytes", 9), (b"bytes 1 234 567", None), (b"bytes 500 in 12 s", 500), ("bytes 1\u2019000".encode(), None), (b"bytes 5.e6", None), (b"bytes 12:30:00", None), (b"bytes 5,000,000", None), (b"bytes 5e6", None)],
)  # fmt: skip
def test_what_a_program_reports_is_read(tail, bytes_):
    assert reported(tail, "bytes") == bytes_
    assert reported(tail, None) is None


def test_colours_hide_no_number():
    assert reported(STYLES.sub(b"", b"\x1b[1mbytes\x1b[0m: \x1b[32m34\x1b[0m\x1b[K\n"), "bytes") == 34
