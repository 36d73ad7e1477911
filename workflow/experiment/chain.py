"""Several bottlenecks in series (topology `chain`): one dumbbell scenario per bottleneck, the pairs of hosts, and the flows."""

from dataclasses import replace

from experiment.flow_groups import LongFlow
from experiment.host_pairs import Pair


def delays_around_ms(specification) -> list[float]:
    """Return the round-trip delay of each bottleneck's link in ms."""
    return [sum(one["delay_ms"].values()) for one in specification.chain.bottlenecks]


def scenarios_of_bottlenecks(specification) -> list[dict]:
    """Return one scenario per bottleneck: a dumbbell with the flows that cross the bottleneck; the flows keep their RTTs."""
    scenario, chain, around_ms = specification.scenario, specification.chain, delays_around_ms(specification)
    access_ms = specification.hosts.access_delay_ms
    return [
        {key: value for key, value in scenario.items() if key != "chain"}
        | {
            "topology": "dumbbell",
            "link": scenario["link"] | {key: one[key] for key in ("rate_mbps", "delay_ms")},
            "queue": one["queue"],
            "flows": specification.end_to_end_flows + chain.cross_flows,
            "hosts": {
                "pairs": 2,
                # The first pair's links include the delay of the other bottlenecks. A round trip crosses the hosts' own links four times.
                "access_delay_ms": [access_ms[0] + (sum(around_ms) - around_ms[number]) / 4, access_ms[number + 1]],
            },
        }
        for number, one in enumerate(chain.bottlenecks)
    ]


def pairs_of_chain(specification) -> list[Pair]:
    """Return the pairs of hosts: first the pair of the long flows, which cross all bottlenecks, then one pair per bottleneck."""
    around_ms, access_ms = delays_around_ms(specification), specification.hosts.access_delay_ms
    count = len(around_ms)
    passed = [(1, count), *((number, 1) for number in range(1, count + 1))]
    return [
        Pair(
            i, f"h{2 * i + 1}", f"h{2 * i + 2}", access_ms[i],
            sum(around_ms[first - 1 : first - 1 + hops]) + 4 * access_ms[i], first, hops,
        )
        for i, (first, hops) in enumerate(passed)
    ]  # fmt: skip


def on_chain(specification, flow) -> LongFlow:
    """Return a copy of a `LongFlow` with the pair and the CCA that the flow uses on a chain.

    The flow's number determines both: the lowest numbers belong to the flows that cross all bottlenecks, and the next numbers to the
    cross flows, bottleneck by bottleneck.
    """
    chain, crossing = specification.chain, flow.number - specification.end_to_end_flows
    if crossing < 0:
        return replace(flow, pair=0)
    return replace(flow, pair=1 + crossing // chain.cross_flows, cca=chain.cross_cca or flow.cca)
