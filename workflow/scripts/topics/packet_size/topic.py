"""The effect of the message size on throughput and round-trip time over a cable, compared with an exact calculation."""

from collections.abc import Iterator

from study_files.study_design import StudyDesign
from topics.packet_size.tables import SIZE_CELLS, SIZE_DIFFERENCES
from topics.packet_size.traffic import traffic_of
from topics.topic import Analysis, Plot, Topic

#: Figure -> the kinds of traffic (one per row of panels), the quantity shown, and the figure's number in the paper.
VALUES = {
    "size-tcp-throughput": (["tcp", "tcp-segments"], "throughput of TCP", "2"),
    "size-udp-throughput": (["udp"], "throughput of UDP", "3"),
    "size-tcp-rtt": (["tcp-rtt"], "round-trip time of TCP", "4"),
    "size-udp-rtt": (["udp-rtt"], "round-trip time of UDP", "5"),
}


def _traffic_of(scenario: dict) -> str | None:
    sent = scenario["traffic"]
    return traffic_of(
        scenario["topology"], scenario["multipath"]["by"], scenario["flows"], sent["application"], sent["protocol"],
        scenario["transport"]["segment_bytes"],
    )  # fmt: skip


def message_sizes(design: StudyDesign) -> dict[str, int]:
    """Return scenario -> message size in bytes, for scenarios in which one flow or individual messages cross one cable.

    The result is empty if two scenarios agree in traffic, size, environment, rate and platform. Such a study is about another factor,
    for example a delay, and a comparison of sizes would mix the levels of this factor.
    """
    sizes, places = {}, set()
    for scenario in design.scenarios:
        traffic = _traffic_of(scenario)
        if traffic is not None:
            size, rate = scenario["traffic"]["block_bytes"], scenario["link"]["rate_mbps"]
            place = (traffic, size, scenario["background"], rate, scenario["platform"])
            if place in places:
                return {}
            places.add(place)
            sizes[scenario["id"]] = size
    return sizes


def compares_sizes(design: StudyDesign) -> bool:
    """Return whether a study includes several message sizes."""
    return len(set(message_sizes(design).values())) > 1


def compares_sizes_alone(design: StudyDesign) -> bool:
    """Return whether a study compares only message sizes, and no CCAs.

    The cells of such a study share no metric, so separate tables and figures show its results.
    """
    return compares_sizes(design) and tuple(message_sizes(design)) == design.scenario_names


def figures(design: StudyDesign) -> Iterator[Plot]:
    """Yield the topic's figures for each kind of traffic in a study."""
    sent = {_traffic_of(scenario) for scenario in design.scenarios}
    for slug, (traffics, what, number) in VALUES.items():
        if sent.isdisjoint(traffics):
            continue
        inputs, shows = ("size_cells", "other_size_cells"), "means, intervals, calculation"
        title, params = f"{what[0].upper()}{what[1:]} (figure {number})", {"traffics": traffics, "what": what}
        yield Plot(slug, "plot_sizes", inputs, title, shows, params | {"number": number}, "size-values")
    if design.ip_versions_compared:
        shows = "IP versions, and platforms if both exist"
        yield Plot("size-differences", "plot_size_differences", ("size_differences",), "Differences by size", shows)


TOPIC = Topic(
    "packet_size",
    "Packet size",
    order=130,
    heading="What is the effect of the message size?",
    applies=compares_sizes,
    analyses=(
        Analysis(
            "measure_sizes",
            ("other_size_cells", "runs", "flows", "scenarios"),
            (SIZE_CELLS, SIZE_DIFFERENCES),
            ("confidence",),
            params=lambda design: {"printed": design.paper.get("cells")},
        ),
    ),
    figures=figures,
    pictures=("size-tcp-throughput", "size-udp-throughput"),
)
