"""Changes to the path during a run: the rows of a table, and the effects on queueing times and capacity."""

from collections.abc import Iterator

import numpy as np

from experiment.run_document import specification_of
from experiment.timeline import Timeline  # noqa: F401, for an example


def change_rows(document, keys) -> Iterator[dict]:
    """Yield the rows of `tidy_tables.CHANGES` for a run document; ``keys`` are the run's factors."""
    entries = document.get("timeline", ())
    offered = _offered_mbps(document, entries) if entries else []
    for number, (entry, offered_mbps) in enumerate(zip(entries, offered, strict=True), 1):
        devices = list(entry["devices"].values())
        yield keys | {
            "change": number,
            **{name: entry[name] for name in ("direction", "quantity", "kind", "value", "at_ns", "realised_ns")},
            "value_told": devices[0]["value"],
            "offered_mbps": offered_mbps,
            "bytes": sum(device["bytes"] for device in devices),
            "drops": sum(device["drops"] for device in devices),
        }


def _offered_mbps(document, entries):
    """Return the link's mean rate in Mbit/s from each change of a trace to the next; None for changes that aren't part of a trace."""
    run = specification_of(document)
    offered, until_ns = [], {}
    for entry in reversed(entries):
        way, begin_ns = entry["direction"], entry["at_ns"]
        end_ns = until_ns.get(way, max(begin_ns + 1, round(run.traffic.duration_s * 1e9)))
        traced = entry["kind"] == "trace"
        offered.append(round(run.timeline.mean_rate_mbps(begin_ns, end_ns, way), 9) if traced else None)
        if traced:
            until_ns[way] = begin_ns
    return offered[::-1]


def leaving_ms(timeline, times_s, waiting_bytes) -> list[float | None]:
    """Return how long the data in a queue take to drain, in ms; None if the link's rate isn't limited.

    At each time in ``times_s``, the queue contains ``waiting_bytes``, which drain at the current and later rates of a `Timeline`.

    Examples
    --------
    10,000 bytes drain at 4 Mbit/s for 10 ms, then at 40 Mbit/s:

    >>> change = {"at_s": 1, "direction": "both", "rate_mbps": 40, "over_s": 0, "step_ms": 100}
    >>> ways = {"forward": 0, "reverse": 0}
    >>> link = {"rate_mbps": 4, "delay_ms": ways, "loss_percent": ways, "timeline": [change]}
    >>> leaving_ms(Timeline(link, 2), [0.99], [10_000])
    [11.0]
    """
    rates = timeline.values("forward", "rate_mbps")
    if rates[0][1] is None:
        return [None] * len(times_s)
    if len(rates) == 1:
        return [count * 8 / rates[0][1] / 1e3 for count in waiting_bytes]
    begins_ms, rate_mbps = np.array(rates).T
    begins_ms = begins_ms / 1e6
    # Number of bits that can have left when each rate begins; 1 Mbit/s is 1,000 bits per ms. The last rate continues indefinitely.
    end_ms = begins_ms[-1] + 8e9
    passed = np.r_[0, np.cumsum(np.diff(np.r_[begins_ms, end_ms]) * rate_mbps * 1e3)]
    edges_ms = np.r_[begins_ms, end_ms]
    times_ms = np.array(times_s) * 1e3
    gone_ms = np.interp(np.interp(times_ms, edges_ms, passed) + np.array(waiting_bytes) * 8, passed, edges_ms)
    if not rate_mbps.all():
        # An empty queue causes no delay, even while the rate of a trace is 0.
        gone_ms = np.where(np.array(waiting_bytes) > 0, gone_ms, times_ms)
    return [round(delay, 6) for delay in (gone_ms - times_ms).tolist()]
