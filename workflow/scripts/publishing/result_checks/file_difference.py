"""Describe where two compressed JSON files first differ: the byte offset, and the location in the JSON."""

from publishing.result_checks.compressed_json import decompress, parse
from publishing.result_checks.received_errors import ReceivedError, shown
from run_tables.json_difference import first_byte, first_difference, value_text


def file_difference(received: bytes, made: bytes) -> str | None:
    """Describe where a received run document and the document of its rerun first differ; return None if they are equal.

    The received document is not trusted.
    """
    if received == made:
        return None
    offset = first_byte(received, made)
    size = len(received)
    where = f"byte {offset} of {size}" if offset < size else f"its end, after {offset} of {len(made)} bytes"
    return f"{where}; {_content_difference(received, made)}"


def _content_difference(received, made):
    """Return a text that names the first value that differs between two files, or states that only compression or layout differs."""
    made_text = decompress(made)
    try:
        text = decompress(received)
        if text == made_text:
            return "the JSON is the same, only its compression differs"
        document = parse(text)
    except ReceivedError as error:
        return f"it {error}"
    place = first_difference(document, parse(made_text))
    if place is None:
        return "the JSON is equal, only its notation differs"
    pointer, *values = place
    its, of_run = map(value_text, values)
    return f"in the JSON at {shown(pointer) or 'its root'}: {its} was received, the run gives {of_run}"
