"""What the size of messages does on a cable: throughput and round-trip time against exact calculation."""

from study_topics.topic import Figure, Topic

#: Figure -> what it shows, the paper's number of it.
SHOWN = {
    "size-tcp-throughput": ("throughput of TCP", "2"),
    "size-udp-throughput": ("throughput of UDP", "3"),
    "size-tcp-rtt": ("round-trip time of TCP", "4"),
    "size-udp-rtt": ("round-trip time of UDP", "5"),
}


def _figures(design):
    for slug, (what, number) in SHOWN.items():
        yield Figure(slug, "size-values", {"what": what, "number": number})
    if design.ip_versions_compared:
        yield Figure("size-differences")


TOPIC = Topic(
    "packet_size",
    "Packet size",
    applies=lambda design: design.message_sizes > 1,
    tables=("size_cells", "size_differences"),
    figures=_figures,
)
