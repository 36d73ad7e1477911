"""The validity of the runs: passed and failed checks, and the agreement of loss and delay with the configuration."""

from topics.packet_size.topic import compares_sizes_alone
from topics.topic import Analysis, Place, Plot, Topic
from topics.validity.tables import CHECK_COUNTS, VALIDITY


def _figures(design):
    if not compares_sizes_alone(design):
        yield Plot(
            "emulation",
            "plot_emulation",
            ("runs", "scenarios"),
            title="Loss and delay, realised",
            shows="realised against configured",
            params={"loss_changing": design.loss_changing_scenarios, "rtt_shifts_ms": design.rtt_shifts_ms},
        )


TOPIC = Topic(
    "validity",
    "Validity",
    order=290,
    heading="Validity",
    applies=lambda design: True,
    analyses=(Analysis("summarise_validity", ("runs", "checks"), (VALIDITY, CHECK_COUNTS)),),
    figures=_figures,
    place=Place.METHOD,
)
