"""Complete the flow groups of a study, count their flows, and describe problems in sentences that start with the affected key."""

import math
from collections.abc import Iterator

from experiment.disciplines import discipline_of
from experiment.flow_groups import LONG, OWN, PROGRAM, REAL_TIME, REVERSE, WEB, FlowGroup
from experiment.packet_sizes import ETHERNET_HEADER_BYTES, IP_HEADER_BYTES, UDP_HEADER_BYTES
from experiment.specification import RunSpecification
from experiment.web_objects import mean_bytes
from study_files.programs import program_problems
from study_files.study_schema import allowed_text, dereferenced, keys_of, scenario_schema, study_schema
from study_files.study_streams import most_flows
from study_files.study_validation import exact

#: Maximum number of real-time streams in a group, and maximum number of web objects in a run; each takes a few dozen bytes in a document.
MOST_STREAMS, MOST_OBJECTS = 64, 100_000
#: Maximum number of packets in a real-time group; each takes about twenty bytes in a document.
MOST_PACKETS = 500_000
#: Maximum number of flows in a group of programs; each flow needs two processes.
MOST_PROGRAMS = 16
#: Application -> keys of a group that apply only to certain applications, including this one; all other keys apply to every application.
KEYS = {
    LONG: ("cca", "rate_mbps", "on_s", "off_s", "direction"),
    WEB: ("cca", "arrivals_per_s", "sizes", "bytes", "direction"),
    REAL_TIME: ("packet_bytes", "interval_ms", "direction"),
    PROGRAM: ("program", "bytes", "direction"),
}


def _group_keys():
    return keys_of(dereferenced(study_schema()["$defs"]["flow_group"]))


def counted_flows(scenario) -> dict:
    """Return the resolved keys ``flows`` (number of long flows) and ``groups`` (groups with all keys filled in).

    Before resolution, ``flows`` may be a list of groups. In a study that has already been resolved, the groups are in ``groups``.
    """
    flows, groups = scenario["flows"], scenario["groups"]
    defaults = {key: node.get("default") for key, node in _group_keys().items()}
    given = flows if isinstance(flows, list) else groups
    of_programs = {**defaults, "application": PROGRAM}
    groups = [
        {
            key: _whole(group.get(key, default))
            for key, default in (of_programs if group.get("program") else defaults).items()
        }
        for group in given
    ]
    return {"flows": _long_flows(groups) if isinstance(flows, list) else flows, "groups": groups}


def _long_flows(groups):
    """Return the number of long flows in groups; a group with invalid times counts as ``count`` flows."""
    flows = 0
    for group in (FlowGroup(**group) for group in groups):
        sensible = group.on_s is None or None not in (group.off_s, group.stop_s)
        flows += group.count * (len(group.on_times_s) if sensible else 1) if group.application == LONG else 0
    return flows


def _whole(value):
    return int(value) if isinstance(value, float) and value.is_integer() else value


def group_problems(scenario, ccas) -> Iterator[str]:
    """Yield problems with the flow groups of a resolved scenario.

    Parameters
    ----------
    scenario : dict
        Resolved scenario.
    ccas : list of str
        CCAs of the study, with mixes expanded.
    """
    groups = scenario["groups"]
    if not groups:
        if not scenario["flows"]:
            yield f"flows is 0; allowed: {allowed_text(keys_of(scenario_schema())['flows'])}."
        return
    names = [group["name"] for group in groups]
    for place, name in enumerate(names):
        if name in names[:place]:
            yield f"flows[{place}].name is {name} as in flows[{names.index(name)}]; allowed: a name that no other group has."
            return
    yield from _surroundings(scenario, ccas)
    for group in groups:
        problems = [*_keys(group), *_times(group, scenario), *_places(group, scenario), *_amounts(group, scenario)]
        problems += program_problems(group, scenario)
        for problem in problems:
            yield f"flows[{group['name']}].{problem}"
    flows, counted = scenario["flows"], _long_flows(groups)
    if flows != counted:
        yield f"flows is {flows}; allowed with groups: the number of {LONG} flows in them, {counted}, or the groups themselves."
    if flows > (most := most_flows(scenario)):
        yield f"flows has {flows} {LONG} flows in all groups; allowed: up to {most}."


def _surroundings(scenario, ccas):
    """Yield problems with other settings of a scenario, such as the application, that can't be combined with its groups."""
    traffic = scenario["traffic"]
    for key, value, allowed in (
        ("traffic.application", traffic["application"], "iperf3"),
        ("traffic.protocol", traffic["protocol"], "tcp"),
        ("traffic.messages", traffic["messages"], None),
        ("traffic.bitrate_mbps", traffic["bitrate_mbps"], None),
        ("multipath.by", scenario["multipath"]["by"], "none"),
        ("link.serialisation", scenario["link"]["serialisation"], "never"),
        ("transport.segmentation_offload", scenario["transport"]["segmentation_offload"], False),
        ("transport.cca_set_by", scenario["transport"]["cca_set_by"], "socket"),
    ):
        if value != allowed:
            yield f"{key} is {_text(value)}; allowed where flows is a list of groups: {_text(allowed)}."
    if traffic["processes"] == "single":
        yield "traffic.processes is single; allowed where flows is a list of groups: per-flow or per-side."
    if scenario["link"]["rate_mbps"] is None:
        yield "link.rate_mbps is null; allowed where flows is a list of groups: a number (Mbit/s)."
    asked = {}
    for group in scenario["groups"]:
        for place in _pairs_of(group, scenario):
            ecn = asked.setdefault((group["direction"], place), group["ecn"])
            if ecn != group["ecn"]:
                yield (
                    f"flows[{group['name']}].ecn is {_text(group['ecn'])}; allowed: {_text(ecn)}, the value of another group on pair {place}, "
                    "because hosts negotiate ECN for all of their connections."
                )
    forward = [group for group in scenario["groups"] if group["direction"] == "forward"]
    if len(forward) < len(scenario["groups"]) and scenario["topology"] != "dumbbell":
        yield f"flows has a group with direction reverse; allowed with topology {scenario['topology']}: forward."
    used = {place for group in forward for place in _pairs_of(group, scenario)}
    for unused in sorted(set(range(1, scenario["hosts"]["pairs"] + 1)) - used):
        yield f"hosts.pairs is {scenario['hosts']['pairs']}, and pair {unused} has no flow; allowed: the number of pairs that groups use."
    own = [group for group in scenario["groups"] if group["cca"] == OWN and "cca" in KEYS[group["application"]]]
    if not own and len(ccas) > 1:
        yield f"flows has no group with cca {OWN}, so that runs of all CCAs would be the same; allowed: one CCA in ccas."
    parts = max(cca.count("+") + 1 for cca in ccas)
    own_flows = sum(group["count"] for group in own if group["application"] == LONG)
    if parts > 1 and own_flows < parts:
        yield f"flows has {own_flows} flows with cca {OWN}; allowed: at least {parts}, one for each CCA of a mix in ccas."
    if parts > 1 and any(group["application"] == WEB for group in own):
        yield f"flows has a group of {WEB} with cca {OWN}; allowed with a mix in ccas: a CCA by name."


def _pairs_of(group, scenario):
    """Return the numbers of the host pairs that a group uses, counted from 1."""
    if group["application"] == PROGRAM and group["pair"] is None:
        return range(1, min(scenario["hosts"]["pairs"], group["count"]) + 1)
    if group["pair"] is not None or group["application"] != LONG:
        return [group["pair"] or 1]
    return range(1, min(scenario["hosts"]["pairs"], scenario["flows"]) + 1)


def _keys(group):
    """Yield problems with keys that don't apply to the application of a group."""
    application = group["application"]
    for key, node in _group_keys().items():
        owners = [name for name, keys in KEYS.items() if key in keys]
        if owners and application not in owners and group[key] != node["default"]:
            yield f"{key} is {group[key]}; allowed with application {application}: {_text(node['default'])}, because the key is only for {' and '.join(owners)}."


def _times(group, scenario):
    """Yield problems with the start, end, on and off times of a group."""
    start_s, stop_s = group["start_s"], group["stop_s"]
    traffic, application = scenario["traffic"], group["application"]
    duration_s, at_once = traffic["duration_s"], application == WEB and group["arrivals_per_s"] is None
    if start_s >= duration_s:
        yield f"start_s is {start_s}; allowed: less than traffic.duration_s, {duration_s} (s)."
        return
    if application == PROGRAM:
        yield from _times_of_program(group, duration_s)
        return
    if at_once:
        if stop_s is not None:
            yield f"stop_s is {stop_s}; allowed without arrivals_per_s: null, because {WEB} then requests count objects at once."
        return
    if stop_s is None:
        yield f"stop_s is null, a group without end; allowed: a number up to traffic.duration_s, {duration_s} (s)."
    elif stop_s <= start_s:
        yield f"stop_s is {stop_s}; allowed: more than start_s, {start_s} (s)."
    elif stop_s > duration_s:
        yield f"stop_s is {stop_s}; allowed: up to traffic.duration_s, {duration_s} (s)."
    elif application == LONG and (group["on_s"] is None) != (group["off_s"] is None):
        yield f"off_s is {_text(group['off_s'])}, and on_s is {_text(group['on_s'])}; allowed: two numbers (s), or null for both."
    elif application == LONG and group["on_s"] is not None:
        if exact(group["on_s"]) > exact(stop_s) - exact(start_s):
            yield f"on_s is {group['on_s']}; allowed: up to stop_s minus start_s, {stop_s - start_s:g} (s)."
        elif 1e3 * group["off_s"] <= (least_ms := _start_within_ms(scenario, _run(scenario))):
            yield f"off_s is {group['off_s']}; allowed: more than the time within which flows start, {least_ms:g} (ms)."
        else:
            yield from _length(exact(group["on_s"]), scenario)
    elif application == LONG:
        yield from _length(exact(stop_s) - exact(start_s), scenario)


def _times_of_program(group, duration_s):
    """Yield problems with the end of a program group, which needs either an end time or an amount of data."""
    start_s, stop_s = group["start_s"], group["stop_s"]
    if (stop_s is None) == (group["bytes"] is None):
        yield f"bytes is {_text(group['bytes'])}, and stop_s is {_text(stop_s)}; allowed: one of the two, because either an amount or a time ends a program's traffic."
    elif stop_s is not None and not start_s < stop_s <= duration_s:
        yield f"stop_s is {stop_s}; allowed: more than start_s, {start_s}, and up to traffic.duration_s, {duration_s} (s)."


def _length(length_s, scenario):
    """Yield problems with the duration of a long flow, given in s as a Fraction."""
    traffic = scenario["traffic"]
    run = _run(scenario)
    if length_s.denominator != 1:
        yield f"stop_s is {float(length_s):g} s after start_s; allowed: whole seconds, as iperf3 requires."
    elif (length_s / exact(traffic["interval_s"])).denominator != 1:
        yield f"flows last {length_s} s; allowed: a multiple of traffic.interval_s, {traffic['interval_s']} (s)."
    elif 1e3 * length_s <= 2 * (within_ms := _start_within_ms(scenario, run)):
        yield f"flows last {length_s} s; allowed: more than twice the time within which flows start, {within_ms:g} (ms)."
    elif 1e3 * length_s <= 6 * run.rtt_longest_ms:
        yield f"flows last {length_s} s; allowed: more than six RTTs of the path, {6 * run.rtt_longest_ms:g} (ms)."


def _start_within_ms(scenario, run):
    within_ms = scenario["traffic"]["start_within_ms"]
    return run.rtt_longest_ms if within_ms is None else within_ms


def _places(group, scenario):
    """Yield problems with the pair of hosts and the CCA of a group."""
    pairs, ecn = scenario["hosts"]["pairs"], scenario["transport"]["ecn"]
    if group["pair"] is not None and group["pair"] > pairs:
        yield f"pair is {group['pair']}; allowed: up to hosts.pairs, {pairs}."
    ecn = group["ecn"] or ecn
    marks = ecn != "off" and discipline_of(scenario["queue"]).marks(scenario["queue"])
    if group["cca"] == "dctcp" and not marks:
        yield "cca is dctcp; allowed with transport.ecn classic or accurate and a queue that marks, because DCTCP without marks behaves like Reno (RFC 8257, section 3.5)."


def _amounts(group, scenario):
    """Yield problems with the number of flows and the amount of traffic in a group."""
    application, count = group["application"], group["count"]
    rate_mbps, key = _rate_of(group, scenario["link"])
    most = most_flows(scenario) if application == LONG else MOST_STREAMS
    if application != WEB and count > most:
        yield f"count is {count}; allowed with application {application}: up to {most}."
    if application == PROGRAM and count > MOST_PROGRAMS:
        yield f"count is {count}; allowed with application {application}: up to {MOST_PROGRAMS}."
    if application == WEB:
        yield from _objects(group, rate_mbps, key)
    if application == REAL_TIME and group["stop_s"] is not None:
        packets = count * (group["stop_s"] - group["start_s"]) * 1e3 / group["interval_ms"]
        if packets > MOST_PACKETS:
            yield f"interval_ms is {group['interval_ms']}, which makes {packets:,.0f} packets; allowed: up to {MOST_PACKETS:,}."
        frame = group["packet_bytes"] + IP_HEADER_BYTES["ipv6"] + UDP_HEADER_BYTES + ETHERNET_HEADER_BYTES
        offered_mbps = count * frame * 8 / group["interval_ms"] / 1e3
        if rate_mbps is not None and offered_mbps >= rate_mbps:
            yield f"interval_ms is {group['interval_ms']}, at which streams send {offered_mbps:.4g} Mbit/s; allowed: less than {key}, {rate_mbps}."


def _rate_of(group, link):
    """Return the rate of a link in the direction of a group's data, and the key that sets this rate."""
    if group["direction"] == REVERSE and link["reverse_rate_mbps"] is not None:
        return link["reverse_rate_mbps"], "link.reverse_rate_mbps"
    return link["rate_mbps"], "link.rate_mbps"


def _objects(group, rate_mbps, key):
    """Yield problems with the web objects of a group; ``rate_mbps`` and ``key`` are the result of `_rate_of`."""
    arrivals, fixed = group["arrivals_per_s"], group["sizes"] == "fixed"
    if fixed != (group["bytes"] is not None):
        allowed = "a number, the size of each object" if fixed else "null, because sizes determines the size of objects"
        yield f"bytes is {_text(group['bytes'])}; allowed with sizes {group['sizes']}: {allowed}."
        return
    if arrivals is None or group["stop_s"] is None:
        return
    if group["count"] != 1:
        yield f"count is {group['count']}; allowed with arrivals_per_s: 1, because the number of requests follows from arrivals_per_s and stop_s."
    objects = arrivals * max(group["stop_s"] - group["start_s"], 0)
    if objects + 6 * math.sqrt(objects) > MOST_OBJECTS:
        yield f"arrivals_per_s is {arrivals}, which makes {objects:,.0f} objects on average; allowed: up to {MOST_OBJECTS:,}."
    offered_mbps = arrivals * mean_bytes(group["sizes"], group["bytes"]) * 8 / 1e6
    if rate_mbps is not None and offered_mbps >= rate_mbps:
        yield f"arrivals_per_s is {arrivals}, at which objects need {offered_mbps:.4g} Mbit/s on average; allowed: less than {key}, {rate_mbps}, because the queue of requests would grow without end."


def _run(scenario):
    return RunSpecification({"scenario": scenario, "ip_version": "ipv6", "cca": "reno"})


def _text(value):
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return value
