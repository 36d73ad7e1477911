"""Read the run documents in a results folder, with limits on their size, and compare them with the schema, their paths and the study."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from experiment.specification import DOCUMENT_VERSION
from publishing.result_checks.compressed_json import decompress, parse
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import DOCUMENT_LIMIT, read_file
from publishing.result_checks.received_study import ReceivedStudy, check_specification
from run_tables.document_form import read_form, violation
from run_tables.json_difference import first_difference, value_text

SCHEMA = Path(__file__).resolve().parents[3] / "schemas" / "run.schema.json"
_FORM = read_form(SCHEMA)


@dataclass
class ReceivedDocument:
    """The findings about a run document.

    ``specification`` is the validated specification for repeating the run, or None if there is no trustworthy specification. ``made_by``
    holds the digests of image and testbed that the document states, and ``platform`` its platform without the version; they are None if the
    document can't be read. ``problems`` are sentences.
    """

    name: str
    sha256: str | None = None
    specification: dict | None = None
    made_by: tuple | None = None
    platform: str | None = None
    problems: list = field(default_factory=list)


def check_document(folder: Path, name: str, study: ReceivedStudy, here: list[tuple[str, str]]) -> ReceivedDocument:
    """Read a run document and find its problems, without executing a run.

    ``name`` is ``scenario/cca/ip_version/replication``. ``here`` holds the digests of image and program for each of this checkout's
    platforms. Documents from other versions aren't compared with the schema, because their schema may differ.
    """
    checked = ReceivedDocument(name)
    own = None
    try:
        content = read_file(folder, f"runs/{name}.json.gz", DOCUMENT_LIMIT)
        checked.sha256 = hashlib.sha256(content).hexdigest()
        text = decompress(content)
        document = parse(text)
        checked.made_by = _made_by(document)
        if isinstance(platform := document["environment"].get("platform"), str):
            checked.platform = platform.partition(":")[0]
        own = document.get("specification")
        if checked.made_by in here:
            check_form(document, text)
    except ReceivedError as error:
        checked.problems.append(str(error))
    expected = study.specification(name)
    if own is not None:
        checked.problems += _specification_problems(name, own, expected, study)
    # If the document describes a different run from the one that its path names, repeating that run would prove nothing.
    specification = own if expected is None and _place_of(own) == name else expected
    if specification is not None and checked.made_by in (None, *here):
        try:
            checked.specification = check_specification(specification, "its specification")
        except ReceivedError as error:
            checked.problems.append(f"won't be run: {shown(error, 400)}")
    return checked


def _made_by(document):
    """Return the digests of image and testbed that a document states; raise ReceivedError if it states none."""
    try:
        environment = document["environment"]
        digests = environment["image_digest"], environment["testbed_digest"]
        if document["schema_version"] == DOCUMENT_VERSION and all(isinstance(digest, str) for digest in digests):
            return digests
    except (TypeError, KeyError, IndexError):
        pass
    raise ReceivedError(
        f"is not a run document of schema version {DOCUMENT_VERSION} with the digests of image and testbed"
    )


def check_form(document, text) -> None:
    """Raise ReceivedError unless a document matches the schema and is formatted like documents from the testbed."""
    # Only the first violation is reported, because a hostile document may contain millions.
    if problem := violation(_FORM, document):
        raise ReceivedError(f"doesn't match the schema: {shown(problem)}")
    verdict = document["verdict"]
    if verdict["valid"] != all(check["ok"] for check in verdict["checks"]):
        raise ReceivedError(f"says that it is {'' if verdict['valid'] else 'not '}valid, but its checks say otherwise")
    # Programs disagree, for example, on how to read a duplicate key.
    if (json.dumps(document, separators=(",", ":"), ensure_ascii=False) + "\n").encode(errors="replace") != text:
        raise ReceivedError("is JSON, but not as written by the testbed")


def _specification_problems(name, own, expected, study):
    """Return a list with at most one problem: the specification is invalid, is for another run, or differs from the study's."""
    if not isinstance(own, dict):
        return ["has a specification that is not a JSON object"]
    if (place := _place_of(own)) != name:
        return [f"has the specification of the run {shown(place)}"]
    if expected is None:
        return ["belongs to no run of the study"] if study.content else []
    difference = first_difference(own, expected)
    if not difference:
        return []
    pointer, its, of_study = difference
    return [f"has {value_text(its)} at {shown(pointer)} of its specification, the study has {value_text(of_study)}"]


def _place_of(specification):
    """Return the name of the run that a specification describes, or None if the specification is incomplete."""
    try:
        factors = [specification[factor] for factor in ("cca", "ip_version", "replication")]
        return "/".join(map(str, (specification["scenario"]["id"], *factors)))
    except (TypeError, KeyError):
        return None
