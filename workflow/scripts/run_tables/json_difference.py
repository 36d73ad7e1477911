"""Find where two JSON values, or two byte strings, first differ."""

import json
from itertools import zip_longest

from wording.terminal_text import shown

#: Placeholder for a value that is missing on one side; its type differs from the type of every JSON value.
NOTHING = object()


def first_byte(first: bytes, second: bytes) -> int:
    """Return the offset of the first byte at which two different byte strings differ."""
    low, high = 0, min(len(first), len(second))
    # Slices are compared at memory speed, so bisection is faster than a loop over bytes.
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def first_difference(first, second, pointer="") -> tuple[str, object, object] | None:
    """Find the first location, in the order of the second value, at which two JSON values differ.

    Numbers of different types differ (1, 1.0 and true are three values); the order of an object's keys doesn't matter. Returns the JSON
    pointer (RFC 6901) and both values, with `NOTHING` for a missing value, or None if there is no difference.
    """
    if type(first) is type(second) is dict:
        keys = [*second, *(key for key in first if key not in second)]
        steps = [key.replace("~", "~0").replace("/", "~1") for key in keys]
        pairs = ((first.get(key, NOTHING), second.get(key, NOTHING)) for key in keys)
    elif type(first) is type(second) is list:
        steps = range(max(len(first), len(second)))
        pairs = zip_longest(first, second, fillvalue=NOTHING)
    else:
        return None if type(first) is type(second) and first == second else (pointer, first, second)
    for step, pair in zip(steps, pairs, strict=True):
        difference = first_difference(*pair, f"{pointer}/{step}")
        if difference:
            return difference
    return None


def value_text(value, length=80) -> str:
    """Return a JSON value as short text, or "nothing" for a missing value."""
    return "nothing" if value is NOTHING else shown(json.dumps(value), length)
