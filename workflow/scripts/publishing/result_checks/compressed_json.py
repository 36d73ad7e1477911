"""Read compressed JSON of unknown origin, with limits on its size."""

import json
import math
import zlib

from publishing.result_checks.received_errors import ReceivedError, shown
from run_tables.run_documents import TEXT_LIMIT

#: Maximum numbers of lists and objects, and of commas, in a text; limited because parsed values need many times the memory of their text.
#: Run documents contain at most one list or object per 80 bytes, and one comma per 14 bytes.
MOST_COLLECTIONS, MOST_COMMAS = TEXT_LIMIT // 64, TEXT_LIMIT // 12
#: Maximum nesting depth of lists and objects: twice the depth of documents and manifests, and far below Python's recursion limit.
DEEPEST = 40


def decompress(content: bytes, limit=TEXT_LIMIT) -> bytes:
    """Decompress a run document.

    Raises ReceivedError if the content isn't exactly one complete gzip stream, or if the text is longer than ``limit`` bytes.
    """
    stream = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        text = stream.decompress(content, limit + 1)
    except zlib.error as error:
        raise ReceivedError(f"can't be read as gzip ({error})") from None
    if len(text) > limit:
        raise ReceivedError(f"decompresses to more than {limit} bytes, more than a run document can have")
    if not stream.eof:
        raise ReceivedError("is truncated")
    if stream.unused_data:
        raise ReceivedError(f"has {len(stream.unused_data)} bytes after its end")
    return text


def parse(text: bytes, most_commas=MOST_COMMAS) -> object:
    """Parse JSON text, such as a run document.

    Raises ReceivedError if the text isn't JSON, is nested too deeply, or contains numbers that JSON doesn't allow, a duplicate key, or too
    many values.
    """
    if text.count(b"[") + text.count(b"{") > MOST_COLLECTIONS or text.count(b",") > most_commas:
        raise ReceivedError("is JSON with more values than any file of results has")

    def no_number(word):
        raise ValueError(word)

    def finite(word):
        return float(word) if math.isfinite(float(word)) else no_number(word)

    def of_pairs(pairs):
        made = dict(pairs)
        if len(made) < len(pairs):
            raise ValueError("a key occurs twice")
        return made

    try:
        value = json.loads(text.decode(), parse_constant=no_number, parse_float=finite, object_pairs_hook=of_pairs)
        if not _is_deep(value):
            return value
    except RecursionError:
        pass
    except ValueError as error:
        raise ReceivedError(f"is not JSON ({shown(error)})") from None
    raise ReceivedError("is JSON that is nested too deeply")


def _is_deep(value):
    """Return whether lists and objects are nested more than `DEEPEST` levels deep."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [
            child
            for item in level
            if isinstance(item, (dict, list))
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True
