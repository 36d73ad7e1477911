"""Bottlenecks in a row: how a study's values for them are completed, and what is refused."""

import pytest

from study_files import study as studies
from study_files.study_runs import run_specification


def resolved(**scenario):
    """Return the resolved scenario of a chain, with changes by section."""
    asked = {"id": "a", "topology": "chain", "link": {"rate_mbps": 10}, "chain": {"bottlenecks": 3}} | scenario
    return studies.resolve({"study": "small", "ccas": ["reno"], "scenarios": [asked]}, "small.yaml")


def test_each_bottleneck_has_all_of_its_own_or_the_links(capsys):
    own = [
        {},
        {"rate_mbps": 5, "delay_ms": {"forward": 3, "reverse": 0}},
        {"delay_ms": 7, "queue": {"discipline": "codel"}},
    ]
    study = resolved(chain={"bottlenecks": own, "cross_flows": 2}, queue={"packets": 9}, hosts={"access_delay_ms": 2})
    scenario = run_specification(study, "a", "reno", "ipv4", 1)["scenario"]
    first, second, third = scenario["chain"]["bottlenecks"]
    assert first == {"rate_mbps": 10, "delay_ms": {"forward": 10, "reverse": 10}, "queue": {"packets": 9}}
    assert second == {"rate_mbps": 5, "delay_ms": {"forward": 3, "reverse": 0}, "queue": {"packets": 9}}
    assert (third["delay_ms"], third["rate_mbps"]) == ({"forward": 7, "reverse": 7}, 10)
    assert third["queue"]["discipline"] == "codel" and third["queue"]["target_ms"] == 5
    assert scenario["hosts"] == {"pairs": 4, "access_delay_ms": [2, 2, 2, 2]}
    # Completed once, a scenario says the same again.
    again = studies.resolve({"study": "small", "ccas": ["reno"], "scenarios": [study["scenarios"][0]]}, "small.yaml")
    assert again["scenarios"] == study["scenarios"]


def test_other_scenarios_have_no_chain():
    study = resolved(topology="dumbbell", chain={})
    assert "chain" not in study["scenarios"][0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chain": {"bottlenecks": 1}}, "chain.bottlenecks is 1; allowed: a whole number from 2 to 10, or a list"),
        ({"chain": {"bottlenecks": 11}}, "chain.bottlenecks is 11; allowed: a whole number from 2 to 10, or a list"),
        ({"chain": {"bottlenecks": [{}]}}, "chain.bottlenecks is [{}]; allowed: a whole number from 2 to 10, or a list"),
        ({"chain": {"cross_flows": 0}}, "chain.cross_flows is 0; allowed: a whole number from 1 to 16 (flows)."),
        ({"chain": {"cross_cca": "cubik"}}, "did you mean 'cubic'? Allowed: one of null, bbr, "),
        (
            {"chain": {"bottlenecks": [{}, {"rate": 5}]}},
            "unknown key 'scenarios[a].chain.bottlenecks[1].rate'; did you mean 'rate_mbps'?",
        ),
        (
            {"chain": {"bottlenecks": [{}, {"rate_mbps": 0}]}},
            "chain.bottlenecks[1].rate_mbps is 0; allowed: a number from 0.01 to 10000 (Mbit/s).",
        ),
        ({"topology": "dumbbell"}, "chain.bottlenecks is 3; allowed with topology dumbbell: 2."),
        ({"topology": "cable", "chain": {"cross_flows": 2}}, "chain.cross_flows is 2; allowed with topology cable: 1."),
        ({"multipath": {"by": "mptcp", "paths": 2}}, "multipath.by is mptcp; allowed with topology chain: none."),
        ({"traffic": {"protocol": "udp"}}, "traffic.protocol is udp; allowed with topology chain: tcp"),
        ({"traffic": {"application": "ftp"}}, "traffic.application is ftp; allowed with topology chain: iperf3."),
        ({"link": {"rate_mbps": None}}, "link.rate_mbps is null; allowed with topology chain: a number (Mbit/s)"),
        ({"link": {"rate_mbps": 10, "netem": "both-ends"}}, "link.netem is both-ends; allowed with topology chain: receiving-side."),
        ({"hosts": {"pairs": 2}}, "hosts.pairs is 2; allowed with topology chain: no value, because a chain has one pair"),
        ({"hosts": {"access_delay_ms": [1, 2]}}, "hosts.access_delay_ms has 2 numbers; allowed: one for all pairs, or 4"),
        ({"variation": {"rate_percent": 1}}, "variation.rate_percent is 1; allowed with topology chain: 0."),
        ({"platform": "ns3:3.44"}, "topology is chain; allowed on ns3:3.44: dumbbell."),
        (
            {"chain": {"bottlenecks": [{}, {"delay_ms": 0}]}, "link": {"rate_mbps": 10, "jitter_ms": {"forward": 2, "reverse": 0}}},
            "chain.bottlenecks[1].link.jitter_ms.forward is 2; allowed: at most the delay in that direction, 0 (ms).",
        ),
        (
            {"chain": {"bottlenecks": [{}, {"queue": {"discipline": "codel", "burst_packets": 1}}]}},
            "chain.bottlenecks[1].queue.burst_packets is 1; allowed with queue.discipline codel: ",
        ),
        (
            {"chain": {"bottlenecks": [{"rate_mbps": 0.02}, {}]}},
            "chain.bottlenecks[0].queue.bdp is 1, 75 bytes; allowed: at least a packet of 1514 bytes",
        ),
    ],
)  # fmt: skip
def test_what_a_chain_cannot_be_is_refused_in_one_sentence(changes, message):
    with pytest.raises(studies.StudyError) as caught:
        resolved(**changes)
    (problem,) = caught.value.problems
    assert message in problem


def test_a_mix_is_a_dumbbells():
    scenario = {"id": "a", "topology": "chain", "flows": 2, "link": {"rate_mbps": 10}}
    with pytest.raises(
        studies.StudyError, match="topology is chain; allowed with the mix reno\\+cubic in ccas: dumbbell"
    ):
        studies.resolve({"study": "small", "ccas": ["reno+cubic"], "scenarios": [scenario]}, "small.yaml")
