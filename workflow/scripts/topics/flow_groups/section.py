"""The section on groups of long flows and programs: each group's goodput."""

from report_parts.cells_table import (
    CCA_KEY,
    IP_VERSION,
    SCENARIO,
    N,
    PageTable,
    shown_interval,
    shown_number,
    shown_text,
)
from report_parts.material import Finding
from run_tables.run_keys import CELL
from wording.number_format import count, number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed, short

SHOWN = (
    SCENARIO, CCA_KEY, IP_VERSION, shown_text("Group", "group", filtered=True),
    shown_text("Group's CCA", "group_cca", cca_name, filtered=True), shown_number("Flows", "members", 0),
    shown_number("From, s", "start_s", 1), shown_number("Until, s", "stop_s", 1), N,
    shown_number("Goodput, Mbit/s", "goodput_mbps"), shown_interval("Interval", "goodput_mbps", 3),
    shown_number("A flow, Mbit/s", "flow_mbps"), shown_number("Share, %", "share_percent", 1),
    shown_interval("Interval of the share", "share_percent", 1),
)  # fmt: skip
CAPTION = "Goodput of each group of long flows and programs"
TABLES = {"table": PageTable("group-cells", CAPTION, "group_cells", SHOWN)}
#: Largest number of cells that are reported in separate findings.
FEW = 3


def section(material) -> dict:
    """Return the conditions on which the template's sentences depend."""
    groups = [group for scenario in material.design.scenarios for group in scenario["groups"]]
    return {
        "pausing": any(group["on_s"] is not None for group in groups),
        "apart": bool(material.tables.group_cells["share_percent"].isna().any()),
    }


def findings(material) -> list[Finding]:
    """Return one finding about the groups' goodputs for each of the first `FEW` cells with several groups."""
    cells, sentences = material.tables.group_cells, []
    several_ccas, several_versions = (cells[name].nunique() > 1 for name in ("cca", "ip_version"))
    for (_, cca, version), here in cells.groupby(CELL, sort=False):
        known = here[here["goodput_mbps"].notna()]
        if len(known) < 2:
            continue
        under_test = f" with {cca_name(cca)}" if several_ccas else ""
        over = f" over {ip_words(version)}" if several_versions else ""
        where = f"{known['scenario_label'].iloc[0]}{under_test}{over}"
        sentences.append(f"In {where}, {listed([_group_words(row) for row in known.to_dict('records')])}.")
    shown = sentences[:FEW]
    if len(sentences) > FEW:
        shown[-1] += f" The table lists {count(len(sentences) - FEW, 'more cell')}."
    return [Finding("Groups of flows", sentence, "flow-groups") for sentence in shown]


def _group_words(row):
    flows = "" if row["members"] == 1 else f"{number(row['members'], 0)} flows of "
    return f"{row['group']} ({flows}{cca_name(row['group_cca'])}) gets {short(row['goodput_mbps'])} Mbit/s"
