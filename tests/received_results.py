"""Results of the smoke study as somebody else received them, and ways to change them."""

import gzip
import hashlib
import json

from listed_results import listed, write_manifest
from own_commands import own_command
from publishing.result_checks.manifest import MANIFEST, published_files

#: A scenario of the study, and two of its runs.
SCENARIO = "10mbit-20ms-0pct-1flow"
NAME = f"{SCENARIO}/reno/ipv4/1"
OTHER = f"{SCENARIO}/vegas/ipv4/2"


def verifying(checkout, results, *arguments):
    """Return the command that verifies results in a checkout."""
    return own_command(checkout.folder, "publishing.verify_results", results, *arguments)


def document_path(results, name=NAME):
    """Return the path of a run's document."""
    return results / "runs" / f"{name}.json.gz"


def rewrite(results, change, name=NAME):
    """Change a run document like a careful forger: sound again, including its digests in table and manifest."""
    document = json.loads(gzip.decompress(document_path(results, name).read_bytes()))
    change(document)
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False) + "\n"
    put(results, name, gzip.compress(text.encode(), mtime=0))


def put(results, name, content):
    """Replace a run document, and its digests in table and manifest."""
    path = document_path(results, name)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(content)
    runs = results / "tidy/runs.csv"
    runs.write_text(runs.read_text().replace(before, hashlib.sha256(content).hexdigest()))
    renew_manifest(results)


def renew_manifest(results):
    """Let the manifest list the existing files with their digests."""
    write_manifest(results, [listed(results, path) for path in published_files(results) if path != MANIFEST])


def everything(folder):
    """Return everything in a folder: names, bytes, modes and times of change."""
    return {
        path: (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*")
    }
