"""Where two files of compressed JSON differ: the byte, and the place in the JSON."""

import json

from publishing.result_checks.compressed_json import decompress, parse
from publishing.result_checks.received_errors import ReceivedError, shown

#: Stands for a value that is on one side only.
NOTHING = object()


def file_difference(received, made) -> str | None:
    """Say where the bytes of a received run document and of the same run made again differ.

    Parameters
    ----------
    received, made : bytes
        Gzip-compressed JSON; ``received`` may be anything.

    Returns
    -------
    str or None
        None if they are the same.
    """
    if received == made:
        return None
    offset = first_byte(received, made)
    size = len(received)
    where = f"byte {offset} of {size}" if offset < size else f"its end, after {offset} of {len(made)} bytes"
    return f"{where}; {content_difference(received, made)}"


def content_difference(received, made) -> str:
    """Say in which value two different files differ, or that only their compression or layout does."""
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
        return "the JSON is equal, only written otherwise"
    pointer, *values = place
    its, of_run = map(value_text, values)
    return f"in the JSON at {shown(pointer) or 'its root'}: {its} was received, {of_run} is what the run gives"


def first_byte(first, second) -> int:
    """Return the offset of the first byte in which two different byte strings differ."""
    low, high = 0, min(len(first), len(second))
    # Slices are compared at the speed of memory, so halve instead of walking.
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def first_difference(first, second, pointer="") -> tuple[str, object, object] | None:
    """Find the first place at which two JSON values differ, in the order of the second one.

    Numbers of different type differ (1, 1.0 and true are three values); the order of
    an object's keys makes no difference.

    Returns
    -------
    tuple or None
        JSON pointer (RFC 6901) and both values, `NOTHING` where one has none.
    """
    if type(first) is not type(second):
        return pointer, first, second
    if isinstance(first, dict):
        for key in [*second, *(key for key in first if key not in second)]:
            step = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            difference = pair_difference(first.get(key, NOTHING), second.get(key, NOTHING), step)
            if difference:
                return difference
        return None
    if isinstance(first, list):
        for index in range(max(len(first), len(second))):
            item, counterpart = (values[index] if index < len(values) else NOTHING for values in (first, second))
            difference = pair_difference(item, counterpart, f"{pointer}/{index}")
            if difference:
                return difference
        return None
    return None if first == second else (pointer, first, second)


def pair_difference(first, second, pointer) -> tuple[str, object, object] | None:
    """Return `first_difference` of two values of which one may be `NOTHING`."""
    if first is NOTHING or second is NOTHING:
        return pointer, first, second
    return first_difference(first, second, pointer)


def value_text(value, length=80) -> str:
    """Return a JSON value, or that there is none, as short text."""
    return "nothing" if value is NOTHING else shown(json.dumps(value), length)
