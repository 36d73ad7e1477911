"""Describe problems with the network, paths and application of a scenario, in sentences that start with the affected key."""

from collections.abc import Iterator

from experiment.conditions import POLICERS, RECEIVING_SIDE, SENDING_HOST, policers_of
from experiment.host_options import HOST_OPTIONS
from experiment.link_options import LOSS_MODELS, OF_NAME
from experiment.packet_sizes import SUPER_PACKET_BYTES
from experiment.several_paths import OF_PATH
from experiment.shaper_units import MOST_NS, most_burst_bytes
from study_files.study_mtu import udp_payload_bytes
from study_files.study_schema import keys_of, scenario_schema
from study_files.study_validation import exact, value_text
from tcp_models.wire_theory import TUNNEL_BYTES

#: Key in `transport` that applies only to TCP -> value without effect.
OF_TCP = {
    "receive_buffer_bytes": None,
    "send_buffer_bytes": None,
    "delayed_acks": True,
    "min_rto_ms": None,
    "ecn": "off",
    **{option.name: option.default for option in HOST_OPTIONS},
}
#: Minimum number of message exchanges in a round-trip test (`testbed.checks.flow_checks.MIN_EXCHANGES`).
LEAST_EXCHANGES = 100


def network_problems(scenario) -> Iterator[str]:
    """Yield contradictions among the topology, paths and link of a resolved scenario."""
    link, paths = scenario["link"], scenario["multipath"]
    if scenario["hosts"]["qdisc"] != "none":
        yield from _host_queue_problems(scenario)
    if scenario["topology"] != "cable":
        yield from _needs_cable(scenario)
    else:
        if scenario["hosts"]["pairs"] > 1:
            yield f"hosts.pairs is {scenario['hosts']['pairs']}; allowed with topology cable: 1."
        if any(scenario["hosts"]["access_delay_ms"]):
            yield "hosts.access_delay_ms is not 0; allowed with topology cable: 0, because the cable is the only link."
        if not scenario["transport"]["timestamps"]:
            yield "transport.timestamps is false; allowed with topology cable: true, because the known frame sizes include them."
        if link["netem"] != RECEIVING_SIDE:
            yield f"link.netem is {link['netem']}; allowed with topology cable: receiving-side."
        if link["rate_mbps"] is None and scenario["traffic"]["sample_interval_ms"] is not None:
            yield "link.rate_mbps is null; allowed with topology cable and traffic.sample_interval_ms: a number, because there is no queue to sample."
    if paths["by"] == "none" and paths["paths"] > 1:
        yield f"multipath.paths is {paths['paths']}; allowed with multipath.by none: 1, because plain TCP uses one path."
    yield from _path_problems(scenario)
    if paths["by"] != "gre":
        yield from _needs_tunnels(paths)
    if paths.get("outage"):
        yield from _outage_problems(scenario, paths["outage"])
    yield from _shaper_problems(scenario)
    if link["reverse_rate_mbps"] is not None and link["rate_mbps"] is None:
        yield f"link.reverse_rate_mbps is {link['reverse_rate_mbps']:g}; allowed without a link.rate_mbps: null."
    if link["serialisation"] != "never" and link["rate_mbps"] is None:
        yield f"link.serialisation is {link['serialisation']}; allowed without a link.rate_mbps: never."


def _shaper_problems(scenario):
    """Yield problems with the shaper of a link, and with settings that can't be combined with netem on the sending host."""
    link, offload = scenario["link"], scenario["transport"]["segmentation_offload"]
    for key in ("shaper", "shaper_burst_bytes"):
        if link["rate_mbps"] is None and link[key] != OF_NAME[key].none:
            yield f"link.{key} is {link[key]}; allowed without a link.rate_mbps: {value_text(OF_NAME[key].none)}."
    if offload and (link["shaper_burst_bytes"] or SUPER_PACKET_BYTES) < SUPER_PACKET_BYTES:
        yield f"link.shaper_burst_bytes is {link['shaper_burst_bytes']}; allowed with transport.segmentation_offload: at least {SUPER_PACKET_BYTES} (bytes), the size of a super-packet."
    rates = [link[key] for key in ("rate_mbps", "reverse_rate_mbps") if link[key] is not None]
    if link["shaper_burst_bytes"] and link["shaper"] in MOST_NS and rates:
        most = most_burst_bytes(link["shaper"], min(rates), link["frame_overhead_bytes"])
        if link["shaper_burst_bytes"] > most:
            yield f"link.shaper_burst_bytes is {link['shaper_burst_bytes']}; allowed at {min(rates):g} Mbit/s with link.shaper {link['shaper']}: up to {most} (bytes)."
    if link["netem"] == SENDING_HOST:
        pairs = scenario["hosts"]["pairs"] + any(group["direction"] == "reverse" for group in scenario["groups"])
        if pairs > 1:
            yield f"link.netem is sending-host; allowed with {pairs} pairs of hosts: receiving-side and both-ends, because each sender would have its own path."
        for key in (POLICERS[direction] for direction in policers_of(link)):
            yield f"link.netem is sending-host; allowed with link.{key}: receiving-side and both-ends."


def _path_problems(scenario):
    """Yield problems with per-path lists that have the wrong length or contradict the link."""
    link, paths = scenario["link"], scenario["multipath"]
    for key, for_all in (("path_delay_ms", ", or one for all"), *((key, "") for key in OF_PATH)):
        if (values := paths.get(key)) is not None and len(values) != paths["paths"]:
            count = f"{len(values)} number{'s' if len(values) > 1 else ''}"
            yield f"multipath.{key} has {count}; allowed: one for each of the {paths['paths']} paths{for_all}."
    for key in OF_PATH:
        written = value_text(paths.get(key))
        if paths.get(key) is None:
            continue
        if scenario["topology"] != "cable" or paths["by"] == "none":
            here = f"topology {scenario['topology']}" if scenario["topology"] != "cable" else "multipath.by none"
            yield f"multipath.{key} is {written}; allowed with {here}: null, because only aggregated paths of a cable can differ."
        elif key == "path_loss_percent" and (models := [name for name in LOSS_MODELS if OF_NAME[name].used(link)]):
            yield f"multipath.{key} is {written}; allowed with link.{models[0]}: null."
        elif key != "path_loss_percent" and link["rate_mbps"] is None:
            yield f"multipath.{key} is {written}; allowed without a link.rate_mbps: null."


def _host_queue_problems(scenario):
    """Yield problems with settings that can't be combined with a queueing discipline on the senders' interfaces."""
    here = f"hosts.qdisc is {scenario['hosts']['qdisc']}; allowed with"
    if scenario["topology"] != "dumbbell":
        yield f"{here} topology {scenario['topology']}: none."
    if scenario["link"]["netem"] != RECEIVING_SIDE:
        yield f"{here} link.netem {scenario['link']['netem']}: none."
    if scenario["platform"].startswith("ns3"):
        yield f"{here} platform {scenario['platform']}: none."


def _outage_problems(scenario, outage):
    """Yield problems with the outage of a path."""
    paths, link, traffic = scenario["multipath"], scenario["link"], scenario["traffic"]
    if scenario["topology"] != "cable":
        yield f"multipath.outage is set for path {outage['path']}; allowed with topology {scenario['topology']}: null, because subflows share one path."
    elif paths["by"] != "mptcp":
        yield f"multipath.outage is set for path {outage['path']}; allowed with multipath.by {paths['by']}: null, because only mptcp continues without a path."
    elif paths["paths"] < 2:
        yield f"multipath.outage is set for path {outage['path']}; allowed with one path: null, because no path would be left."
    elif outage["path"] > paths["paths"]:
        yield f"multipath.outage.path is {outage['path']}; allowed: up to the number of paths, {paths['paths']}."
    if traffic["application"] != "iperf3" or traffic["messages"] is not None:
        yield f"multipath.outage is set for path {outage['path']}; allowed without a duration of iperf3: null."
    elif exact(outage["at_s"]) + exact(outage["for_s"]) >= exact(traffic["duration_s"]):
        yield (
            f"multipath.outage ends at {outage['at_s'] + outage['for_s']:g} s; allowed: an end before the end of the traffic, {traffic['duration_s']} (s)."
        )
    if not all(link["delay_ms"].values()):
        yield "multipath.outage is given without link.delay_ms; allowed: null, because an outage drops packets where they are delayed."


def _needs_tunnels(paths):
    """Yield problems with settings that are allowed only with tunnels."""
    for key in ("tunnel_ip_version", "distribution"):
        default = keys_of(keys_of(scenario_schema())["multipath"])[key]["default"]
        if paths[key] != default:
            allowed = f"allowed with multipath.by {paths['by']}: {default}"
            yield f"multipath.{key} is {paths[key]}; {allowed}, because only gre has tunnels."


def _needs_cable(scenario):
    """Yield problems with settings that require a cable, for a scenario with another topology."""
    here = f"allowed with topology {scenario['topology']}:"
    if scenario["background"] != "none":
        yield f"background is {scenario['background']}; {here} none."
    if (by := scenario["multipath"]["by"]) != "none" and (by, scenario["topology"]) != ("mptcp", "dumbbell"):
        yield f"multipath.by is {by}; {here} {'none' if scenario['topology'] == 'chain' else 'mptcp or none'}."
    elif by == "mptcp" and scenario["traffic"]["application"] != "iperf3":
        yield f"multipath.by is mptcp; {here} none with application {scenario['traffic']['application']}."
    if any(scenario["multipath"]["path_delay_ms"]):
        yield f"multipath.path_delay_ms is not 0; {here} 0."
    if scenario["link"]["serialisation"] != "never" and scenario["topology"] == "dumbbell":
        yield f"link.serialisation is {scenario['link']['serialisation']}; {here} never."


def traffic_problems(scenario) -> Iterator[str]:
    """Yield problems with settings that can't be combined with a resolved scenario's application or protocol."""
    traffic, paths = scenario["traffic"], scenario["multipath"]
    application, protocol, link_rate = traffic["application"], traffic["protocol"], scenario["link"]["rate_mbps"]
    # Serialisation delay of a message in both directions, plus the base RTT.
    exchange_s = 2 * traffic["block_bytes"] * 8e-6 / (link_rate or 1) + sum(scenario["link"]["delay_ms"].values()) / 1e3
    if application == "ftp" and protocol == "udp":
        yield "traffic.protocol is udp; allowed with application ftp: tcp."
    if paths["by"] == "mptcp" and protocol == "udp":
        yield "traffic.protocol is udp; allowed with multipath.by mptcp: tcp, because MPTCP carries nothing else."
    if paths["by"] == "mptcp" and application == "round-trip":
        yield "traffic.application is round-trip; allowed with multipath.by mptcp: iperf3 and ftp."
    if application != "iperf3":
        if scenario["flows"] > 1:
            yield f"flows is {scenario['flows']}; allowed with application {application}: 1."
        if traffic["bitrate_mbps"] is not None:
            yield f"traffic.bitrate_mbps is {traffic['bitrate_mbps']}; allowed with application {application}: null."
        if scenario["link"]["rate_mbps"] is None:
            yield f"link.rate_mbps is null; allowed with application {application}: a number."
    if application != "iperf3" and traffic["messages"] is not None:
        instead = "traffic.file_bytes" if application == "ftp" else "traffic.duration_s"
        yield f"traffic.messages is {traffic['messages']}; allowed with application {application}: null ({instead} sets the amount)."
    if application == "round-trip" and link_rate and traffic["duration_s"] < LEAST_EXCHANGES * exchange_s:
        yield (
            f"traffic.block_bytes is {traffic['block_bytes']}, with which an exchange takes {1e3 * exchange_s:.4g} ms; allowed: sizes with which "
            f"traffic.duration_s, {traffic['duration_s']} (s), is enough for {LEAST_EXCHANGES} exchanges."
        )
    if application == "round-trip" and traffic["sample_interval_ms"] is not None:
        yield f"traffic.sample_interval_ms is {traffic['sample_interval_ms']}; allowed with application round-trip: null."
    if traffic["messages"] is not None and traffic["processes"] == "single" and scenario["flows"] > 1:
        yield "traffic.processes is single; allowed with traffic.messages: per-flow."
    if traffic["control_connection"] == "own-network":
        for key, value, allowed in (
            ("application", application, "iperf3"),
            ("multipath.by", scenario["multipath"]["by"], "none"),
        ):
            if value != allowed:
                yield f"traffic.control_connection is own-network; allowed with {key} {value}: automatic and data-path."
    yield from _segment_problems(scenario)
    if protocol == "udp":
        yield from _udp_problems(scenario)


def _segment_problems(scenario):
    """Yield problems with `no_delay` and `segment_bytes`, which only iperf3 over TCP supports."""
    traffic, segment_bytes = scenario["traffic"], scenario["transport"]["segment_bytes"]
    settable = (traffic["application"], traffic["protocol"]) == ("iperf3", "tcp")
    allowed = f"allowed with application {traffic['application']} and protocol {traffic['protocol']}"
    if traffic["no_delay"] and not settable:
        yield f"traffic.no_delay is true; {allowed}: false, because only iperf3 over TCP sets it."
    if segment_bytes is not None and not settable:
        yield f"transport.segment_bytes is {segment_bytes}; {allowed}: null, because only iperf3 over TCP sets it."
    elif segment_bytes is not None and not scenario["flows"]:
        yield f"transport.segment_bytes is {segment_bytes}; allowed without a flow of iperf3: null, because only iperf3 sets it."
    elif segment_bytes is not None and scenario["multipath"]["by"] == "mptcp":
        yield (
            f"transport.segment_bytes is {segment_bytes}; allowed with multipath.by mptcp: null, "
            "because MPTCP's own option would use part of it."
        )


def _udp_problems(scenario):
    traffic, paths = scenario["traffic"], scenario["multipath"]
    for key, default in OF_TCP.items():
        if scenario["transport"][key] != default:
            written, allowed = value_text(scenario["transport"][key]), value_text(default)
            yield f"transport.{key} is {written}; allowed with protocol udp: {allowed}, because the key is for TCP."
    if traffic["application"] == "round-trip":
        for direction, percent in scenario["link"]["loss_percent"].items():
            if percent:
                yield (
                    f"link.loss_percent.{direction} is {percent}; allowed with application round-trip and protocol udp: "
                    "0, because qperf waits for a lost message until the test's time is over."
                )
    largest = udp_payload_bytes(scenario) - (TUNNEL_BYTES[paths["tunnel_ip_version"]] if paths["by"] == "gre" else 0)
    if traffic["block_bytes"] > largest:
        yield (
            f"traffic.block_bytes is {traffic['block_bytes']}; allowed with protocol udp: up to {largest} (bytes), "
            "the payload of one IPv6 packet."
        )
    if traffic["sample_interval_ms"] is not None:
        yield f"traffic.sample_interval_ms is {traffic['sample_interval_ms']}; allowed with protocol udp: null, because UDP has no window."
    if traffic["processes"] == "single":
        yield "traffic.processes is single; allowed with protocol udp: per-flow."
