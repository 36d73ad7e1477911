"""The goodput of the CCAs, and the price of this goodput in retransmissions and delay."""

from study_files.study_design import has_own_flows
from topics.ccas.topic import one_cca_a_run
from topics.packet_size.topic import compares_sizes_alone
from topics.topic import Plot, Topic


def _figure(name, title, shows="replications, means"):
    return Plot(name, f"plot_{name}", ("runs", "scenarios"), title=title, shows=shows, category="CCAs compared")


def _has_delay(scenario) -> bool:
    """Return whether a resolved scenario's runs measure a goodput, and a round-trip time that can be compared with the base RTT."""
    sent = scenario["traffic"]
    streams = sent["protocol"] == "tcp" and sent["application"] in ("iperf3", "ftp") and has_own_flows(scenario)
    return streams and len(set(scenario["multipath"]["path_delay_ms"])) == 1


def _figures(design):
    yield _figure("ideal", "Goodput over the ideal", "means")
    if one_cca_a_run(design):
        yield _figure("price", "Goodput against retransmissions")
    if any(map(_has_delay, design.scenarios)):
        yield _figure("knee", "Goodput against delay", "replications, means, ellipses")
    if not one_cca_a_run(design):
        return
    yield _figure("distributions", "Distribution of goodput", "empirical distributions")


TOPIC = Topic(
    "speed",
    "Speed",
    order=180,
    heading="How fast, and at what price?",
    applies=lambda design: design.has_own_flows and not compares_sizes_alone(design),
    figures=_figures,
    brief=("knee", "price"),
)
