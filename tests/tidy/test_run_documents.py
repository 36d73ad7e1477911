"""A file that is not the expected run document is refused and named."""

import gzip
import json

import pytest

from run_tables.check_documents import unusable_documents
from run_tables.document_form import read_form, violation
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
        ("scenario", {"queue": {"packets": 34}}),
        ("cca", "reno"), ("ip_version", "ipv4"), ("replication", 7), ("seed", 5),
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
    # It knows nothing of another platform's program.
    assert read_document(*stored(document), {"ns3": made_by | {digest: "sha256:0"}}) == document
    image = made_by[digest]
    with pytest.raises(DocumentError, match=f'its {digest} is "{image}", this workflow\'s is "sha256:0"'):
        read_document(*stored(document), {"uml": made_by | {digest: "sha256:0"}})


def test_sections_of_another_kind(stored, recorded):
    document = recorded("slow-vegas-ipv6") | {"specification": [], "verdict": None}
    with pytest.raises(DocumentError, match=r"not a run document \(specification, verdict missing\)"):
        read_document(*stored(document))


@pytest.fixture(scope="module")
def form(root):
    return read_form(root / "workflow/schemas/run.schema.json")


def spoiled(document, name):
    """Return a document with one element that the testbed never writes."""
    match name:
        case "another type":
            document["verdict"]["valid"] = "yes"
        case "a key more":
            document["verdict"]["opinion"] = "fine"
        case "a key less":
            del document["verdict"]["checks"][0]["ok"]
        case "no Unicode":
            document["verdict"]["checks"][0]["observed"] = {"\ud800": 1}
        case "a million things":
            document["traffic"] = [{}] * 1_000_000
        case "lists without end":
            document["traffic"] = json.loads("[" * 900 + "]" * 900)
    return document


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("another type", 'verdict/valid: "yes" is not of type "boolean"'),
        ("a key more", "verdict: Additional properties are not allowed ('opinion' was unexpected)"),
        ("a key less", 'verdict/checks/0: "ok" is a required property'),
        ("no Unicode", "surrogates not allowed"),
        ("a million things", 'traffic/0: "flows" is a required property'),
        ("lists without end", "ecursion"),
    ],
)
def test_what_is_not_of_the_schema_is_named(form, recorded, name, message):
    document = recorded("slow-vegas-ipv6")
    assert violation(form, document) is None
    assert message in violation(form, spoiled(document, name))


def test_a_document_that_is_not_of_the_schema_is_unusable(tmp_path, form, recorded, monkeypatch):
    """It is listed between a usable and a missing one."""
    document = recorded("slow-vegas-ipv6")
    asked = document["specification"]
    place = [asked["scenario"]["id"], asked["cca"], asked["ip_version"]]
    paths = [tmp_path.joinpath(*place, f"{number}.json.gz") for number in (1, 2, 3)]
    paths[0].parent.mkdir(parents=True)
    for path, content in zip(paths, (document, spoiled(recorded("slow-vegas-ipv6"), "a key more")), strict=False):
        path.write_bytes(gzip.compress(json.dumps(content).encode()))
    monkeypatch.setattr("run_tables.check_documents.run_specification", lambda *_: asked)
    assert unusable_documents({}, map(str, paths), None, form) == [
        (
            str(paths[1]),
            "doesn't match the schema: verdict: Additional properties are not allowed ('opinion' was unexpected)",
        ),
        (str(paths[2]), "no such file"),
    ]
