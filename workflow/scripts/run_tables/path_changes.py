"""Changes of the path in a run: their rows, and the rate that there was at a time."""

from collections.abc import Iterator

from testbed.specification import RunSpecification


def change_rows(document, keys) -> Iterator[dict]:
    """Yield the rows of `tidy_tables.CHANGES` that a run document gives; ``keys`` are the run's factors."""
    for number, entry in enumerate(document.get("timeline", ()), 1):
        devices = list(entry["devices"].values())
        yield keys | {
            "change": number,
            **{name: entry[name] for name in ("direction", "quantity", "kind", "value", "at_ns", "realised_ns")},
            "value_told": devices[0]["value"],
            "bytes": sum(device["bytes"] for device in devices),
            "drops": sum(device["drops"] for device in devices),
        }


def rates_at(run, times_s) -> list[float | None]:
    """Return the bottleneck's rate in the data's direction in Mbit/s at each of some times of a `RunSpecification`; None without one."""
    return [run.timeline.value_at("forward", "rate_mbps", round(at_s * 1e9)) for at_s in times_s]


def mean_rate_mbps(document, window) -> float | None:
    """Return the bottleneck's mean rate in the data's direction over a window of a run, or the only one that there is."""
    run = RunSpecification(document["specification"])
    if not run.timeline or run.rate_mbps is None or window is None:
        return run.rate_mbps
    return run.timeline.mean_rate_mbps(window.begin_ns, window.end_ns)
