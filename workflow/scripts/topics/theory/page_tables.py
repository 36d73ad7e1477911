"""Tables of models and exponents, as the page shows them: what was measured over what theory gives."""

from report_parts.data_tables import Cell, Column, data_table, minus, number_cell, signed
from report_parts.test_cells import ALIKE, DIFFERS, OPEN, Scenarios, mean_cells
from wording.number_format import NONE, is_missing, number
from wording.scenario_words import ip_words


def models_table(models, scenarios) -> dict:
    """Return the table of measured over modelled, a row for each cell and model."""
    columns = [
        Column("Model", "short", filtered=True),
        Column("Scenario", filtered=True, header=True),
        Column("CCA", filtered=True),
        Column("IP", filtered=True),
        Column("Quantity", filtered=True),
        Column("n", "number"),
        Column("Measured", "number"),
        Column("Modelled", "number"),
        Column("Unit"),
        Column("Measured / modelled", "number"),
        Column("Interval", "number"),
        Column("Note", "note"),
    ]
    places, rows = Scenarios(scenarios), []
    for row in models.to_dict("records"):
        low, high = row["ratio_low"], row["ratio_high"]
        rows.append(
            [
                row["model"],
                places.cell(row),
                row["cca"],
                ip_words(row["ip_version"]),
                row["quantity"],
                number_cell(row["n"], 0),
                *mean_cells(row, "measured", "modelled"),
                row["unit"],
                number_cell(row["ratio"], 2),
                Cell(NONE) if is_missing(low) else Cell(minus(f"{low:.2f} to {high:.2f}"), low),
                row["note"],
            ]
        )
    caption = "Measured over modelled, by cell"
    return data_table("models", caption, columns, rows)


AGREES = {"yes": ("yes", ALIKE), "no": ("no", DIFFERS), "": ("can't tell", OPEN)}
NO_EXPECTATION = ("no expectation", OPEN)


def regressions_table(regressions) -> dict:
    """Return the table of exponents, a row for each fit."""
    columns = [
        Column("Response", filtered=True, header=True),
        Column("CCA", filtered=True),
        Column("IP", filtered=True),
        Column("Flows", filtered=True),
        Column("Loss set", filtered=True),
        Column("Exponent of", filtered=True),
        Column("Estimate", "number"),
        Column("Interval", "number"),
        Column("Expected", "number"),
        Column("As expected", filtered=True),
        Column("From", "short"),
        Column("R²", "number"),
        Column("Points (n)", "number"),
        Column("Scenarios", "number"),
        Column("Note", "note"),
    ]
    rows = []
    for row in regressions.to_dict("records"):
        low, high = row["ci_low"], row["ci_high"]
        loss = row["loss_configured_percent"]
        known = not is_missing(row["expected"])
        text, style = AGREES.get(row["agrees"], (row["agrees"], OPEN)) if known else NO_EXPECTATION
        rows.append(
            [
                row["response"],
                row["cca"],
                ip_words(row["ip_version"]),
                number(row["flows"], 0),
                "any" if is_missing(loss) else f"{loss:g} %",
                row["term"],
                Cell(signed(row["estimate"], 2), row["estimate"])
                if not is_missing(row["estimate"])
                else Cell(NONE),
                Cell(NONE) if is_missing(low)
                else Cell(f"{signed(low, 2)} to {signed(high, 2)}", low),
                number_cell(row["expected"], 2),
                Cell(text, style=style),
                row["expected_source"],
                number_cell(row["r2"], 3),
                number_cell(row["n"], 0),
                number_cell(row["scenarios"], 0),
                row["note"],
            ]
        )  # fmt: skip
    caption = "Exponents of goodput per flow over scenarios: estimated, and as theory has them"
    return data_table("regressions", caption, columns, rows)
