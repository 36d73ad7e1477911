"""Checks of the settings that the kernel reports: qdiscs, offloads, MTU, host settings and pacing."""

import math

from experiment.conditions import SENDING_HOST
from experiment.disciplines import OF_KIND
from testbed.checks.check import INSTRUMENT, SENDER, Check, words
from testbed.checks.flow_checks import readings
from testbed.network.devices import OFFLOADS
from testbed.network.transport import device_limits, route_metrics, settings
from testbed.readings.deliveries import COOKIE_ACKED_BYTES

#: Maximum relative error of a value from tc, which prints six digits; the loss of a burst model is computed from two such numbers.
READ_BACK_DIGITS = 2e-5
#: Parameter -> maximum error of tc's output. The kernel stores a burst size as a time, from which tc computes whole bytes.
STEPS = {"burst_bytes": 1}


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
    """Return a problem description for each interface whose counters don't come from the qdiscs that were set up.

    ``links`` contains the counters before and after the traffic.
    """
    return [
        f"{name}: the counters {when} the traffic are from {'+'.join(counted)} instead of {'+'.join(wanted)}"
        for name, wanted in placed["qdiscs"].items()
        for when, of_links in links.items()
        if (counted := of_links.get(name, {}).get("qdiscs", wanted)).keys() != wanted.keys()
    ]


def same(seen, value) -> bool:
    """Return whether a parameter's value in the kernel equals the value that was set; None means that there is no value."""
    if None in (seen, value) or isinstance(value, str) or isinstance(seen, str):
        return seen == value
    return math.isclose(seen, value, rel_tol=READ_BACK_DIGITS, abs_tol=1e-5)


def check_offloads(specification, document) -> Check:
    """On every interface, segmentation offload is on or off as set by the study."""
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
    """Every interface on the links uses the study's MTU."""
    wanted, interfaces = specification.link_mtu_bytes, document["network"]["read_back"]["interfaces"]
    arrivals = document["network"]["set"].get("arrivals", {})
    wrong = [
        f"{name}: {one['mtu_bytes']} bytes"
        for name, one in interfaces.items()
        if name not in arrivals and one["mtu_bytes"] != wanted
    ]
    return Check("mtu", not wrong, f"all {wanted} bytes", "; ".join(wrong) or f"all {wanted} bytes")


def check_host_settings(specification, document) -> Check:
    """All hosts have the configured buffer sizes, other TCP settings, interface limits and route metrics."""
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
    """The senders' interfaces use the study's pacing qdisc, and the kernel reports all pacing rates.

    If the study sets no pacing qdisc, TCP's internal timer paces the packets, and the interfaces must not use fq. An interface to a router
    then has no qdisc, and a host's interface on a cable has the qdiscs of the shaper and its queue.
    """
    interfaces = document["network"]["read_back"]["interfaces"]
    kinds = {kind for pair in specification.pairs for kind in interfaces[f"{pair.sender}-eth0"]["qdiscs"]}
    if specification.is_cable or specification.link.netem == SENDING_HOST:
        allowed, where = {"noqueue", "htb", "tbf", "netem", "ingress", *OF_KIND} - {"fq"}, "no fq at the sender"
    elif specification.hosts.qdisc != "none":
        allowed, where = {specification.hosts.qdisc}, f"{specification.hosts.qdisc} at the sender"
    else:
        allowed, where = {"noqueue"}, "noqueue at the sender"
    # Until data are acknowledged, the pacing rate may still be the one derived from the first RTT.
    rates = [s.get("pacing_mbps") for s in readings(document) if s.get("bytes_acked", 0) > COOKIE_ACKED_BYTES]
    # A custom CCA may leave TCP's pacing rate unset; its sockets then have no pacing rate and aren't paced.
    known = bool(readings(document)) and (all(rates) or bool(specification.sources))
    return Check(
        "pacing",
        kinds <= allowed and known,
        f"{where}, pacing rate known" if allowed == {"fq"} else f"paced by TCP itself ({where}), pacing rate known",
        f"{words(kinds)} at the sender, {sum(1 for r in rates if r)} of {len(rates)} readings have a pacing rate",
        SENDER if kinds <= allowed and readings(document) else INSTRUMENT,
    )
