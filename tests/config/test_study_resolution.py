"""A resolved study has every key, in one form, and its scenarios contain the shared values."""

import copy
import json

import jsonschema
import pytest
import yaml

from experiment.host_options import HOST_OPTIONS
from experiment.link_options import LINK_OPTIONS
from study_files import study, study_schema


def all_nodes(node):
    """Return every schema node of the parameters below a node, without the node itself."""
    for key, child in study_schema.keys_of(node).items():
        yield key, child
        yield from all_nodes(child)
    if "items" in node:
        yield from all_nodes(study_schema.dereferenced(node["items"]))


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(study_schema.study_schema())


def test_every_parameter_is_described_with_range_and_default():
    nodes = list(all_nodes(study_schema.study_schema()))
    assert len(nodes) > 30
    required = {"study", "ccas", "scenarios", "id", "at_s", "name", "path", "for_s"}
    measures_of_queue = {"packets", "bytes", "bdp"}
    for key, node in nodes:
        assert node.get("description", "").endswith("."), key
        assert study_schema.allowed_text(node), key
        if not study_schema.is_section(node) and key not in required | measures_of_queue:
            assert "default" in node or "default_from" in node, key
        if node.get("type") == "object":
            # Or the names are the user's, and what each stands for is described.
            others = node["additionalProperties"]
            assert others is False or study_schema.dereferenced(others)["description"].endswith("."), key
        suffix = key.rsplit("_", 1)[-1]
        number = study_schema.dereferenced(node.get("else", node))
        suffix = "arrivals_per_s" if key == "arrivals_per_s" else suffix
        assert number.get("unit") == {
            "arrivals_per_s": "objects/s",
            "mbps": "Mbit/s", "ms": "ms", "s": "s", "percent": "percent", "bytes": "bytes",
            "packets": "packets", "segments": "segments", "log": "log2 µs", "bdp": "BDP", "flows": "flows", "pairs": "pairs", "paths": "paths", "messages": "messages", "points": "percentage points",
        }.get(suffix), key  # fmt: skip


#: A scenario of which only the name is given. Another default would change published runs.
DEFAULTS = """
id: near
label: near
replications: null
seeds_of: null
platform: uml
topology: dumbbell
background: none
flows: 1
groups: []
queue: {bdp: 1}
hosts: {pairs: 1, access_delay_ms: [0], qdisc: none}
link:
  {rate_mbps: 1000, netem: receiving-side, frame_overhead_bytes: 0, serialisation: never, timeline: [], trace: null, reverse_trace: null, policer: null, reverse_policer: null,
   delay_ms: {forward: 10, reverse: 10}, jitter_ms: {forward: 0, reverse: 0}, loss_percent: {forward: 0, reverse: 0}}
multipath: {paths: 1, by: none, tunnel_ip_version: ipv4, distribution: round-robin, path_delay_ms: [0]}
traffic:
  {application: iperf3, protocol: tcp, messages: null, no_delay: false, file_bytes: 1000000000, duration_s: 10,
   interval_s: 1, start_within_ms: null, sample_interval_ms: null, processes: per-flow, control_connection: automatic, block_bytes: 131072,
   bitrate_mbps: null}
transport:
  {segment_bytes: null, receive_buffer_bytes: null, receive_buffer_autotuning: true, send_buffer_bytes: null, delayed_acks: true, min_rto_ms: null, ecn: "off", recovery: prr, segmentation_offload: false,
   cca_set_by: socket, restricted_ccas: allowed, receive_wait: kernel}
variation: {rtt_percent: 0, rate_percent: 0, queue_packets: 0, background_percent: 0, start_ms: 0, down_percent: 0}
"""


def test_defaults_of_the_schema_fill_what_is_not_given(small):
    resolved = study.resolve(small, "small.yaml")
    assert list(resolved) == [
        "study", "title", "description", "seed", "replications", "controls", "ccas", "cca_definitions", "mixes", "ip_versions", "scenarios",
        "exam", "steady_state", "analysis",
    ]  # fmt: skip
    assert resolved["title"] == "small"
    assert resolved["ip_versions"] == ["ipv4", "ipv6"]
    expected = yaml.safe_load(DEFAULTS)
    # A link and hosts have none of their options, which specifications then leave out.
    expected["link"] |= {option.name: option.none for option in LINK_OPTIONS}
    expected["transport"] |= {option.name: option.default for option in HOST_OPTIONS}
    assert resolved["scenarios"][0] == expected


def test_sections_are_merged_and_values_replaced(small):
    small["defaults"] = {
        "link": {"rate_mbps": 10, "loss_percent": {"forward": 1, "reverse": 0}},
        "queue": {"packets": 50},
        "traffic": {"bitrate_mbps": 5},
    }
    small["scenarios"][1] |= {"queue": {"bdp": 2}, "traffic": {"bitrate_mbps": None}}
    near, far = study.resolve(small, "small.yaml")["scenarios"]
    assert near["queue"] == {"packets": 50}
    assert near["link"]["loss_percent"] == far["link"]["loss_percent"] == {"forward": 1, "reverse": 0}
    assert far["link"]["rate_mbps"] == 10
    assert far["link"]["delay_ms"] == {"forward": 100, "reverse": 100}
    assert far["queue"] == {"bdp": 2}
    assert far["traffic"]["bitrate_mbps"] is None


def test_one_meaning_has_one_form(small):
    other = copy.deepcopy(small)
    small["scenarios"][0] |= {"link": {"delay_ms": 5}, "queue": {"bdp": 1}, "traffic": {"duration_s": 3}}
    link, traffic = {"delay_ms": {"reverse": 5.0, "forward": 5}}, {"duration_s": 3.0}
    other["scenarios"][0] = {"traffic": traffic, "queue": {"bdp": 1.0}, "link": link, "id": "near"}
    assert json.dumps(study.resolve(small, "a")) == json.dumps(study.resolve(other, "b"))


def test_resolving_leaves_the_configuration_alone(small):
    small["defaults"] = {"queue": {"packets": 5}}
    before = copy.deepcopy(small)
    resolved = study.resolve(small, "small.yaml")
    resolved["scenarios"][0]["queue"]["packets"] = 7
    assert small == before
    assert resolved["scenarios"][1]["queue"] == {"packets": 5}


def test_a_resolved_study_is_itself_a_study(small):
    resolved = study.resolve(small, "small.yaml")
    assert study.resolve(resolved, "small.yaml") == resolved


@pytest.mark.parametrize("interval_s", [0.1, 0.2, 0.5, 2, 10])
def test_intervals_that_divide_the_duration_are_accepted(small, interval_s):
    small["defaults"] = {"traffic": {"interval_s": interval_s}}
    assert study.resolve(small, "small.yaml")["scenarios"][0]["traffic"]["interval_s"] == interval_s
