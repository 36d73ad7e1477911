"""What the size of messages does on a cable: throughput and round-trip time against exact calculation."""

from collections.abc import Iterator

from study_files.study_design import StudyDesign
from topics.packet_size.tables import SIZE_CELLS, SIZE_DIFFERENCES
from topics.packet_size.traffic import traffic_of
from topics.topic import Analysis, Plot, Topic

#: Figure -> the traffic of its rows of panels, what it shows of that, and the paper's number of it.
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
    """Return scenario -> bytes of a message, for those of one flow, or of single messages, over a cable.

    None can be compared by size if two are alike in traffic, size, environment, rate and platform: what they differ by
    (say a delay) is then what the study is about, and cells by size would mix it up.
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
    """Return whether a study has several sizes of messages."""
    return len(set(message_sizes(design).values())) > 1


def compares_sizes_alone(design: StudyDesign) -> bool:
    """Return whether a study examines only the effect of message sizes: then it compares sizes, not CCAs.

    Its cells have no metric in common, so that it has tables and figures of its own.
    """
    return compares_sizes(design) and tuple(message_sizes(design)) == design.scenario_names


def figures(design: StudyDesign) -> Iterator[Plot]:
    """Yield the topic's figures for a study: of each traffic that it has."""
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
