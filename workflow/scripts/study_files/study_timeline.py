"""Describe problems with changes to the path over time, in sentences that start with the affected key."""

from collections.abc import Iterator

from experiment.conditions import POLICERS, policers_of
from experiment.packet_sizes import ETHERNET_HEADER_BYTES
from experiment.shaper_units import most_burst_bytes
from experiment.specification import RunSpecification
from experiment.timeline import DIRECTIONS, LOST_ALL, QUANTITIES, directions_of
from study_files.study_validation import exact, value_text

#: Maximum number of changes in a run, each of which is an entry in the run document.
CHANGES_LIMIT = 20_000


def timeline_problems(scenario) -> Iterator[str]:
    """Yield contradictions within the timeline of a resolved scenario, and between the timeline and other settings."""
    timeline = scenario["link"]["timeline"]
    if not timeline:
        return
    problems = list(changing_network_problems(scenario, "link.timeline"))
    problems += [problem for number, entry in enumerate(timeline) for problem in _of_entry(scenario, number, entry)]
    problems = problems or [*_at_one_time(timeline), *_lost_to_the_end(scenario)]
    yield from problems
    if not problems and (count := len(RunSpecification({"scenario": scenario}).timeline.changes)) > CHANGES_LIMIT:
        yield f"link.timeline makes {count:,} changes; allowed: up to {CHANGES_LIMIT:,}."


def policer_problems(scenario) -> Iterator[str]:
    """Yield problems with settings of a resolved scenario that can't be combined with its policers."""
    offload = scenario["transport"]["segmentation_offload"]
    for direction, policer in policers_of(scenario["link"]).items():
        key = POLICERS[direction]
        most = most_burst_bytes("policer", policer["rate_mbps"], ETHERNET_HEADER_BYTES)
        if policer["burst_bytes"] > most:
            yield f"link.{key}.burst_bytes is {policer['burst_bytes']}; allowed at {policer['rate_mbps']:g} Mbit/s: up to {most}."
        if scenario["topology"] != "dumbbell":
            yield f"topology is {scenario['topology']}; allowed with link.{key}: dumbbell."
        if offload:
            yield f"transport.segmentation_offload is true; allowed with link.{key}: false, because a super-packet exceeds the largest bucket."


def changing_network_problems(scenario, key) -> Iterator[str]:
    """Yield problems with settings that can't be combined with a path that changes because of ``key``."""
    traffic = scenario["traffic"]
    for name, value, allowed in (
        ("topology", scenario["topology"], "dumbbell"),
        ("link.netem", scenario["link"]["netem"], "receiving-side"),
        ("traffic.application", traffic["application"], "iperf3"),
        ("traffic.messages", traffic["messages"], None),
        ("transport.segmentation_offload", scenario["transport"]["segmentation_offload"], False),
    ):
        if value != allowed:
            yield f"{name} is {_plain(value)}; allowed with {key}: {_plain(allowed)}."


def _plain(value):
    return value if isinstance(value, str) else value_text(value)


def _of_entry(scenario, number, entry):
    """Yield problems with a single timeline entry."""
    where, link, duration_s = f"link.timeline[{number}]", scenario["link"], scenario["traffic"]["duration_s"]
    given = [name for name in (*QUANTITIES, "down_for_s") if entry[name] is not None]
    if not given:
        yield f"{where} changes nothing; allowed: at least one of rate_mbps, delay_ms, loss_percent and down_for_s."
    for key in ("over_s", "down_for_s"):
        if entry["at_s"] < duration_s and exact(duration_s) <= exact(entry["at_s"]) + exact(entry[key] or 0):
            yield (
                f"{where}.{key} is {entry[key]:g}, until {entry['at_s'] + entry[key]:g} s; allowed: a time that ends before "
                f"traffic.duration_s, {duration_s} (s)."
            )
    if entry["at_s"] >= duration_s:
        yield f"{where}.at_s is {entry['at_s']:g}; allowed: less than traffic.duration_s, {duration_s} (s)."
    if entry["over_s"] and entry["down_for_s"] is not None:
        yield f"{where}.over_s is {entry['over_s']:g}; allowed with down_for_s: 0, because a link goes down at once."
    if entry["loss_percent"] is not None and entry["down_for_s"] is not None:
        yield f"{where}.loss_percent is {entry['loss_percent']:g}; allowed with down_for_s: null, because a link that is down loses all packets."
    if entry["rate_mbps"] is not None and link["rate_mbps"] is None:
        yield f"{where}.rate_mbps is {entry['rate_mbps']:g}; allowed without a link.rate_mbps: null, because there is no bottleneck."
    for way in directions_of(entry):
        jitter_ms = link["jitter_ms"][way]
        if entry["delay_ms"] is not None and entry["delay_ms"] < jitter_ms:
            yield f"{where}.delay_ms is {entry['delay_ms']:g}; allowed: at least link.jitter_ms.{way}, {jitter_ms:g} (ms)."


def _lost_to_the_end(scenario):
    """Yield a problem for each direction in which all packets are lost at the end of the traffic.

    iperf3's control messages would then be lost as well.
    """
    run = RunSpecification({"scenario": scenario})
    for way in DIRECTIONS if run.flows and not run.control_network else ():
        if run.timeline.values(way, "loss_percent")[-1][1] == LOST_ALL:
            number = max(n for n, one in enumerate(scenario["link"]["timeline"]) if one["loss_percent"] == LOST_ALL)
            yield (
                f"link.timeline[{number}].loss_percent is {LOST_ALL}, and stays so until the traffic ends ({way}); allowed with "
                "traffic.control_connection data-path: less, or a later change to less, because iperf3 can't end without its control messages."
            )


def _at_one_time(timeline):
    """Yield a problem for each pair of entries that change the same quantity at the same time."""
    spans = {}
    for number, entry in enumerate(timeline):
        for name in (*QUANTITIES, "down_for_s"):
            if entry[name] is None:
                continue
            until_s = entry["at_s"] + (entry["down_for_s"] if name == "down_for_s" else entry["over_s"])
            for way in directions_of(entry):
                # While a link is down, all packets are lost; when it comes up again, its previous loss is restored.
                quantity = "loss_percent" if name == "down_for_s" else name
                spans.setdefault((way, quantity), []).append((entry["at_s"], until_s, number, name))
    seen = set()
    for (way, _), of_quantity in spans.items():
        ordered = sorted(of_quantity)
        for (_, until_s, first, _), (at_s, _, second, name) in zip(ordered, ordered[1:], strict=False):
            if at_s <= until_s and (first, second) not in seen:
                seen.add((first, second))
                yield (
                    f"link.timeline[{second}].{name} changes a quantity at {at_s:g} s that link.timeline[{first}] changes until {until_s:g} s "
                    f"({way}); allowed: one change to a quantity at a time."
                )
