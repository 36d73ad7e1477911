"""Refuse to continue a study that was started with a different image; `make` calls this module as `python3 setup begun RESULTS`."""

import gzip
import io
import json
import zlib
from pathlib import Path

from cache import cache_dir, own_cache
from progress import SetupError
from testbed.machine.given_file import given_bytes

#: Approximate number of run documents that are read, including the first and the last. Reading 14,400 documents would take minutes.
LOOKED_AT = 20
#: Maximum size of a run document in bytes, both compressed and decompressed.
LARGEST_BYTES = 2**26


def check_images(results) -> None:
    """Raise SetupError if runs in a results folder were executed in an image other than the checkout's.

    Parameters
    ----------
    results : pathlib.Path
        Path to ``results/<study>``. The folder may be missing, or contain no run documents.
    """
    documents = sorted(results.glob("runs/*/*/*/*.json.gz"))
    for document in [*documents[:: max(1, len(documents) // (LOOKED_AT - 1))], *documents[-1:]]:
        made_by = image_of(document)
        if made_by is None:
            continue  # the workflow reports what is wrong with the document
        name, digest = made_by
        linked = Path(f"envs/{name}.json")
        here = json.loads(linked.read_text())["content_digest"] if linked.is_file() else "none"
        if here != digest:
            old = find_in_cache(name, digest)
            way = (
                f"`make SAWTOOTH_IMAGES={old} ...`"
                if old
                else "`make SAWTOOTH_IMAGES=<an archive or folder that has it> ...`"
            )
            raise SetupError(
                f"{results} was begun with the image {name} with content {digest}, and this checkout's image has {here}; a study never "
                f"mixes the two: continue with the old image, {way}{'' if old else ' (it is not in the cache)'}, or repeat the runs with the new "
                "one, `make RERUN=1 ...`."
            )


def image_of(document) -> tuple[str, str] | None:
    """Return the name and content digest of the image in which a run was executed, or None if the run document can't be read."""
    try:
        content = given_bytes(document, LARGEST_BYTES)
        environment = json.loads(gzip.GzipFile(fileobj=io.BytesIO(content)).read(LARGEST_BYTES))["environment"]
        return ("ns3" if environment["platform"].startswith("ns3") else "testbed"), environment["image_digest"]
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def find_in_cache(name, digest) -> Path | None:
    """Return the folder of the cached image with the given name and content digest, or None if it isn't in the cache."""
    caches = dict.fromkeys((cache_dir(), own_cache()))
    for description in (file for cache in caches for file in sorted((cache / "images").glob(f"{name}-*/image.json"))):
        if json.loads(description.read_text())["content_digest"] == digest:
            return description.parent
    return None
