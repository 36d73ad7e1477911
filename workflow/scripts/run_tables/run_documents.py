"""Read run documents, and check that they are complete, belong to the right run, and match this workflow's schema, testbed and image."""

import gzip
import hashlib
import io
import json
import zlib
from pathlib import Path

from experiment.run_document import specification_of
from experiment.specification import DOCUMENT_VERSION
from testbed.machine.failure import document_of
from testbed.machine.given_file import given_bytes
from wording.terminal_text import shown

#: Maximum sizes in bytes of a run document's file and of its decompressed text. A 30 s run with 12 flows needs less than a hundredth of
#: each.
DOCUMENT_LIMIT = TEXT_LIMIT = 2**26
SECTIONS = {"specification": dict, "environment": dict, "verdict": dict}
#: Additional sections in the document of an executed run.
MEASURED_SECTIONS = {"network": dict, "traffic": list, "sockets": list}

#: Step and cause of the failure in the placeholder for a missing document.
NO_DOCUMENT = ("run", "there is no document")
#: Maximum length in characters of a message about a document. A path can be 4,096 characters long, and its end identifies the document.
LONGEST_SENTENCE = 5000


class DocumentError(ValueError):
    """A file isn't the expected run document; ``path`` names the file, and ``cause`` describes the problem."""

    def __init__(self, path, cause):
        self.path, self.cause = str(path), " ".join(cause.split())
        super().__init__(shown(f"{self.path}: {self.cause}", LONGEST_SENTENCE))

    def __reduce__(self):
        return DocumentError, (self.path, self.cause)


def file_sha256(path) -> str:
    """Return a file's SHA-256 in hex digits."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def run_of(path) -> tuple[str, str, str, int]:
    """Return the run that a document's path names: scenario, CCA, IP version, replication."""
    *cell, name = Path(path).parts[-4:]
    return *cell, int(name.partition(".")[0])


def read_document(path, specification, made_by=None) -> dict:
    """Read a run document (gzip-compressed JSON) and check that it matches a specification.

    Raises `DocumentError`, which names the file and the problem, if the file isn't a complete run document of this schema version, if
    its specification differs from ``specification``, or if it was made by a different testbed or image.

    Parameters
    ----------
    specification : dict
        Specification that the workflow passes to the testbed for this run (`study.run_specification`).
    made_by : dict, optional
        Platform without its version -> required values in the document's environment: ``testbed_digest``, ``image_digest``.
    """
    document = _whole_document(path)
    platform = specification["scenario"]["platform"].partition(":")[0]
    for of, expected, whose in (
        (specification_of(document).document, specification, "the study's"),
        (document["environment"], (made_by or {}).get(platform, {}), "this workflow's"),
    ):
        for key, value in expected.items():
            if of.get(key) != value:
                raise DocumentError(path, f"its {key} is {shorten(of.get(key))}, {whose} is {shorten(value)}")
    return document


def _whole_document(path) -> dict:
    """Return the content of a file if it is a run document with this schema version; otherwise raise `DocumentError`."""
    try:
        compressed = given_bytes(path, DOCUMENT_LIMIT)
        text = gzip.GzipFile(fileobj=io.BytesIO(compressed)).read(TEXT_LIMIT + 1)
    except FileNotFoundError:
        raise DocumentError(path, "no such file") from None
    except OSError as error:
        raise DocumentError(path, f"can't be read as gzip ({error.strerror or error})") from None
    except (EOFError, zlib.error) as error:
        raise DocumentError(path, f"truncated or damaged ({error})") from None
    if not compressed:
        raise DocumentError(path, "empty, 0 bytes")
    if len(text) > TEXT_LIMIT:
        raise DocumentError(path, f"decompresses to more than {TEXT_LIMIT:,} bytes")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentError(path, f"no JSON ({error})") from None
    if not isinstance(document, dict) or "schema_version" not in document:
        raise DocumentError(path, "not a run document (schema_version is missing)")
    if document["schema_version"] != DOCUMENT_VERSION:
        version = shorten(document["schema_version"])
        raise DocumentError(path, f"its schema_version is {version}, this workflow reads {DOCUMENT_VERSION}")
    sections = SECTIONS if "failure" in document else SECTIONS | MEASURED_SECTIONS
    missing = [name for name, kind in sections.items() if not isinstance(document.get(name), kind)]
    if missing:
        raise DocumentError(path, f"not a run document ({', '.join(missing)} missing)")
    return document


def missing_document(specification) -> dict:
    """Return a placeholder document for a run that was not executed."""
    return document_of(specification, {}, *NO_DOCUMENT)


def is_missing(document) -> bool:
    """Return whether a document is a placeholder made by `missing_document`."""
    return tuple(document.get("failure", {}).values()) == NO_DOCUMENT


def shorten(value, length=200) -> str:
    """Return a value as text, short enough for a message."""
    text = json.dumps(value)
    return text if len(text) <= length else text[: length - 3] + "..."
