"""The section with all statistics by cell, at the end of the report, and with each metric without start-up."""

from report_parts.data_tables import Cell, Column, data_table, effect_cells, minus, number_cell
from report_parts.material import Finding
from report_parts.test_cells import METRIC_NAMES, Scenarios
from wording.number_format import count
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


def findings(material) -> list[Finding]:
    """Return how much start-up makes of goodput, where runs have a steady part."""
    steady = material.tables.steady
    cells = steady[(steady["metric"] == "goodput_mbps") & steady["effect"].notna()]
    if cells.empty:
        return []
    margin = material.params["analysis"]["equivalence_margin"]["goodput_percent"]
    return [Finding("Start-up", startup_sentence(cells, margin), "steady")]


def startup_sentence(cells, margin) -> str:
    """Say in how many cells goodput is another one once a run has started, and how far apart the two are.

    Parameters
    ----------
    cells : pandas.DataFrame
        Rows of `STEADY` of goodput that have a difference.
    margin : float
        Differences up to this one, in percent, count as none.
    """
    apart = int((cells["effect"].abs() > margin).sum())
    low, high = cells["effect"].min(), cells["effect"].max()
    return (
        f"All numbers are of whole runs. Leaving out the start-up changes goodput by more than {margin:g} % in {apart:,} of "
        f"{count(len(cells), 'cell')} (by {minus(f'{low:+.1f}')} to {minus(f'{high:+.1f}')} %)."
    )


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
