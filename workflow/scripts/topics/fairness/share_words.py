"""Conditions of scenarios in which flows share a link, as the panels' titles say them."""

from wording.number_format import is_missing, plain
from wording.scenario_words import heading, rate_words


def share_conditions(scenario, rtts_ms) -> str:
    """Return what a scenario sets in one line: "10 Mbit/s, RTT 40 and 160 ms, 1 BDP, 1 % loss".

    The scenario is a row of ``tidy/scenarios.csv``; the RTTs are those of the empty paths of the positions, in their order.
    """
    rtts = " and ".join(plain(float(f"{rtt:.6g}")) for rtt in dict.fromkeys(rtts_ms) if not is_missing(rtt))
    parts = [rate_words(scenario["rate_mbps"]), f"RTT {rtts} ms" if rtts else "", _queue_words(scenario["queue"])]
    if scenario["loss_forward_percent"] > 0:
        parts.append(f"{plain(scenario['loss_forward_percent'])} % loss")
    return ", ".join(filter(None, parts))


def _queue_words(queue):
    """Return a queue's size with separators: "100,000 bytes"."""
    amount, _, unit = queue.partition(" ")
    return f"{plain(float(amount))} {unit}" if unit and amount.replace(".", "", 1).isdigit() else queue


def scenario_name(scenario) -> str:
    """Return a scenario's name as a panel's title: its label as a sentence begins, "Scenario 1" for a number, else its id."""
    name = heading(scenario)
    return name if name == scenario["scenario"] else f"{name[:1].upper()}{name[1:]}"
