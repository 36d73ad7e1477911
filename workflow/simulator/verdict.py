"""Checks of a simulated run: the testbed's checks that also apply to a simulator.

As on every platform, a failed check makes the run invalid.
"""

import math
from itertools import pairwise

from experiment.packet_sizes import HEADER_BYTES
from simulator.plan import RECOVERIES
from testbed.checks.check import Check, verdict_of, words
from testbed.checks.loss_checks import judge_loss
from testbed.checks.loss_phases import check_phases
from testbed.checks.network_checks import IDLE_RTT_SLACK_MS
from testbed.checks.timeline_checks import check_timeline
from testbed.traffic.client_plan import start_within_s

#: Maximum size of the TCP options in a segment that opens a connection (40 bytes), plus the size of a PPP header.
HANDSHAKE_EXTRA_BYTES = 40 + 2


def judge(specification, document) -> dict:
    """Return the run's verdict: ``valid`` and the list of all ``checks``."""
    changes = (check_timeline,) if specification.timeline else ()
    checks = [check(specification, document) for check in (*CHECKS, *changes)]
    return verdict_of([check for check in checks if check is not None])


def counted_flows(document) -> list[dict]:
    """Return the counters of all flows in the order of their numbers."""
    return [flow for entry in document["traffic"] for flow in entry["simulated"]["flows"]]


def check_qdiscs(specification, document) -> Check:
    """Every interface has the configured rate, delay, queue and loss, and no other qdisc."""
    wrong = []
    asked, read_back = document["network"]["set"], document["network"]["read_back"]["interfaces"]
    for name, interface in read_back.items():
        kinds = interface["qdiscs"]
        wanted = asked["qdiscs"].get(name, {"link": {}, "DropTailQueue": {}})
        if kinds.keys() != wanted.keys():
            wrong.append(f"{name}: {'+'.join(kinds)} instead of {'+'.join(wanted)}")
            continue
        expected = {(kind, key): value for kind, values in wanted.items() for key, value in values.items()}
        if name in asked["access_delay_ms"]:
            expected["link", "delay_ms"] = asked["access_delay_ms"][name]
        for (kind, key), value in expected.items():
            seen = kinds[kind].get(key)
            if seen is None or not math.isclose(seen, value, rel_tol=1e-9, abs_tol=1e-6):
                wrong.append(f"{name}: {kind} {key} {seen} instead of {value}")
    return Check("qdiscs", not wrong, "as set", "; ".join(wrong) or "as set")


def check_host_settings(specification, document) -> Check:
    """All sockets of each host have the configured buffer sizes, segment size and options."""
    wrong = []
    asked, read_back = (document["network"][which]["hosts"] for which in ("set", "read_back"))
    for host, settings in read_back.items():
        for name, value in asked[host].items():
            if not same_setting(name, value, settings.get(name)):
                wrong.append(f"{host}: {name} is {settings.get(name)}")
    limit = "buffers, segments and options as set"
    return Check("host_settings", not wrong, limit, "; ".join(wrong) or limit)


def same_setting(name, asked, printed) -> bool:
    """Return whether the value of a socket's attribute, as ns-3 prints it, equals the value that was set."""
    if printed is None:
        return False
    if name == "Recovery":
        return printed == RECOVERIES[asked]
    if name == "MinRto":  # set as 200ms, read as +2e+08ns
        return printed.endswith("ns") and math.isclose(float(printed[:-2]), float(asked[:-2]) * 1e6)
    return printed == asked


def check_cca(specification, document) -> Check:
    """Every socket used the CCA of its flow at every reading."""
    wrong = []
    seen = [socket for look in document["sockets"] for socket in look["sockets"]]
    for socket in seen:
        if socket["cca"] != specification.flow_cca(socket["flow"]):
            wrong.append(f"flow {socket['flow']}: {socket['cca']}")
    observed = f"{words(socket['cca'] for socket in seen)} ({len(seen)} readings)"
    ok = not wrong and {socket["flow"] for socket in seen} == set(range(specification.flows))
    return Check("cca", ok, f"{specification.cca} on the flows in turn", "; ".join(wrong) or observed)


def check_idle_rtt(specification, document) -> Check | None:
    """Connecting over the idle path takes the configured round-trip delay, plus at most the time to send small packets.

    The check is omitted if the idle RTT was not measured.
    """
    if document["idle_rtt"] is None:
        return None
    size = HEADER_BYTES[specification.ip_version] + HANDSHAKE_EXTRA_BYTES
    # All flows may connect at the same time.
    sending_ms = 2 * specification.flows * size * 8 / specification.rate_mbps / 1e3
    rtts = {pair.sender: pair.rtt_ms for pair in specification.pairs}
    above = [entry["min_ms"] - rtts[entry["sender"]] for entry in document["idle_rtt"]]
    low, high = min(above), max(above)
    most = sending_ms + IDLE_RTT_SLACK_MS
    return Check(
        "idle_rtt",
        low >= -1e-6 and high <= most,
        f"0 to {most:.3f} ms above the delays",
        f"{low:.3f} to {high:.3f} ms above on {len(above)} pairs",
    )


def check_duration(specification, document) -> Check:
    """Every flow lasted for the configured duration."""
    wanted = specification.traffic.duration_s
    lengths = [flow["seconds"] for flow in counted_flows(document)]
    ok = all(abs(length - wanted) <= 1e-6 for length in lengths)
    return Check("duration", ok, f"{wanted:g} s", f"{min(lengths):.3f} to {max(lengths):.3f} s")


def check_streams(specification, document) -> Check:
    """The run has the configured number of flows, and each flow connected and sent; a flow starved by others may deliver nothing."""
    flows = counted_flows(document)
    silent = sum(1 for flow in flows if flow["start_s"] is None)
    idle = sum(1 for flow in flows if flow["bytes_received"] == 0)
    return Check(
        "streams",
        len(flows) == specification.flows and silent == 0,
        f"{specification.flows}, all sending",
        f"{len(flows)}, {silent} that never sent, {idle} without a byte delivered",
    )


def check_intervals(specification, document) -> Check:
    """All reporting intervals of every flow were recorded."""
    traffic = specification.traffic
    wanted = round(traffic.duration_s / traffic.interval_s)
    counts = [len(flow["intervals"]) for flow in counted_flows(document)]
    return Check("intervals", all(count == wanted for count in counts), f"{wanted}", words(counts))


def check_overlap(specification, document) -> Check | None:
    """All flows had sent data by every socket reading; the check is omitted if flows may start at any time during the run."""
    if start_within_s(specification) >= specification.traffic.duration_s:
        return None
    sending = [sum(1 for socket in look["sockets"] if socket["bytes_sent"] > 0) for look in document["sockets"]]
    times = ", ".join(f"{look['time_s']:g}" for look in document["sockets"])
    return Check(
        "overlap",
        bool(sending) and set(sending) == {specification.flows},
        f"{specification.flows} flows sending at {times} s",
        f"{words(sending)} flows",
    )


def check_loss(specification, document, direction) -> Check:
    """The share of packets lost at random agrees with the configured loss, separately in each phase if the loss changes."""
    counted = document["links"]["after"][document["network"]["set"]["loss"][direction]]["qdiscs"]["RateErrorModel"]
    changes = [
        next(iter(entry["devices"].values()))
        for entry in document.get("timeline", ())
        if (entry["direction"], entry["quantity"]) == (direction, "loss_percent")
    ]
    counts = [(0, 0), *((one["drops"] + one["packets"], one["drops"]) for one in (*changes, counted))]
    losses = [loss for _, loss in specification.timeline.values_with_first(direction, "loss_percent")]
    phases = [
        (loss, until[0] - begin[0], until[1] - begin[1])
        for loss, (begin, until) in zip(losses, pairwise(counts), strict=False)
    ]
    if len(phases) > 1:
        return check_phases(f"loss_{direction}", phases, judge_loss)
    ((loss, offered, dropped),) = phases
    return judge_loss(f"loss_{direction}", loss / 100, dropped, offered)


def check_loss_forward(specification, document) -> Check:
    """The same as `check_loss`, in the direction of the data."""
    return check_loss(specification, document, "forward")


def check_loss_reverse(specification, document) -> Check:
    """The same as `check_loss`, in the direction of the ACKs."""
    return check_loss(specification, document, "reverse")


def check_rtt_floor(specification, document) -> Check:
    """No flow measured an RTT below the minimum RTT of its path."""
    shorter_ms = sum(specification.link.delay_ms.values()) - specification.link_rtts_ms[0]
    above = [
        flow["rtt_min_ms"] - specification.flow_pair(flow["flow"]).rtt_ms + shorter_ms
        for flow in counted_flows(document)
        if "rtt_min_ms" in flow
    ]
    least = min(above, default=None)
    observed = "no reading" if least is None else f"{least:.3f} ms above at least"
    return Check("rtt_floor", least is not None and least >= -1e-6, "at least the path's", observed)


def check_goodput_ceiling(specification, document) -> Check:
    """The total goodput doesn't exceed what the path can carry between the start of the first flow and the end of the last flow."""
    flows = [flow for flow in counted_flows(document) if flow["end_s"] is not None]
    if not flows:
        return Check("goodput_ceiling", True, "no flow that began", "0 Mbit/s")
    begin_ns, end_ns = (
        round(1e9 * pick(flow[name] for flow in flows)) for pick, name in ((min, "start_s"), (max, "end_s"))
    )
    to_mbps = 8e3 / (end_ns - begin_ns)
    goodput = sum(flow["bytes_received"] for flow in flows) * to_mbps
    most = specification.capacity.most_bytes(begin_ns, end_ns) * to_mbps
    return Check("goodput_ceiling", goodput <= most, f"at most {most:.3f} Mbit/s", f"{goodput:.3f} Mbit/s")


def check_drops_elsewhere(specification, document) -> Check:
    """Only the bottleneck's queue and the configured loss dropped packets."""
    bottleneck = [name for names in document["network"]["set"]["bottleneck"].values() for name in names]
    drops = []
    for name, interface in document["links"]["after"].items():
        if interface["device_drops"]:
            drops.append(f"{name} {interface['device_drops']}")
        # A device whose queue is full stops the discipline above it, so packets aren't dropped at the device.
        alone = not interface["qdiscs"].keys() - {"DropTailQueue", "RateErrorModel"}
        if (name not in bottleneck or not alone) and interface["qdiscs"]["DropTailQueue"]["drops"]:
            drops.append(f"{name} queue {interface['qdiscs']['DropTailQueue']['drops']}")
    return Check("drops_elsewhere", not drops, "none", ", ".join(drops) or "none")


CHECKS = (
    check_qdiscs,
    check_host_settings,
    check_cca,
    check_idle_rtt,
    check_duration,
    check_streams,
    check_intervals,
    check_overlap,
    check_loss_forward,
    check_loss_reverse,
    check_rtt_floor,
    check_goodput_ceiling,
    check_drops_elsewhere,
)
