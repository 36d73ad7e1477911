"""Reading run documents: whole, of this workflow's schema, and of the run they stand for."""
import gzip
import json
import zlib
from pathlib import Path

SCHEMA_VERSION = 1
SECTIONS = (
    "specification",
    "environment",
    "network",
    "idle_rtt",
    "traffic",
    "sockets",
    "links",
    "stack",
    "verdict",
)


class DocumentError(ValueError):
    """A file among the run documents is not the run document that belongs there."""


def read_document(path, specification):
    """Read a run document and make sure that it is the one of a specification.

    Parameters
    ----------
    path : str or pathlib.Path
        A gzip-compressed JSON file.
    specification : dict
        What the workflow hands the testbed for this run (`study.run_specification`).

    Returns
    -------
    dict

    Raises
    ------
    DocumentError
        Naming the file and what is wrong: missing, truncated, no JSON, another
        schema, another run, or a run of other parameters.
    """
    remedy = "delete it and start the workflow again, which repeats this run"
    try:
        text = gzip.decompress(Path(path).read_bytes())
    except FileNotFoundError:
        raise DocumentError(f"{path}: no such file; start the workflow again, which repeats this run") from None
    except OSError as error:
        raise DocumentError(f"{path}: can't be read as gzip ({error}); {remedy}") from None
    except (EOFError, zlib.error) as error:
        raise DocumentError(f"{path}: truncated or damaged ({error}); {remedy}") from None
    try:
        document = json.loads(text)
    except ValueError as error:
        raise DocumentError(f"{path}: no JSON ({error}); {remedy}") from None
    if not isinstance(document, dict) or "schema_version" not in document:
        raise DocumentError(f"{path}: no run document (schema_version is missing); {remedy}")
    if document["schema_version"] != SCHEMA_VERSION:
        raise DocumentError(
            f"{path}: schema_version is {document['schema_version']}; this workflow reads {SCHEMA_VERSION}; {remedy}"
        )
    missing = [section for section in SECTIONS if section not in document]
    if missing:
        raise DocumentError(f"{path}: no run document ({', '.join(missing)} missing); {remedy}")
    for key, value in specification.items():
        found = document["specification"].get(key)
        if found != value:
            raise DocumentError(f"{path}: its {key} is {shorten(found)}, the study's is {shorten(value)}; {remedy}")
    return document


def shorten(value, length=200):
    """Return a value as text that fits into a message."""
    text = json.dumps(value)
    return text if len(text) <= length else text[: length - 3] + "..."
