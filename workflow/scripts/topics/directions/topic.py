"""Data in both directions at once: the goodput of each direction and the round-trip time, as in flent's RRUL test."""

from experiment.flow_groups import LONG, PROGRAM
from experiment.specification import RunSpecification
from experiment.timeline import DIRECTIONS
from study_files.program_ccas import program_names
from topics.directions.tables import DIRECTION_CELLS
from topics.topic import Analysis, Plot, Topic, mostly


def senders(scenario) -> dict[str, list[dict]]:
    """Return direction -> groups of long flows or programs of a resolved scenario."""
    groups = [group for group in scenario["groups"] if group["application"] in (LONG, PROGRAM)]
    return {way: [group for group in groups if group["direction"] == way] for way in DIRECTIONS}


def has_both(scenario) -> bool:
    """Return whether long flows or programs of a resolved scenario send in both directions."""
    return all(senders(scenario).values())


def _are_together(groups):
    times = {(group["start_s"], group["stop_s"], group["on_s"]) for group in groups}
    return len(times) == 1 and all(stop_s is not None and on_s is None for _, stop_s, on_s in times)


def apart(design) -> list[tuple[str, str]]:
    """Return (scenario, direction) for each direction whose flows send at different times, send a given amount of data, or pause.

    The goodputs of such flows don't add up.
    """
    ways = [
        (one["id"], way, groups) for one in filter(has_both, design.scenarios) for way, groups in senders(one).items()
    ]
    return [(name, way) for name, way, groups in ways if not _are_together(groups)]


def are_at_once(scenario) -> bool:
    """Return whether all long flows and programs of a resolved scenario send at the same time."""
    return _are_together([group for groups in senders(scenario).values() for group in groups])


def offered(design) -> dict[str, dict[str, float | None]]:
    """Return the average capacity in each direction, for scenarios with long flows or programs in both directions.

    Returns scenario -> direction -> capacity in Mbit/s, or None if nothing limits the rate.
    """
    found = {}
    for scenario in filter(has_both, design.scenarios):
        run = RunSpecification({"scenario": scenario, "ip_version": "ipv4"})
        until_ns = round(1e9 * run.expected_s)
        found[scenario["id"]] = {way: run.capacity_in(way).mean_mbps(0, until_ns) for way in DIRECTIONS}
    return found


def _figures(design):
    """Yield the figure that plots the reporting intervals over time."""
    if any(has_both(one) and one["traffic"]["processes"] != "per-side" for one in design.scenarios):
        yield Plot(
            "directions",
            "plot_directions",
            ("runs", "scenarios", "flows", "intervals"),
            "Both directions, over time",
            "means",
            {"programs": bool(program_names(design.study)), "over_udp": bool(program_names(design.study, ["udp"]))},
        )


def _params(design):
    return {"offered": offered(design), "apart": apart(design)}


TOPIC = Topic(
    "directions",
    "Both directions",
    order=45,
    heading="How do downloads and uploads affect each other?",
    applies=lambda design: any(map(has_both, design.scenarios)),
    leads=mostly(has_both),
    analyses=(Analysis("describe_directions", ("flows", "scenarios"), (DIRECTION_CELLS,), ("confidence",), params=_params),),
    figures=_figures,
    pictures=("directions",),
)  # fmt: skip
