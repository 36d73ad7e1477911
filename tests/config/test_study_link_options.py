"""A policer and bursts of losses in a study: how they are completed, and the sentences that refuse impossible values."""

import re

import pytest

from study_files import study as studies


def study(policer, **sections):
    scenario = {"id": "x", "link": {"rate_mbps": 100, "delay_ms": 10, "policer": policer}} | sections
    return studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [scenario]}, "s.yaml")


def test_a_policer_stands_in_the_specification_of_a_run_that_has_one():
    made = study({"rate_mbps": 5.0})
    link = studies.run_specification(made, "x", "reno", "ipv4", 1)["scenario"]["link"]
    assert link["policer"] == {"rate_mbps": 5, "burst_bytes": 30_000}
    assert "policer" not in studies.run_specification(study(None), "x", "reno", "ipv4", 1)["scenario"]["link"]
    assert studies.resolve(made, "again")["scenarios"] == made["scenarios"]


@pytest.mark.parametrize(
    "policer, sections, sentence",
    [
        ({"burst_bytes": 1500}, {}, "link.policer.burst_bytes is 1500; allowed: a whole number from 1514 to 1000000000 (bytes)."),
        ({"rate_mbps": 5, "burst_bytes": 171_798_678}, {}, "link.policer.burst_bytes is 171798678; allowed at 5 Mbit/s: up to 171798677."),
        ({"rate_mbps": 0}, {}, "link.policer.rate_mbps is 0; allowed: a number from 0.01"),
        ({"rate": 1}, {}, "unknown key 'scenarios[x].link.policer.rate'; did you mean 'rate_mbps'?"),
        ({}, {"topology": "cable"}, "topology is cable; allowed with link.policer: dumbbell."),
        ({}, {"transport": {"segmentation_offload": True}}, "transport.segmentation_offload is true; allowed with link.policer: false"),
        ({}, {"platform": "ns3:3.44"}, "link.policer has 10 Mbit/s; allowed on ns3:3.44: null."),
    ],
)  # fmt: skip
def test_what_can_not_be_is_refused_in_a_sentence(policer, sections, sentence):
    with pytest.raises(studies.StudyError) as refused:
        study(policer, **sections)
    assert sentence in str(refused.value)


def bursts(link):
    scenario = {"id": "x", "link": {"rate_mbps": 10, "delay_ms": 10} | link}
    return studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [scenario]}, "s.yaml")


def test_bursts_of_losses_stand_in_the_specification_of_a_run_that_has_some():
    made = bursts({"loss_percent": {"forward": 1, "reverse": 0}, "loss_burst_packets": {"forward": 5, "reverse": None}})
    link = studies.run_specification(made, "x", "reno", "ipv4", 1)["scenario"]["link"]
    assert link["loss_burst_packets"] == {"forward": 5, "reverse": None}
    assert "loss_burst_packets" not in studies.run_specification(bursts({}), "x", "reno", "ipv4", 1)["scenario"]["link"]


@pytest.mark.parametrize(
    "link, sentence",
    [
        ({"loss_burst_packets": 5}, "link.loss_burst_packets.forward is 5; allowed without a link.loss_percent.forward: null."),
        ({"rate_mbps": 1, "shaper": "tbf", "shaper_burst_bytes": 34_359_739}, "link.shaper_burst_bytes is 34359739; allowed at 1 Mbit/s with link.shaper tbf: up to 34359738 (bytes)."),
        ({"rate_mbps": {"forward": 100, "reverse": 1}, "shaper_burst_bytes": 7_500_001}, "link.shaper_burst_bytes is 7500001; allowed at 1 Mbit/s with link.shaper htb: up to 7500000 (bytes)."),
        ({"reordering": {"percent": -1}}, "link.reordering.percent is -1; allowed: a number from 1e-06 to below 100 (percent)."),
        ({"duplicate_percent": 1e-8}, "link.duplicate_percent.forward is 1e-08; allowed: 0, or at least 1e-06 (percent), because tc rounds a smaller share to 0."),
        ({"corrupt_percent": {"forward": 0, "reverse": 1e-8}}, "link.corrupt_percent.reverse is 1e-08; allowed: 0, or at least 1e-06"),
        ({"loss_percent": 1e-8}, "link.loss_percent.forward is 1e-08; allowed: 0, or at least 1e-06"),
        ({"timeline": [{"at_s": 1, "loss_percent": 1e-8}]}, "link.timeline[0].loss_percent is 1e-08; allowed: 0, or at least 1e-06"),
        ({"reordering": {"late_ms": 0}}, "link.reordering.late_ms is 0; allowed: a number from 0.01 to 1000 (ms)."),
        ({"duplicate_percent": 100}, "link.duplicate_percent is 100; allowed:"),
        ({"corrupt_percent": 11}, "link.corrupt_percent is 11; allowed: a number from 0 to 10 (percent)."),
        ({"jitter_order": "kept"}, "link.jitter_order is kept; allowed without a link.jitter_ms: any, because packets stay in order."),
        ({"ack_slot_ms": 5, "netem": "both-ends"}, "link.netem is both-ends; allowed with link.ack_slot_ms: receiving-side."),
        ({"ack_slot_ms": 0}, "link.ack_slot_ms is 0; allowed: a number from 0.1 to 1000 (ms), or null."),
        ({"loss_percent": 80, "loss_burst_packets": 2}, "link.loss_burst_packets.forward is 2; allowed with link.loss_percent.forward 80: 4 or more"),
        ({"loss_percent": 1, "loss_burst_packets": 0.5}, "link.loss_burst_packets is 0.5; allowed: a number from 1 to 10000 (packets), or null"),
        ({"loss_percent": 1, "loss_burst_packets": 5, "timeline": [{"at_s": 1, "delay_ms": 20}]}, "link.loss_burst_packets.forward is 5; allowed with a link.timeline of delay or loss in that direction: null"),
    ],
)  # fmt: skip
def test_bursts_and_order_that_can_not_be_are_refused_in_a_sentence(link, sentence):
    with pytest.raises(studies.StudyError) as refused:
        bursts(link)
    assert sentence in str(refused.value)


def test_a_chain_has_neither_bursts_nor_kept_order_nor_bunches():
    link = {"loss_percent": 1, "loss_burst_packets": 3, "jitter_ms": 1, "jitter_order": "kept", "ack_slot_ms": 2}
    with pytest.raises(studies.StudyError) as refused:
        studies.resolve(
            {"study": "s", "ccas": ["reno"], "scenarios": [{"id": "x", "topology": "chain", "link": link}]}, "s.yaml"
        )
    for sentence in (
        "topology is chain; allowed with link.loss_burst_packets: dumbbell or cable.",
        "topology is chain; allowed with link.jitter_order: dumbbell or cable.",
        "topology is chain; allowed with link.ack_slot_ms: dumbbell or cable.",
    ):
        assert sentence in str(refused.value)


@pytest.mark.parametrize(
    "sections, sentence",
    [
        ({"topology": "cable"}, "topology is cable; allowed with link.duplicate_percent: dumbbell."),
        ({"topology": "cable", "multipath": {"by": "mptcp", "paths": 2}}, "topology is cable; allowed with link.reordering: dumbbell."),
        ({"topology": "chain"}, "topology is chain; allowed with link.reordering: dumbbell."),
        ({"transport": {"segmentation_offload": True}}, "transport.segmentation_offload is true; allowed with link.reordering: false"),
        ({"traffic": {"protocol": "udp"}}, "traffic.protocol is udp; allowed with link.duplicate_percent: tcp, because iperf3 mistakes"),
        ({"platform": "ns3:3.44"}, "link.reordering is not null; allowed on ns3:3.44: null."),
        ({"platform": "ns3:3.44"}, "link.duplicate_percent is not 0; allowed on ns3:3.44: 0."),
        ({"flows": [{"name": "call", "application": "real-time", "stop_s": 2}], "link": {"duplicate_percent": {"forward": 0, "reverse": 1}}},
         "link.duplicate_percent is only for reverse; allowed if all flows are real-time: forward, because nothing is sent in reverse."),
        ({"transport": {"ecn": "classic"}}, "transport.ecn is classic; allowed with link.corrupt_percent: off, because a bit of a packet's mark may flip."),
    ],
)  # fmt: skip
def test_packets_late_or_twice_that_can_not_be_are_refused_in_a_sentence(sections, sentence):
    scenario = {
        "id": "x",
        "link": {"rate_mbps": 10, "reordering": {"percent": 3}, "duplicate_percent": 1, "corrupt_percent": 1},
    } | sections
    with pytest.raises(studies.StudyError) as refused:
        studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [scenario]}, "s.yaml")
    assert sentence in str(refused.value)


def test_packets_late_or_twice_stand_in_the_specification_of_a_run_that_has_some():
    made = bursts({"reordering": {"late_ms": 3.0}, "duplicate_percent": 1})
    link = studies.run_specification(made, "x", "reno", "ipv4", 1)["scenario"]["link"]
    assert link["reordering"] == {"percent": 1, "late_ms": 3, "gap_packets": 1, "direction": "forward"}
    assert link["duplicate_percent"] == {"forward": 1, "reverse": 1}


def test_queues_of_both_directions_count_against_the_guests_memory():
    from study_files.study import StudyError, resolve

    def refused(link, **queues):
        scenario = {"id": "x", "link": {"rate_mbps": 10, "delay_ms": 10} | link} | queues
        with pytest.raises(StudyError, match="the limit of the guest's memory"):
            resolve({"study": "s", "ccas": ["reno"], "scenarios": [scenario]}, "s.yaml")

    refused({"mtu_bytes": 9000}, queue={"packets": 1_000_000})
    refused({}, queue={"bytes": 2_000_000_000}, reverse_queue={"bytes": 2_000_000_000})


MODEL = {"p_percent": 1, "r_percent": 20}


def test_a_model_s_chances_make_the_share_of_losses_and_one_value_is_for_both_directions():
    link = study_of({"loss_gemodel": MODEL})["scenarios"][0]["link"]
    whole = MODEL | {"bad_loss_percent": 100, "good_loss_percent": 0}
    assert link["loss_gemodel"] == {"forward": whole, "reverse": whole}
    assert link["loss_percent"] == {
        "forward": pytest.approx(100 / 21, abs=1e-6),
        "reverse": pytest.approx(100 / 21, abs=1e-6),
    }
    one = study_of({"loss_state": {"forward": None, "reverse": {"p13_percent": 2, "p31_percent": 50}}})["scenarios"][0][
        "link"
    ]
    assert one["loss_percent"] == {"forward": 0, "reverse": pytest.approx(100 * 0.04 / 1.04, abs=1e-6)}
    # What is resolved can be resolved again.
    again = study_of({key: one[key] for key in ("loss_percent", "loss_state")})["scenarios"][0]["link"]
    assert again == one


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"loss_gemodel": {"p_percent": 1}}, "link.loss_gemodel.r_percent is missing; allowed: a number from 1e-06 to 100 (percent)."),
        ({"loss_gemodel": MODEL, "loss_percent": 3}, "link.loss_percent.forward is 3; allowed with link.loss_gemodel: 0, because the model's probabilities make it 4.76190476."),
        ({"loss_gemodel": MODEL, "loss_burst_packets": 3}, "link.loss_burst_packets.forward is 3; allowed with link.loss_gemodel: null."),
        ({"loss_gemodel": MODEL | {"bad_loss_percent": 0}}, "link.loss_gemodel.forward has bad_loss_percent 0 and good_loss_percent 0; allowed: one of them above 0, because nothing would be lost."),
        ({"loss_state": {"p13_percent": 0, "p31_percent": 5}}, "link.loss_state.forward has p13_percent 0 and p14_percent 0; allowed: one of them above 0, because nothing would be lost."),
        ({"loss_state": {"p13_percent": 5, "p31_percent": 60, "p32_percent": 40}}, "has p31_percent 60 and p32_percent 40; allowed: a sum below 100"),
        ({"loss_state": {"p13_percent": 5, "p31_percent": 6, "p32_percent": 4, "p23_percent": 0}}, "link.loss_state.forward.p23_percent is 0; allowed with a p32_percent: a number above 0"),
        ({"loss_gemodel": MODEL, "correlation": {"loss_percent": 10}}, "link.correlation.loss_percent is 10; allowed with link.loss_gemodel: 0"),
        ({"loss_gemodel": MODEL, "timeline": [{"at_s": 1, "loss_percent": 20}]}, "allowed with a link.timeline of delay or loss in that direction: null"),
        ({"jitter_distribution": "normal"}, "link.jitter_distribution is normal; allowed without a link.jitter_ms: uniform."),
    ],
)  # fmt: skip
def test_a_model_that_contradicts_itself_or_others_gets_a_sentence(link, sentence):
    with pytest.raises(studies.StudyError) as raised:
        study_of(link)
    assert sentence in str(raised.value)


def test_the_loss_that_a_message_gives_is_taken():
    model = {"p_percent": 50, "r_percent": 100}  # a third is lost
    with pytest.raises(studies.StudyError) as raised:
        study_of({"loss_gemodel": model, "loss_percent": 3})
    given = float(re.search(r"make it ([\d.]+)\.", str(raised.value))[1])
    assert (
        study_of({"loss_gemodel": model, "loss_percent": given})["scenarios"][0]["link"]["loss_percent"]["forward"]
        == given
    )


def study_of(link):
    return studies.resolve({"study": "x", "ccas": ["cubic"], "scenarios": [{"id": "a", "link": link}]}, "x.yaml")


def test_packets_may_be_lost_alone_by_the_model_of_four_states():
    link = study_of({"loss_state": {"p13_percent": 5, "p31_percent": 100}})["scenarios"][0]["link"]
    assert link["loss_percent"]["forward"] == pytest.approx(100 * 0.05 / 1.05, abs=1e-6)
