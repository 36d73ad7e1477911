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
#: If a log gives neither a format nor a reference for its times, times above this value in ms (the year 1980) count from 1970.
ABSOLUTE_MS = 315_532_800_000


class Clock:
    """The clock of a trace, and the names of its events' fields.

    ``epoch_ms`` is the origin of the times in ms since 1970, or None if the trace doesn't give it. ``unit_ms`` is the unit of times. If a
    trace gives neither a format nor a reference, times above `ABSOLUTE_MS` are assumed to count from 1970.
    """

    def __init__(self, header):
        reference, self._format = header.get("reference_time"), header.get("time_format")
        self.unit_ms = UNITS_MS.get(str(header.get("time_units", "ms")))
        if self.unit_ms is None:
            raise QlogError(f"has times in the unit {str(header['time_units'])[:20]}; allowed: {', '.join(UNITS_MS)}")
        self._fields = header.get("event_fields")
        if isinstance(self._format, str) and self._format.startswith("absolute"):
            self.epoch_ms = 0.0
        elif isinstance(reference, dict):
            self.epoch_ms = _wall_clock_ms(reference.get("wall_clock_time"), reference.get("epoch"))
        else:
            origin = number(
                int(reference) if isinstance(reference, str) and re.fullmatch("[0-9]{1,16}", reference) else reference
            )
            self.epoch_ms = None if origin is None else self.unit_ms * origin
        self._last_ms, self.is_delta = 0.0, is_delta(header)
        self._may_be_absolute = reference is None and self._format is None

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
        if self._may_be_absolute and value > ABSOLUTE_MS:
            self.epoch_ms = 0.0
        if self.is_delta:
            value += self._last_ms
        self._last_ms = value
        return value


def _wall_clock_ms(*texts):
    """Return the first valid RFC 3339 time among ``texts``, in ms since 1970, including all its fractional digits."""
    for text in texts:
        match = re.fullmatch(
            r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,12})?(Z|[+-]\d\d:\d\d)", text if isinstance(text, str) else ""
        )
        if match:
            try:
                whole = datetime.fromisoformat(match[1] + match[3].replace("Z", "+00:00")).timestamp()
            except (ValueError, OverflowError):
                continue
            return 1e3 * whole + 1e3 * float(match[2] or 0)
    return None


def number(value) -> int | float | None:
    """Return a value from a log if it is a valid number, otherwise None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < LARGEST:
        return None
    return value
