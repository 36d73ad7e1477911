"""The section on calibration: what limits the accuracy of each quantity, the errors at all points, and a sentence for the report's top."""

from dataclasses import dataclass

import pandas as pd

from report_parts.cells_table import cells_table, shown_cell, shown_number, shown_signed, shown_text
from report_parts.data_tables import Cell, minus, signed
from report_parts.hypothesis_cells import ALIKE, DIFFERS, OPEN
from report_parts.material import Finding, ReportMaterial
from topics.calibration.topic import TOPIC
from wording.number_format import NONE, count, is_missing, number
from wording.sentence_words import listed

VERDICTS = {
    "exact": ALIKE, "explained": ALIKE, "expected": ALIKE, "off": DIFFERS, "not measured": OPEN,
}  # fmt: skip
#: Quantity -> what limits the accuracy of its measurement, in words.
LIMITS = {
    "rate": "readings: one packet (the shaper's rounding to whole nanoseconds is known)",
    "delay": "probe: ping's times are in whole µs",
    "serialisation": "probe: whole µs; for messages, one exchange and one step of the clock (256 ns)",
    "loss": "chance: the number of packets",
    "queue": "samples: the data that leave between two samples",
    "jitter": "chance: the number of packets",
    "burst": "samples: the data that the rate allows between two samples",
}


@dataclass(frozen=True)
class Summary:
    """Summary of a quantity's errors."""

    quantity: str  # as in the table
    what: str  # as in the table; for loss, both directions together
    points: int  # number of measured rows
    agreeing: int  # number of measured rows that are exact, explained or expected
    largest_ppm: float  # largest error in ppm among rows with an exact value above 0; nan if there is none
    largest: float  # the same error in ``unit``
    unit: str
    # Uncertainty of the measurement with the largest error, in ppm; for random quantities the standard error.
    uncertainty_ppm: float
    known_ppm: float  # part of the largest error that has a known cause, in ppm
    largest_z: float  # largest ratio of error to standard error for a random quantity; nan for other quantities


def summaries(table: pd.DataFrame) -> list[Summary]:
    """Return one `Summary` for each quantity and ``what`` with measured values; for loss, one `Summary` covers all values of ``what``."""
    of_quantities, measured = [], table[table["measured"].notna()]
    kinds = measured["what"].where(measured["quantity"] != "loss", "")
    for (quantity, what), rows in measured.groupby(["quantity", kinds], sort=False):
        agreeing = int(rows["verdict"].map(VERDICTS).eq(ALIKE).sum())
        sizes = rows["error_ppm"].abs()
        worst = rows.loc[sizes.idxmax()] if sizes.notna().any() else pd.Series(dtype=float)
        chance = 1e6 * worst.get("standard_error", float("nan")) / worst.get("expected", float("nan"))
        uncertainty = chance if is_missing(worst.get("uncertainty_ppm")) else worst["uncertainty_ppm"]
        error_ppm, error, known = (float(worst.get(name, "nan")) for name in ("error_ppm", "error", "known_ppm"))
        of_quantities.append(
            Summary(
                quantity, what, len(rows), agreeing, error_ppm, error, worst.get("unit", ""), float(uncertainty), known,
                float(rows["z"].abs().max()),
            )
        )  # fmt: skip
    return of_quantities


DIGITS = 9


def _exact(heading, name):
    """Return a column of numbers with enough digits to show a difference of 1 ppm."""

    def cell(row):
        value = row[name]
        if is_missing(value):
            return Cell(NONE)
        text = f"{value:,.{DIGITS}g}" if value < 10**DIGITS else number(value, 0)
        return Cell(minus(text), value)

    return shown_cell(heading, cell, "number")


def _ppm(heading, name):
    """Return a column of errors in ppm."""

    def cell(row):
        value = row[name]
        return Cell(NONE) if is_missing(value) else Cell(signed(value, 1 if abs(value) < 1000 else 0), value)

    return shown_cell(heading, cell, "number")


def _quantity_words(row):
    return ", ".join(filter(None, (row["quantity"].capitalize(), row["what"])))


def _largest_cell(row):
    largest = row["largest"]
    return Cell(NONE) if is_missing(largest) else Cell(f"{signed(largest)} {row['unit']}", largest)


SUMMARY = (
    shown_cell("Quantity", _quantity_words, header=True), shown_number("Values", "points", 0),
    shown_number("In agreement", "agreeing", 0), shown_cell("Largest error", _largest_cell, "number"),
    _ppm("In ppm", "largest_ppm"), _ppm("Known cause, ppm", "known_ppm"),
    shown_number("Uncertainty there, ppm", "uncertainty_ppm", 1), shown_number("Largest z", "largest_z", 2),
    shown_text("Limit of the measurement", "quantity", LIMITS.__getitem__, kind="words"),
)  # fmt: skip
POINTS = (
    shown_text("Quantity", "quantity", filtered=True, header=True),
    shown_text("Part", "what", kind="short", filtered=True), shown_text("Scenario", "scenario_label", filtered=True),
    shown_text("Setting", "point", kind="short"), shown_text("Unit", "unit", filtered=True), _exact("Exact", "expected"),
    _exact("Measured", "measured"), _ppm("Error, ppm", "error_ppm"), _ppm("Known, ppm", "known_ppm"),
    shown_number("Uncertainty, ppm", "uncertainty_ppm", 1), shown_signed("z", "z", 2),
    shown_cell("Verdict", lambda row: Cell(row["verdict"], style=VERDICTS[row["verdict"]]), filtered=True),
    shown_text("Limit of the measurement", "note", kind="note"),
)  # fmt: skip


def section(material: ReportMaterial) -> dict:
    """Return the template's variables: the tables of quantities and points, and how many values were measured and how many are off."""
    table = material.tables.calibration
    return {
        "summary": cells_table("calibration-summary", "By quantity", map(vars, summaries(table)), SUMMARY),
        "points": cells_table("calibration-points", "Every point", table, POINTS),
        "off": int((table["verdict"] == "off").sum()),
        "measured": int(table["measured"].notna().sum()),
    }  # fmt: skip


def findings(material: ReportMaterial) -> list[Finding]:
    """Return the sentence at the top of the report."""
    return [Finding("Accuracy", sentence(material.tables.calibration), TOPIC.anchor)]


def sentence(table: pd.DataFrame) -> str:
    """Report how many rows agree with their exact values, the rate's largest error, and the quantities that don't agree."""
    quantities = summaries(table)
    points, agreeing = (sum(getattr(summary, name) for summary in quantities) for name in ("points", "agreeing"))
    text = f"{agreeing:,} of {count(points, 'measured value')} agree with their exact numbers"
    rates = [summary for summary in quantities if summary.quantity == "rate"]
    if rates and not is_missing(rates[0].largest_ppm):
        text += f"; the rate is off by at most {_ppm_words(rates[0].largest_ppm)}{_known_words(rates[0])}"
    off = table[table["verdict"] == "off"]
    places = [f"{row.quantity} in {row.scenario_label}" for row in off.itertuples()]
    return f"{text}{f'. Off: {listed(places)}' if places else ''}."


def _known_words(rate):
    """Return, in words, the known cause that explains part of the rate's largest error.

    The shaper's rounding makes the rate too high, and frames that don't belong to the flow make it too low.
    """
    part = min(rate.known_ppm, rate.largest_ppm, key=abs)
    if abs(part) < 1 or rate.known_ppm * rate.largest_ppm < 0:
        return ""
    cause = "are due to the shaper's rounding to whole nanoseconds"
    return f", of which {_ppm_words(part)} {cause if part > 0 else 'can be due to Router Solicitations'}"


def _ppm_words(value):
    return f"{signed(value, 1 if abs(value) < 1000 else 0)} ppm"
