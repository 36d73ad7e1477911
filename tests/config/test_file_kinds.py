"""Every kind of file that users provide, replaced by something else: one sentence within two seconds and 200 MB."""

import ctypes
import gzip
import io
import json
import multiprocessing
import os
import resource
import signal
import socket
import struct
import zipfile
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from fuzzing import CASE_S, MEMORY_BYTES, REAL_S, taken_images
from publishing.result_checks.compressed_json import parse
from publishing.result_checks.manifest import MANIFEST, ManifestError, read_manifest
from publishing.result_checks.received_errors import ReceivedError
from publishing.result_checks.received_folder import opened, read_file
from run_tables.run_documents import DocumentError, read_document
from session.candidate import CandidateError, candidate_of
from session.compare_results import ComparisonError, read_results
from study_files import study as studies
from study_files.cca_definitions import completed
from study_files.kernels import completed_kernels
from topics.claims.claims_file import ClaimsError, load_claims
from wording.terminal_text import said

SPARSE_BYTES = 10 * 2**30
START = "study: x\nccas: [reno]\nscenarios:\n  - id: s\n"


def sparse(path):
    path.touch()
    os.truncate(path, SPARSE_BYTES)


def unix_socket(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(path))


#: What stands at a path -> how it is made.
KINDS = {
    "a ring of links": lambda path: path.symlink_to(path),
    "a link to nothing": lambda path: path.symlink_to("/nowhere"),
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "10 GB that are not there": sparse,
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a socket": unix_socket,
    "zeros": lambda path: path.write_bytes(bytes(1000)),
    "UTF-16": lambda path: path.write_bytes(START.encode("utf-16")),
    "nothing": lambda path: None,
    "a file of somebody else": lambda path: path.touch(mode=0),
}
#: Names that a file may have, before its ending; a terminal obeys some of them.
ODD_NAMES = ["a\nb", "\x1b[2J\x1b]0;x\x07", "\udcff\udcfe", "-rf", 'it\'s "x" $(id) `id`', "\u202etxt", "%s{0}", " "]


def trace(path, **keys):
    path.with_name("study.yaml").write_text(
        json.dumps({"study": "s", "ccas": ["reno"], "scenarios": [
            {"id": "x", "link": {"rate_mbps": 10, "trace": {"file": path.name, **keys}}}]})
    )  # fmt: skip
    return study(path.with_name("study.yaml"))


def study(path):
    studies.resolve(studies.load(path), path)


def images(path):
    with redirect_stdout(io.StringIO()):
        for offer in taken_images.offered(path):
            taken_images.take(offer)


def manifest(path):
    if os.path.lexists(path):
        path.rename(path.with_name(MANIFEST))
    read_manifest(path.parent)


def results(path):
    with opened(str(path)):
        pass


def compared(path):
    """Read results whose table of runs, and then whose description, is such a file."""
    (path.parent / "a/tidy").mkdir(parents=True)
    (path.parent / "a/workflow").mkdir()
    (path.parent / "a/workflow/study.json").write_text('{"scenarios": [], "ccas": []}')
    (path.parent / "a/tidy/runs.csv").symlink_to(path)
    read_results(path.parent / "a")


def listed(problems):
    """Raise the problems of a file, if any, in the same way as a study's."""
    if problems:
        raise studies.StudyError("study.yaml", problems)


READERS = {
    "study.yaml": study,
    "claims.yaml": load_claims,
    "tcp_mine.c": lambda path: listed(completed({"mine": {"source": str(path)}})[1]),
    "a.patch": lambda path: listed(completed_kernels({"own": {"base": "6.12", "patches": [str(path)]}})[1]),
    "tcp_other.c": lambda path: candidate_of(str(path)),
    "mine.yaml": lambda path: candidate_of(str(path)),
    "a.trace": trace,
    "a.csv": lambda path: trace(path, format="csv"),
    "a.images.tar": images,
    "a.zip": results,
    "manifest": manifest,
    "document.json.gz": lambda path: read_document(path, {"scenario": {"platform": "uml"}}),
    "received.json.gz": lambda path: parse(read_file(path.parent.resolve(), path.name, 10**6)),
    "runs.csv": compared,
}
ERRORS = (studies.StudyError, ClaimsError, CandidateError, ReceivedError, ManifestError, DocumentError, ComparisonError, taken_images.SetupError)  # fmt: skip


def refusal(reader, path):
    """Return the sentence with which a reader refuses a file, in a process with little memory and time."""
    context = multiprocessing.get_context("fork")
    said = context.SimpleQueue()
    process = context.Process(target=_read, args=(reader, path, said))
    process.start()
    process.join(2 * REAL_S)
    if process.is_alive():
        process.kill()
        pytest.fail("it waits for ever")
    assert process.exitcode == 0
    (kind, text) = said.get()
    assert kind == "refused", text
    return text


def give_up_privileges():
    """Make file modes effective for this process even if it runs as root (capset(2), version 3 and no capability)."""
    if ctypes.CDLL(None, use_errno=True).capset(struct.pack("Ii", 0x20080522, 0), bytes(24)):
        raise OSError(ctypes.get_errno(), "capset")


def _read(reader, path, said):
    give_up_privileges()
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, CASE_S)
    signal.alarm(REAL_S)
    try:
        reader(path)
        said.put(("taken", ""))
    except (*ERRORS, ValueError) as error:
        said.put(("refused" if isinstance(error, ERRORS) or type(error) is ValueError else "broken", str(error)))
    except BaseException as error:
        said.put(("broken", repr(error)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", READERS)
def test_no_regular_file_of_its_kind(tmp_path, monkeypatch, name, kind):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAWTOOTH_CACHE", str(tmp_path / "cache"))
    KINDS[kind](tmp_path / name)
    sentence = refusal(READERS[name], tmp_path / name)
    assert "\n" not in sentence and 20 < len(sentence) < 600 and "Errno" not in sentence


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"a.trace", "a.csv", "runs.csv"}))
def test_a_folder_that_may_not_be_entered(tmp_path, monkeypatch, name):
    monkeypatch.setenv("SAWTOOTH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "within").mkdir()
    (tmp_path / "within" / name).write_bytes(b"x")
    (tmp_path / "within").chmod(0)
    sentence = refusal(READERS[name], tmp_path / "within" / name)
    assert "Permission denied" in sentence and "no such" not in sentence and "Errno" not in sentence


@pytest.mark.parametrize("odd", ODD_NAMES, ids=ascii)
@pytest.mark.parametrize("name", sorted(READERS.keys() - {"manifest"}))
def test_an_odd_name(tmp_path, monkeypatch, name, odd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAWTOOTH_CACHE", str(tmp_path / "cache"))
    (tmp_path / (odd + name)).write_bytes(bytes(1000))
    sentence = said(refusal(READERS[name], tmp_path / (odd + name)))
    assert sentence.isprintable() and 20 < len(sentence) < 700


@pytest.mark.parametrize("name", ["tcp_mine.c", "a.images.tar", "a.zip", "study.yaml"])
def test_a_name_that_is_too_long(tmp_path, monkeypatch, name):
    monkeypatch.setenv("SAWTOOTH_CACHE", str(tmp_path / "cache"))
    reader = READERS["tcp_other.c"] if name.endswith(".c") else READERS[name]
    assert "\n" not in refusal(reader, tmp_path / ("x" * 300 + name))


MANY = "".join(f"k{number}: \n" for number in range(80_000))
BOMBS = {
    "lines of a trace": ("a.trace", lambda: b"1\n" * 30_000_000, "has 30,000,000 lines; allowed: up to 6,000,000"),
    "a word behind many lines": ("a.trace", lambda: b"1000\n" * 2_000_000 + b"x\n", "has 'x' in line 2000001"),
    "rows of a trace": ("a.csv", lambda: b"time_s,rate_mbps\n" + b"0,1\n" * 10**6, "has 1,000,001 lines; allowed: up to 500,000"),
    "keys": ("study.yaml", lambda: (START + MANY).encode(), "the file has 80,003 entries; allowed: up to 5,000"),
    "groups": ("study.yaml", lambda: (START + f"    groups: [{'{},' * 90_000}]\n").encode(), "groups has 90,000 entries; allowed: up to 5,000"),
    "lists in a manifest": ("manifest", lambda: b'{"@graph": [' + b"[]," * 15_000_000 + b"{}]}", "JSON with more values than"),
    "numbers in a manifest": ("manifest", lambda: b'{"@graph": [' + b"1.5," * 15_000_000 + b"{}]}", "JSON with more values than"),
    "zeros of a document": ("document.json.gz", lambda: gzip.compress(bytes(2**28), 1), "decompresses to more than 67,108,864 bytes"),
    "brackets of a document": ("document.json.gz", lambda: gzip.compress(b"[" * 10**6, 1), "no JSON"),
    "entries of an archive": ("a.zip", lambda: archive_of(300_000), "it has 300000 entries; allowed: up to 200000"),
}  # fmt: skip


def archive_of(count):
    """Return a zip archive whose directory lists one entry many times."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("x/runs/a", "")
    content = whole.getvalue()
    begin, end = content.index(b"PK\1\2"), content.index(b"PK\5\6")
    entries = content[begin:end] * count
    sizes = (count.to_bytes(8, "little") * 2) + len(entries).to_bytes(8, "little") + begin.to_bytes(8, "little")
    record = b"PK\6\6" + (44).to_bytes(8, "little") + bytes([45, 0, 45, 0]) + bytes(8) + sizes
    place = b"PK\6\7" + bytes(4) + (begin + len(entries)).to_bytes(8, "little") + (1).to_bytes(4, "little")
    return content[:begin] + entries + record + place + b"PK\5\6" + bytes(4) + b"\xff" * 12 + bytes(2)


@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS)
def test_more_than_a_file_of_its_kind_has(tmp_path, bomb):
    name, content, sentence = BOMBS[bomb]
    (tmp_path / name).write_bytes(content())
    assert sentence in refusal(READERS[name], tmp_path / name)
