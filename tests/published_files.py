"""The unpacked contents of a study's published files: everything that a reader with the right tool can read."""

import base64
import gzip
import re

import pyarrow.parquet

from publishing.result_checks.manifest import published_files


def texts(folder):
    """Yield (path, bytes) of each published file unchanged, and of everything packed in it."""
    for path in published_files(folder):
        content = (folder / path).read_bytes()
        yield path, content
        if path.endswith(".gz"):
            yield path, gzip.decompress(content)
        if path.endswith(".parquet"):
            file = pyarrow.parquet.ParquetFile(folder / path)
            yield path, repr((file.metadata.metadata, file.schema_arrow.metadata, file.metadata.created_by)).encode()
            yield path, file.read().to_pandas().to_csv().encode()
        if path.endswith(".html"):
            for packed in re.findall(rb"H4sI[A-Za-z0-9+/=]{40,}", content):
                yield path, gzip.decompress(base64.b64decode(packed))


def places_of(pattern, folder):
    """Return the files in which a regular expression is found: path -> the first match with its context."""
    places = {}
    for path, content in texts(folder):
        match = re.search(pattern, content)
        if match:
            places.setdefault(path, content[max(match.start() - 60, 0) : match.end() + 60])
    return places
