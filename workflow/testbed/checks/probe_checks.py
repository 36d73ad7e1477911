"""The checks of the probe after the traffic: the path must behave as configured, whatever settings the kernel reports."""

import math

from experiment.delay_tables import distance, most_distance
from experiment.disciplines import discipline_of
from experiment.qdisc import DROP_TAIL
from testbed.checks.check import Check, in_turn
from testbed.readings.path_probe import (
    RARE,
    SMALL_BYTES,
    TRAIN,
    at_the_end,
    options_ms,
    singles_apart_s,
    singles_of,
    time_of,
)

#: Maximum error of a delay in ns.
DELAY_SLACK_NS = 2_000
#: Maximum error of the time between two packets: a relative error, plus an error in ns because the clock is read twice.
GAP_SLACK, GAP_SLACK_NS = 1e-3, 3
#: Minimum share of the jitter's range over which the delays of many datagrams must be spread (`path_probe.OF_JITTER`).
LEAST_RANGE = 0.6
#: For each jitter distribution, in units of the jitter: the maximum deviations below and above the mean delay in tc's table, and the
#: allowed range of the standard deviation of the probe packets' delays. This range is the one found in 500,000 samples of 64 delays,
#: widened by a tenth.
REACH_OF = {"normal": (4, 3.53), "pareto": (0.67, 4), "paretonormal": (1.51, 3.89)}
DEVIATION_OF = {"normal": (0.5, 1.5), "pareto": (0.15, 1.75), "paretonormal": (0.3, 1.55)}
#: Maximum deviation of the time between two bunches of datagrams from the slot interval, as a share of this interval.
SLOT_SLACK = 0.01
#: Disciplines whose queue a single flow can fill up to the limit.
EXACT = (DROP_TAIL, "codel")
#: Number of packets that fq may hold beyond its limit.
FAST_PATH_PACKETS = 8


def check_delay(specification, document) -> Check:
    """Individual datagrams arrived once and with the configured delay, including jitter, reordering and slots."""
    wrong, expected, observed = [], [], []
    for place, seen in enumerate(document["probe"]["delays"]):
        direction = seen["direction"]
        low_ns, high_ns, range_ns = delays_ns(specification, place // 2, direction)
        where = f"{seen['sender']} to {seen['receiver']} {direction}"
        expected.append(f"{where} {in_ms(low_ns, high_ns)}")
        problems = []
        if seen["arrived"]:
            shortest_ns, longest_ns = seen["shortest_ns"], seen["longest_ns"]
            observed.append(f"{where} {in_ms(shortest_ns, longest_ns)}")
            problems += ["too short"] if shortest_ns < low_ns - DELAY_SLACK_NS else []
            problems += ["too long"] if longest_ns > high_ns + DELAY_SLACK_NS else []
            problems += ["too little variation"] if longest_ns - shortest_ns < range_ns - DELAY_SLACK_NS else []
        else:
            observed.append(f"{where} none of {seen['sent']} arrived")
            here = specification.on_path(place // 2)
            problems += [] if at_the_end(here, direction, "loss_percent") else ["all lost"]
        if seen["twice"] and not specification.option("duplicate_percent", direction):
            problems.append(f"{seen['twice']} arrived twice")
        problems += [f"{seen['overtaken']} overtaken"] if seen.get("overtaken") else []
        problems += bunch_problems(specification, seen) + deviation_problems(specification, seen)
        problems += table_problems(specification, place // 2, seen)
        observed[-1] += f" ({', '.join(problems)})" if problems else ""
        wrong += problems
    return Check("delay", not wrong, "; ".join(expected), "; ".join(observed))


def delays_ns(specification, place, direction) -> tuple[float, float, float]:
    """Return the minimum and the maximum delay of a datagram, and the minimum range over which many delays must be spread, in ns.

    ``place`` is the index of the pair of hosts or, on a cable, of the path.
    """
    if specification.is_cable:
        specification, place = specification.on_path(place), 0
    pair, base_ms = specification.pairs[place], mean_delay_ms(specification, place, direction)
    jitter_ms, late = specification.direction(direction).jitter_ms, specification.option("reordering", direction)
    distribution = specification.option("jitter_distribution", direction)
    below, above = REACH_OF.get(distribution) or specification.jitter_reach(direction)
    # Normal delays are spread more widely than uniform ones. For other distributions, the standard deviation is more informative.
    drawn = specification.option("jitter_table", direction) or distribution
    range_ms = (1.5 if distribution == "normal" else 0 if drawn else 2 * LEAST_RANGE) * jitter_ms
    usual = max(late["percent"], 100 - late["percent"]) / 100 if late else 1
    if singles_of(specification, direction) * math.log(usual) <= math.log(RARE):
        # At least one datagram was late, and at least one wasn't.
        range_ms = max(range_ms, late["late_ms"] - 2 * jitter_ms)
    most_ms = base_ms + pair.hops * above * jitter_ms + options_ms(specification, direction)
    return 1e6 * max(0, base_ms - pair.hops * below * jitter_ms), 1e6 * most_ms, 1e6 * range_ms


def mean_delay_ms(specification, place, direction) -> float:
    """Return the mean delay in ms of a datagram between a pair of hosts, excluding the effects of link options."""
    pair = specification.pairs[place]
    passed = range(pair.first_hop - 1, pair.first_hop - 1 + pair.hops)
    if specification.is_chain:
        base_ms = sum(specification.bottlenecks[number].direction(direction).delay_ms for number in passed)
    else:
        base_ms = at_the_end(specification, direction, "delay_ms")
    base_ms += specification.multipath.path_delay_ms[0] + 2 * pair.access_delay_ms
    if specification.lone_packets_take_time:
        base_ms += sum(1e3 * time_of(specification, SMALL_BYTES, direction, number) for number in passed)
    return base_ms


def table_problems(specification, place, seen) -> list[str]:
    """Return a list with one problem description if the delays aren't distributed as in the jitter's table, otherwise an empty list."""
    if not (delays := seen.get("delays_ns")):
        return []
    direction = seen["direction"]
    if specification.is_cable:
        specification, place = specification.on_path(place), 0
    numbers, jitter_ms = (
        specification.option("jitter_table", direction)["numbers"],
        specification.direction(direction).jitter_ms,
    )
    mean_ms = mean_delay_ms(specification, place, direction)
    seen, most = distance(delays, numbers, 1e6 * mean_ms, 1e6 * jitter_ms, DELAY_SLACK_NS), most_distance(len(delays))
    return [] if seen <= most else [f"distribution differs from the table by {seen:.3f}, expected at most {most:.3f}"]


def bunch_problems(specification, seen) -> list[str]:
    """Return a list with one problem description if the bunches of datagrams aren't one slot apart, otherwise an empty list."""
    slot_ms = specification.slot_ms(seen["direction"])
    if not slot_ms or len(seen["bunches_ns"]) < 2:
        return []
    least_ms = (
        min(after - before for before, after in zip(seen["bunches_ns"], seen["bunches_ns"][1:], strict=False)) / 1e6
    )
    # The first packet after the end of a slot starts the next slot.
    low, high = (
        (1 - SLOT_SLACK) * slot_ms,
        (1 + SLOT_SLACK) * slot_ms + 1.5e3 * singles_apart_s(specification, seen["direction"]),
    )
    return [] if low <= least_ms <= high else [f"bunches {least_ms:g} ms apart, expected {slot_ms:g} ms"]


def deviation_problems(specification, seen) -> list[str]:
    """Return a list with one problem description if the delays' standard deviation doesn't fit the jitter's distribution.

    Otherwise, and if the probe didn't record the standard deviation, the list is empty.
    """
    distribution = specification.option("jitter_distribution", seen["direction"])
    if not distribution or seen.get("deviation_ns") is None:
        return []
    jitter_ms, deviation_ms = specification.direction(seen["direction"]).jitter_ms, seen["deviation_ns"] / 1e6
    low, high = DEVIATION_OF[distribution]
    if low * jitter_ms <= deviation_ms <= high * jitter_ms:
        return []
    return [f"standard deviation {deviation_ms:.4g} ms, expected {low * jitter_ms:g} to {high * jitter_ms:g} ms"]


def in_ms(shortest_ns, longest_ns) -> str:
    """Return the range of delays as text, or only one delay if both are equal."""
    shortest, longest = (f"{value / 1e6:.6g}" for value in (shortest_ns, longest_ns))
    return f"{shortest} ms" if shortest == longest else f"{shortest} to {longest} ms"


def check_rate(specification, document) -> Check:
    """Full packets that arrived at a bottleneck back to back left the bottleneck at its rate."""
    expected, observed, ok = [], [], True
    for seen in document["probe"]["bottlenecks"]:
        due_ns, gap_ns = (
            1e9 * time_of(specification, specification.link_mtu_bytes, seen["direction"], seen["bottleneck"] - 1),
            seen["gap_ns"],
        )
        slack_ns = GAP_SLACK * due_ns + GAP_SLACK_NS
        if gap_ns is None:
            # A policer that passes only a few packets at once breaks up the packet train.
            ok &= seen.get("passed", math.inf) < 8
        else:
            # If netem is the queue, jitter may leave the shaper idle.
            most_ns = (
                math.inf
                if specification.link.netem_is_queue and any(specification.link.jitter_ms.values())
                else due_ns + slack_ns
            )
            bunched = specification.shaper_burst_bytes or (specification.queue_packets or math.inf) < TRAIN
            bunched = bunched and holds_less_than_path(specification, seen["direction"], due_ns)
            ok &= (bunched or due_ns - slack_ns <= gap_ns) and gap_ns <= most_ns
        expected.append(f"{seen['direction']} one full packet every {due_ns / 1e3:.6g} us")
        observed.append(
            f"{seen['direction']} "
            + ("too few consecutive packets" if gap_ns is None else f"one every {gap_ns / 1e3:.6g} us")
        )
    return Check("rate", ok, in_turn(sorted(set(expected))), "; ".join(dict.fromkeys(observed)))


def holds_less_than_path(specification, direction, packet_ns) -> bool:
    """Return whether netem's queue is too small for the packets in transit at full rate.

    If it is, a token bucket above netem never runs out of tokens, and passes bursts.
    """
    on_path = 1e6 * specification.direction(direction).delay_ms / packet_ns
    return specification.link.netem_is_queue and (specification.queue_packets or 0) <= on_path


def check_queue_limit(specification, document) -> Check:
    """When more packets arrived at once than fit into a bottleneck's queue, the queue held as many as its limit allows.

    If a discipline drops packets before its queue is full, the queue may hold fewer packets.
    """
    expected, observed, ok = [], [], True
    for seen in document["probe"]["bottlenecks"]:
        if "at_once" not in seen:
            continue
        run = specification.bottlenecks[seen["bottleneck"] - 1]
        packets = run.queue_packets_in(seen["direction"])
        most = packets or run.queue_bytes_in(seen["direction"])
        counted, one = ("packets", 1) if packets else ("bytes", run.largest_packet_bytes)
        lossy = run.link.netem_is_queue and run.link.loss_percent[seen["direction"]]
        discipline = discipline_of(run.queue_in(seen["direction"]))
        exact = discipline.name in EXACT and not lossy
        held = seen[f"waiting_{counted}"]
        # In fq a few packets may bypass the queues (fq_fastpath_check in net/sched/sch_fq.c).
        most += FAST_PATH_PACKETS if discipline.name == "fq" else 0
        ok &= (most - one < held if exact else held > 0) and held <= most
        expected.append(f"{'' if exact else 'up to '}{most} {counted}")
        observed.append(f"{seen['direction']} {held} {counted} held when {seen['at_once']} packets arrived at once")
    none = "not probed: the queue is too large, or behind a policer"
    return Check(
        "queue_limit", ok, "; ".join(dict.fromkeys(expected)) or none, "; ".join(dict.fromkeys(observed)) or none
    )


def check_burst(specification, document) -> Check:
    """After an idle period, a shaper passed at once as many packets as its bucket has tokens for, or one more (htb may go into debt)."""
    expected, observed, ok = [], [], True
    for seen in document["probe"]["bottlenecks"]:
        if "burst_packets" in seen:
            holds = specification.shaper_burst_bytes // specification.largest_packet_bytes
            if specification.link.netem_is_queue:
                holds = min(holds, specification.queue_packets)
            lossy = specification.link.netem_is_queue and specification.link.loss_percent[seen["direction"]]
            ok &= (bool(lossy) or seen["burst_packets"] >= holds) and seen["burst_packets"] <= holds + 1
            expected.append(f"{'up to ' if lossy else ''}{holds} or {holds + 1} packets at once")
            observed.append(f"{seen['direction']} {seen['burst_packets']}")
    none = "not probed: the queue is too large, or behind a policer"
    return Check("burst", ok, in_turn(sorted(set(expected))) or none, "; ".join(observed) or none)


def check_policed(specification, document) -> Check:
    """A policer with a full bucket passed as many packets as the bucket had tokens for, and later as many as the new tokens allowed."""
    expected, observed, ok = [], [], True
    for seen in document["probe"]["bottlenecks"]:
        policer = specification.policers.get(seen["direction"])
        if not policer or "passed" not in seen:
            continue
        burst_bytes, one = policer["burst_bytes"], specification.largest_packet_bytes
        first = burst_bytes // one
        again = (burst_bytes % one + burst_bytes / 2) / one
        # tc and the kernel store a bucket's size in ticks.
        ok &= abs(seen["passed"] - first) <= 1 and abs(seen["passed_again"] - again) <= 1.5
        expected.append(f"{first} packets with a full bucket, {again:.1f} half a filling time later")
        observed.append(f"{seen['passed']} packets, later {seen['passed_again']}, of {seen['policed']} sent each time")
    return Check(
        "policed", ok, "; ".join(expected) or "not probed: the bucket is too large", "; ".join(observed) or "not probed"
    )


def checks_of(specification) -> tuple:
    """Return the checks of the probe that apply to a run."""
    if not specification.virtual_clock:
        return ()
    policed = (check_policed,) if specification.policers and specification.rate_mbps is not None else ()
    burst = (check_burst,) if specification.shaper_burst_bytes else ()
    return (
        check_delay,
        *((check_rate, check_queue_limit) if specification.rate_mbps is not None else ()),
        *policed,
        *burst,
    )
