"""Checks of the network and the hosts: settings, idle RTTs, losses, marks and memory."""

import math

from experiment.conditions import SENDING_HOST
from experiment.disciplines import OF_KIND
from experiment.link_options import PATH, options_at
from experiment.netem_correlation import packets_of_one
from experiment.timeline import DIRECTIONS
from testbed.checks.check import INSTRUMENT, SENDER, Check, in_turn, words
from testbed.checks.flow_checks import readings
from testbed.checks.loss_burst_checks import judge_bursty_loss
from testbed.checks.loss_phases import check_phases, loss_phases
from testbed.network.devices import OFFLOADS
from testbed.network.transport import ECN, device_limits, route_metrics, settings
from testbed.readings.deliveries import COOKIE_ACKED_BYTES

#: Largest amount by which an RTT from ping may be too small, because ping reads times in whole microseconds and rounds its output.
PING_STEP_MS = 0.0011
#: Largest relative error of a value from tc, which prints six digits; a loss in bursts is computed from two such numbers.
READ_BACK_DIGITS = 2e-5
#: Parameter -> largest error of tc's output. The kernel stores a burst as a time, from which tc computes whole bytes.
STEPS = {"burst_bytes": 1}
#: Probability that a correct run fails a loss check.
LOSS_FALSE_ALARM = 1e-6
#: Largest excess of the idle RTT over the configured delays under a virtual clock, under which delay lines are exact.
IDLE_RTT_SLACK_MS = 0.2
#: Largest excess of the idle RTT over the configured delays under a real clock: the stack's processing time for the fastest of ten
#: replies, and timer slack.
REAL_IDLE_RTT_SLACK_MS = 1.0
#: Counter of SYN and SYN-ACK packets that a host retransmitted.
REPEATED_SYN = "TcpExtTCPSynRetrans"
#: Kernel counters that show that memory, and not congestion control, held a flow back.
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
    "UdpRcvbufErrors",
    "UdpSndbufErrors",
    "Udp6RcvbufErrors",
    "Udp6SndbufErrors",
)


def check_qdiscs(specification, document) -> Check:
    """Every interface has exactly the configured qdiscs, parameters and seeds."""
    wrong = []
    for name, wanted in document["network"]["set"]["qdiscs"].items():
        read_back = document["network"]["read_back"]["interfaces"][name]["qdiscs"]
        if read_back.keys() != wanted.keys():
            wrong.append(f"{name}: {'+'.join(read_back)} instead of {'+'.join(wanted)}")
            continue
        for kind, parameters in wanted.items():
            for key, value in parameters.items():
                seen = read_back[kind].get(key)
                if not same(seen, value) and not (key in STEPS and abs(seen - value) <= STEPS[key]):
                    wrong.append(f"{name}: {kind} {key} {seen} instead of {value}")
    for name, interface in document["network"]["set"].get("arrivals", {}).items():
        if document["network"]["read_back"]["interfaces"][name]["arrivals_of"] != interface:
            wrong.append(f"{name}: does not get the packets that arrive at {interface}")
    wrong += counted_otherwise(document["network"]["set"], document["links"])
    return Check("qdiscs", not wrong, "as set", "; ".join(wrong) or "as set")


def counted_otherwise(placed, links) -> list[str]:
    """Return a problem description for each interface whose counters come from qdiscs other than those set.

    ``links`` has the counters before and after the traffic.
    """
    return [
        f"{name}: the counters {when} the traffic are from {'+'.join(counted)} instead of {'+'.join(wanted)}"
        for name, wanted in placed["qdiscs"].items()
        for when, of_links in links.items()
        if (counted := of_links.get(name, {}).get("qdiscs", wanted)).keys() != wanted.keys()
    ]


def same(seen, value) -> bool:
    """Return whether the kernel's value of a parameter equals the value that was set; None means no value."""
    if None in (seen, value) or isinstance(value, str) or isinstance(seen, str):
        return seen == value
    return math.isclose(seen, value, rel_tol=READ_BACK_DIGITS, abs_tol=1e-5)


def check_offloads(specification, document) -> Check:
    """Segmentation offload has the study's setting (on or off) on every interface."""
    wanted = specification.transport.segmentation_offload
    arrivals = document["network"]["set"].get("arrivals", {})
    wrong = [
        f"{name}: {offload} {'on' if interface['offloads'][offload] else 'off'}"
        for name, interface in document["network"]["read_back"]["interfaces"].items()
        for offload in OFFLOADS
        if name not in arrivals and interface["offloads"][offload] != wanted
    ]
    wrong += [
        f"{name}: super-packets of up to {interface['gso_max_segs']} segments"
        for name, interface in document["network"]["read_back"]["interfaces"].items()
        if interface.get("gso_max_segs", 1) != 1
    ]
    state = f"all {'on' if wanted else 'off'}"
    return Check("offloads", not wrong, state, "; ".join(wrong) or state)


def check_mtu(specification, document) -> Check:
    """Every interface of the links has the study's MTU."""
    wanted, interfaces = specification.link_mtu_bytes, document["network"]["read_back"]["interfaces"]
    arrivals = document["network"]["set"].get("arrivals", {})
    wrong = [
        f"{name}: {one['mtu_bytes']} bytes"
        for name, one in interfaces.items()
        if name not in arrivals and one["mtu_bytes"] != wanted
    ]
    return Check("mtu", not wrong, f"all {wanted} bytes", "; ".join(wrong) or f"all {wanted} bytes")


def check_host_settings(specification, document) -> Check:
    """All hosts have the configured buffer sizes, metrics, ECN and route settings."""
    wrong, metrics = [], route_metrics(specification)
    for pair in specification.pairs:
        for side, host in (("sender", pair.sender), ("receiver", pair.receiver)):
            read_back = document["network"]["read_back"]["hosts"][host]
            wanted = settings(specification, host) | device_limits(specification, host) | {"route": metrics[side]}
            wrong += [
                f"{host}: {name} is {read_back[name]}"
                for name, value in wanted.items()
                if read_back[name].split() != value.split()
            ]
    buffers = dict.fromkeys((specification.receive_buffer_bytes, specification.send_buffer_bytes))
    limit = f"buffers of up to {' and '.join(map(str, buffers))} bytes, all other settings as set"
    return Check("host_settings", not wrong, limit, "; ".join(wrong) or limit)


def check_pacing(specification, document) -> Check:
    """The senders' interfaces have the study's pacing qdisc, and the kernel reports all pacing rates.

    If the study has no pacing qdisc, TCP's internal timer paces, and the interfaces must not have fq. An interface to a router then has no
    qdisc at all, and an interface of a cable has the qdiscs of the shaper and its queue.
    """
    interfaces = document["network"]["read_back"]["interfaces"]
    kinds = {kind for pair in specification.pairs for kind in interfaces[f"{pair.sender}-eth0"]["qdiscs"]}
    if specification.is_cable or specification.link.netem == SENDING_HOST:
        allowed, where = {"noqueue", "htb", "tbf", "netem", "ingress", *OF_KIND} - {"fq"}, "no fq at the sender"
    elif specification.hosts.qdisc != "none":
        allowed, where = {specification.hosts.qdisc}, f"{specification.hosts.qdisc} at the sender"
    else:
        allowed, where = {"noqueue"}, "noqueue at the sender"
    # The rate is derived from the first RTT, and stays until data are acknowledged.
    rates = [s.get("pacing_mbps") for s in readings(document) if s.get("bytes_acked", 0) > COOKIE_ACKED_BYTES]
    # A custom CCA may leave TCP's pacing rate unset: then its sockets have no rate and aren't paced.
    known = bool(readings(document)) and (all(rates) or bool(specification.sources))
    return Check(
        "pacing",
        kinds <= allowed and known,
        f"{where}, pacing rate known" if allowed == {"fq"} else f"paced by TCP itself ({where}), pacing rate known",
        f"{words(kinds)} at the sender, {sum(1 for r in rates if r)} of {len(rates)} readings have a pacing rate",
        SENDER if kinds <= allowed and readings(document) else INSTRUMENT,
    )


def check_idle_rtt(specification, document) -> Check:
    """The shortest RTT of each idle path equals the configured delays or exceeds them only slightly."""
    jitter_ms = sum(specification.direction(d).jitter_reach_ms for d in ("forward", "reverse"))
    wrong, expected, observed = [], [], []
    slack_ms = IDLE_RTT_SLACK_MS if specification.virtual_clock else REAL_IDLE_RTT_SLACK_MS
    for options in (options_at(specification.scenario["link"], PATH, direction) for direction in DIRECTIONS):
        slack_ms += sum(option.idle_ms(value) for option, value in options.items())
    hops = [pair.hops for pair in specification.pairs] * (specification.paths if specification.is_cable else 1)
    for rtt_ms, passed, idle in zip(specification.idle_rtts_ms, hops, document["idle_rtt"], strict=True):
        low, high = max(0.0, rtt_ms - passed * jitter_ms), rtt_ms + passed * jitter_ms + slack_ms
        shortest = idle["min_ms"]
        if shortest is None or not low - PING_STEP_MS <= shortest <= high:
            wrong.append(idle["sender"])
        expected.append(f"{low:g} to {high:g} ms")
        observed.append("no answer" if shortest is None else f"{shortest:g} ms")
    return Check("idle_rtt", not wrong, in_turn(expected), in_turn(observed))


def check_loss(specification, document, direction) -> Check:
    """The share of packets that netem dropped agrees with the configured loss; see `judge_loss`."""
    name = f"loss_{direction}"
    if len(specification.timeline.values(direction, "loss_percent")) > 1:
        return check_phases(name, loss_phases(specification, document, direction), judge_loss)
    if specification.multipath.path_loss_percent is not None:
        return check_phases(name, losses_of_paths(specification, document, direction), judge_loss)
    configured, correlation = specification.loss_share(direction), specification.correlation("loss", direction)
    if configured == 0 and not document["network"]["set"]["netem"][direction]:
        return Check(name, True, "0 %", "no netem that could drop packets")
    offered, dropped = netem_counts(document, direction)
    if specification.link.netem_is_queue and dropped > configured * offered:
        # netem counts random losses and overflows in the same counter, and so does a shaper above netem (`net_xmit_drop_count`).
        observed = f"{loss_words(dropped, offered)}, including drops because netem's queue was full"
        return Check(name, True, f"at least {100 * configured:g} %", observed)
    if model := specification.direction(direction).loss_model:
        return judge_bursty_loss(name, model, dropped, offered, LOSS_FALSE_ALARM)
    return judge_loss(name, configured, dropped, offered, packets_of_one(correlation))


def judge_loss(name, configured, dropped, offered, of_one=1) -> Check:
    """Return the `Check` that compares a share of packets lost at random with the configured share.

    The test uses the Chernoff-Hoeffding bound on the binomial tail (1963). With n packets, a configured share p and a dropped share q,
    n D(q||p) exceeds ln(2/a) with a probability of at most a. D is the relative entropy. ``configured`` is a fraction. ``of_one`` is the
    number of packets that carry as much information as one independent packet.
    """
    if offered == 0:
        return Check(name, False, f"{100 * configured:g} %", "no packet passed", SENDER)
    ok = offered / of_one * relative_entropy(dropped / offered, configured) <= math.log(2 / LOSS_FALSE_ALARM)
    return Check(name, ok, f"{100 * configured:g} %", loss_words(dropped, offered))


def loss_words(dropped, offered) -> str:
    """Return the losses as text."""
    return f"{dropped} of {offered} packets, {100 * dropped / offered:.4f} %"


def check_loss_forward(specification, document) -> Check:
    """The loss in the direction of the data agrees with the configured loss; see `check_loss`."""
    return check_loss(specification, document, "forward")


def check_loss_reverse(specification, document) -> Check:
    """The loss in the direction of the acknowledgements agrees with the configured loss; see `check_loss`."""
    return check_loss(specification, document, "reverse")


def check_ecn(specification, document) -> Check:
    """Every data connection negotiated the study's kind of ECN, according to the kernel at every reading.

    A connection may have no ECN, or a weaker kind, if one of its opening packets was lost, because Linux doesn't request ECN when it
    retransmits a SYN (net.ipv4.tcp_ecn_fallback). There must not be more such connections than retransmitted opening packets.
    """
    seen, wanted, otherwise = [], [], {}
    for socket in readings(document):
        pair = specification.flow_pair(socket["flow"])
        seen.append(socket["ecn"])
        wanted.append(specification.pair_ecn(pair))
        if seen[-1] != wanted[-1]:
            less = list(ECN).index(seen[-1]) < list(ECN).index(wanted[-1]) if seen[-1] in ECN else False
            otherwise.setdefault(pair, {})[socket["local_port"], socket["remote_port"]] = less
    tcp = document["stack"]["tcp"]
    fell_back = all(
        all(connections.values())
        and len(connections) <= sum(tcp[host][REPEATED_SYN] for host in (pair.sender, pair.receiver))
        for pair, connections in otherwise.items()
    )
    expected = words(wanted or [specification.transport.ecn])
    after_loss = (
        f", connections with weaker ECN after a lost SYN: {sum(map(len, otherwise.values()))}"
        if otherwise and fell_back
        else ""
    )
    return Check("ecn", bool(seen) and fell_back, expected, f"{words(seen)} ({len(seen)} readings){after_loss}")


def check_marks(specification, document) -> Check:
    """The packets that the bottleneck marked arrived with a mark, unless they were in transit or lost. No other packet had a mark.

    Without ECN no packet may be marked. Both directions are checked, because acknowledgements may be marked too.
    """
    wrong, observed = [], []
    for direction, end in (("forward", 1), ("reverse", 0)):
        marked, unseen = marks_and_unseen(document, direction)
        arrived = sum(ce_packets(document, pair.ends[end]) for pair in specification.pairs)
        # Duplicated packets may have had a mark.
        most = marked + (duplicates_of(document, direction) if specification.has_arrival_options else 0)
        if not marked - unseen <= arrived <= most or (marked and not specification.uses_ecn):
            wrong.append(direction)
        observed.append(
            f"{direction} {marked} marked, {arrived} arrived, at most {unseen} lost, waiting or counted twice"
        )
    expected = (
        "no marks"
        if not specification.uses_ecn
        else "marked packets arrived, unless they were lost or are still waiting"
    )
    return Check("marks", not wrong, expected, "; ".join(observed))


def duplicates_of(document, direction) -> int:
    """Return the number of duplicated packets in a direction (`behind_bottleneck.duplicates`)."""
    # Imported here because other runs don't need it.
    from testbed.network.behind_bottleneck import duplicates

    return duplicates(document, direction)


def marks_and_unseen(document, direction) -> tuple[int, int]:
    """Return the number of packets that a direction's bottlenecks marked, and an upper bound on the number of marks that didn't arrive."""
    placed, after = document["network"]["set"], document["links"]["after"]
    queues = [q for name in placed["bottleneck"][direction] for q in after[name]["qdiscs"].values()]
    towards = {"forward": "r2", "reverse": "r1"}[direction]
    late = [name for name, interface in placed.get("arrivals", {}).items() if interface == f"{towards}-eth1"]
    passed = [*placed["netem"][direction], *(name for name in late if name not in placed["netem"][direction])]
    behind = [q for name in passed for q in after[name]["qdiscs"].values()]
    waiting = max((q["backlog_packets"] for q in queues), default=0)
    # RED marks a packet before it finds that there is no room for it; other disciplines may count a mark twice.
    waiting += sum(q.get("counted", {}).get("pdrop", 0) for q in queues)
    kinds = [item for name in placed["bottleneck"][direction] for item in after[name]["qdiscs"].items()]
    waiting += sum(OF_KIND[kind].marked_twice(queue) for kind, queue in kinds if kind in OF_KIND)
    return sum(q.get("marks", 0) for q in queues), waiting + sum(q["backlog_packets"] + q["drops"] for q in behind)


def ce_packets(document, host) -> int:
    """Return the number of packets with a CE mark that have arrived at a host since the network was built."""
    counters = document["stack"]["tcp"][host]
    return counters["IpExtInCEPkts"] + counters.get("Ip6InCEPkts", 0)


def check_memory(specification, document) -> Check:
    """The kernel never reached its memory limits, whose effect would look like congestion control.

    A failure means that more data were in flight than the memory is meant to hold with any CCA.
    """
    nonzero = [
        f"{host} {name} {counters[name]}"
        for host, counters in document["stack"]["tcp"].items()
        for name in MEMORY_COUNTERS
        if counters[name]
    ]
    return Check("memory", not nonzero, "all counters 0", ", ".join(nonzero) or "all counters 0", SENDER)


def check_drops_elsewhere(specification, document) -> Check:
    """Packets were dropped only by the bottleneck's queue and by netem."""
    after = document["links"]["after"]
    drops = [f"{i['device_drops']} at {name}" for name, i in after.items() if i["device_drops"]]
    if document["stack"]["backlog_drops"]:
        drops.append(f"{document['stack']['backlog_drops']} in the cores' backlogs")
    for name, interface in after.items():
        # Tunnels and their bond have no settings and thus no queue either.
        if set(document["network"]["set"]["qdiscs"].get(name, {"noqueue"})) == {"noqueue"}:
            drops += [f"{q['drops']} at {name} ({k})" for k, q in interface["qdiscs"].items() if q["drops"]]
    return Check("drops_elsewhere", not drops, "none", ", ".join(drops) or "none")


def grown(document, name, counter) -> int:
    """Return the increase in a device's counter during the traffic."""
    return document["links"]["after"][name][counter] - document["links"]["before"][name][counter]


def netem_counts(document, direction) -> tuple[int, int]:
    """Return the number of packets offered to netem and the number that netem dropped.

    The counts are for one direction during the traffic, summed over all pairs, without the packets lost in an outage. The device counts
    passed packets, because with segmentation offload a qdisc counts each segment of a passed super-packet, but counts a dropped
    super-packet once.
    """
    counts = [counts_of_netem(document, name) for name in document["network"]["set"]["netem"][direction]]
    passed, dropped = (sum(count[place] for count in counts) for place in (0, 1))
    dropped -= outage_drops(document, direction)
    return passed + dropped, dropped


def losses_of_paths(specification, document, direction) -> list[tuple[float, int, int]]:
    """Return (loss in percent, packets offered, packets dropped at random) for each path of a cable that has a netem in the direction."""
    outage, receiving = document.get("outage", {}), {"forward": "h2", "reverse": "h1"}[direction]
    found = []
    for path, run in enumerate(specification.bottlenecks):
        name = f"{receiving}-in{path}"
        if name not in document["network"]["set"]["netem"][direction]:
            continue
        passed, dropped = counts_of_netem(document, name)
        if outage.get("devices", {}).get(direction) == name:
            dropped -= outage["dropped"][direction]
        found.append((run.direction(direction).loss_percent, passed + dropped, dropped))
    return found


def outage_drops(document, direction) -> int:
    """Return the number of packets lost in a direction because a path was down (`outage`)."""
    return document.get("outage", {}).get("dropped", {}).get(direction, 0)


def counts_of_netem(document, name) -> tuple[int, int]:
    """Return the number of packets that a device's netem passed and the number that it dropped, during the traffic."""
    before, after = (document["links"][when][name] for when in ("before", "after"))
    return after["tx_packets"] - before["tx_packets"], counter_of(document, name, "netem", "drops")


def counter_of(document, name, kind, counter) -> int:
    """Return the increase in a counter of a device's qdisc during the traffic."""
    before, after = (document["links"][when][name]["qdiscs"][kind] for when in ("before", "after"))
    return after[counter] - before[counter]


def relative_entropy(q, p) -> float:
    """Return the relative entropy D(q||p) of two Bernoulli distributions in nats; infinite if q is impossible under p."""
    total = 0.0
    for a, b in ((q, p), (1 - q, 1 - p)):
        if a > 0:
            if b <= 0:
                return math.inf
            total += a * math.log(a / b)
    return total
