"""Cells that tables of tests share: scenario, metric, means, estimates, and the look of verdicts."""

from report_parts.data_tables import Cell, Column, data_table, effect_cells, number_cell, shared_decimals, signed
from run_tables.metrics import METRICS
from wording.number_format import NONE, is_missing, p_value

METRIC_NAMES = {metric.column: metric.name for metric in METRICS}
# What each verdict looks like; the style sheet adds a sign, so that colour isn't needed to tell.
DIFFERS, ALIKE, OPEN = "verdict differs", "verdict alike", "verdict open"


class Scenarios:
    """Cells that name a scenario: sorted in the study's order, shown by label."""

    def __init__(self, scenarios):
        self.places = {name: place for place, name in enumerate(scenarios["scenario"])}

    def cell(self, row) -> Cell:
        """Return the cell of a row with scenario and scenario_label."""
        return Cell(row["scenario_label"], self.places.get(row["scenario"], len(self.places)))


def metric_cell(row) -> Cell:
    """Return a cell with the metric's name and unit, sorted in the report's order."""
    names = list(METRIC_NAMES)
    place = names.index(row["metric"]) if row["metric"] in names else len(names)
    return Cell(METRIC_NAMES.get(row["metric"], row["metric"]), place)


def mean_cells(row, *columns) -> list[Cell]:
    """Return cells with means of one metric."""
    return [number_cell(row[column]) for column in columns]


def first_metric(table) -> dict[str, str]:
    """Return which metric a table shows at first."""
    return {"Metric": METRICS[0].name} if table["metric"].nunique() > 1 else {}


def estimate_cell(row) -> Cell:
    """Return a cell with the Hodges-Lehmann estimate and its interval."""
    if is_missing(row["hl"]):
        return Cell(NONE)
    decimals = shared_decimals(row["hl"], row["hl_low"], row["hl_high"])
    text = signed(row["hl"], decimals)
    if not is_missing(row["hl_low"]) and not is_missing(row["hl_high"]):
        text += f" ({signed(row['hl_low'], decimals)} to {signed(row['hl_high'], decimals)})"
    return Cell(text, row["hl"])


def signed_cell(value) -> Cell:
    """Return a cell with a size of an effect from -1 to 1."""
    return Cell(NONE) if is_missing(value) else Cell(signed(value, 2), value)


#: Column -> the cell of a row: an effect in its own unit with its interval, and its estimate by ranks.
EFFECT_COLUMNS = {
    Column("Difference", "number"): lambda row: effect_cells(row)[0],
    Column("Interval", "number"): lambda row: effect_cells(row)[1],
    Column("Hodges-Lehmann", "number"): estimate_cell,
}


def tests_table(identifier, caption, table, scenarios, columns) -> dict:
    """Return a table of tests, a row for each metric and scenario.

    Parameters
    ----------
    table, scenarios : pandas.DataFrame
        The tests, and ``tidy/scenarios.csv``.
    columns : dict of Column to callable
        What follows metric and scenario: from a row to its cell.
    """
    columns = {
        Column("Metric", filtered=True): metric_cell,
        Column("Scenario", filtered=True, header=True): Scenarios(scenarios).cell,
        **columns,
        Column("Note", "note"): lambda row: row["note"],
    }
    rows = [[cell(row) for cell in columns.values()] for row in table.to_dict("records")]
    return data_table(identifier, caption, list(columns), rows, first_metric(table))


def tiny(p) -> str:
    """Return a p value as the paper prints it: very small ones as powers of ten."""
    if is_missing(p):
        return NONE
    if p == 0:
        return "< 1e-300"
    return p_value(p) if p >= 0.001 else f"{p:.2g}"
