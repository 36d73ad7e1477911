"""Times and field names of a qlog's events."""

import re
from datetime import datetime

from testbed.readings.qlog_files import QlogError
from testbed.readings.qlog_traces import is_delta

#: Possible names of the fields for an event's time and name if events are lists.
TIMES, KINDS = ("time", "relative_time", "delta_time"), ("event", "event_type", "name")
#: Unit of times (``time_units``) -> its length in ms.
UNITS_MS = {"ms": 1.0, "us": 1e-3}
#: Upper bound on the numbers in a log.
LARGEST = 2**53
#: Beginning of 1970 in ms since 1970: the origin of absolute times, and the default of ``epoch``.
EPOCH_MS = 0.0


class Clock:
    """The clock of a trace, and the names of its events' fields.

    ``origins_ms`` are the possible origins of the times in ms since 1970, the likeliest first: logs are written in different ways, so the
    reader takes the first origin that gives times of the run. ``unit_ms`` is the unit of times.
    """

    def __init__(self, header):
        reference = header.get("reference_time")
        self.unit_ms = UNITS_MS.get(str(header.get("time_units", "ms")))
        if self.unit_ms is None:
            raise QlogError(f"has times in the unit {str(header['time_units'])[:20]}; allowed: {', '.join(UNITS_MS)}")
        self._fields = header.get("event_fields")
        if isinstance(reference, dict):
            given = [_wall_clock_ms(reference.get(name)) for name in ("epoch", "wall_clock_time")]
        else:
            origin = number(
                int(reference) if isinstance(reference, str) and re.fullmatch("[0-9]{1,16}", reference) else reference
            )
            given = [None if origin is None else self.unit_ms * origin]
        is_absolute = str(header.get("time_format")).startswith("absolute")
        self.origins_ms = [EPOCH_MS] if is_absolute else [*(one for one in given if one is not None), EPOCH_MS]
        self._last_ms, self.is_delta = 0.0, is_delta(header)

    def named(self, record) -> object:
        """Convert a record that is a list to a dict with ``time``, ``name`` and ``data``; return any other record unchanged."""
        if not isinstance(record, list) or not isinstance(self._fields, list):
            return record
        by_name = {str(name).lower(): value for name, value in zip(self._fields, record, strict=False)}
        at, name = (next((by_name[one] for one in names if one in by_name), None) for names in (TIMES, KINDS))
        return {"time": at, "name": name, "data": by_name.get("data")}

    def time_ms(self, value) -> float:
        """Return the time of an event in ms since the trace's origin; ``value`` is the event's time field."""
        value = number(value)
        if value is None:
            raise QlogError("has an event without a valid time")
        value *= self.unit_ms
        if self.is_delta:
            value += self._last_ms
        self._last_ms = value
        return value


def _wall_clock_ms(text):
    """Return a time of RFC 3339 in ms since 1970, including all its fractional digits; None if ``text`` is not such a time."""
    match = re.fullmatch(
        r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,12})?(Z|[+-]\d\d:\d\d)", text if isinstance(text, str) else ""
    )
    try:
        whole = datetime.fromisoformat(match[1] + match[3].replace("Z", "+00:00")).timestamp() if match else None
    except (ValueError, OverflowError):
        return None
    return None if whole is None else 1e3 * whole + 1e3 * float(match[2] or 0)


def number(value) -> int | float | None:
    """Return a value from a log if it is a valid number, otherwise None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < LARGEST:
        return None
    return value
