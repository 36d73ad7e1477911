"""Which traffic a scenario has whose messages can be compared by size, what is measured of it, what that is called."""

from dataclasses import dataclass

from wording.number_format import is_missing
from wording.scenario_words import rate_words

#: What is compared, as the column `question` has it.
IP_VERSION, ENVIRONMENT, PLATFORM = "IP version", "environment", "platform"
#: Values of the column `background`.
ENVIRONMENTS = {"none": "peer to peer", "server": "client-server"}


@dataclass(frozen=True)
class Quantity:
    """What is measured of a traffic: a column of ``tidy/runs.csv``, the unit here, the factor to it, and words."""

    metric: str
    unit: str
    factor: float
    words: str


THROUGHPUT = Quantity("goodput_mbps", "Mbit/s", 1.0, "throughput")
#: Too short for milliseconds.
ROUND_TRIP = Quantity("rtt_mean_ms", "µs", 1e3, "round trips")
QUANTITIES = (THROUGHPUT, ROUND_TRIP)


@dataclass(frozen=True)
class Traffic:
    """A kind of traffic: its name for readers, and the quantity measured."""

    name: str
    quantity: Quantity


TRAFFIC = {
    "tcp": Traffic("TCP, messages", THROUGHPUT),
    "tcp-segments": Traffic("TCP, segments", THROUGHPUT),
    "udp": Traffic("UDP", THROUGHPUT),
    "tcp-rtt": Traffic("TCP round trip", ROUND_TRIP),
    "udp-rtt": Traffic("UDP round trip", ROUND_TRIP),
}


def traffic_of(topology, multipath, flows, application, protocol, segment_bytes) -> str | None:
    """Return which traffic a scenario has, a key of `TRAFFIC`; None if it isn't one flow over one cable.

    ``segment_bytes`` is TCP's limit of a segment: None or nan where the kernel chooses.
    """
    if (topology, multipath, flows) != ("cable", "none", 1) or application not in ("iperf3", "round-trip"):
        return None
    if application == "round-trip":
        return f"{protocol}-rtt"
    return "tcp-segments" if protocol == "tcp" and not is_missing(segment_bytes) else protocol


def is_round_trip(traffic: str) -> bool:
    """Return whether single messages go back and forth."""
    return TRAFFIC[traffic].quantity is ROUND_TRIP


def network_words(table) -> dict[tuple, str]:
    """Return (CCA, rate) -> what tells a table's cells apart besides traffic, environment, IP version and size.

    That is "", "reno", "1 Gbit/s" or "reno, 1 Gbit/s", in the table's order.
    """
    has_ccas, has_rates = (table[name].nunique(dropna=False) > 1 for name in ("cca", "rate_mbps"))
    return {
        (cca, rate): ", ".join([cca] * has_ccas + [rate_words(rate)] * has_rates)
        for cca, rate in table[["cca", "rate_mbps"]].drop_duplicates().itertuples(index=False)
    }
