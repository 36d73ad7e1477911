"""Checks of web groups and real-time groups: requests for web objects, and packets of real-time streams."""

from experiment.flow_groups import REAL_TIME, WEB
from experiment.web_objects import NOT_COMPLETE, drawn_objects
from testbed.checks.check import Check, in_turn, words
from testbed.checks.lost_packets import packets_lost
from testbed.checks.mark_checks import duplicates_of
from testbed.traffic.real_time import send_times_ns, stream_offset_ns

#: Three times in ns: the maximum delay of an event's start under a virtual clock; the delay that each start causes for other events (each
#: reading of the clock advances it by 256 ns, and a connection needs seven readings); and the maximum delay under a real clock.
LATE_NS, EACH_LATE_NS, REAL_LATE_NS = 10_000, 4_000, 100_000_000
#: Failures to fetch a web object that the network may cause. The server or the client is at fault for all other failures.
OF_THE_NETWORK = ("ETIMEDOUT", "EHOSTUNREACH", NOT_COMPLETE)
#: Amount in ns by which a one-way delay may appear too short because of netem's ticks.
DELAY_SLACK_NS = 1_000


def check_web_objects(specification, document) -> Check:
    """All objects were requested at the times drawn at random, and each object arrived completely unless the network prevented this."""
    wrong, expected, observed, waits_ns = [], [], [], waiting_ns(specification)
    for group, objects in zip(specification.groups_of(WEB), document["web"], strict=True):
        times_ns, sizes = drawn_objects(specification, group)
        started = sum(at is not None for at in objects["start_ns"])
        complete = [n for n, completion in enumerate(objects["completion_ns"]) if completion is not None]
        whole = sum(objects["body_bytes"][n] == sizes[n] for n in complete)
        reasons = {number: why for number, why in objects["failures"].items() if why not in OF_THE_NETWORK}
        accounted = len(complete) + len(objects["failures"]) == len(sizes)
        in_time = started == len(sizes) and on_time(specification, objects["start_ns"], times_ns, waits_ns)
        if objects["bytes"] != sizes or not in_time or whole != len(complete) or reasons or not accounted:
            wrong.append(group.name)
        expected.append(
            f"{group.name}: {len(sizes)} objects requested on time, all complete unless the network prevented it"
        )
        failed = (
            f", {len(objects['failures'])} failed ({words(objects['failures'].values())})"
            if objects["failures"]
            else ""
        )
        late = "" if in_time else ", not all on time"
        observed.append(f"{group.name}: {started} requested{late}, {whole} complete with the right size{failed}")
    return Check("web_objects", not wrong, in_turn(expected), in_turn(observed))


def check_web_cca(specification, document) -> Check:
    """Each web server accepts one connection before the traffic starts; the kernel reports the CCA of the server's group for it."""
    wanted = [(group.name, specification.server_kernel_cca(group)) for group in specification.groups_of(WEB)]
    of_servers = [(objects["group"], objects["cca"]) for objects in document["web"]]
    expected, observed = (", ".join(f"{name}: {cca}" for name, cca in pairs) for pairs in (wanted, of_servers))
    return Check("web_cca", wanted == of_servers, expected, observed)


def check_real_time(specification, document) -> Check:
    """All packets of each stream were sent on time, and every packet that wasn't lost arrived once, undamaged and not too early.

    A packet arrives too early if its delay is below the path's minimum delay. Duplicates are allowed if the study configures them.
    """
    wrong, expected, observed = [], [], []
    waits_ns = waiting_ns(specification)
    for group, streams in zip(specification.groups_of(REAL_TIME), document["real_time"], strict=True):
        times_ns, pair = send_times_ns(group), specification.group_pair(group)
        doubled = duplicates_of(document, pair.direction) if specification.has_arrival_options else 0
        forward = specification.direction(pair.direction)
        link_ms = specification.timeline.least(pair.direction, "delay_ms")
        least_ns = round((link_ms - forward.jitter_reach_ms + 2 * pair.access_delay_ms) * 1e6) - DELAY_SLACK_NS
        in_time = len(streams["sent_ns"]) == group.count and all(
            len(sent) == len(times_ns)
            and on_time(specification, sent, [at + stream_offset_ns(group, stream) for at in times_ns], waits_ns)
            for stream, sent in enumerate(streams["sent_ns"])
        )
        delays = [delay for of_stream in streams["delay_ns"] for delay in of_stream if delay is not None]
        shortest_ns = min(delays, default=None)
        early = shortest_ns is not None and shortest_ns < least_ns
        packets = sum(map(len, streams["sent_ns"]))
        # If the network lost packets, a group without any arrivals is a result and not a failure.
        silent = not delays and not packets_lost(document)
        if not in_time or early or streams["duplicates"] > doubled or streams["damaged"] or silent:
            wrong.append(group.name)
        expected.append(
            f"{group.name}: {group.count * len(times_ns)} packets sent on time, "
            f"all arrivals undamaged, without unexpected duplicates and after at least {least_ns / 1e6:g} ms"
        )
        observed.append(
            f"{group.name}: {packets} sent{'' if in_time else ', not all on time'}, {len(delays)} arrived, "
            f"{streams['duplicates']} duplicates, {streams['damaged']} damaged, "
            f"shortest delay {'unknown' if shortest_ns is None else f'{shortest_ns / 1e6:g} ms'}"
        )
    return Check("real_time", not wrong, in_turn(expected), in_turn(observed))


def on_time(specification, began_ns, drawn_ns, waits_ns) -> bool:
    """Return whether every event began at or after the time drawn for it, and not later than the clock and `waiting_ns` allow."""
    late_ns = LATE_NS if specification.virtual_clock else REAL_LATE_NS
    return all(0 <= began - drawn <= late_ns + waits_ns[drawn] for began, drawn in zip(began_ns, drawn_ns, strict=True))


def waiting_ns(specification) -> dict[int, int]:
    """Return the maximum delay in ns that earlier and simultaneous events can cause, for each time drawn for an event.

    Each event delays others because it advances the clock.
    """
    moments = [at for group in specification.groups_of(WEB) for at in drawn_objects(specification, group)[0]]
    for group in specification.groups_of(REAL_TIME):
        times_ns = send_times_ns(group)
        moments += [at + stream_offset_ns(group, stream) for stream in range(group.count) for at in times_ns]
    waits_ns, busy_until = {}, 0
    for at in sorted(moments):
        busy_until = max(busy_until, at) + EACH_LATE_NS
        waits_ns[at] = busy_until - at
    return waits_ns


#: Application of a group -> checks of the group.
CHECKS = {WEB: (check_web_cca, check_web_objects), REAL_TIME: (check_real_time,)}
