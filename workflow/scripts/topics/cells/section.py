"""The last section of the report's details: all statistics by cell, and each metric with and without start-up."""

from report_parts.cells_table import CCA_KEY, IP_KEY, cells_table, shown_cell, shown_number, shown_text
from report_parts.data_tables import Cell, minus
from report_parts.hypothesis_cells import EFFECT, METRIC_NAMES, shown_scenario
from report_parts.material import Finding
from topics.cells.tables import CHANGING_PERCENT
from wording.number_format import count

#: Display names of metrics that aren't named elsewhere.
NAMES = {
    "retransmit_percent": "Retransmission share", "published_loss_percent": "Retransmits per segment of data", "queue_mean_packets": "Queue", "jain_index": "Jain's index",
}  # fmt: skip


def section(material) -> dict:
    """Return the template's variables for results without start-up, and whether runs are missing in any cell."""
    return {
        "steady": _steady_table(material.tables.steady, material.tables.scenarios),
        "rule": rule_words(material.study["steady_state"]),
        "changing_percent": CHANGING_PERCENT,
        "missing": bool(material.tables.descriptive["n"].between(1, material.tables.descriptive["runs"] - 1).any()),
    }


def findings(material) -> list[Finding]:
    """Return a finding about the effect of start-up on goodput, if runs include a steady part."""
    steady = material.tables.steady
    cells = steady[(steady["metric"] == "goodput_mbps") & steady["effect"].notna() & (steady["whole_mean"] > 0)]
    if cells.empty:
        return []
    margin = material.params["analysis"]["equivalence_margin"]["goodput_percent"]
    return [Finding("Start-up", startup_sentence(cells, margin), "steady")]


def startup_sentence(cells, margin) -> str:
    """Report the number of cells whose goodput changes when start-up is excluded, and the range of the change.

    Parameters
    ----------
    cells : pandas.DataFrame
        Rows of `STEADY` for goodput in which the difference is known.
    margin : float
        Differences up to this size, in percent, are ignored.
    """
    # Use the means: for a run without goodput the ratio is undefined, and the difference in its cell is on another scale.
    changes = 100 * (cells["steady_mean"] / cells["whole_mean"] - 1)
    apart, low, high = int((changes.abs() > margin).sum()), changes.min(), changes.max()
    return (
        f"All numbers cover whole runs. Leaving out start-up changes goodput by more than {margin:g} % in {apart:,} of "
        f"{count(len(cells), 'cell')} (by {minus(f'{low:+.1f}')} to {minus(f'{high:+.1f}')} %)."
    )


def rule_words(steady_state) -> str:
    """Describe the part of a run that a study excludes as start-up."""
    if steady_state["rule"] == "mser":
        return (
            "a start-up period (a multiple of 1/40 of the flows' common time) that minimises the standard error of the mean total "
            "goodput in the rest (MSER); a run that would lose half of its time has no steady part"
        )
    return f"the first {100 * steady_state['share']:g} % of the time that the flows have in common"


def _steady_table(steady, scenarios):
    shown = (
        shown_text("Metric", "metric", lambda name: METRIC_NAMES.get(name) or NAMES[name], filtered=True),
        shown_scenario(scenarios),
        CCA_KEY,
        IP_KEY,
        shown_cell("Runs (n)", lambda row: Cell(f"{row['n']:.0f} of {row['valid']:.0f}", row["n"]), "number"),
        shown_number("Whole run", "whole_mean"),
        shown_number("Steady part", "steady_mean"),
        shown_text("Unit", "unit"),
        *EFFECT,
        shown_number("Left out, %", "left_out_percent", 0),
    )
    caption = "With and without start-up: whole runs and their steady parts, by cell"
    return cells_table("steady", caption, steady, shown, initial={"Metric": METRIC_NAMES["goodput_mbps"]})
