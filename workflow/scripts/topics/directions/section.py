"""The section on bidirectional data: the goodput of each direction, and the round-trip time during the transfer."""

from experiment.flow_groups import OWN
from experiment.programs import Program
from report_parts.cells_table import CCA, IP_VERSION, SCENARIO, N, PageTable, shown_interval, shown_number, shown_text
from report_parts.material import Finding
from run_tables.run_keys import CELL
from topics.directions.topic import are_at_once, senders
from wording.number_format import count, is_missing, number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed, short

SHOWN = (
    SCENARIO, CCA, IP_VERSION, shown_text("Direction", "direction", filtered=True), shown_number("Flows", "flows", 0), N,
    shown_number("Goodput, Mbit/s", "goodput_mbps"), shown_interval("Interval", "goodput_mbps", 3),
    shown_number("% of the rate", "used_percent", 1), shown_interval("Interval of %", "used_percent", 1),
    shown_number("RTT, ms", "rtt_mean_ms", 1), shown_number("Empty path, ms", "rtt_path_ms", 1),
)  # fmt: skip
TABLES = {"table": PageTable("direction-cells", "Results of each direction", "direction_cells", SHOWN)}
#: Largest number of cells that are described individually in findings.
FEW = 3


def findings(material) -> list[Finding]:
    """Return a finding for each of the first `FEW` cells whose flows send at once: goodputs, and RTT compared with the base RTT."""
    cells, sentences = material.ranked(material.tables.direction_cells), []
    several = {name: cells[name].nunique() > 1 for name in ("cca", "ip_version")}
    at_once = {scenario["id"]: scenario for scenario in material.design.scenarios if are_at_once(scenario)}
    cells = cells[cells["scenario"].isin(at_once)]
    for (scenario, cca, version), here in cells.groupby(CELL, sort=False):
        ways = {row["direction"]: row for row in here.to_dict("records")}
        if len(ways) == 2 and not any(is_missing(row["goodput_mbps"]) for row in ways.values()):
            sentences.append(_sentence(names_of_senders(at_once[scenario], cca), version, ways, several))
    shown = sentences[:FEW]
    if len(sentences) > FEW:
        shown[-1] += f" The table lists {count(len(sentences) - FEW, 'more cell')}."
    return [Finding("Both directions", text, "directions", figures=("directions",)) for text in shown]


def names_of_senders(scenario, cca) -> dict[str, list[str]]:
    """Return direction -> the names of the CCAs and programs whose flows send in this direction in runs of the given CCA."""
    return {
        way: list(dict.fromkeys(_name_of_group(group, cca) for group in groups))
        for way, groups in senders(scenario).items()
    }


def _name_of_group(group, cca):
    if group["program"]:
        return Program(**group["program"]).label
    return cca_name(cca if group["cca"] == OWN else group["cca"])


def _sentence(names, version, ways, several):
    down, up = ways["forward"], ways["reverse"]
    over = f" over {ip_words(version)}" if several["ip_version"] else ""
    known = [row for row in ways.values() if not is_missing(row["rtt_mean_ms"])]
    parts = [f"{short(row['goodput_mbps'])} Mbit/s {name}{_share(row)}" for name, row in (("down", down), ("up", up))]
    who = [
        f"{listed(names[way])}{over} {'carry' if len(names[way]) > 1 else 'carries'} " for way in ("forward", "reverse")
    ]
    both = f"{down['scenario_label']}: {who[0]}{parts[0]} and {who[1] * (who[0] != who[1])}{parts[1]} at once"
    if not known:
        return f"{both}."
    slower = max(known, key=lambda row: row["rtt_mean_ms"])
    text = f"{both}, with a mean RTT of {short(slower['rtt_mean_ms'])} ms"
    # The two directions may use different pairs of hosts; a path without delay has no such ratio.
    if not slower["rtt_path_ms"]:
        return f"{text}."
    return f"{text}, {number(slower['rtt_mean_ms'] / slower['rtt_path_ms'], 1)} times the RTT of the empty path."


def _share(row):
    return "" if is_missing(row["used_percent"]) else f" ({number(row['used_percent'], 0)} % of the rate)"
