"""Groups of flows in a study: their meaning, and the messages for groups that can't be run."""

import pytest

from experiment.specification import RunSpecification
from study_files import study
from study_files.study_groups import MOST_OBJECTS

LONG = {"name": "long", "stop_s": 10}
WEB = {"name": "web", "application": "web", "arrivals_per_s": 5, "bytes": 1000, "stop_s": 10}
CALL = {"name": "call", "application": "real-time", "stop_s": 10}


@pytest.fixture
def grouped(small):
    """A study of one CCA whose scenarios have the given groups and other given keys."""

    def make(*groups, **defaults):
        small["ccas"] = ["reno"]
        small["defaults"] = {"flows": list(groups), **defaults}
        return small

    return make


def problems(config):
    with pytest.raises(study.StudyError) as caught:
        study.resolve(config, "small.yaml")
    return [line.removeprefix("small.yaml: ") for line in str(caught.value).splitlines()]


def run_of(config, cca="reno"):
    return RunSpecification(study.run_specification(study.resolve(config, "small.yaml"), "near", cca, "ipv4", 1))


def test_groups_are_written_out_and_long_flows_counted(grouped):
    config = grouped(LONG | {"count": 2.0}, WEB, CALL, LONG | {"name": "late", "cca": "bbr", "start_s": 4})
    resolved = study.resolve(config, "small.yaml")
    near = resolved["scenarios"][0]
    assert near["flows"] == 3
    assert near["groups"][0] == {
        "name": "long", "application": "iperf3", "cca": "own", "count": 2, "pair": None, "start_s": 0, "stop_s": 10,
        "ecn": None, "rate_mbps": None, "on_s": None, "off_s": None, "arrivals_per_s": None, "sizes": "fixed", "bytes": None, "packet_bytes": 200, "interval_ms": 20, "direction": "forward", "program": None,
    }  # fmt: skip
    assert study.resolve(resolved, "small.yaml") == resolved


def test_flows_may_be_on_for_as_long_as_the_group_lasts(grouped):
    """4.35 - 0.35 is below 4 in floating-point arithmetic."""
    study.resolve(grouped(LONG | {"start_s": 0.35, "stop_s": 4.35, "on_s": 4, "off_s": 1}), "small.yaml")


def test_without_groups_a_specification_is_what_it_was(small):
    resolved = study.resolve(small, "small.yaml")
    assert resolved["scenarios"][0]["groups"] == []
    assert "groups" not in study.run_specification(resolved, "near", "reno", "ipv4", 1)["scenario"]


def test_flows_are_numbered_through_the_groups_and_own_ones_get_a_mix_in_turn(grouped):
    config = grouped(
        LONG | {"count": 3}, WEB | {"cca": "vegas"}, LONG | {"name": "late", "cca": "bbr", "start_s": 4.5, "stop_s": 8.5, "rate_mbps": 2, "pair": 2},
        hosts={"pairs": 2},
    )  # fmt: skip
    config["ccas"] = ["reno+cubic"]
    run = run_of(config, "reno+cubic")
    assert [run.flow_cca(flow) for flow in range(run.flows)] == ["reno", "cubic", "reno", "bbr"]
    assert [run.flow_pair(flow).sender for flow in range(run.flows)] == ["h1", "h3", "h1", "h3"]
    assert [(flow.start_s, flow.length_s, flow.rate_mbps, flow.group) for flow in run.long_flows[2:]] == [
        (0, 10, None, "long"),
        (4.5, 4, 2, "late"),
    ]
    assert run.ccas_that_run == ["reno", "cubic", "bbr", "vegas"]


def test_flows_that_pause_are_flows_of_each_on_time(grouped):
    run = run_of(grouped(LONG | {"on_s": 2, "off_s": 1.5, "start_s": 0.5, "count": 2}, LONG | {"name": "more"}))
    assert [(flow.start_s, flow.stop_s) for flow in run.long_flows] == [*[(0.5, 2.5), (4, 6), (7.5, 9.5)] * 2, (0, 10)]
    assert {flow.group for flow in run.long_flows[:6]} == {"long"} and run.flows == 7


def test_a_run_may_have_no_long_flow(grouped):
    run = run_of(grouped(WEB, CALL))
    assert (run.flows, run.long_flows, run.ccas_that_run, run.server_ports) == (0, [], ["reno"], {8001})


MESSAGES = [
    ([LONG, LONG], {}, "scenarios[near].flows[1].name is long as in flows[0]; allowed: a name that no other group has."),
    ([{"name": "a"}], {}, "flows[a].stop_s is null, a group without end; allowed: a number up to traffic.duration_s, 10 (s)."),
    ([LONG | {"start_s": 8, "stop_s": 4}], {}, "flows[long].stop_s is 4; allowed: more than start_s, 8 (s)."),
    ([LONG | {"stop_s": 11}], {}, "flows[long].stop_s is 11; allowed: up to traffic.duration_s, 10 (s)."),
    ([LONG | {"start_s": 10, "stop_s": 12}], {}, "flows[long].start_s is 10; allowed: less than traffic.duration_s, 10 (s)."),
    ([LONG | {"stop_s": 4.5}], {}, "flows[long].stop_s is 4.5 s after start_s; allowed: whole seconds, as iperf3 requires."),
    ([LONG | {"stop_s": 3}], {"traffic": {"interval_s": 2}},
     "flows[long].flows last 3 s; allowed: a multiple of traffic.interval_s, 2 (s)."),
    ([LONG | {"stop_s": 1}], {"traffic": {"start_within_ms": 500}},
     "flows[long].flows last 1 s; allowed: more than twice the time within which flows start, 500 (ms)."),
    ([LONG | {"cca": "cubik"}], {}, "defaults.flows[0].cca is \"cubik\"; did you mean 'cubic'? Allowed: one of own, bbr,"),
    ([LONG | {"cca": "dctcp"}, LONG | {"name": "b"}], {}, "flows[long].cca is dctcp; allowed with transport.ecn classic or accurate and a queue that marks,"),
    ([LONG | {"ecn": "classic"}, WEB], {},
     "flows[web].ecn is null; allowed: classic, the value of another group on pair 1, because hosts negotiate ECN for all of their connections."),
    ([LONG | {"on_s": 2}], {}, "flows[long].off_s is null, and on_s is 2; allowed: two numbers (s), or null for both."),
    ([LONG | {"on_s": 11, "off_s": 1}], {}, "flows[long].on_s is 11; allowed: up to stop_s minus start_s, 10 (s)."),
    ([LONG | {"on_s": 1, "off_s": 0.02}], {}, "flows[long].off_s is 0.02; allowed: more than the time within which flows start,"),
    ([LONG | {"on_s": 1, "off_s": 1, "count": 13}], {}, "flows has 65 iperf3 flows in all groups; allowed: up to 64."),
    ([LONG | {"pair": 2}], {}, "flows[long].pair is 2; allowed: up to hosts.pairs, 1."),
    ([LONG | {"pair": 1}], {"hosts": {"pairs": 2}}, "hosts.pairs is 2, and pair 2 has no flow; allowed: the number of pairs that groups use."),
    ([LONG | {"count": 65}], {}, "flows[long].count is 65; allowed with application iperf3: up to 64."),
    ([LONG | {"bytes": 1000}], {}, "flows[long].bytes is 1000; allowed with application iperf3: null, because the key is only for web and program."),
    ([WEB], {"traffic": {"protocol": "udp", "block_bytes": 1000}}, "traffic.protocol is udp; allowed where flows is a list of groups: tcp."),
    ([WEB | {"bytes": None}], {}, "flows[web].bytes is null; allowed with sizes fixed: a number, the size of each object."),
    ([WEB | {"sizes": "main-object"}], {}, "flows[web].bytes is 1000; allowed with sizes main-object: null, because sizes determines the size of objects."),
    ([WEB | {"count": 7}], {}, "flows[web].count is 7; allowed with arrivals_per_s: 1, because the number of requests follows from arrivals_per_s and stop_s."),
    ([WEB | {"arrivals_per_s": None}], {}, "flows[web].stop_s is 10; allowed without arrivals_per_s: null, because web then requests count objects at once."),
    ([WEB | {"arrivals_per_s": 200, "bytes": 1_000_000}], {}, "flows[web].arrivals_per_s is 200, at which objects need 1600 Mbit/s on average; allowed: less than link.rate_mbps, 1000,"),
    ([WEB | {"arrivals_per_s": 10_000, "stop_s": 10, "bytes": 10}], {}, f"which makes 100,000 objects on average; allowed: up to {MOST_OBJECTS:,}."),
    ([CALL | {"interval_ms": 0.1, "packet_bytes": 1452, "count": 64, "stop_s": 1}], {"link": {"rate_mbps": 100}, "queue": {"packets": 9}}, "flows[call].interval_ms is 0.1, at which streams send"),
    ([CALL | {"rate_mbps": 3}], {}, "flows[call].rate_mbps is 3; allowed with application real-time: null, because the key is only for iperf3."),
    ([LONG], {"platform": "ns3:3.44"}, "flows is a list of groups; allowed on ns3:3.44: a number of flows."),
    ([LONG], {"link": {"rate_mbps": None}, "queue": {"packets": 9}}, "link.rate_mbps is null; allowed where flows is a list of groups: a number (Mbit/s)."),
    ([LONG], {"transport": {"segmentation_offload": True}}, "transport.segmentation_offload is true; allowed where flows is a list of groups: false."),
    ([], {}, "defaults.flows is []; allowed: a list of at least one mapping."),
    ([LONG | {"nmae": 1}], {}, "unknown key 'defaults.flows[0].nmae'; did you mean 'name'?"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("groups", "defaults", "sentence"), MESSAGES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_bad_groups_get_one_sentence(grouped, groups, defaults, sentence):
    sentences = problems(grouped(*groups, **defaults))
    assert any(sentence in line for line in sentences), sentences


@pytest.mark.parametrize(
    "group",
    [CALL | {"packet_bytes": 1000, "interval_ms": 4, "stop_s": 10}, WEB | {"arrivals_per_s": 10, "bytes": 25_000}],
)
def test_traffic_in_reverse_has_the_rate_of_that_direction(grouped, group):
    """2 Mbit/s fit into 50 Mbit/s, whatever the other direction has, and don't fit into 1."""
    back, queue = group | {"direction": "reverse"}, {"packets": 50}
    fits = grouped(LONG, back, link={"rate_mbps": {"forward": 1, "reverse": 50}}, queue=queue)
    assert study.resolve(fits, "small.yaml")
    narrow = grouped(LONG, back, link={"rate_mbps": {"forward": 50, "reverse": 1}}, queue=queue)
    assert any("allowed: less than link.reverse_rate_mbps, 1" in line for line in problems(narrow))


def test_groups_that_ignore_the_ccas_under_test_run_one_alone(grouped):
    config = grouped(LONG | {"cca": "bbr"})
    config["ccas"] = ["reno", "cubic"]
    (sentence, _) = problems(config)
    assert sentence.endswith(
        "flows has no group with cca own, so that runs of all CCAs would be the same; allowed: one CCA in ccas."
    )


def test_calibration_has_no_groups(grouped):
    config = grouped(LONG, queue={"packets": 9})
    config["analysis"] = {"calibration": True}
    assert any("flows is a list of groups; allowed with analysis.calibration: 1." in line for line in problems(config))


def test_ecn_is_that_of_a_pair_of_hosts(grouped):
    config = grouped(
        LONG | {"pair": 1},
        LONG | {"name": "marked", "pair": 2, "ecn": "classic", "cca": "dctcp"},
        hosts={"pairs": 2},
        queue={"discipline": "codel", "ecn": True},
    )
    run = run_of(config)
    assert [run.pair_ecn(pair) for pair in run.pairs] == ["off", "classic"]
    assert run.uses_ecn and run.may_mark
