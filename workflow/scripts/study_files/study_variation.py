"""Derive the random conditions of a scenario's replications, such as RTT and rate, from the seeds of the runs.

A scenario's `variation` sets the ranges. Most ranges are centred on the scenario's own value. A drawn value depends only on the quantity and
the run's seed, so the conditions of a replication are the same for all CCAs and IP versions. If a further quantity is drawn, the values of
the others don't change.

Standard library only: the scripts in the analysis image need it too.
"""

import hashlib
import itertools
import math
from collections.abc import Iterator

from experiment.disciplines import MEASURES
from experiment.packet_sizes import PACKET_BYTES
from experiment.shaper_units import rate_bps
from experiment.specification import RunSpecification

#: Quantities that can be drawn (keys of `variation`).
QUANTITIES = ("rtt_percent", "rate_percent", "queue_packets", "background_percent", "start_ms", "down_percent")
#: Significant digits of drawn delays, with which they can be read back exactly, because tc prints six digits of a delay.
DELAY_DIGITS = 6


def is_varied(scenario) -> bool:
    """Return whether any condition of a resolved scenario is drawn at random."""
    return any(scenario["variation"].values())


def share_drawn(seed, quantity) -> float:
    """Draw the relative position of a quantity within its range, uniformly distributed from 0 to below 1.

    The position consists of the first 53 bits (the precision of a float) of the SHA-256 of `sawtooth-variation/1 <seed> <quantity>`.
    """
    digest = hashlib.sha256(f"sawtooth-variation/1 {seed} {quantity}".encode("ascii")).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def drawn(scenario, seed) -> dict:
    """Return a resolved scenario with conditions drawn for a seed; all other values are shared with the given scenario."""
    if not is_varied(scenario):
        return scenario
    return varied(scenario, {quantity: share_drawn(seed, quantity) for quantity in QUANTITIES})


def corners(scenario) -> Iterator[dict]:
    """Yield a resolved scenario for each combination of lower and upper bounds of the drawn quantities.

    All quantities are at their lower bounds in the first scenario and at their upper bounds in the last scenario.
    """
    quantities = [quantity for quantity in QUANTITIES if scenario["variation"][quantity]]
    for ends in itertools.product((0.0, 1.0), repeat=len(quantities)):
        yield varied(scenario, dict(zip(quantities, ends, strict=True)))


def varied(scenario, shares) -> dict:
    """Return a resolved scenario in which the varied conditions are at given positions within their ranges.

    All delays and jitters are multiplied by the same factor. A queue in BDPs stays a queue in BDPs, unless `queue_packets` is drawn: it
    then becomes a queue in packets.

    Parameters
    ----------
    scenario : dict
        Resolved scenario (`study.resolve`).
    shares : dict of str to float
        Relative position within the range, from 0 to 1, by quantity.
    """
    asked, link = scenario["variation"], dict(scenario["link"])
    result = scenario | {"link": link}
    if asked["rtt_percent"]:
        factor = _factor(asked["rtt_percent"], shares["rtt_percent"])
        for key in ("delay_ms", "jitter_ms"):
            link[key] = {way: _rounded(value * factor) for way, value in link[key].items()}
        for section, key in (("hosts", "access_delay_ms"), ("multipath", "path_delay_ms")):
            delays = [_rounded(value * factor) for value in scenario[section][key]]
            result[section] = scenario[section] | {key: delays}
    if asked["rate_percent"]:
        factor = _factor(asked["rate_percent"], shares["rate_percent"])
        for key in (key for key in ("rate_mbps", "reverse_rate_mbps") if link[key] is not None):
            link[key] = _drawn_rate(link[key], factor)
        if of_paths := result["multipath"].get("path_rate_mbps"):
            rates = [_drawn_rate(rate_mbps, factor) for rate_mbps in of_paths]
            result["multipath"] = result["multipath"] | {"path_rate_mbps": rates}
    if asked["queue_packets"]:
        most = asked["queue_packets"]
        more = min(math.floor(shares["queue_packets"] * (2 * most + 1)), 2 * most) - most
        result["queue"] = _longer_queue(result, more)
    if asked["background_percent"]:
        there = 100 * shares["background_percent"] < asked["background_percent"]
        result["background"] = "server" if there else "none"
    if asked["start_ms"]:
        within_ms = scenario["traffic"]["start_within_ms"]
        least_ms = run_of(result).rtt_longest_ms if within_ms is None else within_ms
        later_ms = _rounded(least_ms + shares["start_ms"] * asked["start_ms"])
        result["traffic"] = scenario["traffic"] | {"start_within_ms": later_ms}
    if asked["down_percent"]:
        factor = _factor(asked["down_percent"], shares["down_percent"])
        link["timeline"] = [_with_outage(entry, factor) for entry in link["timeline"]]
    return result


def variation_words(variation) -> str:
    """Return the drawn quantities in words, such as "RTT ±1 %, queue ±1 packet", or an empty text if nothing is drawn."""
    words = {
        "rtt_percent": "RTT ±{:g} %",
        "rate_percent": "rate ±{:g} %",
        "queue_packets": "queue ±{:g} " + ("packet" if variation["queue_packets"] == 1 else "packets"),
        "background_percent": "background traffic in {:g} % of the replications",
        "start_ms": "flows start within a time longer by up to {:g} ms",
        "down_percent": "time down ±{:g} %",
    }
    return ", ".join(text.format(variation[quantity]) for quantity, text in words.items() if variation[quantity])


def _with_outage(entry, factor):
    """Return a timeline entry; if it is an outage, its duration is multiplied by a factor and rounded to milliseconds."""
    down_s = entry["down_for_s"]
    return entry if down_s is None else entry | {"down_for_s": _plain(max(round(down_s * factor, 3), 0.001))}


def run_of(scenario, ip_version="ipv4") -> RunSpecification:
    """Return the specification of runs of a resolved scenario over an IP version."""
    return RunSpecification({"scenario": scenario, "ip_version": ip_version})


def _factor(percent, share):
    return 1 + (2 * share - 1) * percent / 100


def _rounded(value_ms):
    return _plain(float(f"{value_ms:.{DELAY_DIGITS}g}"))


def _drawn_rate(rate_mbps, factor):
    """Return a rate multiplied by a factor and rounded as the kernel stores it."""
    return _plain(rate_bps(rate_mbps * factor) / 1e6)


def _plain(value):
    """Convert a whole number to int, as `study.resolve` does."""
    return int(value) if float(value).is_integer() else value


def _longer_queue(scenario, packets):
    """Return the queue of a scenario, enlarged by a number of packets, which may be negative."""
    discipline = {key: value for key, value in scenario["queue"].items() if key not in MEASURES}
    if "bytes" in scenario["queue"]:
        return {"bytes": scenario["queue"]["bytes"] + packets * PACKET_BYTES} | discipline
    return {"packets": run_of(scenario).queue_packets + packets} | discipline
