"""Compressed JSON of unknown origin, read with limits."""

import json
import zlib

from publishing.result_checks.received_errors import ReceivedError, shown

#: Of a document's text, in bytes: over a hundred times what 12 flows over 30 s need.
TEXT_LIMIT = 2**26


def decompress(content: bytes, limit=TEXT_LIMIT) -> bytes:
    """Return the text of a run document.

    ReceivedError: it is not exactly one whole gzip stream, or of more than ``limit`` bytes.
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
        raise ReceivedError(f"has {len(stream.unused_data)} bytes behind its end")
    return text


def parse(text: bytes) -> object:
    """Return the JSON of a run document's text.

    ReceivedError: it is no JSON, or nested too deeply, or has numbers that JSON doesn't have.
    """

    def no_number(word):
        raise ValueError(word)

    try:
        return json.loads(text.decode(), parse_constant=no_number)
    except RecursionError:
        raise ReceivedError("is JSON that is nested too deeply") from None
    except ValueError as error:
        raise ReceivedError(f"is no JSON ({shown(error)})") from None
