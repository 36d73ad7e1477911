"""Cells that all tables of hypothesis tests use: scenario, metric, estimates, and the style of verdicts."""

from report_parts.cells_table import Shown, cells_table, shown_cell, shown_text
from report_parts.data_tables import Cell, effect_cells, shared_decimals, signed
from run_tables.metrics import METRICS
from wording.number_format import NONE, is_missing, p_value

METRIC_NAMES = {metric.column: metric.name for metric in METRICS}
# Style classes of verdicts. The style sheet adds a symbol to each, so that verdicts aren't distinguished only by colour.
DIFFERS, ALIKE, OPEN = "verdict differs", "verdict alike", "verdict open"


def shown_scenario(scenarios, header=True) -> Shown:
    """Return the column of scenarios, which shows labels and is sorted in the order of ``tidy/scenarios.csv``."""
    places = {name: place for place, name in enumerate(scenarios["scenario"])}
    return shown_cell(
        "Scenario",
        lambda row: Cell(row["scenario_label"], places.get(row["scenario"], len(places))),
        filtered=True,
        header=header,
    )


def _metric_cell(row):
    """Return a cell with the metric's name and the metric's position in the report as its sort key."""
    names = list(METRIC_NAMES)
    place = names.index(row["metric"]) if row["metric"] in names else len(names)
    return Cell(METRIC_NAMES.get(row["metric"], row["metric"]), place)


METRIC = shown_cell("Metric", _metric_cell, filtered=True)


def first_metric(table) -> dict[str, str]:
    """Return the initial selection of a table: the first of several metrics; empty if the table contains only one metric."""
    return {"Metric": METRICS[0].name} if table["metric"].nunique() > 1 else {}


def _estimate_cell(row):
    """Return a cell with the Hodges-Lehmann estimate and its interval."""
    if is_missing(row["hl"]):
        return Cell(NONE)
    decimals = shared_decimals(row["hl"], row["hl_low"], row["hl_high"])
    text = signed(row["hl"], decimals)
    if not is_missing(row["hl_low"]) and not is_missing(row["hl_high"]):
        text += f" ({signed(row['hl_low'], decimals)} to {signed(row['hl_high'], decimals)})"
    return Cell(text, row["hl"])


#: Columns with an effect and its unit, and with the interval of the effect.
EFFECT = (
    shown_cell("Difference", lambda row: effect_cells(row)[0], "number"),
    shown_cell("Interval", lambda row: effect_cells(row)[1], "number"),
)
ESTIMATE = shown_cell("Hodges-Lehmann", _estimate_cell, "number")
TEST = shown_text("Test", "test", empty="none", filtered=True)
NOTE = shown_text("Note", "note", kind="note")


def tests_table(identifier, caption, table, scenarios, shown) -> dict:
    """Return a table of tests, one row per metric and scenario.

    Parameters
    ----------
    table, scenarios : pandas.DataFrame
        The tests, and ``tidy/scenarios.csv``.
    shown : iterable of Shown
        The columns between the scenario and the note.
    """
    shown = (METRIC, shown_scenario(scenarios), *shown, NOTE)
    return cells_table(identifier, caption, table, shown, initial=first_metric(table))


def tiny(p) -> str:
    """Return a p-value as text in the form that the paper uses: very small values are in scientific notation."""
    if is_missing(p):
        return NONE
    if p == 0:
        return "< 1e-300"
    return p_value(p) if p >= 0.001 else f"{p:.2g}"
