"""Scenarios that combine two or three keys of the schema, drawn at random, small enough to be run in seconds.

Each key becomes a fragment of a scenario: a value of the key, and the settings that it needs to have any effect (a discipline for a
parameter, a cable for paths). Fragments are merged into one short scenario. If this contradicts itself, the study must be refused with a
sentence.
"""

import itertools

import numpy as np

from experiment.disciplines import DISCIPLINES, MEASURES, QUEUES
from experiment.link_options import CORRELATED
from study_files.study_schema import dereferenced, has_directions, keys_of, scenario_schema, study_schema
from turned_off import keys_of_the_schema

BASE = {"link": {"rate_mbps": 10, "delay_ms": 5}, "queue": {"packets": 40}, "traffic": {"duration_s": 2}}
#: Values to try for a number, as far as the schema allows them.
NUMBERS = (0, 0.5, 1, 2, 5, 10, 30, 100)
#: Key -> values, if those of the schema would take too long, are computed when a study is read, or have no effect without other keys.
VALUES = {
    "link.rate_mbps": [0.3, 2, 10, 100, None], "link.delay_ms": [0, 0.5, 20, {"forward": 20, "reverse": 3}],
    "link.jitter_ms": [0, 2, {"forward": 3, "reverse": 0}], "link.loss_percent": [0, 1, 10, {"forward": 2, "reverse": 0}],
    "link.trace.rates_mbps": [[4, 8, 4, 6], [0, 12, 3]], "link.trace.step_ms": [50, 100],
    "link.trace.period_ms": [250], "link.trace.direction": ["forward", "reverse", "both"],
    **dict.fromkeys(("link.policer.rate_mbps", "link.reverse_policer.rate_mbps"), [1, 4, 20]),
    **dict.fromkeys(("link.policer.burst_bytes", "link.reverse_policer.burst_bytes"), [1514, 6000, 100_000]),
    "link.mtu_bytes": [576, 1492, 9000],
    "link.loss_gemodel": [{"p_percent": 1, "r_percent": 30, "bad_loss_percent": 70, "good_loss_percent": 0.1}],
    "link.loss_state": [{"p13_percent": 1, "p31_percent": 30, "p32_percent": 20, "p23_percent": 40, "p14_percent": 0.3}],
    "link.jitter_table.numbers": [[-8000, -7000, 8000, 12_000]],
    **{f"link.correlation.{what}_percent": [10, 60] for what in CORRELATED},
    "link.reordering.gap_packets": [1, 3],
    **{f"{queue}.{name}": values for queue in QUEUES for name, values in
       {"bytes": [1514, 6000, 200_000], "packets": [1, 5, 40, 3000], "bdp": [0.5, 1, 4]}.items()},
    "chain.bottlenecks": [2, 3, [{}, {"rate_mbps": 5}], [{"delay_ms": 2}, {"queue": {"packets": 9}}]],
    "multipath.path_delay_ms": [0, 3, [0, 8]], "multipath.path_rate_mbps": [None, [2, 8]],
    "multipath.path_loss_percent": [None, [3, 0]], "multipath.path_queue_packets": [None, [9, 60]],
    "multipath.paths": [1, 2, 3],
    "hosts.access_delay_ms": [0, 4, [0, 6]], "hosts.pairs": [1, 2], "flows": [1, 2, 3],
    "traffic.duration_s": [1, 2, 3], "traffic.interval_s": [0.1, 0.5, 1], "traffic.file_bytes": [1_000_000, 3_000_000],
    "traffic.messages": [None, 100, 1000], "traffic.block_bytes": [16, 700, 1400, 131_072], "traffic.start_within_ms": [None, 0, 50],
    "traffic.sample_interval_ms": [None, 10, 500], "traffic.bitrate_mbps": [None, 0.5, 2, 30],
    "transport.receive_buffer_bytes": [None, 4096, 8000, 65_536], "transport.send_buffer_bytes": [None, 4096, 20_000, 65_536],
    "transport.segment_bytes": [None, 88, 536, 1428], "transport.min_rto_ms": [None, 10, 500],
    "platform": ["uml"], "kernel": [None],
    "flow_group.start_s": [0, 0.3], "flow_group.stop_s": [1, 2], "flow_group.count": [1, 3], "flow_group.bytes": [1, 5000, 100_000],
    "flow_group.on_s": [1], "flow_group.off_s": [0.2], "flow_group.arrivals_per_s": [5], "flow_group.interval_ms": [2, 20],
    "flow_group.rate_mbps": [None, 1], "flow_group.pair": [None, 1, 2],
    "change.at_s": [0, 0.5], "change.rate_mbps": [0.5, 5, 40], "change.delay_ms": [0, 1, 30], "change.loss_percent": [0, 5, 100],
    "change.down_for_s": [0.1, 0.4], "change.over_s": [0, 0.4], "change.step_ms": [10],
}  # fmt: skip
#: Prefix of a key -> settings that it needs.
NEEDS = {
    "chain.": {"topology": "chain"},
    "background": {"topology": "cable"},
    "link.serialisation": {"topology": "cable"},
    "multipath.": {"topology": "cable", "multipath": {"by": "mptcp", "paths": 2}},
    "multipath.tunnel": {"topology": "cable", "multipath": {"by": "gre", "paths": 2}},
    "multipath.distribution": {"topology": "cable", "multipath": {"by": "gre", "paths": 2}},
    "multipath.outage": {"multipath": {"outage": {"path": 2, "at_s": 0.5, "for_s": 0.3}}},
    "link.jitter_order": {"link": {"jitter_ms": 2}},
    "link.jitter_table": {"link": {"jitter_ms": 2}},
    "transport.gso": {"transport": {"segmentation_offload": True}},
    "link.loss_burst_packets": {"link": {"loss_percent": 2}},
    "link.correlation.loss": {"link": {"loss_percent": 5}},
    "link.correlation.delay": {"link": {"jitter_ms": 2}},
    "link.correlation.corrupt": {"link": {"corrupt_percent": 5}},
    "link.correlation.reorder": {"link": {"reordering": {"percent": 20}}},
    "link.correlation.direction": {"link": {"loss_percent": 5, "correlation": {"loss_percent": 20}}},
    "link.trace.": {"link": {"trace": {"rates_mbps": [4, 8, 4]}}},
    "hosts.": {"flows": 2},
    "traffic.protocol": {"traffic": {"block_bytes": 1000}},
    "transport.ecn": {"queue": {"discipline": "fq_codel"}},
}
#: A group's key -> the application that it belongs to.
APPLICATIONS = dict.fromkeys(("arrivals_per_s", "sizes", "bytes"), "web") | dict.fromkeys(
    ("packet_bytes", "interval_ms"), "real-time"
)
#: Keys that don't affect a run by themselves, and those of `groups` and `flows`, which are part of `flow_group`.
LEFT_OUT = (
    "id",
    "label",
    "replications",
    "seeds_of",
    "groups",
    "link.trace.file",
    "link.trace.format",
    "link.trace.sha256",
    "link.jitter_table.file",
    "link.jitter_table.sha256",
    "link.timeline",
)


def combinable() -> list[str]:
    """Return the keys to combine: all keys of the schema that affect a run."""
    parameters = {f"reverse_queue.{p.name}" for one in DISCIPLINES.values() for p in one.parameters}
    left_out = {*LEFT_OUT, *parameters}
    return [key for key in keys_of_the_schema() if key not in left_out and not key.startswith("variation.")]


def study_of(scenario) -> dict:
    """Return the content of a study file with one run of a scenario."""
    return {
        "study": "combined", "replications": 1, "ccas": ["cubic"], "ip_versions": ["ipv4"], "scenarios": [scenario],
    }  # fmt: skip


def combinations(seed, count, of=2) -> list[tuple[str, ...]]:
    """Return some combinations of a given number of keys, each once, in an order determined by the seed."""
    rng, keys = np.random.default_rng([seed, of]), combinable()
    if of == 2:
        every = list(itertools.combinations(keys, 2))
        return [every[number] for number in rng.permutation(len(every))[:count]]
    return [tuple(keys[number] for number in rng.choice(len(keys), of, replace=False)) for _ in range(count)]


def drawn_scenario(keys, seed) -> dict:
    """Return a scenario with a drawn value for each key."""
    rng = np.random.default_rng([seed, *map(len, keys)])
    scenario = dict(BASE)
    for key in keys:
        scenario = merged(scenario, fragment(rng, key))
    return {"id": "s"} | scenario


def fragment(rng, key) -> dict:
    """Return a part of a scenario with a value of a key, and the settings that it needs."""
    part = {}
    for start, needed in NEEDS.items():
        part = merged(part, needed) if key.startswith(start) else part
    section, _, name = key.partition(".")
    value = _one(rng, values_of(key))
    if section == "flow_group":
        application = (
            value if name == "application" else APPLICATIONS.get(name, _one(rng, ["iperf3", "web", "real-time"]))
        )
        group = {"name": "g", "application": application, "stop_s": 2} | ({name: value} if name != "name" else {})
        group |= (
            {"bytes": 5000}
            if application == "web" and group.get("sizes", "fixed") == "fixed" and "bytes" not in group
            else {}
        )
        group |= {"arrivals_per_s": 4} if application == "web" and name not in ("count", "arrivals_per_s") else {}
        group |= {"on_s": 1, "off_s": 0.2} if name in ("on_s", "off_s") else {}
        return merged(part, {"flows": [group], "hosts": {"pairs": 2} if name == "pair" else {}})
    if section == "change":
        return merged(part, {"link": {"timeline": [{"at_s": 0.5, "rate_mbps": 5} | {name: value}]}})
    if section == "queue" and name not in ("packets", "bytes", "bdp", "discipline"):
        owners = [one for one in DISCIPLINES.values() if one.parameter(name)]
        part = merged(part, {"queue": {"discipline": _one(rng, owners).name}})
    for step in reversed(key.split(".")):
        value = {step: value}
    return merged(part, value)


def values_of(key) -> list:
    """Return the values to try for a key."""
    if key in VALUES:
        return VALUES[key]
    section, *steps = key.split(".")
    node = (
        dereferenced(study_schema()["$defs"][section])
        if section in ("flow_group", "change")
        else keys_of(scenario_schema())[section]
    )
    for step in steps:
        node = keys_of(node)[step]
    node = node["else"] if has_directions(node) or "else" in node else node
    if "enum" in node:
        return node["enum"]
    kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
    if "boolean" in kinds:
        return [True, False]
    if not {"number", "integer"} & set(kinds):
        return ["a"]
    low, high = node.get("minimum", node.get("exclusiveMinimum", 0)), node.get("maximum", node.get("exclusiveMaximum"))
    numbers = [n for n in NUMBERS if low <= n <= high and not ("exclusiveMinimum" in node and n == low)] or [low, high]
    numbers = [int(n) for n in numbers if n == int(n)] if "integer" in kinds else numbers
    return ([None] if "null" in kinds else []) + (numbers or [low])


def merged(one, other) -> dict:
    """Return two parts of a scenario merged; the second takes precedence, and only one size of a queue is kept."""
    sized = [measure for measure in MEASURES if measure in other]
    kept = {key: value for key, value in one.items() if not sized or key not in MEASURES}
    return kept | {
        key: merged(kept[key], value) if isinstance(value, dict) and isinstance(kept.get(key), dict) else value
        for key, value in other.items()
    }


def _one(rng, choices):
    return choices[rng.integers(len(choices))]
