"""The section with all statistics by cell, at the end of the report, and with each metric without start-up."""

from report_parts.data_tables import Cell, Column, data_table, effect_cells, number_cell
from report_parts.test_cells import METRIC_NAMES, Scenarios
from wording.scenario_words import ip_words

#: What readers call metrics that have no name elsewhere.
NAMES = {
    "retransmit_percent": "Retransmission share", "queue_mean_packets": "Queue", "jain_index": "Jain's index",
}  # fmt: skip


def section(material) -> dict:
    """Return what the template needs besides the metrics: the table of steady parts, and the rule in words."""
    return {
        "steady": _steady_table(material.tables.steady, material.tables.scenarios),
        "rule": rule_words(material.study["steady_state"]),
    }


def rule_words(steady_state) -> str:
    """Say what a study leaves out as start-up."""
    if steady_state["rule"] == "mser":
        return (
            "as many fortieths of the time that the flows have in common as leave the mean of the rest of the total goodput with "
            "the smallest standard error (MSER); a run in which that is half of them has no steady part"
        )
    return f"the first {100 * steady_state['share']:g} % of the time that the flows have in common"


def _metric_name(row) -> str:
    return METRIC_NAMES.get(row["metric"]) or NAMES[row["metric"]]


def _steady_table(steady, scenarios):
    columns = {
        Column("Metric", filtered=True): _metric_name,
        Column("Scenario", filtered=True, header=True): Scenarios(scenarios).cell,
        Column("CCA", filtered=True): lambda row: row["cca"],
        Column("IP", filtered=True): lambda row: ip_words(row["ip_version"]),
        Column("Runs (n)", "number"): lambda row: Cell(f"{row['n']:.0f} of {row['valid']:.0f}", row["n"]),
        Column("Whole run", "number"): lambda row: number_cell(row["whole_mean"]),
        Column("Steady part", "number"): lambda row: number_cell(row["steady_mean"]),
        Column("Unit"): lambda row: row["unit"],
        Column("Difference", "number"): lambda row: effect_cells(row)[0],
        Column("Interval", "number"): lambda row: effect_cells(row)[1],
        Column("Left out, %", "number"): lambda row: number_cell(row["left_out_percent"], 0),
    }
    rows = [[cell(row) for cell in columns.values()] for row in steady.to_dict("records")]
    caption = "With and without start-up: whole runs and their steady parts, by cell"
    return data_table("steady", caption, list(columns), rows, {"Metric": METRIC_NAMES["goodput_mbps"]})
