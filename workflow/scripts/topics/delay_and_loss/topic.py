"""Delay and loss: all metrics except goodput, by cell, and percentiles of delays."""

from topics.delay_and_loss.tables import DELAY_PERCENTILES
from topics.packet_size.topic import compares_sizes_alone
from topics.topic import Analysis, Topic

TOPIC = Topic(
    "delay_and_loss",
    "Delay, loss",
    order=210,
    heading="How long do packets wait, and how many are lost?",
    applies=lambda design: not compares_sizes_alone(design),
    analyses=(Analysis("estimate_percentiles", ("runs",), (DELAY_PERCENTILES,), ("confidence",)),),
    brief=("rtt", "retransmits"),
)
