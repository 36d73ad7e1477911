"""The section on delay and loss: all metrics except goodput, by cell, and percentiles of delays."""

from inference.percentile_interval import NONE, UPPER
from report_parts.cells_table import CCA_KEY, IP_KEY, N, cells_table, shown_cell, shown_number, shown_text
from report_parts.data_tables import Cell
from report_parts.hypothesis_cells import METRIC_NAMES, NOTE, OPEN, shown_scenario
from wording.number_format import decimals_for, number

#: Display names of delays that aren't named elsewhere.
NAMES = {"rtt_steady_ms": "Round-trip time, steady part", "transfer_s": "Transfer time"}


def section(material) -> dict:
    """Return the table of percentiles, and how many runs each percentile needs for an interval and for an upper bound."""
    table = material.tables.delay_percentiles
    least = table.drop_duplicates("percentile").to_dict("records")
    return {
        "percentiles": _percentiles_table(table, material.tables.scenarios),
        "least": [
            {
                "percentile": f"{row['percentile']:g}",
                "interval": int(row["least_interval"]),
                "upper": int(row["least_upper"]),
            }
            for row in least
        ],
    }


def _percentiles_table(table, scenarios):
    shown = (
        shown_text("Delay", "metric", lambda name: METRIC_NAMES.get(name) or NAMES[name], filtered=True),
        shown_scenario(scenarios),
        CCA_KEY,
        IP_KEY,
        shown_cell(
            "Percentile", lambda row: Cell(f"{row['percentile']:g}", row["percentile"]), "number", filtered=True
        ),
        N,
        shown_number("Value", "value"),
        shown_text("Unit", "unit"),
        shown_cell("Interval or bound", _bounds_cell, "number"),
        shown_number("Coverage, %", "held_percent", 1),
        NOTE,
    )
    caption = "Percentiles of delays over replications, with intervals that hold for any distribution"
    return cells_table("delay-percentiles", caption, table, shown)


def _bounds_cell(row) -> Cell:
    if row["bounds"] == NONE:
        return Cell("too few values", style=OPEN)
    decimals = decimals_for(row["high"])
    if row["bounds"] == UPPER:
        return Cell(f"at most {number(row['high'], decimals)}", row["high"])
    return Cell(f"{number(row['low'], decimals)} to {number(row['high'], decimals)}", row["low"])
