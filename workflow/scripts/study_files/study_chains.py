"""Fill in the defaults of bottleneck chains, and describe problems with chains in sentences that start with the affected key."""

from collections.abc import Iterator

from experiment.disciplines import completed
from study_files.study_queues import queue_problems
from study_files.study_schema import keys_of, scenario_schema
from study_files.study_validation import value_text
from study_files.study_variation import QUANTITIES

#: Quantities that `variation` can draw at random in a chain; all other quantities are set separately for each bottleneck.
DRAWN = ("start_ms",)


def with_bottlenecks(scenario) -> dict:
    """Complete the bottlenecks and the number of host pairs in a scenario with a chain.

    Queue parameters are not yet filled in. A scenario without a chain is returned unchanged.
    """
    if scenario["topology"] != "chain":
        return scenario
    chain, link, hosts = (scenario[key] for key in ("chain", "link", "hosts"))
    asked = chain["bottlenecks"]
    common = {"rate_mbps": link["rate_mbps"], "delay_ms": link["delay_ms"], "queue": scenario["queue"]}
    bottlenecks = [common | _directions(one) for one in ([{}] * asked if isinstance(asked, int) else asked)]
    pairs = len(bottlenecks) + 1 if hosts["pairs"] == 1 else hosts["pairs"]
    return scenario | {"chain": chain | {"bottlenecks": bottlenecks}, "hosts": hosts | {"pairs": pairs}}


def without_unused(scenario) -> dict:
    """Return a resolved scenario without unused keys, so that specifications are the same as before these keys existed.

    These keys are `chain` (with another topology), `reverse_queue` (if it is null), and all keys of `multipath` that are null.
    """
    unused = {"chain": scenario["topology"] != "chain", "reverse_queue": scenario["reverse_queue"] is None}
    left = {key: value for key, value in scenario.items() if not unused.get(key)}
    paths = {key: value for key, value in scenario["multipath"].items() if value is not None}
    return left | {"multipath": paths}


def _directions(bottleneck):
    """Return the settings of a bottleneck as given, but with one delay per direction."""
    delay_ms = bottleneck.get("delay_ms")
    if delay_ms is None or isinstance(delay_ms, dict):
        return bottleneck
    return bottleneck | {"delay_ms": {"forward": delay_ms, "reverse": delay_ms}}


def queues_of_chain(scenario) -> Iterator[str]:
    """Complete the queues of all bottlenecks in a chain in place, and yield problems with these queues."""
    if scenario["topology"] != "chain":
        return
    for number, one in enumerate(scenario["chain"]["bottlenecks"]):
        problems = list(queue_problems(one["queue"])) if one["queue"] is not scenario["queue"] else []
        yield from (f"chain.bottlenecks[{number}].{problem}" for problem in problems)
    if not any(list(queue_problems(one["queue"])) for one in scenario["chain"]["bottlenecks"]):
        scenario["chain"]["bottlenecks"] = [
            one | {"queue": completed(one["queue"])} for one in scenario["chain"]["bottlenecks"]
        ]


def chain_problems(scenario) -> Iterator[str]:
    """Yield problems with the chain of a resolved scenario or, without a chain, with settings that require one."""
    if scenario["topology"] != "chain":
        yield from _needs_chain(scenario)
        return
    link, traffic, transport = (scenario[key] for key in ("link", "traffic", "transport"))
    for key, value, allowed, why in (
        ("link.netem", link["netem"], "receiving-side", ""),
        ("traffic.application", traffic["application"], "iperf3", ""),
        (
            "traffic.protocol",
            traffic["protocol"],
            "tcp",
            ", because cross flows without congestion control would not give way",
        ),
        ("traffic.messages", traffic["messages"], None, ", so that all flows have the same duration"),
        ("transport.segmentation_offload", transport["segmentation_offload"], False, ""),
    ):
        if value != allowed:
            yield f"{key} is {_plain(value)}; allowed with topology chain: {_plain(allowed)}{why}."
    if transport["cca_set_by"] == "sysctl" and scenario["chain"]["cross_cca"]:
        yield "transport.cca_set_by is sysctl; allowed with chain.cross_cca: socket."
    if scenario["groups"]:
        yield "flows is a list of groups; allowed with topology chain: the number of flows that cross all bottlenecks."
    pairs, count = scenario["hosts"]["pairs"], len(scenario["chain"]["bottlenecks"])
    if pairs != count + 1:
        yield (
            f"hosts.pairs is {pairs}; allowed with topology chain: no value, because a chain has one pair for the flows that cross all of its "
            f"{count} bottlenecks and one for the cross flows of each bottleneck."
        )
    elif len(delays := scenario["hosts"]["access_delay_ms"]) != pairs:
        yield (
            f"hosts.access_delay_ms has {len(delays)} numbers; allowed: one for all pairs, or {pairs}: for the flows that cross all of the "
            f"chain's {count} bottlenecks, then for the cross flows of each bottleneck."
        )
    if any(one["rate_mbps"] is None for one in scenario["chain"]["bottlenecks"]):
        yield "link.rate_mbps is null; allowed with topology chain: a number (Mbit/s), here or in each of chain.bottlenecks."
    for quantity in QUANTITIES:
        if quantity not in DRAWN and scenario["variation"][quantity]:
            yield f"variation.{quantity} is {scenario['variation'][quantity]}; allowed with topology chain: 0."


def _plain(value):
    return value if isinstance(value, str) else value_text(value)


def _needs_chain(scenario):
    """Yield problems with settings that are allowed only with a chain."""
    for key, node in keys_of(keys_of(scenario_schema())["chain"]).items():
        if (value := scenario.get("chain", {}).get(key, node["default"])) != node["default"]:
            yield f"chain.{key} is {value_text(value)}; allowed with topology {scenario['topology']}: {_plain(node['default'])}."


def chain_mix_problems(scenario, ccas) -> Iterator[str]:
    """Yield a problem if a scenario has a chain although the study contains a mix of CCAs, which can't run on a chain."""
    mix = next((cca for cca in ccas if "+" in cca), None)
    if scenario["topology"] == "chain" and mix:
        yield f"topology is chain; allowed with the mix {mix} in ccas: dumbbell; chain.cross_cca sets another CCA for cross flows."
