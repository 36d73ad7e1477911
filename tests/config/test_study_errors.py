"""Bad input ends in one sentence with file, key, value and what is allowed."""

import datetime

import pytest

from experiment.link_options import LINK_OPTIONS
from study_files import study

CCAS = (
    "bbr, bic, cdg, cubic, dctcp, highspeed, htcp, hybla, illinois, lp, nv, reno, scalable, vegas, veno, westwood, yeah"
)
LAST_OPTIONS = ", ".join(option.name for option in LINK_OPTIONS if not option.behind) + "."
STUDY_KEYS = "study, title, description, seed, replications, controls, ccas, cca_definitions, kernels, programs, mixes, ip_versions, platform, defaults, scenarios, exam, steady_state, analysis"
NAME = "1 to 64 lower-case letters, digits, dots and hyphens, a letter or digit first"
NAN, INFINITY = float("nan"), float("inf")
A_CCA = f"one of {CCAS}, or several joined by +"
CCA_LIST = f"a list of at least one of {CCAS} (or mixes, several joined by +), each once"
SCENARIO_KEYS = "link, queue, reverse_queue, topology, background, chain, multipath, hosts, flows, groups, traffic, transport, platform, kernel, variation"
PERCENT, DELAY = "a number from 0 to below 100 (percent)", "a number from 0 to 2000 (ms)"
RATE = "a number from 0.01 to 20000 (Mbit/s), one for each direction as in {forward: 50, reverse: 10}, or null"
QUEUE = "one of packets, bytes and bdp, as in {packets: 100}, and a discipline with its parameters, as in {discipline: codel, target_ms: 5}"
REPLICATIONS = "a whole number from 1 to 10000, or a rule such as {until: {goodput_percent: 1}, at_most: 100}"
UNTIL = "a mapping with one or more of the keys goodput_percent, rtt_percent, loss_points, retransmits_percent"
SEED = "a whole number from 1 to 4294967295"
FLOWS = "a whole number from 1 to 64 (flows), with traffic.processes per-side up to 5000, or a list of groups such as {name: long, cca: own, stop_s: 30}"
DURATION = "a whole number from 1 to 3600 (s)"
UNIQUE = "a name that no other scenario has"
MISSING = "missing"

# What is set (by a path into the small study) to what, and what is said of it and allowed instead.
RANGES = [
    ("analysis", {"claims": "../secrets"},
     'analysis.claims is "../secrets"', "the name of a file in config/claims without .yaml, or null"),
    ("analysis", {"equivalence_margin": {"goodput_percent": 0}},
     "analysis.equivalence_margin.goodput_percent is 0", "a number above 0 and below 100 (percent)"),
    ("study", "a/b", 'study is "a/b"', NAME),
    ("study", "../b", 'study is "../b"', NAME),
    ("study", "a;rm -rf *", 'study is "a;rm -rf *"', NAME),
    ("study", "$(id)", 'study is "$(id)"', NAME),
    ("study", "small\n", 'study is "small\\n"', NAME),
    ("study", "Small", 'study is "Small"', NAME),
    ("study", "", 'study is ""', NAME),
    ("study", 2, "study is 2", f"{NAME}, in quotes"),
    ("scenarios.1.id", "a b", 'scenarios[a b].id is "a b"', NAME),
    ("scenarios.1.id", "near", "scenarios[1].id is 'near' as in scenarios[0]", UNIQUE),
    ("scenarios.1.label", "near", "scenarios[1].label is 'near' as in scenarios[0]", UNIQUE),
    ("scenarios.1.label", datetime.date(2024, 1, 1), 'scenarios[far].label is "2024-01-01"', "text of one line that doesn't begin with = + - or @ or white space, 1 to 24 characters, in quotes"),
    ("defaults.link.trace", {"file": "a", "sha256": int("1" * 64)}, f'defaults.link.trace.sha256 is {"1" * 57}...', "64 hex digits, or null, in quotes"),
    ("scenarios.1.label", 2, "scenarios[far].label is 2", "text of one line that doesn't begin with = + - or @ or white space, 1 to 24 characters, in quotes"),
    ("ccas", [], "ccas is []", CCA_LIST),
    ("ccas", "reno", 'ccas is "reno"', CCA_LIST),
    ("ccas", ["reno", "reno"], 'ccas has "reno" twice', CCA_LIST),
    ("ccas", ["fast"], 'ccas[0] is "fast"', A_CCA),
    ("ip_versions", [], "ip_versions is []", "a list of at least one of ipv4, ipv6, each once"),
    ("scenarios", [], "scenarios is []", "a list of at least one mapping"),
    ("scenarios", None, "scenarios is null", "a list of at least one mapping"),
    ("scenarios.1", "far", 'scenarios[1] is "far"', f"a mapping with the keys id, label, replications, seeds_of, {SCENARIO_KEYS}"),
    ("replications", 0, "replications is 0", REPLICATIONS),
    ("replications", 2.5, "replications is 2.5", REPLICATIONS),
    ("replications", True, "replications is true", REPLICATIONS),
    ("replications", {"until": {"goodput_percent": 1}}, "replications.at_most is missing", "a whole number from 6 to 10000"),
    ("replications", {"at_most": 20}, "replications.until is missing", UNTIL),
    ("replications", {"until": {}, "at_most": 20}, "replications.until is {}", UNTIL),
    ("replications", {"until": {"goodput_percent": 0}, "at_most": 20},
     "replications.until.goodput_percent is 0", "a number above 0 and below 100 (percent)"),
    ("replications", {"until": {"goodput_percent": 1}, "at_most": 20, "at_least": 2},
     "replications.at_least is 2", "a whole number from 6 to 10000"),
    ("replications", {"until": {"goodput_percent": 1}, "at_most": 20, "at_least": 30},
     "replications.at_most is 20", "replications.at_least, 30, or more"),
    ("seed", 0, "seed is 0", SEED),
    ("seed", 2**32, "seed is 4294967296", SEED),
    ("scenarios.1.link.loss_percent", {"forward": 120, "reverse": 0},
     "scenarios[far].link.loss_percent.forward is 120", PERCENT),
    ("scenarios.1.link.loss_percent", 120, "scenarios[far].link.loss_percent is 120", PERCENT),
    ("scenarios.1.link.loss_percent", 100, "scenarios[far].link.loss_percent is 100", PERCENT),
    ("defaults.link.loss_percent", -1, "defaults.link.loss_percent is -1", PERCENT),
    ("defaults.link.loss_percent", "1%", 'defaults.link.loss_percent is "1%"', f"{PERCENT}, without its unit: 1"),
    ("defaults.link.loss_percent", {"forward": 1}, "defaults.link.loss_percent.reverse is missing", PERCENT),
    ("defaults.link.rate_mbps", 0, "defaults.link.rate_mbps is 0", RATE),
    ("defaults.link.rate_mbps", "1Gbit", 'defaults.link.rate_mbps is "1Gbit"', f"{RATE}, without a unit"),
    ("defaults.link.rate_mbps", "1e3", 'defaults.link.rate_mbps is "1e3"', f"{RATE}, without quotes or exponent: 1000"),
    ("defaults.link.rate_mbps", NAN, "defaults.link.rate_mbps is .nan", RATE),
    ("defaults.link.rate_mbps", 10**20, "defaults.link.rate_mbps is 100000000000000000000", RATE),
    ("defaults.link.delay_ms", INFINITY, "defaults.link.delay_ms is .inf", DELAY),
    ("defaults.link.delay_ms", -5, "defaults.link.delay_ms is -5", DELAY),
    ("defaults.link.delay_ms", "10ms", 'defaults.link.delay_ms is "10ms"', f"{DELAY}, without its unit: 10"),
    ("defaults.link.delay_ms", None, "defaults.link.delay_ms is null", DELAY),
    ("scenarios.1.link.jitter_ms", {"forward": 0, "reverse": 101},
     "scenarios[far].link.jitter_ms.reverse is 101", "at most the delay in that direction, 100 (ms)"),
    ("defaults.queue", {"packets": 0}, "defaults.queue.packets is 0", "a whole number from 1 to 1000000 (packets)"),
    ("defaults.queue", {"bytes": 100}, "defaults.queue.bytes is 100", "a whole number from 1514 to 2000000000 (bytes)"),
    ("defaults.queue", {"bdp": 0}, "defaults.queue.bdp is 0", "a number above 0 and up to 100 (BDP)"),
    ("defaults.queue", {}, "defaults.queue is {}", QUEUE),
    ("defaults.queue", {"packets": 10, "bdp": 1}, "defaults.queue is {packets: 10, bdp: 1}", QUEUE),
    ("defaults.queue", 100, "defaults.queue is 100", QUEUE),
    ("scenarios.1.queue", {"bdp": 0.00005},
     "scenarios[far].queue.bdp is 5e-05, 1250 bytes", "at least a packet of 1514 bytes, 6.06e-05 BDP"),
    ("scenarios.1", {"id": "far", "link": {"rate_mbps": None}, "queue": {"packets": 10}},
     "scenarios[far].link.rate_mbps is null and so is traffic.bitrate_mbps", "a number for one of them (Mbit/s), because a virtual clock needs a limit"),
    ("defaults.flows", 5001, "defaults.flows is 5001", FLOWS),
    ("scenarios.1.flows", 0, "scenarios[far].flows is 0", FLOWS),
    ("defaults.traffic.duration_s", 1.5, "defaults.traffic.duration_s is 1.5", DURATION),
    ("defaults.traffic.duration_s", "10 s",
     'defaults.traffic.duration_s is "10 s"', f"{DURATION}, without its unit: 10"),
    ("scenarios.1.traffic", {"interval_s": 3},
     "scenarios[far].traffic.interval_s is 3", "a divisor of the duration, 10 (s)"),
    ("scenarios.1.traffic", {"interval_s": 20},
     "scenarios[far].traffic.interval_s is 20", "a divisor of the duration, 10 (s)"),
    ("defaults.transport", {"segmentation_offload": "off"},
     'defaults.transport.segmentation_offload is "off"', "true or false"),
    ("defaults.platform", "xen",
     'defaults.platform is "xen"', "one of uml, host, ns3:3.39, ns3:3.42, ns3:3.43, ns3:3.44"),
    ("scenarios.1", {"id": "far", "link": {"rate_mbps": 10_000, "delay_ms": 100}, "flows": 12},
     "scenarios[far].flows is 12, which with windows of one bandwidth-delay product and a full queue makes 3,250,000,000 bytes of packets", "up to 3,000,000,000, the limit of the guest's memory"),
    ("scenarios.1.link", {"rate_mbps": 10_000, "delay_ms": 500},
     "scenarios[far].link.delay_ms makes a bandwidth-delay product of 1,250,000,000 bytes", "up to 1,073,741,824, the largest window of TCP"),
]  # fmt: skip
# And the whole sentence.
SENTENCES = [
    ("analysis", {"margin": 5},
     "unknown key 'analysis.margin'. Allowed here: claims, calibration, sensitivity, compare_with, equivalence_margin, detect, expect, agreement."),
    ("analysis", {"compare_with": "small"},
     "analysis.compare_with is small, the study itself; allowed: another study, or null."),
    ("replication", 3, f"unknown key 'replication'; did you mean 'replications'? Allowed here: {STUDY_KEYS}."),
    ("replications", {"until": {"goodput": 1}, "at_most": 20},
     "unknown key 'replications.until.goodput'; did you mean 'goodput_percent'? Allowed here: goodput_percent, rtt_percent, loss_points, retransmits_percent."),
    ("colour", 3, f"unknown key 'colour'. Allowed here: {STUDY_KEYS}."),
    ("duration_s", 3, f"unknown key 'duration_s'; it belongs to 'traffic'. Allowed here: {STUDY_KEYS}."),
    ("scenarios.1.link.loss", 1,
     "unknown key 'scenarios[far].link.loss'; did you mean 'loss_percent'? Allowed here: rate_mbps, reverse_rate_mbps, shaper, shaper_burst_bytes, mtu_bytes, delay_ms, jitter_ms, loss_percent, jitter_distribution, jitter_table, jitter_order, ack_slot_ms, data_slot_ms, loss_burst_packets, loss_gemodel, loss_state, correlation, netem, frame_overhead_bytes, serialisation, timeline, trace, reverse_trace, policer, reverse_policer, " + LAST_OPTIONS),
    ("scenarios.1.flow", 2,
     f"unknown key 'scenarios[far].flow'; did you mean 'flows'? Allowed here: id, label, replications, seeds_of, {SCENARIO_KEYS}."),
    ("defaults.id", "a", f"unknown key 'defaults.id'; it belongs to a scenario. Allowed here: {SCENARIO_KEYS}."),
    ("ccas", MISSING, f"ccas is missing; allowed: {CCA_LIST}."),
    ("scenarios.1.id", MISSING, f"scenarios[1].id is missing; allowed: {NAME}."),
    ("ccas", ["reno", "bbr3"], f"ccas[1] is \"bbr3\"; did you mean 'bbr'? Allowed: {A_CCA}."),
    ("platform", "hots", "platform is \"hots\"; did you mean 'host'? Allowed: one of null, uml, host."),
    ("ccas", ["CUBIC"], f"ccas[0] is \"CUBIC\"; did you mean 'cubic'? Allowed: {A_CCA}."),
    ("ccas", [False], f"ccas[0] is false; YAML takes a bare yes, no, on or off for true or false; allowed: {A_CCA}."),
    ("ip_versions", [6], "ip_versions[0] is 6; did you mean 'ipv6'? Allowed: one of ipv4, ipv6."),
    ("defaults.link.loss_percent", {"forward": 1, "reverse": 1, "back": 1},
     "unknown key 'defaults.link.loss_percent.back'. Allowed here: forward, reverse."),
    ("defaults.link.netem", "both",
     "defaults.link.netem is \"both\"; did you mean 'both-ends'? Allowed: one of receiving-side, both-ends, sending-host."),
    ("scenarios.1.link.delay_ms", 0,
     "scenarios[far].queue is {bdp: 1}; allowed without a link.delay_ms: packets or bytes."),
    ("scenarios.1", {"id": "far", "link": {"rate_mbps": None}, "traffic": {"bitrate_mbps": 10}},
     "scenarios[far].queue is {bdp: 1}; allowed without a link.rate_mbps: packets or bytes."),
    ("scenarios.1", {"id": "far", "link": {"netem": "both-ends"}, "queue": {"bytes": 100_000}},
     "scenarios[far].queue is {bytes: 100000}; allowed with netem at both-ends: packets, because netem counts packets."),
    ("scenarios.1", {"id": "far", "queue": {"bytes": 30_000}, "transport": {"segmentation_offload": True}},
     "scenarios[far].queue.bytes is 30000; allowed with transport.segmentation_offload: at least 65550, because a super-packet that is larger than the queue never passes."),
]  # fmt: skip


def set_by_path(config, path, value):
    """Set (or remove) the value at a dotted path, creating sections on the way."""
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        config = config[step] if isinstance(step, int) else config.setdefault(step, {})
    if value is MISSING:
        del config[last]
    else:
        config[last] = value


CASES = [*((path, value, f"{problem}; allowed: {allowed}.") for path, value, problem, allowed in RANGES), *SENTENCES]


@pytest.mark.parametrize(("path", "value", "message"), CASES, ids=[f"{path}={value}" for path, value, _ in CASES])
def test_message_names_file_key_value_and_what_is_allowed(small, path, value, message):
    set_by_path(small, path, value)
    with pytest.raises(study.StudyError) as caught:
        study.resolve(small, "config/studies/small.yaml")
    assert str(caught.value) == f"config/studies/small.yaml: {message}"


def test_all_problems_are_reported_unknown_keys_first(small):
    small |= {"seed": -1, "scenario": [], "ccas": ["fast"]}
    with pytest.raises(study.StudyError) as caught:
        study.resolve(small, "small.yaml")
    assert [problem.split(";")[0] for problem in caught.value.problems] == [
        "small.yaml: unknown key 'scenario'",
        "small.yaml: seed is -1",
        'small.yaml: ccas[0] is "fast"',
    ]


def test_a_misspelt_key_is_not_reported_as_missing_too(small):
    small["cca"] = small.pop("ccas")
    with pytest.raises(study.StudyError) as caught:
        study.resolve(small, "small.yaml")
    assert caught.value.problems == [f"small.yaml: unknown key 'cca'; did you mean 'ccas'? Allowed here: {STUDY_KEYS}."]
