"""Resolved scenarios that differ from a base in exactly one key each: every key of every section of the schema."""

import copy
from functools import cache

from study_files import study as studies
from study_files.study_schema import dereferenced, keys_of, scenario_schema

CHANGE = {"at_s": 2, "rate_mbps": 5}
LINK = {"rate_mbps": 20, "delay_ms": 10}
WEB = {"name": "web", "application": "web", "arrivals_per_s": 2, "bytes": 20_000, "start_s": 0, "stop_s": 8}
CALL = {"name": "call", "application": "real-time", "start_s": 0, "stop_s": 8, "pair": 1}
LONG = {"name": "long", "count": 2, "stop_s": 10}
#: Bases: together they have all sections, lists and mappings that a scenario may have.
BASES = {
    "plain": {"link": LINK, "queue": {"packets": 50}, "flows": 2},
    "changing": {"link": LINK | {"timeline": [CHANGE], "policer": {"rate_mbps": 4, "burst_bytes": 20_000}}},
    "traced": {"link": LINK | {"trace": {"rates_mbps": [4, 8], "step_ms": 100}}},
    "options": {"link": LINK | {"jitter_ms": 1, "ack_slot_ms": 5, "loss_percent": 1, "loss_burst_packets": 3, "correlation": {"loss_percent": 0, "delay_percent": 9}, "reordering": {"percent": 1, "late_ms": 4}}},
    "managed": {"link": LINK, "queue": {"discipline": "codel"}, "transport": {"ecn": "classic"}},
    "groups": {"link": LINK, "queue": {"packets": 50}, "flows": [WEB, CALL, LONG]},
    "chain": {"link": LINK, "queue": {"packets": 50}, "topology": "chain", "chain": {"bottlenecks": [{}, {"rate_mbps": 10}]}},
    "cable": {"link": LINK, "topology": "cable", "multipath": {"paths": 2, "by": "mptcp"}},
    "two-queues": {"link": LINK, "queue": {"packets": 50}, "reverse_queue": {"packets": 20}},
    "varied": {"link": LINK, "queue": {"packets": 50}, "variation": {"rtt_percent": 5}},
}  # fmt: skip


#: Key that is a mapping or null -> a value; likewise for keys that are bounded by another key.
VALUES = {
    **dict.fromkeys(("link.policer", "link.reverse_policer"), {"rate_mbps": 4, "burst_bytes": 20_000}), "link.reordering": {"percent": 1, "late_ms": 4, "gap_packets": 1, "direction": "forward"},
    **dict.fromkeys(
        ("link.loss_gemodel.forward", "link.loss_gemodel.reverse"), {"p_percent": 1, "r_percent": 30, "bad_loss_percent": 100, "good_loss_percent": 0},
    ),
    **dict.fromkeys(
        ("link.loss_state.forward", "link.loss_state.reverse"), {"p13_percent": 1, "p31_percent": 30, "p32_percent": 0, "p23_percent": 100, "p14_percent": 0},
    ),
    "link.jitter_table": {"file": None, "sha256": None, "numbers": [-8000, 8000]},
    "link.correlation": {"loss_percent": 25, "delay_percent": 0, "corrupt_percent": 0, "reorder_percent": 0, "direction": "both"},
    "link.trace": {"file": None, "format": "csv", "sha256": None, "direction": "forward", "step_ms": 100, "period_ms": None, "rates_mbps": [4, 8]},
    "link.reverse_trace": {"file": None, "format": "csv", "sha256": None, "direction": "reverse", "step_ms": 100, "period_ms": None, "rates_mbps": [4, 8]},
    "link.timeline": [{"at_s": 2, "direction": "both", "rate_mbps": 5, "delay_ms": None, "loss_percent": None, "down_for_s": None, "over_s": 0, "step_ms": 100}],
    "groups": [{"name": "one", "application": "iperf3", "cca": "own", "count": 1, "pair": None, "ecn": None, "start_s": 0, "stop_s": 9, "rate_mbps": None, "on_s": None, "off_s": None, "arrivals_per_s": None, "sizes": "fixed", "bytes": None, "packet_bytes": 200, "interval_ms": 20}],
    "link.trace.period_ms": 150, "multipath.outage": {"path": 1, "at_s": 2, "for_s": 1},
}  # fmt: skip


@cache
def base(name) -> dict:
    """Return a base in the form of a resolved study's scenario."""
    scenario = {"id": "base", "label": "the base", "traffic": {"duration_s": 10}} | BASES[name]
    made = studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [scenario]}, "s.yaml")
    return made["scenarios"][0]


def other_value(value, choices=()):
    """Return a different value of the same kind."""
    if choices:
        return next(choice for choice in choices if choice != value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, list):
        return [*value[:-1], other_value(value[-1])] if value and not isinstance(value[-1], dict) else [*value, *value]
    return 7 if value is None else f"{value}-other"


#: A program in the form that it has in a resolved group.
ECHO = {
    "name": "echo", "cca": None, "path": None, "sha256": None, "server": ["python3"], "client": ["python3"], "protocol": "udp",
    "data_from": "server", "ready_line": None, "server_ends": "killed", "client_ends": "itself", "reports_bytes": None, "memory_mib": 64,
}  # fmt: skip


def one_key_apart(name) -> dict[str, dict]:
    """Return key -> the base with a different value of that key, as a scenario with the key as its identifier and label."""
    apart = {}

    def change(path, value, schema):
        node = dereferenced(schema) if schema else {}
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                change((*path, key), inner, keys_of(node).get(key) if "properties" in node else None)
            return
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for number, item in enumerate(value):
                change((*path, number), item, node.get("items"))
            return
        changed = copy.deepcopy(base(name))
        place = changed
        for step in path[:-1]:
            place = place[step]
        usual = other_value(value, [one for one in node.get("enum", ()) if one is not None])
        place[path[-1]] = ECHO if path[-1] == "program" else VALUES.get(".".join(map(str, path)), usual)
        identifier = "-".join(map(str, path)).replace("_", "-")
        apart[".".join(map(str, path))] = changed | {"id": identifier, "label": identifier}

    for key, value in base(name).items():
        if key not in ("id", "label"):
            change((key,), value, keys_of(scenario_schema()).get(key))
    return apart
