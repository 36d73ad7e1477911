"""What each flow of a run got while all of them were sending.

Flows start up to seconds apart and so end apart. A goodput over each flow's own time then mixes
what the flow got beside the others with what it got alone, and goodputs add up to more than the
link. So shares are taken over the time that all flows have in common.
"""

from dataclasses import dataclass

import numpy as np

# A flow is under way once it has sent more than this; iperf3 begins a connection with 37 bytes.
UNDER_WAY_BYTES = 1000


@dataclass(frozen=True)
class CommonTime:
    """Goodputs of the flows of a run over their common time.

    Attributes
    ----------
    starts_s : tuple of float
        When each flow was first seen under way, in s since the traffic's origin; nan if never.
    seconds : float
        Length of the common time, 0 if there is none.
    goodputs_mbps : tuple of float
        Empty if there is no common time.
    """

    starts_s: tuple[float, ...]
    seconds: float = 0.0
    goodputs_mbps: tuple[float, ...] = ()


def common_time(series) -> CommonTime:
    """Reckon goodputs over the common time: from the latest start to the earliest end.

    A flow ends with the last look at which it had still to send. Goodput is the
    difference of the acknowledged bytes between the first look at or after the one moment and the
    last look at or before the other.

    Parameters
    ----------
    series : list of (array, array, array)
        Of each flow: time_s (ascending), bytes_sent, bytes_acked (so far).

    Returns
    -------
    CommonTime
    """
    starts, ends = zip(*(_start_and_end(*flow[:2]) for flow in series), strict=True)
    if np.isnan([*starts, *ends]).any():
        return CommonTime(starts)
    begin, end = max(starts), min(ends)
    goodputs, seconds = [], []
    for time_s, _, acked in series:
        first = int(np.searchsorted(time_s, begin, side="left"))
        last = int(np.searchsorted(time_s, end, side="right")) - 1
        if last <= first:
            return CommonTime(starts)
        seconds.append(float(time_s[last] - time_s[first]))
        goodputs.append(float(acked[last] - acked[first]) * 8 / seconds[-1] / 1e6)
    return CommonTime(starts, min(seconds), tuple(goodputs))


def _start_and_end(time_s, sent):
    under_way = sent > UNDER_WAY_BYTES
    if not under_way.any():
        return float("nan"), float("nan")
    sending = sent < np.nanmax(sent)
    return float(time_s[under_way.argmax()]), float(time_s[sending][-1]) if sending.any() else float("nan")
