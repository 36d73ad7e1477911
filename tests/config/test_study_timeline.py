"""Path changes in a study: how they are completed, and the sentences that refuse impossible ones."""

import pytest

from study_files import study as studies

SCENARIO = {"id": "x", "link": {"rate_mbps": 10, "delay_ms": 10}, "traffic": {"duration_s": 6}}


def study(timeline, **sections):
    scenario = SCENARIO | {
        name: {**SCENARIO.get(name, {}), **values} if isinstance(values, dict) else values
        for name, values in sections.items()
    }
    scenario["link"] = scenario["link"] | {"timeline": timeline}
    return studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [scenario]}, "s.yaml")


def test_changes_are_completed_and_stand_in_the_specification_of_a_run():
    made = study([{"at_s": 1.0, "rate_mbps": 100}])
    change = {
        "at_s": 1, "direction": "both", "rate_mbps": 100, "delay_ms": None, "loss_percent": None, "down_for_s": None, "over_s": 0, "step_ms": 100,
    }  # fmt: skip
    assert made["scenarios"][0]["link"]["timeline"] == [change]
    assert studies.run_specification(made, "x", "reno", "ipv4", 1)["scenario"]["link"]["timeline"] == [change]
    again = studies.resolve(made, "again")
    assert again["scenarios"] == made["scenarios"]


def test_a_run_without_changes_is_specified_as_it_was():
    assert "timeline" not in studies.run_specification(study([]), "x", "reno", "ipv4", 1)["scenario"]["link"]


@pytest.mark.parametrize(
    "timeline, sections, sentence",
    [
        ([{"at_s": 1}], {}, "link.timeline[0] changes nothing; allowed: at least one of rate_mbps, delay_ms"),
        ([{"rate_mbps": 1}], {}, "link.timeline[0].at_s is missing; allowed: a number from 0 to 3600 (s)."),
        ([{"at_s": 6, "rate_mbps": 1}], {}, "link.timeline[0].at_s is 6; allowed: less than traffic.duration_s, 6 (s)."),
        ([{"at_s": 5, "rate_mbps": 1, "over_s": 1}], {}, "link.timeline[0].over_s is 1, until 6 s; allowed: a time that ends before"),
        ([{"at_s": 5, "down_for_s": 2}], {}, "link.timeline[0].down_for_s is 2, until 7 s; allowed: a time that ends before"),
        ([{"at_s": 2, "rate_mbps": 1}, {"at_s": 2, "rate_mbps": 2}], {}, "link.timeline[1].rate_mbps changes a quantity at 2 s that link.timeline[0]"),
        ([{"at_s": 2, "loss_percent": 1}, {"at_s": 1, "down_for_s": 3}], {}, "link.timeline[0].loss_percent changes a quantity at 2 s that link.timeline[1]"),
        ([{"at_s": 2, "delay_ms": 1}], {"link": {"jitter_ms": 5}}, "link.timeline[0].delay_ms is 1; allowed: at least link.jitter_ms.forward, 5 (ms)."),
        ([{"at_s": 2, "rate_mbps": 1}], {"link": {"rate_mbps": None}, "queue": {"packets": 9}, "traffic": {"bitrate_mbps": 1}}, "rate_mbps is 1; allowed without a link.rate_mbps: null"),
        ([{"at_s": 2, "rate_mbps": 1}], {"topology": "cable"}, "topology is cable; allowed with link.timeline: dumbbell."),
        ([{"at_s": 2, "rate_mbps": 1}], {"traffic": {"messages": 1000}}, "traffic.messages is 1000; allowed with link.timeline: null."),
        ([{"at_s": 2, "rate_mbps": 1}], {"transport": {"segmentation_offload": True}}, "transport.segmentation_offload is true; allowed with link.timeline: false."),
        ([{"at_s": 2, "rate_mbps": 1}], {"variation": {"rate_percent": 5}}, "variation.rate_percent is 5; allowed with a link that changes: 0."),
        ([{"at_s": 2, "loss_percent": 100, "direction": "reverse"}], {"traffic": {"control_connection": "data-path"}}, "link.timeline[0].loss_percent is 100, and stays so until the traffic ends (reverse)"),
        ([{"at_s": 2, "delay_ms": 1, "direction": "reverse"}], {"platform": "ns3:3.44"}, "link.timeline[0].direction is reverse; allowed on ns3:3.44 with delay_ms: both, because a channel there has one delay."),
    ],
)  # fmt: skip
def test_what_can_not_be_is_refused_in_a_sentence(timeline, sections, sentence):
    with pytest.raises(studies.StudyError) as refused:
        study(timeline, **sections)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    "timeline", [[{"at_s": 2, "loss_percent": 100}, {"at_s": 3, "loss_percent": 1}], [{"at_s": 2, "down_for_s": 1}]]
)
def test_all_may_be_lost_for_a_time(timeline):
    study(timeline)


def test_all_may_be_lost_to_the_end_where_iperf3_speaks_elsewhere():
    study([{"at_s": 2, "loss_percent": 100}], traffic={"control_connection": "own-network"})
