"""The section on theory: models by cell and exponents, what was measured over what theory gives."""

from report_parts.data_tables import Cell, Column, data_table, minus, number_cell, signed
from report_parts.test_cells import ALIKE, DIFFERS, OPEN, Scenarios
from wording.number_format import NONE, is_missing, number
from wording.scenario_words import ip_words

AGREES = {"yes": ("agrees", ALIKE), "no": ("differs", DIFFERS), "": ("too imprecise to say", OPEN)}


def section(material) -> dict:
    """Return the tables of models and exponents."""
    tables = material.tables
    return {
        "models": _models_table(tables.models, tables.scenarios),
        "regressions": _regressions_table(tables.regressions),
    }


def _table(identifier, caption, rows, columns):
    """Return a table of `columns`: pairs of the page's column and the rows' it shows, or what makes a cell of a row."""
    cells = [
        [row[shown] if isinstance(shown, str) else shown(row) for _, shown in columns]
        for row in rows.to_dict("records")
    ]
    return data_table(identifier, caption, [column for column, _ in columns], cells)


def _number(name, decimals=None):
    return lambda row: number_cell(row[name], decimals)


def _ip_version(row):
    return ip_words(row["ip_version"])


def _models_table(models, scenarios):
    def interval(row):
        low, high = row["ratio_low"], row["ratio_high"]
        return Cell(NONE) if is_missing(low) else Cell(minus(f"{low:.2f} to {high:.2f}"), low)

    columns = [
        (Column("Model", "short", filtered=True), "model"),
        (Column("Scenario", filtered=True, header=True), Scenarios(scenarios).cell),
        (Column("CCA", filtered=True), "cca"),
        (Column("IP", filtered=True), _ip_version),
        (Column("Quantity", filtered=True), "quantity"),
        (Column("n", "number"), _number("n", 0)),
        (Column("Measured", "number"), _number("measured")),
        (Column("Modelled", "number"), _number("modelled")),
        (Column("Unit"), "unit"),
        (Column("Measured / modelled", "number"), _number("ratio", 2)),
        (Column("Interval", "number"), interval),
        (Column("Note", "note"), "note"),
    ]
    return _table("models", "Measured over modelled, by cell", models, columns)


def _regressions_table(regressions):
    def loss(row):
        percent = row["loss_configured_percent"]
        return "any" if is_missing(percent) else f"{percent:g} %"

    def estimate(row):
        value = row["estimate"]
        return Cell(NONE) if is_missing(value) else Cell(signed(value, 2), value)

    def interval(row):
        low, high = row["ci_low"], row["ci_high"]
        return Cell(NONE) if is_missing(low) else Cell(f"{signed(low, 2)} to {signed(high, 2)}", low)

    def expected(row):
        value, margin = row["expected"], row["margin"]
        if is_missing(value):
            return Cell(NONE)
        return Cell(signed(value, 2) + ("" if is_missing(margin) else f" ± {margin:g}"), value)

    def agreement(row):
        text, style = ("no expectation", OPEN) if is_missing(row["expected"]) else AGREES[row["agrees"]]
        return Cell(text, style=style)

    columns = [
        (Column("Response", filtered=True, header=True), "response"),
        (Column("CCA", filtered=True), "cca"),
        (Column("IP", filtered=True), _ip_version),
        (Column("Flows", filtered=True), lambda row: number(row["flows"], 0)),
        (Column("Loss set", filtered=True), loss),
        (Column("Exponent of", filtered=True), "term"),
        (Column("Estimate", "number"), estimate),
        (Column("Interval", "number"), interval),
        (Column("Expected", "number"), expected),
        (Column("As expected", filtered=True), agreement),
        (Column("From", "short"), "expected_source"),
        (Column("R²", "number"), _number("r2", 3)),
        (Column("Points (n)", "number"), _number("n", 0)),
        (Column("Scenarios", "number"), _number("scenarios", 0)),
        (Column("Note", "note"), "note"),
    ]
    caption = "Exponents of goodput per flow over scenarios: estimated, and as theory has them"
    return _table("regressions", caption, regressions, columns)
