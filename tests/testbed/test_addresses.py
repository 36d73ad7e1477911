"""Addresses and routes of networks with any number of host pairs or bottlenecks."""

from functools import cache
from ipaddress import ip_address, ip_interface, ip_network

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from experiment.chain_names import attached, ends, routers
from experiment.specification import RunSpecification
from study_files import study as studies
from testbed.network.addresses import (
    PREFIX,
    access_interface,
    between_routers,
    chain_routes,
    control_interface,
    plan_addresses,
    router_routes,
)

#: What a scenario allows; with pairs of both directions twice as many.
MOST_PAIRS, MOST_BOTTLENECKS = 1000, 10
#: Up to here addresses are as they always were, and so are the bytes of runs.
OLD_PAIRS, OLD_BOTTLENECKS = 128, 5


@cache
def resolved(scenario):
    """Return the specification of a scenario given as a tuple of its keys and values."""
    study = studies.resolve(
        {"study": "small", "ccas": ["reno"], "scenarios": [{"id": "a"} | dict(scenario)]}, "small.yaml"
    )
    return RunSpecification(studies.run_specification(study, "a", "reno", "ipv4", 1))


def dumbbell(pairs):
    """Return a dumbbell with the given number of pairs, without validating a study for each."""
    document = resolved(()).document
    hosts = {"pairs": pairs, "access_delay_ms": [0] * pairs, "qdisc": "none"}
    scenario = document["scenario"] | {"flows": pairs, "hosts": hosts}
    traffic = scenario["traffic"] | {"processes": "per-side"}
    return RunSpecification(document | {"scenario": scenario | {"traffic": traffic}})


def chain(bottlenecks):
    return resolved((("topology", "chain"), ("chain", _Frozen(bottlenecks=bottlenecks))))


class _Frozen(dict):
    def __hash__(self):
        return hash(tuple(self.items()))


def links_of(run):
    """Return the interfaces at both ends of each link."""
    control = [(control_interface(pair.sender), control_interface(pair.receiver)) for pair in run.control_pairs]
    if run.is_chain:
        between = [tuple(ends(number).values()) for number in range(1, len(run.bottlenecks) + 1)]
        return (
            control
            + between
            + [
                (access_interface(router, pair), f"{host}-eth0")
                for pair in run.pairs
                for router, host in attached(pair)
            ]
        )
    sides = [(router, host, pair) for pair in run.pairs for router, host in zip(("r1", "r2"), pair.ends, strict=True)]
    links = [
        *control,
        ("r1-eth1", "r2-eth1"),
        *((access_interface(router, pair), f"{host}-eth0") for router, host, pair in sides),
    ]
    return links


def assert_sound(run):
    """Check that each address is valid and unique, and that only the two ends of a link share a network."""
    planned, links = plan_addresses(run), links_of(run)
    assert sorted(name for names in links for name in names) == sorted(planned)
    for version in PREFIX:
        networks = []
        for names in links:
            here, there = (ip_interface(f"{planned[name][version]}/{PREFIX[version]}") for name in names)
            assert here.network == there.network
            assert here.ip != there.ip
            assert ip_network("10.0.0.0/8" if version == "ipv4" else "2001:db8::/32").supernet_of(here.network)
            assert here.network.network_address not in (here.ip, there.ip)
            networks.append(here.network)
        assert len(set(networks)) == len(networks)


def leads(routes, to):
    """Return the gateways of the routes that contain an address."""
    return {
        route.via for route in routes if (n := ip_network(route.network)).version == to.version and to in n
    }  # fmt: skip


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 2 * MOST_PAIRS))
@example(255)
@example(256)
@example(257)
@example(511)
@example(512)
@example(MOST_PAIRS)
@example(2 * MOST_PAIRS)
def test_pairs_of_a_dumbbell(pairs):
    run = dumbbell(pairs)
    assert_sound(run)
    planned, routes = plan_addresses(run), router_routes(run)
    for version in PREFIX:
        for pair in run.pairs[:1] + run.pairs[-1:]:
            sender, receiver = (ip_address(planned[f"{host}-eth0"][version]) for host in pair.ends)
            assert leads(routes["r1"], receiver) == {planned["r2-eth1"][version]}
            assert leads(routes["r2"], sender) == {planned["r1-eth1"][version]}
            # What is attached to a router is reached directly.
            assert leads(routes["r1"], sender) == leads(routes["r2"], receiver) == set()


@settings(max_examples=20, deadline=None)
@given(st.integers(2, MOST_BOTTLENECKS))
@example(9)
@example(MOST_BOTTLENECKS)
def test_bottlenecks_of_a_chain(bottlenecks):
    run = chain(bottlenecks)
    assert_sound(run)
    planned, routes = plan_addresses(run), chain_routes(run)
    assert len(routers(run)) == bottlenecks + 1
    own = {f"r{n}": between_routers(n, n) for n in range(1, bottlenecks + 1)}
    for version in PREFIX:
        first = run.pairs[0]
        to = ip_address(planned[f"{first.receiver}-eth0"][version])
        back = ip_address(planned[f"{first.sender}-eth0"][version])
        for number in range(1, bottlenecks + 1):
            assert leads(routes[f"r{number}"], to) == {between_routers(number, number + 1)[version]}
            assert leads(routes[f"r{number + 1}"], back) == {own[f"r{number}"][version]}


def test_addresses_stay_what_they_were():
    """Different addresses of an existing network would give its runs other bytes."""
    planned = plan_addresses(dumbbell(OLD_PAIRS))
    for number in range(1, OLD_PAIRS + 1):
        at = 0 if number == 1 else number
        for side, host in ((1, 2 * number - 1), (2, 2 * number)):
            for last, name in ((1, f"r{side}-eth{at}"), (2, f"h{host}-eth0")):
                assert planned[name] == {
                    "ipv4": f"10.{side}.{number}.{last}", "ipv6": f"2001:db8:{side}:{number:x}::{last}",
                }  # fmt: skip
    assert {str(route) for routes in router_routes(dumbbell(OLD_PAIRS)).values() for route in routes} == {
        "route 10.2.0.0/16 via 10.0.12.2", "route 2001:db8:2::/48 via 2001:db8:12::2",
        "route 10.1.0.0/16 via 10.0.12.1", "route 2001:db8:1::/48 via 2001:db8:12::1",
    }  # fmt: skip
    for bottlenecks in range(2, OLD_BOTTLENECKS + 1):
        planned = plan_addresses(chain(bottlenecks))
        for number in range(1, bottlenecks + 1):
            for router, name in ((number, f"r{number}-right"), (number + 1, f"r{number + 1}-left")):
                last = router - number + 1
                assert planned[name] == {
                    "ipv4": f"10.0.{number}{number + 1}.{last}", "ipv6": f"2001:db8:{number}{number + 1}::{last}",
                }  # fmt: skip
