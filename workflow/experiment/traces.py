"""Capacity that follows a trace: the link's capacity in each step, and the shaper rates that implement this capacity.

When a shaper sends a packet at a rate r, the next packet must wait for (packet size) / r, even if the rate changes in the meantime. After a
step with one packet in 100 ms, a step with 100 packets in 100 ms could therefore start 100 ms late and pass no packets. Three rules
preserve the number of packets:

- Each span with a constant rate carries a whole number of packets, and ends when the last packet has been sent. The remaining fraction of a
  packet is carried over to the next span. Because the kernel stores rates in whole bytes per second, a span ends slightly earlier than in
  the trace, and the next span begins at that time.
- A span without capacity passes one packet, which leaves at the beginning of the span; the rate is one packet per span.
- If the next span is faster, the rate rises early, while the last packet of the slower span is being sent. A packet that leaves late (after
  an idle period or a smaller packet) then makes the next packet wait for less than the rest of the span. Each such rise lets at most one
  packet pass in excess of the trace, and none if the sender always has full packets to send.

This module uses only the standard library.
"""

import math
from collections.abc import Iterator
from itertools import pairwise

#: Maximum rounding error in a packet count.
ROUNDING = 1e-3
#: Maximum time per packet in ns. HTB limits its token debt to one minute (`mbuffer` in net/sched/sch_htb.c), so at a lower rate more than
#: one packet could pass.
LONGEST_NS = 50_000_000_000
#: Tolerance in ns for the last packet before a faster span. The old rate still applies to this packet if it is late by at most the time of
#: one packet of the faster span plus this tolerance: a sender that always has packets is late by at most one packet, and changing the rate
#: takes a short time.
LATE_NS = 200_000


def period_ns(trace) -> int:
    """Return the period of a trace in ns."""
    if trace.get("period_ms"):
        return round(trace["period_ms"] * 1e6)
    return len(trace["rates_mbps"]) * round(trace["step_ms"] * 1e6)


def stretches(trace) -> Iterator[tuple[int, float, float]]:
    """Yield a trace's spans with constant capacity, as (begin in ns, end in ns, rate in Mbit/s).

    The sequence is endless, unless the capacity never changes: then it is a single span whose end is infinite. Each step of the trace lasts
    `step_ms`, except the trace's last step, which ends with the period.
    """
    rates, step_ns, lasts_ns = trace["rates_mbps"], round(trace["step_ms"] * 1e6), period_ns(trace)
    if len(set(rates)) == 1:
        yield 0, math.inf, rates[0]
        return
    begins = [number * step_ns for number in range(len(rates))]
    begin, rate, base = 0, rates[0], 0
    while True:
        for at, value in zip(begins, rates, strict=True):
            if value != rate:
                yield begin, base + at, rate
                begin, rate = base + at, value
        base += lasts_ns


def spans(trace, packet_bytes) -> Iterator[tuple[int, float, int]]:
    """Yield an endless sequence of spans that each carry a whole number of packets, as (begin in ns, end in ns, number of packets).

    A span without capacity carries one packet, or more if it is longer than `LONGEST_NS`.

    Examples
    --------
    One packet per millisecond for 2 ms, then none for 2 ms:

    >>> from itertools import islice
    >>> list(islice(spans({"step_ms": 2, "rates_mbps": [8, 0]}, 1000), 4))
    [(0, 2000000, 2), (2000000, 4000000, 1), (4000000, 6000000, 1), (6000000, 8000000, 1)]
    """
    begin, done, offered_bytes = 0, 0, 0.0
    for stretch_begin, end, rate_mbps in stretches(trace):
        offered_bytes += rate_mbps * (end - stretch_begin) / 8e3
        packets = math.floor(offered_bytes / packet_bytes + ROUNDING) - done
        if packets <= 0:
            continue
        if begin < stretch_begin:
            waiting = math.ceil((stretch_begin - begin) / LONGEST_NS)
            if packets > waiting:
                yield begin, stretch_begin, waiting
                begin, packets, done = stretch_begin, packets - waiting, done + waiting
            packets = max(packets, math.ceil((end - begin) / LONGEST_NS))
        yield begin, end, packets
        begin, done = end, done + packets


def shaper_gaps(trace, until_ns, packet_bytes) -> Iterator[tuple[int, float]]:
    """Yield each change to a shaper's rate before ``until_ns`` as (time, time per packet at the new rate), both in ns.

    Examples
    --------
    One packet in the first 8 ms, then one packet per ms. The rate rises gradually: at 1.2 ms, the time per packet falls to half of the 6.8
    ms that remain of the first step:

    >>> trace = {"step_ms": 8, "rates_mbps": [1, 8]}
    >>> list(shaper_gaps(trace, 10_000_000, 1000))
    [(0, 8000000.0), (1200000, 3400000.0), (4600000, 1700000.0), (6300000, 1000000.0)]
    """
    rates, step_ns = trace["rates_mbps"], round(trace["step_ms"] * 1e6)
    if len(set(rates)) == 1:
        yield 0, packet_bytes * 8e3 / rates[0]
        return
    begin = in_force_ns = 0
    for (_, end, packets), (_, next_end, next_packets) in pairwise(spans(trace, packet_bytes)):
        if begin >= until_ns:
            return
        gap_ns = packet_bytes * 1e9 / math.ceil(packets * packet_bytes * 1e9 / (end - begin) - ROUNDING)
        if in_force_ns != gap_ns:
            yield begin, gap_ns
        end = round(begin + packets * gap_ns)
        begin, in_force_ns, next_ns = end, gap_ns, (next_end - end) / next_packets
        rest_ns = max(gap_ns - next_ns - LATE_NS, gap_ns / 2)
        while in_force_ns > next_ns and end - rest_ns < until_ns:
            at_ns, rest_ns = round(end - rest_ns), max(rest_ns / 2, rest_ns - step_ns)
            in_force_ns = max(rest_ns, next_ns)
            yield at_ns, in_force_ns
