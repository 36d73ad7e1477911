"""Randomly damaged files, and a process with little memory and time that reads them.

``PYTHONPATH=workflow/scripts:workflow python tests/fuzzing.py TARGET SEED CASES`` tries one target by hand; a case that breaks it is left in a file.
"""

import contextlib
import io
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import zipfile
from pathlib import Path

from publishing.result_checks.compressed_json import decompress, parse
from publishing.result_checks.file_difference import file_difference
from publishing.result_checks.manifest import MANIFEST, ManifestError, problems, read_manifest
from publishing.result_checks.received_archive import unpack
from publishing.result_checks.received_documents import check_document
from publishing.result_checks.received_errors import ReceivedError
from publishing.result_checks.received_folder import documents
from publishing.result_checks.received_study import ReceivedStudy
from session.candidate import CandidateError, candidate_of
from session.cca_needs import parameter_problem
from study_files import study as studies
from study_files.cca_definitions import completed as completed_ccas
from study_files.kernels import completed_kernels
from study_files.strict_yaml import FileError
from topics.claims.claims_file import ClaimsError, load_claims
from topics.expectations.expectation_list import expectations_of

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "setup"))

import images  # noqa: E402
import kernels  # noqa: E402
import own_tree  # noqa: E402
import packed_images  # noqa: E402
import taken_images  # noqa: E402
from describe_image import content_digest  # noqa: E402
from progress import SetupError  # noqa: E402

#: Memory of the reading process beyond what it has before the first case, and CPU time of one case in s.
# CPU time; a case that takes up to 1.4 s alone takes longer beside another test that shares its caches.
MEMORY_BYTES, CASE_S = 200_000_000, 4
#: Real time of a case in s; no case can wait for another process.
REAL_S = 60
#: Replacements for parts of a file.
PIECES = [
    b"", b"\x00", b"\xff", b"\x1b[2J", b"[", b"{", b"]", b"}", b"[" * 800, b"{a: " * 800, b"9" * 5000, b"1e999", b"NaN", b".inf", b"-1",
    b"null", b"true", b"!!bool ", b"!!int ", b"!!binary ", b"!!python/name:os.system ", b"&a ", b"*a", b"<<: *a", b"? ", b"- ", b": ", b"\t",
    b"#", b"'", b'"', b"\\ud800", b"\\u0000", "\u202e".encode(), b"../", b"/etc/passwd", b"/dev/zero", b"!!map ", b"!!set ", b"!!timestamp 2001-99-99", b"0x" + b"f" * 5000, b"1e308", b"\r\n", b"\xef\xbb\xbf", b"9" * 400,
    b"__use_yte__: true\n", b"?1+1", b"=1+1", b"$(id)",
]  # fmt: skip


def damaged(content: bytes, draw: random.Random) -> bytes:
    """Return a file's content with one to six changes: pieces inserted, removed or doubled, or bytes or numbers changed."""
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
    """Damage the JSON text of a document before it is compressed."""
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


def _beside_study(content, folder, scenario, file):
    """Resolve a study whose scenario names a file beside it."""
    (folder / file).write_bytes(content)
    _study(json.dumps({"study": "s", "ccas": ["reno"], "scenarios": [{"id": "x"} | scenario]}).encode(), folder)


def _packet_trace(content, folder):
    _beside_study(content, folder, {"link": {"rate_mbps": 10, "trace": {"file": "a.trace"}}}, "a.trace")


def _rate_trace(content, folder):
    link = {"rate_mbps": 10, "trace": {"file": "a.csv", "format": "csv"}}
    _beside_study(content, folder, {"link": link}, "a.csv")


def _source(content, folder):
    path = folder / "tcp_mine.c"
    path.write_bytes(content)
    for problem in completed_ccas({"mine": {"source": str(path)}})[1]:
        _check_sentence(problem)
    with contextlib.suppress(OSError):
        parameter_problem({"cca_definitions": {"mine": {"source": str(path), "cca": "x", "parameters": {"a": 1}}}})
    _candidate(path)


def _definition(content, folder):
    path = folder / "mine.yaml"
    path.write_bytes(content)
    _candidate(path)


def _candidate(path):
    try:
        candidate_of(str(path))
    except CandidateError as error:
        for line in str(error).split("\n"):
            _check_sentence(line)


def _patch(content, folder):
    path = folder / "a.patch"
    path.write_bytes(content)
    _, problems = completed_kernels({"own": {"base": "6.12", "patches": [str(path)]}})
    for problem in problems:
        _check_sentence(problem)
    own_tree.named_files([kernels.of_kernel(content, folder)])


def _expectations(content, folder):
    content = b"study: s\nccas: [reno, cubic]\nscenarios: [{id: x}]\nanalysis:\n  expect:\n" + content
    path = folder / "study.yaml"
    path.write_bytes(content)
    try:
        study = studies.resolve(studies.load(path), path)
        expectations_of(study, path, [])
    except FileError as error:
        _check_sentences(error, path)


def _images(content, folder):
    path = folder / "a.images.tar"
    path.write_bytes(content)
    os.environ["SAWTOOTH_CACHE"] = str(folder / "cache")
    try:
        for offer in taken_images.offered(path):
            taken_images.take(offer)
    except SetupError as error:
        _check_sentence(str(error))


def _check_sentence(text):
    if len(text) > 1200 or not text.isprintable():
        raise AssertionError(f"no short sentence: {text!r}")


DEFINITION = b"""name: my-cubic
base: cubic
parameters: {beta: 800, fast_convergence: 0}
kernel: own
kernels:
  own: {base: "6.12", config: {HZ: 250}}
"""
EXPECTATIONS = b"""    - id: more
      statement: CUBIC gets more than half
      kind: ratio
      table: cells
      where: {cca: [cubic], scenario: [x]}
      column: goodput_mbps
      requirement: {at_least: 5, at_most: 20}
      must_be: shown
    - id: verdicts
      table: goodput_comparison
      column: verdict
      none_of: [worse]
"""


def _image_archive():
    """An archive of an image of two files."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        root, description = Path("image/root"), Path("image/root", images.DESCRIPTION)
        description.parent.mkdir(parents=True)
        (root / "tool").write_text("tool")
        (root / "alias").symlink_to("tool")
        described = {"image": "x", "content_digest": content_digest(root), "definition_key": "0" * 64}
        for place in (description, Path("image/image.json")):
            place.write_text(json.dumps(described))
        Path("envs").mkdir()
        Path("envs/x.def").write_text("Bootstrap: x\n")
        Path("envs/x.sif").symlink_to(root.absolute())
        return packed_images.pack(Path("x.images.tar"), ["x"]).read_bytes()


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


#: Target -> function that reads a case, and the undamaged files from which cases are made.
READERS = {
    "study": _study, "claims": _claims, "document": _document, "json": _json_document, "provenance": _provenance,
    "manifest": _manifest, "archive": _archive, "packet trace": _packet_trace, "rate trace": _rate_trace, "source": _source,
    "definition": _definition, "patch": _patch, "expectations": _expectations, "images": _images,
}  # fmt: skip
CORPUS = {
    "study": lambda: [path.read_bytes() for path in sorted((ROOT / "config/studies").rglob("*.yaml"))],
    "claims": lambda: [path.read_bytes() for path in sorted((ROOT / "config/claims").glob("*.yaml"))],
    "document": lambda: [_recorded()],
    "json": lambda: [decompress(_recorded())],
    "provenance": lambda: [_provenances()],
    "manifest": lambda: [_listed()],
    "archive": lambda: [_packed()],
    "packet trace": lambda: [b"".join(b"%d\n" % time for time in range(step, 3000, step)) for step in (1, 40, 700)],
    "rate trace": lambda: [b"time_s,rate_mbps\n0,10\n0.5,0\n1.25,3.75\n10,20\n"],
    "source": lambda: [path.read_bytes() for path in sorted((ROOT / "examples").glob("*.c"))],
    "definition": lambda: [DEFINITION],
    "patch": lambda: [path.read_bytes() for path in sorted((ROOT / "envs/guest/patches").glob("*.patch"))],
    "expectations": lambda: [EXPECTATIONS],
    "images": lambda: [_image_archive()],
}


def _read_cases(target, seed, count, folder, counted):
    """Read cases in a separate process; each is in a file while it is read."""

    def late(*_):
        raise TimeoutError(f"a case took more than {CASE_S} s of CPU, or {REAL_S} s")

    files = CORPUS[target]()
    READERS[target](files[0], _new_folder(folder))  # modules that are imported late
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    signal.signal(signal.SIGALRM, late)
    signal.signal(signal.SIGPROF, late)
    for number in range(count):
        draw = random.Random(f"{seed} {number}")
        content = damaged(draw.choice(files), draw)
        (folder / "case").write_bytes(content)
        signal.alarm(REAL_S)
        signal.setitimer(signal.ITIMER_PROF, CASE_S)
        try:
            READERS[target](content, _new_folder(folder))
        except BaseException:
            (folder / "why").write_text(traceback.format_exc())
            os._exit(1)
        signal.setitimer(signal.ITIMER_PROF, 0)
        counted.value = number + 1


def _new_folder(folder):
    place = folder / "place"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    return place


def broken_case(target: str, seed: int, count: int, folder: Path) -> tuple[int, str | None]:
    """Read damaged files of a target; return the number read, and the traceback if one breaks its reader.

    This case is then left in ``folder/case``. Anything that ends the process counts, including lack of memory and signals.
    """
    context = multiprocessing.get_context("fork")
    counted = context.Value("l", 0)
    process = context.Process(target=_read_cases, args=(target, seed, count, folder, counted))
    process.start()
    seen = -1
    while process.is_alive() and counted.value > seen:
        seen = counted.value
        process.join(2 * REAL_S)
    if process.is_alive():
        process.kill()
        return counted.value, "the process does not end"
    if process.exitcode:
        why = folder / "why"
        return counted.value, why.read_text() if why.exists() else f"the process ended with {process.exitcode}"
    return counted.value, None


if __name__ == "__main__":
    folder = Path(tempfile.mkdtemp())
    print(*broken_case(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), folder), folder)
