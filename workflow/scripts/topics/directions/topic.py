"""Data in both directions at once: the goodput of each direction and the round-trip time, as in flent's RRUL test."""

from experiment.specification import RunSpecification
from experiment.timeline import DIRECTIONS
from study_files.study_features import FEATURES
from topics.directions.tables import DIRECTION_CELLS
from topics.topic import Analysis, Plot, Topic, mostly

has_both = FEATURES["reverse flows"]


def offered(design) -> dict[str, dict[str, float | None]]:
    """Return the average capacity in each direction, for scenarios with data in both directions.

    Returns scenario -> direction -> capacity in Mbit/s, or None if nothing limits the rate.
    """
    found = {}
    for scenario in filter(has_both, design.scenarios):
        run = RunSpecification({"scenario": scenario, "ip_version": "ipv4"})
        until_ns = round(1e9 * run.expected_s)
        found[scenario["id"]] = {way: run.capacity_in(way).mean_mbps(0, until_ns) for way in DIRECTIONS}
    return found


def _figures(design):
    """Yield the figure that plots iperf3's interval reports over time."""
    if any(has_both(one) and one["traffic"]["processes"] != "per-side" for one in design.scenarios):
        yield Plot(
            "directions",
            "plot_directions",
            ("runs", "scenarios", "flows", "intervals"),
            "Both directions, over time",
            "means",
        )


def _params(design):
    return {"offered": offered(design)}


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
