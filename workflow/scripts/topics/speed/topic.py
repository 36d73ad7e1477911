"""How fast the CCAs are, and what that costs in retransmissions and delay."""

from topics.ccas.topic import one_cca_a_run
from topics.packet_size.topic import compares_sizes_alone
from topics.theory.topic import one_path
from topics.topic import Figure, Topic


def _figure(name, title, shows="replications, means"):
    return Figure(name, f"plot_{name}", ("runs", "scenarios"), title=title, shows=shows, category="CCAs compared")


def _figures(design):
    yield _figure("ideal", "Goodput over the ideal", "means")
    if not one_cca_a_run(design):
        return
    yield _figure("price", "Goodput against retransmissions")
    if one_path(design):
        yield _figure("knee", "Goodput against queueing delay")
    yield _figure("distributions", "Distribution of goodput", "empirical distributions")


TOPIC = Topic("speed", "Speed", applies=lambda design: not compares_sizes_alone(design), figures=_figures)
