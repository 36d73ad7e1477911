"""The section on delay and loss: the metrics by cell besides goodput, and percentiles of delays."""

from inference.percentile_interval import NONE, UPPER
from report_parts.data_tables import Cell, Column, data_table, number_cell
from report_parts.test_cells import METRIC_NAMES, OPEN, Scenarios
from wording.number_format import decimals_for, number
from wording.scenario_words import ip_words

#: What readers call delays that have no name elsewhere.
NAMES = {"rtt_steady_ms": "Round-trip time, steady part", "transfer_s": "Transfer time"}


def section(material) -> dict:
    """Return the table of percentiles, and how many runs each percentile's interval takes."""
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
    columns = {
        Column("Delay", filtered=True): lambda row: METRIC_NAMES.get(row["metric"]) or NAMES[row["metric"]],
        Column("Scenario", filtered=True, header=True): Scenarios(scenarios).cell,
        Column("CCA", filtered=True): lambda row: row["cca"],
        Column("IP", filtered=True): lambda row: ip_words(row["ip_version"]),
        Column("Percentile", "number", filtered=True): lambda row: Cell(f"{row['percentile']:g}", row["percentile"]),
        Column("n", "number"): lambda row: number_cell(row["n"], 0),
        Column("Value", "number"): lambda row: number_cell(row["value"]),
        Column("Unit"): lambda row: row["unit"],
        Column("What is known", "number"): _bounds_cell,
        Column("Held, %", "number"): lambda row: number_cell(row["held_percent"], 1),
        Column("Note", "note"): lambda row: row["note"],
    }
    rows = [[cell(row) for cell in columns.values()] for row in table.to_dict("records")]
    caption = "Percentiles of delays over replications, with intervals that hold for any distribution"
    return data_table("delay-percentiles", caption, list(columns), rows)


def _bounds_cell(row) -> Cell:
    if row["bounds"] == NONE:
        return Cell("too few values", style=OPEN)
    decimals = decimals_for(row["high"])
    if row["bounds"] == UPPER:
        return Cell(f"at most {number(row['high'], decimals)}", row["high"])
    return Cell(f"{number(row['low'], decimals)} to {number(row['high'], decimals)}", row["low"])
