"""How long packets wait, and how many are lost: the metrics by cell besides goodput."""

from topics.packet_size.topic import compares_sizes_alone
from topics.topic import Topic

TOPIC = Topic("delay_and_loss", "Delay, loss", applies=lambda design: not compares_sizes_alone(design))
