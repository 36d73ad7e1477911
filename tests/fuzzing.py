"""Files that were damaged at random, and a process with little memory and time that reads them.

``PYTHONPATH=workflow/scripts:workflow python tests/fuzzing.py TARGET SEED SECONDS`` tries one target by hand; a case that breaks it is left in a file.
"""

import contextlib
import json
import multiprocessing
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import zipfile
from pathlib import Path

from publishing.result_checks.compressed_json import decompress, parse
from publishing.result_checks.json_difference import file_difference
from publishing.result_checks.manifest import MANIFEST, ManifestError, problems, read_manifest
from publishing.result_checks.received_archive import unpack
from publishing.result_checks.received_documents import check_document
from publishing.result_checks.received_errors import ReceivedError
from publishing.result_checks.received_folder import documents
from publishing.result_checks.received_study import ReceivedStudy
from study_files import study as studies
from topics.claims.claims_file import ClaimsError, load_claims

ROOT = Path(__file__).resolve().parents[1]
#: Memory of the reading process beyond what it has before the first case, and real time of one case in s.
MEMORY_BYTES, CASE_S = 2**30, 20
#: What is put where something else stood.
PIECES = [
    b"", b"\x00", b"\xff", b"\x1b[2J", b"[", b"{", b"]", b"}", b"[" * 800, b"{a: " * 800, b"9" * 5000, b"1e999", b"NaN", b".inf", b"-1",
    b"null", b"true", b"!!bool ", b"!!int ", b"!!binary ", b"!!python/name:os.system ", b"&a ", b"*a", b"<<: *a", b"? ", b"- ", b": ", b"\t",
    b"#", b"'", b'"', b"\\ud800", b"\\u0000", "\u202e".encode(), b"../", b"/etc/passwd", b"__use_yte__: true\n", b"?1+1", b"=1+1", b"$(id)",
]  # fmt: skip


def damaged(content: bytes, draw: random.Random) -> bytes:
    """Return a file's content with one to six changes: pieces put in, taken out, doubled, or other bytes, other numbers."""
    content = bytearray(content)
    for _ in range(draw.randint(1, 6)):
        begin = draw.randrange(len(content) + 1)
        end = min(len(content), begin + draw.choice((0, 1, 4, 30, 300)))
        kind = draw.randrange(5)
        if kind == 0:
            content[begin:end] = draw.choice(PIECES)
        elif kind == 1:
            del content[begin:end]
        elif kind == 2:
            content[begin:begin] = content[begin:end] * draw.choice((1, 2, 50))
        elif kind == 3 and begin < len(content):
            content[begin] ^= 1 << draw.randrange(8)
        else:
            numbers = list(re.finditer(rb"[0-9.]+", content[begin : begin + 400]))
            if numbers:
                place = draw.choice(numbers)
                content[begin + place.start() : begin + place.end()] = draw.choice(
                    (b"0", b"-1", b"1e9", b"1e-9", b"9" * 30, b"0.1")
                )
    return bytes(content[: 2**21])


def _study(content, folder):
    path = folder / "study.yaml"
    path.write_bytes(content)
    try:
        study = studies.resolve(studies.load(path), path)
        for _ in zip(studies.runs(study), range(5), strict=False):
            pass
    except studies.StudyError as error:
        _check_sentences(error, path)


def _claims(content, folder):
    path = folder / "claims.yaml"
    path.write_bytes(content)
    try:
        load_claims(path)
    except ClaimsError as error:
        _check_sentences(error, path)


def _check_sentences(error, path):
    lines = str(error).split("\n")
    if len(lines) > 6 or any(
        len(line) > 1000 or not line.isprintable() or not line.startswith(f"{path}: ") for line in lines
    ):
        raise AssertionError(f"no short sentences: {lines}")


def _document(content, folder):
    path = folder / "runs/s/reno/ipv4/1.json.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    study = ReceivedStudy(folder)
    try:
        made_by = parse(decompress(CORPUS["document"]()[0]))["environment"]
        here = [(made_by["image_digest"], made_by["testbed_digest"])]
        for problem in check_document(folder, documents(folder)[0][0], study, here).problems:
            if not problem.isprintable():
                raise AssertionError(f"not printable: {problem!r}")
        file_difference(content, CORPUS["document"]()[0])
    except ReceivedError:
        pass


def _json_document(content, folder):
    """The same with the text damaged, not its compression."""
    import gzip

    _document(gzip.compress(content, 1, mtime=0), folder)


def _provenance(content, folder):
    (folder / "tidy").mkdir(exist_ok=True)
    (folder / "tidy/provenance.json").write_bytes(content)
    study = ReceivedStudy(folder)
    if study.content:
        study.count(["s/reno/ipv4/1"]), study.missing([], 3), study.specification("s/reno/ipv4/1")


def _manifest(content, folder):
    (folder / MANIFEST).write_bytes(content)
    with contextlib.suppress(ManifestError, ReceivedError):
        list(problems(folder, read_manifest(folder)))


def _archive(content, folder):
    (folder / "a.zip").write_bytes(content)
    place = folder / "place"
    place.mkdir(exist_ok=True)
    try:
        unpack(folder / "a.zip", place)
        documents(place)
    except (ReceivedError, FileNotFoundError):
        pass
    outside = [path for path in folder.iterdir() if path.name not in ("a.zip", "place")]
    if outside or any(path.is_symlink() for path in place.rglob("*")):
        raise AssertionError(f"outside of the folder, or a link: {outside}")


def _packed():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in ("ro-crate-metadata.json", "runs/s/reno/ipv4/1.json.gz", "tidy/runs.csv"):
                archive.writestr(name, name * 50)
        return path.read_bytes()


def _listed():
    entry = {"@id": "report.html", "@type": "File", "sha256": "0" * 64, "contentSize": "1"}
    return json.dumps(
        {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": [entry, entry | {"@id": "a b%20c"}]}
    ).encode()


def _recorded():
    return (ROOT / "tests/data/lossy-reno-ipv4.json.gz").read_bytes()


def _provenances():
    study = studies.resolve(studies.load(ROOT / "config/studies/smoke.yaml"), "smoke")
    study.pop("analysis")
    return json.dumps({"study": study, "environments": [], "workflow": {"commit": "0" * 40}}).encode()


#: Target -> what reads a case, and the whole files that cases are made of.
READERS = {
    "study": _study, "claims": _claims, "document": _document, "json": _json_document, "provenance": _provenance,
    "manifest": _manifest, "archive": _archive,
}  # fmt: skip
CORPUS = {
    "study": lambda: [path.read_bytes() for path in sorted((ROOT / "config/studies").glob("*.yaml"))],
    "claims": lambda: [path.read_bytes() for path in sorted((ROOT / "config/claims").glob("*.yaml"))],
    "document": lambda: [_recorded()],
    "json": lambda: [decompress(_recorded())],
    "provenance": lambda: [_provenances()],
    "manifest": lambda: [_listed()],
    "archive": lambda: [_packed()],
}


def _read_cases(target, seed, seconds, folder, counted):
    """In a process of its own: read cases for a time; each lies in a file while it is read."""

    def late(*_):
        raise TimeoutError(f"a case took more than {CASE_S} s")

    files = CORPUS[target]()
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    signal.signal(signal.SIGALRM, late)
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        draw = random.Random(f"{seed} {number}")
        content = damaged(draw.choice(files), draw)
        (folder / "case").write_bytes(content)
        signal.alarm(CASE_S)
        with tempfile.TemporaryDirectory(dir=folder) as place:
            try:
                READERS[target](content, Path(place))
            except BaseException:
                (folder / "why").write_text(traceback.format_exc())
                os._exit(1)
        signal.alarm(0)
        number += 1
        counted.value = number


def broken_case(target: str, seed: int, seconds: float, folder: Path) -> tuple[int, str | None]:
    """Read damaged files of a target for a time; return how many, and of one that breaks its reader the traceback.

    The case is then left in ``folder/case``. Whatever ends the process, memory and signals too, counts.
    """
    context = multiprocessing.get_context("fork")
    counted = context.Value("l", 0)
    process = context.Process(target=_read_cases, args=(target, seed, seconds, folder, counted))
    process.start()
    process.join(seconds + 3 * CASE_S)
    if process.is_alive():
        process.kill()
        return counted.value, "the process does not end"
    if process.exitcode:
        why = folder / "why"
        return counted.value, why.read_text() if why.exists() else f"the process ended with {process.exitcode}"
    return counted.value, None


if __name__ == "__main__":
    folder = Path(tempfile.mkdtemp())
    print(*broken_case(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), folder), folder)
