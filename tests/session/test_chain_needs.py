"""The requirements of a chain on the machine's own kernel and cores."""

from session.host_needs import needs
from study_files import study as studies
from testbed.machine.cores import place


def parts(**changes):
    scenario = {"id": "a", "topology": "chain", "platform": "host", "link": {"rate_mbps": 10, "delay_ms": 0}} | changes
    study = studies.resolve({"study": "small", "ccas": ["reno"], "scenarios": [scenario]}, "small.yaml")
    return {need.part for need in needs(study) if need.part}


def test_a_chain_needs_what_its_bottlenecks_and_links_have():
    own = [{}, {"queue": {"discipline": "codel"}, "delay_ms": 5}]
    plain = parts(queue={"packets": 10})
    assert {"htb", "pfifo"} <= plain and not plain & {"netem", "ifb"}
    assert "netem" in parts(queue={"packets": 10}, hosts={"access_delay_ms": 1})
    managed = parts(queue={"packets": 10}, chain={"bottlenecks": own})
    assert {"htb", "pfifo", "codel", "netem", "ifb", "matchall", "mirred"} <= managed


def test_routers_of_a_chain_alternate_between_the_cores_of_two():
    placement = place({0, 1}, {0: {0}, 1: {1}})
    assert [placement.of(f"r{number}") for number in (1, 2, 3, 4)] == [0, 1, 0, 1]
    assert placement.roles(["h1", "h2", "r1", "r2", "r3"]) == {
        0: ["senders", "r1", "r3"],
        1: ["receivers", "r2", "program"],
    }
