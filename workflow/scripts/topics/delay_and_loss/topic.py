"""Delay and loss: all metrics except goodput, by cell, and percentiles of delays."""

from study_files.program_ccas import programs_under_test
from topics.delay_and_loss.tables import DELAY_PERCENTILES
from topics.packet_size.topic import compares_sizes_alone
from topics.topic import Analysis, Topic


def _brief(design):
    """Return the figures of RTT and loss; a program over UDP has no known retransmissions, but its lost packets are counted."""
    over_udp = any(program["protocol"] == "udp" for program in programs_under_test(design.study).values())
    return "rtt", "loss" if over_udp else "retransmits"


TOPIC = Topic(
    "delay_and_loss",
    "Delay, loss",
    order=210,
    heading="How long do packets wait, and how many are lost?",
    applies=lambda design: not compares_sizes_alone(design),
    analyses=(Analysis("estimate_percentiles", ("runs",), (DELAY_PERCENTILES,), ("confidence",)),),
    brief=_brief,
)
