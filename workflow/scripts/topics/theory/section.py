"""The section on theory: ratios of measured to modelled values by cell, and exponents across scenarios."""

from report_parts.cells_table import CCA_KEY, IP_KEY, N, cells_table, shown_cell, shown_number, shown_signed, shown_text
from report_parts.data_tables import Cell, minus, signed
from report_parts.hypothesis_cells import ALIKE, DIFFERS, NOTE, OPEN, shown_scenario
from wording.number_format import NONE, is_missing, number

AGREES = {"yes": ("agrees", ALIKE), "no": ("differs", DIFFERS), "": ("too imprecise to say", OPEN)}


def section(material) -> dict:
    """Return the tables of models and exponents."""
    tables = material.tables
    return {
        "models": cells_table(
            "models", "Measured divided by modelled values, by cell", tables.models, _models(tables.scenarios)
        ),
        "regressions": cells_table("regressions", EXPONENTS_CAPTION, tables.regressions, EXPONENTS),
    }


def _ratio_interval_cell(row):
    low, high = row["ratio_low"], row["ratio_high"]
    return Cell(NONE) if is_missing(low) else Cell(minus(f"{low:.2f} to {high:.2f}"), low)


def _models(scenarios):
    """Return the columns shown in the table of models."""
    return (
        shown_text("Model", "model", kind="short", filtered=True),
        shown_scenario(scenarios),
        CCA_KEY,
        IP_KEY,
        shown_text("Quantity", "quantity", filtered=True),
        N,
        shown_number("Measured", "measured"),
        shown_number("Modelled", "modelled"),
        shown_text("Unit", "unit"),
        shown_number("Measured / modelled", "ratio", 2),
        shown_cell("Interval", _ratio_interval_cell, "number"),
        NOTE,
    )


def _loss_words(percent):
    return "any" if is_missing(percent) else f"{percent:g} %"


def _exponent_interval_cell(row):
    low, high = row["ci_low"], row["ci_high"]
    return Cell(NONE) if is_missing(low) else Cell(f"{signed(low, 2)} to {signed(high, 2)}", low)


def _expected_cell(row):
    value, margin = row["expected"], row["margin"]
    if is_missing(value):
        return Cell(NONE)
    return Cell(signed(value, 2) + ("" if is_missing(margin) else f" ± {margin:g}"), value)


def _agreement_cell(row):
    text, style = ("no expectation", OPEN) if is_missing(row["expected"]) else AGREES[row["agrees"]]
    return Cell(text, style=style)


EXPONENTS_CAPTION = "Exponents of goodput per flow across scenarios: estimated and theoretical"
EXPONENTS = (
    shown_text("Response", "response", filtered=True, header=True), CCA_KEY, IP_KEY,
    shown_text("Flows", "flows", lambda flows: number(flows, 0), filtered=True),
    shown_text("Loss set", "loss_configured_percent", _loss_words, filtered=True),
    shown_text("Exponent of", "term", filtered=True), shown_signed("Estimate", "estimate", 2),
    shown_cell("Interval", _exponent_interval_cell, "number"), shown_cell("Expected", _expected_cell, "number"),
    shown_cell("As expected", _agreement_cell, filtered=True), shown_text("From", "expected_source", kind="short"),
    shown_number("R²", "r2", 3), shown_number("Points (n)", "n", 0), shown_number("Scenarios", "scenarios", 0), NOTE,
)  # fmt: skip
