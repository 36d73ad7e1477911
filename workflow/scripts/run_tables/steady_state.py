"""The steady part of a run, after start-up: its beginning, its metrics, and the drift of these metrics.

The steady part begins at the same time for all flows and metrics. One of two rules determines this time: either a fixed share of the flows'
common measurement window is left out, or MSER finds the end of start-up in the total goodput of all flows.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from run_tables.retransmit_share import retransmit_percent
from tcp_models.fairness_index import jain_index
from testbed.readings.deliveries import START_UP, Window, windows

SHARE, MSER = "share", "mser"
#: Minimum length of a step, relative to the usual step; on a real clock, steps aren't exactly equal.
LEAST_STEP = 0.75


@dataclass(frozen=True)
class SteadyRule:
    """A study's ``steady_state``: the rule (`SHARE` or `MSER`) and, for `SHARE`, the share that is left out."""

    rule: str = SHARE
    share: float = START_UP


#: Default rule for studies that don't specify one.
USUAL_RULE = SteadyRule()


def mser(values: Sequence[float], batch: int = 5) -> int | None:
    """Return the number of start-up values in a series according to MSER; None if the series is too short or shows no steady state.

    MSER omits the first d of k batch means, and chooses the d with the smallest squared marginal standard error: the sum of squared
    deviations of the remaining means from their mean, divided by (k - d)^2
    (White, 1997, Simulation 69(6); White, Cobb and Spratt, 2000, Proc. Winter Simulation Conference, equation 3). At most half of
    the means may be omitted. If the minimum is reached only at half of them, the series shows no steady state.

    Parameters
    ----------
    values : sequence of float
        Values at equal steps; values after the last complete batch are ignored.
    batch : int
        Number of values per batch.

    Examples
    --------
    >>> mser([0] * 5 + [8] * 35)
    5
    >>> mser(range(40)) is None
    True
    """
    batches = len(values) // batch
    means = np.asarray(values, float)[: batch * batches].reshape(-1, batch).mean(axis=1)
    half = batches // 2
    if half < 1:
        return None
    errors = [float(((means[d:] - means[d:].mean()) ** 2).sum()) / (batches - d) ** 2 for d in range(half + 1)]
    left_out = int(np.argmin(errors))
    return None if left_out == half else batch * left_out


def steady_windows(document, rule: SteadyRule) -> dict[int, Window]:
    """Return the `Window` of each flow's steady part, as `deliveries.windows` does for entire runs; empty without a steady state.

    For UDP, the rule's ``share`` of the window is omitted even with MSER, because UDP sends at a constant rate from the start.
    """
    if rule.rule == SHARE or "delivered" not in document:
        return windows(document, rule.share)
    whole = next(iter(windows(document).values()), None)
    if whole is None:
        return {}
    times_ns, totals = _at_equal_steps(document["delivered"], whole)
    # Each fortieth of the run contains many packets, so it is a batch by itself. With eight batches of five, the error of a steady run
    # would, in 15 to 22 of 100 cases, happen to be smallest with half of the batches omitted; with forty batches, this happens in 0 to 6
    # cases.
    left_out = mser(np.diff(totals) / np.diff(times_ns), batch=1)
    if left_out is None:
        return {}
    # The steady part begins halfway between its first reading and the previous reading.
    before_ns = times_ns[left_out] - (times_ns[1] - times_ns[0]) / 2
    return windows(document, max(0.0, (before_ns - whole.begin_ns) / (whole.end_ns - whole.begin_ns)))


def _at_equal_steps(delivered, window):
    """Return reading times, and the number of bytes that all flows together had delivered by each time.

    The steps between the times are about equal, counted back from the end of the measurement window.
    """
    totals = np.array([[count or 0 for count in flow["bytes"]] for flow in delivered["flows"]]).sum(axis=0)
    times_ns = np.array(delivered["time_ns"])
    # Readings are half an RTT apart only at the beginning, so the median step is the usual step.
    step, kept = np.median(np.diff(times_ns)), [int(np.flatnonzero(times_ns == window.end_ns)[0])]
    for place in range(kept[0] - 1, -1, -1):
        if times_ns[place] >= window.begin_ns and times_ns[kept[-1]] - times_ns[place] >= LEAST_STEP * step:
            kept.append(place)
    return times_ns[kept[::-1]], totals[kept[::-1]]


def steady_flow(intervals, start_offset_ms, steady) -> dict[str, float | None]:
    """Return a flow's columns of `tidy_tables.FLOWS` about the steady part: RTTs, retransmits and bytes sent.

    Parameters
    ----------
    intervals : list of dict
        The flow's reporting intervals from `run_metrics.interval_metrics`; only those that begin in the steady part are used.
    start_offset_ms : float
        Start time of the flow in ms since the traffic's origin.
    steady : Window or None
        Window of the flow's steady part.
    """
    counted = [
        interval
        for interval in intervals
        if steady and 1e6 * start_offset_ms + 1e9 * interval["start_s"] >= steady.begin_ns
    ]
    rtts, again = ([interval[name] for interval in counted] for name in ("rtt_ms", "retransmits"))
    sent = [interval["sent_mbps"] * (interval["end_s"] - interval["start_s"]) * 1e6 / 8 for interval in counted]
    known = counted and None not in again
    return {
        "rtt_steady_ms": None if not rtts or None in rtts else sum(rtts) / len(rtts),
        "rtt_steady_change_percent": _change_percent(rtts),
        "retransmits_steady": sum(again) if known else None,
        "bytes_sent_steady": sum(sent) if known else None,
    }


def _change_percent(values):
    """Return the change from the mean of the first half of the values to the mean of the second half.

    The change is a percentage of the mean of both halves. It is None if there are fewer than four values, if any value is missing, or
    if the sum is 0.
    """
    if len(values) < 4 or None in values or not sum(values):
        return None
    half = len(values) // 2
    first, second = sum(values[:half]) / half, sum(values[-half:]) / half
    return 200 * (second - first) / (first + second)


def _goodput_change_percent(document, flows, steady):
    """Return the column goodput_steady_change_percent of `RUNS` for the total goodput of the given flows, or None if it is unknown."""
    whole, after = (next(iter(of_flows.values()), None) for of_flows in (windows(document), steady))
    if "delivered" not in document or after is None:
        return None
    middle = (after.begin_ns + after.end_ns) / 2
    second = windows(document, (middle - whole.begin_ns) / (whole.end_ns - whole.begin_ns))
    if not second or next(iter(second.values())).begin_ns == after.begin_ns:
        return None
    rest = next(iter(second.values()))
    numbers = [flow["flow"] for flow in flows]
    late = sum(rest.delivered_bytes[number] for number in numbers)
    early = sum(after.delivered_bytes[number] for number in numbers) - late
    rates = early / (rest.begin_ns - after.begin_ns), late / (rest.end_ns - rest.begin_ns)
    return 200 * (rates[1] - rates[0]) / sum(rates) if sum(rates) else None


def steady_run(document, flows, steady, segment_bytes) -> dict[str, float | None]:
    """Return the columns of `tidy_tables.RUNS` about the mean queue length and the steady part, except goodput_steady_mbps.

    Parameters
    ----------
    document : dict
        A run document.
    flows : list of dict
        Flows with goodput_steady_mbps and the columns of `steady_flow`.
    steady : dict of int to Window
        Window of each flow's steady part.
    segment_bytes : int or None
        Payload of a full segment.
    """
    whole = windows(document)
    goodputs, rtts, changes, again, sent = (
        [flow[name] for flow in flows]
        for name in (
            "goodput_steady_mbps", "rtt_steady_ms", "rtt_steady_change_percent", "retransmits_steady", "bytes_sent_steady",
        )
    )  # fmt: skip
    known = segment_bytes and None not in sent and None not in again and sum(sent)
    begins = {window.begin_ns for window in steady.values()}
    return {
        "steady_begin_ns": begins.pop() if len(begins) == 1 else None,
        "rtt_steady_ms": None if None in rtts or not rtts else sum(rtts) / len(rtts),
        "rtt_steady_change_percent": None if None in changes or not changes else sum(changes) / len(changes),
        "goodput_steady_change_percent": _goodput_change_percent(document, flows, steady),
        "retransmit_steady_percent": retransmit_percent(sum(again), sum(sent), segment_bytes) if known else None,
        "jain_steady_index": None if None in goodputs or not goodputs else jain_index(goodputs),
        "queue_mean_packets": _mean_queue(document, whole),
        "queue_steady_packets": _mean_queue(document, steady),
    }


def _mean_queue(document, of_flows):
    """Return the mean queue length in packets, over the samples inside the measurement windows of all flows, or None."""
    series = document.get("series", {}).get("queue")
    if not series or not of_flows:
        return None
    begin_s, end_s = (
        pick(getattr(w, name) for w in of_flows.values()) / 1e9 for pick, name in ((max, "begin_ns"), (min, "end_ns"))
    )
    samples = [
        packets for time, packets in zip(series["time_s"], series["packets"], strict=True) if begin_s <= time <= end_s
    ]
    return sum(samples) / len(samples) if samples else None


def intervals_of_flows(intervals) -> dict[int, list[dict]]:
    """Group rows of `run_metrics.interval_metrics` by flow."""
    ordered = sorted(intervals, key=lambda interval: interval["flow"])
    return {flow: list(rows) for flow, rows in itertools.groupby(ordered, key=lambda interval: interval["flow"])}
