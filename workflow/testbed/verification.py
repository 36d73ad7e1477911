"""Is a run what it says? One check a claim, from what was read back and counted.

Every function takes the specification and the run document (without its verdict)
and returns a `Check`. A failed check makes the run invalid: it is kept, counted
and shown, and excluded from the statistics.
"""
import math
from dataclasses import asdict, dataclass

from .emulation import OFFLOADS
from .specification import PACKET_BYTES
from .traffic import start_within_s
from .transport import route_metrics, settings

#: Chance that a sound run fails a loss check.
LOSS_FALSE_ALARM = 1e-6
#: A delay line is exact in virtual time; what may come on top of it when idle.
IDLE_RTT_SLACK_MS = 0.2
#: What iperf3 sends on a new connection to say which test it belongs to.
IPERF3_COOKIE_BYTES = 37
#: Kernel counters that mean: memory, not congestion control, held the flow back.
MEMORY_COUNTERS = (
    "TcpExtTCPMemoryPressures",
    "TcpExtPruneCalled",
    "TcpExtRcvPruned",
    "TcpExtOfoPruned",
    "TcpExtTCPRcvCollapsed",
    "TcpExtTCPRcvQDrop",
    "TcpExtTCPBacklogDrop",
    "TcpExtTCPOFODrop",
    "TcpExtTCPZeroWindowDrop",
    "TcpExtTCPAbortOnMemory",
)


@dataclass(frozen=True)
class Check:
    """The outcome of one check; ``expected`` and ``observed`` are for people."""

    name: str
    ok: bool
    expected: str
    observed: str


def judge(specification, document):
    """Return the verdict: ``valid`` and the list of all ``checks``."""
    checks = [check(specification, document) for check in CHECKS]
    return {"valid": all(check.ok for check in checks), "checks": [asdict(check) for check in checks]}


def check_qdiscs(specification, document):
    """Every interface has the qdiscs, parameters and seeds that were set, and no other."""
    wrong = []
    for name, wanted in document["network"]["set"]["qdiscs"].items():
        found = document["network"]["read_back"]["interfaces"][name]["qdiscs"]
        if found.keys() != wanted.keys():
            wrong.append(f"{name}: {'+'.join(found)} instead of {'+'.join(wanted)}")
            continue
        for kind, parameters in wanted.items():
            for key, value in parameters.items():
                seen = found[kind].get(key)
                if seen is None or not math.isclose(seen, value, rel_tol=1e-6, abs_tol=1e-5):
                    wrong.append(f"{name}: {kind} {key} {seen} instead of {value}")
    return Check("qdiscs", not wrong, "as set", "; ".join(wrong) or "as set")


def check_offloads(specification, document):
    """Segmentation offload is on or off on every interface, as the study says."""
    wanted = specification.transport["segmentation_offload"]
    wrong = [
        f"{name}: {offload} {'on' if interface['offloads'][offload] else 'off'}"
        for name, interface in document["network"]["read_back"]["interfaces"].items()
        for offload in OFFLOADS
        if interface["offloads"][offload] != wanted
    ]
    state = f"all {'on' if wanted else 'off'}"
    return Check("offloads", not wrong, state, "; ".join(wrong) or state)


def check_host_settings(specification, document):
    """All hosts have the buffer sizes, metrics, ECN and route settings that were set."""
    wrong, metrics = [], route_metrics(specification)
    for pair in specification.pairs:
        for side, host in (("sender", pair.sender), ("receiver", pair.receiver)):
            found = document["network"]["read_back"]["hosts"][host]
            wanted = settings(specification) | {"route": metrics[side]}
            wrong += [
                f"{host}: {name} is {found[name]}"
                for name, value in wanted.items()
                if found[name].split() != value.split()
            ]
    limit = f"buffers up to {specification.buffer_bytes} bytes, the rest as set"
    return Check("host_settings", not wrong, limit, "; ".join(wrong) or limit)


def check_cca(specification, document):
    """Every data connection ran its CCA: by iperf3's JSON and by the kernel, at every look."""
    observed = [
        (specification.flow_cca(flow), process["client"]["end"].get("sender_tcp_congestion"))
        for process in document["traffic"]
        for flow in process["flows"]
    ]
    seen = [(specification.flow_cca(s["flow"]), s["cca"]) for s in readings(document)]
    ok = bool(seen) and all(wanted == found for wanted, found in (*observed, *seen))
    return Check(
        "cca",
        ok,
        f"{' and '.join(specification.ccas)} on every connection" + (" in turn" if len(specification.ccas) > 1 else ""),
        f"iperf3: {words(found for _, found in observed)}; kernel: {words(found for _, found in seen)} ({len(seen)} readings)",
    )


def check_segment_size(specification, document):
    """Every data connection sent full packets of the size that the study says, at every look."""
    wanted = specification.segment_bytes
    seen = [s["mss_bytes"] for s in readings(document)]
    return Check(
        "segment_size", bool(seen) and set(seen) == {wanted}, f"{wanted} bytes of payload", f"{words(seen)} bytes"
    )


def check_pacing(specification, document):
    """The senders' interfaces have no qdisc of their own, so a CCA that paces uses TCP's own timer."""
    interfaces = document["network"]["read_back"]["interfaces"]
    kinds = {kind for pair in specification.pairs for kind in interfaces[f"{pair.sender}-eth0"]["qdiscs"]}
    rates = [s.get("pacing_mbps") for s in readings(document)]
    known = bool(rates) and all(rate for rate in rates)
    return Check(
        "pacing",
        kinds == {"noqueue"} and known,
        "TCP internal (noqueue at the sender), pacing rate known",
        f"{words(kinds)} at the sender, {sum(1 for r in rates if r)} of {len(rates)} readings have a pacing rate",
    )


def check_idle_rtt(specification, document):
    """The idle paths' shortest RTTs are the configured delays and little more."""
    jitter_ms = sum(specification.direction(d).jitter_ms for d in ("forward", "reverse"))
    wrong, expected, observed = [], [], []
    for pair, idle in zip(specification.pairs, document["idle_rtt"], strict=True):
        low, high = max(0.0, pair.rtt_ms - jitter_ms), pair.rtt_ms + jitter_ms + IDLE_RTT_SLACK_MS
        shortest = idle["min_ms"]
        # ping prints microseconds: half of one is its rounding.
        if shortest is None or not low - 0.0006 <= shortest <= high:
            wrong.append(pair.sender)
        expected.append(f"{low:g} to {high:g} ms")
        observed.append("no answer" if shortest is None else f"{shortest:g} ms")
    return Check("idle_rtt", not wrong, in_turn(expected), in_turn(observed))


def check_exit_status(specification, document):
    """iperf3 reported no error on either side (its processes ended with 0)."""
    errors = [side["error"] for p in document["traffic"] for side in (p["client"], p["server"]) if "error" in side]
    return Check("exit_status", not errors, "no error", "; ".join(errors) or "no error")


def check_duration(specification, document):
    """Every client sent for the duration."""
    wanted = specification.traffic["duration_s"]
    lengths = [p["client"]["end"]["sum_sent"]["seconds"] for p in document["traffic"]]
    ok = all(abs(length - wanted) <= 0.01 * wanted + 0.05 for length in lengths)
    return Check("duration", ok, f"{wanted:g} s", f"{min(lengths):.3f} to {max(lengths):.3f} s")


def check_streams(specification, document):
    """There are as many streams as flows, and each delivered something."""
    delivered = [s["receiver"]["bytes"] for p in document["traffic"] for s in p["client"]["end"]["streams"]]
    idle = sum(1 for count in delivered if count == 0)
    return Check(
        "streams",
        len(delivered) == specification.flows and idle == 0,
        f"{specification.flows}, all delivering",
        f"{len(delivered)}, {idle} without a byte delivered",
    )


def check_intervals(specification, document):
    """Every stream has all its reporting intervals."""
    traffic = specification.traffic
    wanted = round(traffic["duration_s"] / traffic["interval_s"])
    counts = []
    for process in document["traffic"]:
        # A last interval of some milliseconds is the end of the test, not a missing one.
        full = [i for i in process["client"]["intervals"] if i["sum"]["seconds"] > 0.5 * traffic["interval_s"]]
        counts += [sum(1 for i in full if len(i["streams"]) == len(process["flows"]))]
    return Check("intervals", all(c == wanted for c in counts), f"{wanted}", f"{words(counts)}")


def check_overlap(specification, document):
    """All flows were sending at every look at the sockets, from a quarter of the duration to three."""
    # The first bytes of a data connection are iperf3's cookie, not data.
    sending = [
        sum(1 for s in look["sockets"] if s.get("bytes_sent", 0) > IPERF3_COOKIE_BYTES) for look in document["sockets"]
    ]
    times = ", ".join(f"{sample['time_s']:g}" for sample in document["sockets"])
    return Check(
        "overlap",
        bool(sending) and set(sending) == {specification.flows},
        f"{specification.flows} flows sending at {times} s",
        f"{words(sending)} flows",
    )


def check_loss(specification, document, direction):
    """The share of packets that netem dropped agrees with the configured loss; see `judge_loss`."""
    name = f"loss_{direction}"
    configured = specification.direction(direction).loss_percent / 100
    offered, dropped = netem_counts(document, direction)
    if specification.link["netem"] == "both-ends" and dropped > configured * offered:
        # Here netem's own limit drops too, and netem counts both alike.
        observed = f"{loss_words(dropped, offered)}, its queue's overflow included"
        return Check(name, True, f"at least {100 * configured:g} %", observed)
    return judge_loss(name, configured, dropped, offered)


def judge_loss(name, configured, dropped, offered):
    """Return the `Check` of a share of packets lost at random against the configured one, a fraction.

    Bound of Chernoff and Hoeffding (1963) on the binomial tail: with n packets
    and a share q dropped, n D(q||p) exceeds ln(2/a) with a chance of at most a.
    """
    if offered == 0:
        return Check(name, False, f"{100 * configured:g} %", "no packet passed")
    ok = offered * relative_entropy(dropped / offered, configured) <= math.log(2 / LOSS_FALSE_ALARM)
    return Check(name, ok, f"{100 * configured:g} %", loss_words(dropped, offered))


def loss_words(dropped, offered):
    """Return what was lost as text."""
    return f"{dropped} of {offered} packets, {100 * dropped / offered:.4f} %"


def check_loss_forward(specification, document):
    """Loss of the data's direction; see `check_loss`."""
    return check_loss(specification, document, "forward")


def check_loss_reverse(specification, document):
    """Loss of the ACKs' direction; see `check_loss`."""
    return check_loss(specification, document, "reverse")


def check_rtt_floor(specification, document):
    """No connection measured an RTT below its path's."""
    jitter_ms = sum(specification.direction(d).jitter_ms for d in ("forward", "reverse"))
    wrong, expected, observed = [], [], []
    for pair in specification.pairs:
        floor = max(0.0, pair.rtt_ms - jitter_ms)
        seen = [s["rtt_min_ms"] for s in readings(document) if s["host"] == pair.sender and "rtt_min_ms" in s]
        # The kernel's are whole microseconds.
        if not seen or min(seen) < floor - 0.001:
            wrong.append(pair.sender)
        expected.append(f"at least {floor:g} ms")
        observed.append(f"{min(seen):g} ms" if seen else "no reading")
    return Check("rtt_floor", not wrong, in_turn(expected), in_turn(observed))


def check_series(specification, document):
    """The time series have a reading of every flow at every sample of the time that all flows have in common."""
    interval_ms = specification.traffic["sample_interval_ms"]
    if interval_ms is None:
        return Check("series", True, "none asked for", "none")
    wanted = math.floor((specification.traffic["duration_s"] - start_within_s(specification)) * 1e3 / interval_ms)
    counts = [len(flow["time_s"]) for flow in document.get("series", {}).get("sockets", ())]
    return Check(
        "series",
        len(counts) == specification.flows and min(counts) >= wanted,
        f"{specification.flows} flows, each {wanted} readings at least",
        f"{len(counts)} flows, {min(counts, default=0)} to {max(counts, default=0)} readings",
    )


def check_goodput_ceiling(specification, document):
    """No more was delivered than the bottleneck can pass in the time."""
    goodput = sum(
        s["receiver"]["bits_per_second"] / 1e6 for p in document["traffic"] for s in p["client"]["end"]["streams"]
    )
    limit = specification.goodput_limit_mbps
    if limit is None:
        return Check("goodput_ceiling", True, "no limit configured", f"{goodput:.3f} Mbit/s")
    # Each flow's own time counts: flows that begin apart, what drains from the queue while another ends.
    duration_s = specification.traffic["duration_s"]
    apart = apart_s(specification, document) / duration_s
    slack = 1.002 + apart + 2 * PACKET_BYTES * 8 / (limit * 1e6 * duration_s)
    return Check(
        "goodput_ceiling", goodput <= limit * slack, f"at most {limit * (1 + apart):.3f} Mbit/s", f"{goodput:.3f} Mbit/s"
    )


def check_memory(specification, document):
    """The kernel never ran into memory limits that look like congestion control."""
    nonzero = [
        f"{host} {name} {counters[name]}"
        for host, counters in document["stack"]["tcp"].items()
        for name in MEMORY_COUNTERS
        if counters[name]
    ]
    return Check("memory", not nonzero, "all counters 0", ", ".join(nonzero) or "all counters 0")


def check_drops_elsewhere(specification, document):
    """Packets were dropped by the bottleneck's queue and by netem and nowhere else."""
    after = document["links"]["after"]
    drops = [f"{name} {i['device_drops']}" for name, i in after.items() if i["device_drops"]]
    if document["stack"]["backlog_drops"]:
        drops.append(f"backlog {document['stack']['backlog_drops']}")
    for name, interface in after.items():
        set_kinds = document["network"]["set"]["qdiscs"][name]
        if set(set_kinds) == {"noqueue"}:
            drops += [f"{name} {k} {q['drops']}" for k, q in interface["qdiscs"].items() if q["drops"]]
    return Check("drops_elsewhere", not drops, "none", ", ".join(drops) or "none")


CHECKS = (
    check_qdiscs,
    check_offloads,
    check_host_settings,
    check_cca,
    check_segment_size,
    check_pacing,
    check_idle_rtt,
    check_exit_status,
    check_duration,
    check_streams,
    check_intervals,
    check_overlap,
    check_loss_forward,
    check_loss_reverse,
    check_rtt_floor,
    check_series,
    check_goodput_ceiling,
    check_memory,
    check_drops_elsewhere,
)


def apart_s(specification, document):
    """Return how far apart in s the flows' first data were at most; 0 for a single flow.

    On a slow link clients wait long behind each other's packets before their data begin. Time series
    show when; without them the kernel's time of having been busy does, which includes iperf3's
    cookie before the data: one RTT, at most that of the full queue.
    """
    interval_ms = specification.traffic["sample_interval_ms"]
    if "series" in document:
        begins_ms = [1e3 * began for flow in document["series"]["sockets"] if (began := first_data_s(flow)) is not None]
        slack_ms = interval_ms
    else:
        first = document["sockets"][0] if document["sockets"] else {"sockets": []}
        begins_ms = [1e3 * first["time_s"] - s["busy_ms"] for s in first["sockets"] if "busy_ms" in s]
        queue_bytes = specification.queue_bytes or (specification.queue_packets or 0) * PACKET_BYTES
        slack_ms = specification.rtt_longest_ms + queue_bytes * 8 / specification.rate_mbps / 1e3
    return (max(begins_ms) - min(begins_ms) + slack_ms) / 1e3 if len(begins_ms) > 1 else 0.0


def first_data_s(flow):
    """Return the time of the first reading in a flow's time series that shows data, or None."""
    readings_of_flow = zip(flow["time_s"], flow.get("bytes_sent", ()), strict=False)
    return next((time_s for time_s, count in readings_of_flow if count and count > IPERF3_COOKIE_BYTES), None)


def readings(document):
    """Return all looks at the flows' sockets in one list."""
    return [socket for look in document["sockets"] for socket in look["sockets"]]


def netem_counts(document, direction):
    """Return (packets offered to, packets dropped by) netem of a direction during the traffic, all pairs together.

    Passed packets are the device's: with segmentation offload a qdisc counts the
    segments of those that pass, but a dropped super-packet as one.
    """
    dropped = passed = 0
    for name in document["network"]["set"]["netem"][direction]:
        before, after = (document["links"][when][name] for when in ("before", "after"))
        dropped += after["qdiscs"]["netem"]["drops"] - before["qdiscs"]["netem"]["drops"]
        passed += after["tx_packets"] - before["tx_packets"]
    return passed + dropped, dropped


def relative_entropy(q, p):
    """Return D(q||p) of two Bernoulli distributions in nats; infinite where p excludes q."""
    total = 0.0
    for a, b in ((q, p), (1 - q, 1 - p)):
        if a > 0:
            if b <= 0:
                return math.inf
            total += a * math.log(a / b)
    return total


def in_turn(texts):
    """Return what is said of each pair as one text: once if it is the same for all."""
    return texts[0] if len(set(texts)) == 1 else "; ".join(texts)


def words(values):
    """Return the distinct values as text."""
    return ", ".join(sorted({str(value) for value in values})) or "nothing"
