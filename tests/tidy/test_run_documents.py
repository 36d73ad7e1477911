"""A file that is not the run document that belongs there is refused, and named."""

import gzip
import json

import pytest

from run_tables.run_documents import DocumentError, read_document

MISSING = "missing"


@pytest.fixture
def stored(tmp_path, recorded):
    """A function that stores a document and returns its path and specification."""

    def store(document=None, raw=None):
        document = document if document is not None else recorded("slow-vegas-ipv6")
        path = tmp_path / "1.json.gz"
        if raw != MISSING:
            path.write_bytes(raw if raw is not None else gzip.compress(json.dumps(document).encode()))
        return path, recorded("slow-vegas-ipv6")["specification"]

    return store


def test_the_document_itself(stored, recorded):
    assert read_document(*stored()) == recorded("slow-vegas-ipv6")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (MISSING, r"1\.json\.gz: no such file"),
        (b"", "empty, 0 bytes"),
        (b"not compressed", "can't be read as gzip"),
        (gzip.compress(b"{" * 5000, mtime=0)[:-12], "truncated"),
        (gzip.compress(b'{"schema_version": 1', mtime=0), "no JSON"),
        (gzip.compress(b"[1, 2]", mtime=0), "schema_version is missing"),
        (gzip.compress(b'{"end": {}}', mtime=0), "schema_version is missing"),
        (gzip.compress(b'{"schema_version": 99}', mtime=0), "schema_version is 99"),
        (gzip.compress(b'{"schema_version": 3}', mtime=0), "specification, environment"),
    ],
)
def test_broken_and_foreign_files(stored, raw, message):
    path, specification = stored(raw=raw)
    with pytest.raises(DocumentError, match=message) as caught:
        read_document(path, specification)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("cca", "reno"), ("ip_version", "ipv4"), ("replication", 7), ("seed", 5), ("study", "other"),
        ("scenario", {"queue": {"packets": 34}}),
    ],
)  # fmt: skip
def test_the_document_of_another_run_or_of_other_parameters(stored, recorded, key, value):
    document = recorded("slow-vegas-ipv6")
    asked = document["specification"]
    asked[key] = asked[key] | value if key == "scenario" else value
    with pytest.raises(DocumentError, match=f"its {key} is"):
        read_document(*stored(document))


@pytest.mark.parametrize("digest", ["testbed_digest", "image_digest"])
def test_the_document_of_another_testbed_or_image(stored, recorded, digest):
    document = recorded("slow-vegas-ipv6")
    made_by = {key: document["environment"][key] for key in ("testbed_digest", "image_digest")}
    assert read_document(*stored(document), {"uml": made_by}) == document
    # Of another platform's program it knows nothing.
    assert read_document(*stored(document), {"ns3": made_by | {digest: "sha256:0"}}) == document
    found = made_by[digest]
    with pytest.raises(DocumentError, match=f'its {digest} is "{found}", this workflow\'s is "sha256:0"'):
        read_document(*stored(document), {"uml": made_by | {digest: "sha256:0"}})


def test_sections_of_another_kind(stored, recorded):
    document = recorded("slow-vegas-ipv6") | {"specification": [], "verdict": None}
    with pytest.raises(DocumentError, match=r"no run document \(specification, verdict missing\)"):
        read_document(*stored(document))
