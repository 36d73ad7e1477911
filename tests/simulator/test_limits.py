"""Settings that ns-3 doesn't support are refused in one sentence, before any run."""

import json

import pytest

from simulator.limits import CCAS, refusals


@pytest.fixture
def scenario(specification):
    return specification(link={"delay_ms": {"forward": 10, "reverse": 10}})["scenario"]


def changed(scenario, section, **values):
    """Return a copy of a scenario with other values in a section."""
    copy = json.loads(json.dumps(scenario))
    copy[section].update(values)
    return copy


def test_a_plain_scenario_with_every_cca_is_not_refused(scenario):
    assert refusals(scenario, [*CCAS, "reno+cubic"], ["ipv4", "ipv6"]) == []


@pytest.mark.parametrize(
    ("section", "key", "value", "allowed"),
    [
        ("link", "rate_mbps", None, "a number (Mbit/s)"),
        ("link", "jitter_ms", {"forward": 0, "reverse": 2}, "0"),
        (
            "link",
            "delay_ms",
            {"forward": 10, "reverse": 11},
            "the same for both, because a channel there has one delay",
        ),
        ("link", "netem", "both-ends", "receiving-side"),
        ("traffic", "bitrate_mbps", 5, "null, bulk transfers only"),
        ("transport", "segmentation_offload", True, "false, because it has no super-packets"),
        ("transport", "cca_set_by", "sysctl", "socket, because it has no kernel to ask"),
    ],
)
def test_what_it_can_not_do_is_refused_in_one_sentence(scenario, section, key, value, allowed):
    sentences = refusals(changed(scenario, section, **{key: value}), ["reno"], ["ipv4"])
    assert len(sentences) == 1
    assert sentences[0].startswith(f"scenarios[{scenario['id']}].{section}.{key}")
    assert sentences[0].endswith(f"; allowed on ns3:3.44: {allowed}.")


def test_a_cca_that_it_lacks_is_named_once_wherever_it_stands(scenario):
    sentences = refusals(scenario, ["reno", "cdg+reno", "cdg"], ["ipv4"])
    assert len(sentences) == 1
    assert "which has no cdg;" in sentences[0]
    assert "which has no dctcp (" in refusals(scenario, ["dctcp"], ["ipv4"])[0]


def test_another_version_is_refused(scenario):
    (sentence,) = refusals({**scenario, "platform": "ns3:3.40"}, ["reno"], ["ipv4"])
    assert sentence.endswith("platform is ns3:3.40; allowed for ns3: ns3:3.39, ns3:3.42, ns3:3.43, ns3:3.44.")
