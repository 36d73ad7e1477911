"""Kinds of traffic whose messages can be compared by size, the measured quantities, and their names."""

from dataclasses import dataclass

from wording.number_format import is_missing
from wording.scenario_words import rate_words

#: Values of the column `question`: the factors that are compared.
IP_VERSION, ENVIRONMENT, PLATFORM = "IP version", "environment", "platform"
#: Values of the column `background`.
ENVIRONMENTS = {"none": "peer to peer", "server": "client-server"}


@dataclass(frozen=True)
class Quantity:
    """A measured quantity: a column of ``tidy/runs.csv``, and the quantity's name in words.

    Values are shown in ``unit``; ``factor`` converts the column to this unit.
    """

    metric: str
    unit: str
    factor: float
    words: str


THROUGHPUT = Quantity("goodput_mbps", "Mbit/s", 1.0, "throughput")
#: In µs, since round trips are too short for milliseconds.
ROUND_TRIP = Quantity("rtt_mean_ms", "µs", 1e3, "round trips")
QUANTITIES = (THROUGHPUT, ROUND_TRIP)


@dataclass(frozen=True)
class Traffic:
    """A kind of traffic: its displayed name, and the quantity that is measured."""

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
    """Return a scenario's kind of traffic, a key of `TRAFFIC`; None if the scenario isn't one flow over one cable.

    ``segment_bytes`` is TCP's limit on the segment size: None or nan if the kernel chooses.
    """
    if (topology, multipath, flows) != ("cable", "none", 1) or application not in ("iperf3", "round-trip"):
        return None
    if application == "round-trip":
        return f"{protocol}-rtt"
    return "tcp-segments" if protocol == "tcp" and not is_missing(segment_bytes) else protocol


def is_round_trip(traffic: str) -> bool:
    """Return whether a kind of traffic consists of individual messages, each sent and returned."""
    return TRAFFIC[traffic].quantity is ROUND_TRIP


def network_words(table) -> dict[tuple, str]:
    """Return, by CCA and rate, words that distinguish cells with the same traffic, environment, IP version and size.

    The words are "", "reno", "1 Gbit/s" or "reno, 1 Gbit/s". The keys are in the order of the table.
    """
    has_ccas, has_rates = (table[name].nunique(dropna=False) > 1 for name in ("cca", "rate_mbps"))
    return {
        (cca, rate): ", ".join([cca] * has_ccas + [rate_words(rate)] * has_rates)
        for cca, rate in table[["cca", "rate_mbps"]].drop_duplicates().itertuples(index=False)
    }
