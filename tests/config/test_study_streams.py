"""Thousands of flows: the number that a study may have, and what the two programs that carry them don't support."""

import pytest

from experiment.specification import RunSpecification
from study_files import study


def problems(config):
    with pytest.raises(study.StudyError) as caught:
        study.resolve(config, "small.yaml")
    return [line.removeprefix("small.yaml: ") for line in str(caught.value).splitlines()]


@pytest.fixture
def many(small):
    """A study of one scenario with 5,000 flows."""
    small["scenarios"] = [
        {
            "id": "near",
            "link": {"rate_mbps": 10_000, "delay_ms": 10},
            "queue": {"bdp": 1},
            "flows": 5000,
            "traffic": {"processes": "per-side", "duration_s": 600, "sample_interval_ms": 200},
        }
    ]
    return small


def test_five_thousand_flows_for_ten_minutes_are_accepted(many):
    (scenario,) = study.resolve(many, "small.yaml")["scenarios"]
    assert (scenario["flows"], scenario["traffic"]["processes"]) == (5000, "per-side")


@pytest.mark.parametrize("processes", ["per-flow", "single"])
def test_iperf3_carries_up_to_64(many, processes):
    many["scenarios"][0]["traffic"] = {"processes": processes, "duration_s": 10}
    many["scenarios"][0]["link"]["rate_mbps"] = 100
    many["scenarios"][0]["flows"] = 65
    assert problems(many) == [
        f"scenarios[near].flows is 65; allowed with traffic.processes {processes}: up to 64, with per-side up to 5000."
    ]


@pytest.mark.parametrize(
    ("section", "key", "value", "sentence"),
    [
        ("traffic", "bitrate_mbps", 1, "traffic.bitrate_mbps is 1; allowed with traffic.processes per-side: null."),
        ("traffic", "messages", 100, "traffic.messages is 100; allowed with traffic.processes per-side: null."),
        ("traffic", "control_connection", "data-path", "traffic.control_connection is data-path; allowed with traffic.processes per-side: automatic."),
        ("transport", "receive_wait", "process", "transport.receive_wait is process; allowed with traffic.processes per-side: kernel."),
    ],
)  # fmt: skip
def test_what_only_iperf3_does(many, section, key, value, sentence):
    many["scenarios"][0].setdefault(section, {})[key] = value
    assert f"scenarios[near].{sentence}" in problems(many)


@pytest.mark.parametrize("platform", ["host", "ns3:3.44"])
def test_only_in_the_guest(many, platform):
    many["scenarios"][0]["platform"] = platform
    sentence = f"scenarios[near].platform is {platform}; allowed with traffic.processes per-side: uml."
    assert sentence in problems(many)


def test_groups_by_the_thousands(many):
    one = {"name": "one", "stop_s": 600}
    many["scenarios"][0]["flows"] = [one, {"name": "rest", "cca": "cubic", "count": 4999, "stop_s": 600}]
    assert study.resolve(many, "small.yaml")["scenarios"][0]["flows"] == 5000
    many["scenarios"][0]["flows"][1]["count"] = 5000
    assert problems(many) == ["scenarios[near].flows has 5001 iperf3 flows in all groups; allowed: up to 5000."]
    many["scenarios"][0]["flows"] = [one | {"rate_mbps": 2}]
    assert problems(many) == [
        "scenarios[near].flows[one].rate_mbps is 2; allowed with traffic.processes per-side: null."
    ]


def test_no_program_carries_flows_that_there_are_not(many):
    """Web objects have nginx and a client, and a declared program its server and client, so `per-side` has no flow to carry."""
    scenario = many["scenarios"][0]
    scenario["flows"] = [{"name": "web", "application": "web", "count": 5, "bytes": 20_000}]
    scenario["traffic"] |= {"duration_s": 30, "sample_interval_ms": None}
    (made,) = study.resolve(many, "small.yaml")["scenarios"]
    assert not RunSpecification({"scenario": made}).per_side
