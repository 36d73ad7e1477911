"""The section on calibration: what limits each quantity, every point, and the sentence that opens the report."""

from dataclasses import dataclass

import pandas as pd

from report_parts.data_tables import Cell, Column, data_table, minus, number_cell, signed
from report_parts.material import Finding, ReportMaterial
from report_parts.test_cells import ALIKE, DIFFERS, OPEN
from topics.calibration.topic import TOPIC
from wording.number_format import NONE, count, is_missing, number
from wording.sentence_words import listed

VERDICTS = {
    "exact": ALIKE, "explained": ALIKE, "expected": ALIKE, "off": DIFFERS, "not measured": OPEN,
}  # fmt: skip
#: What limits each quantity, in words.
LIMITS = {
    "rate": "the readings: one packet; the shaper's whole nanoseconds are known",
    "delay": "the probe: ping's times are in whole µs",
    "serialisation": "the probe: whole µs; of messages an exchange, and a look at the clock (256 ns)",
    "loss": "chance: the number of packets",
    "queue": "samples: what leaves between two",
    "jitter": "chance: the number of packets",
    "burst": "samples: what the rate gives between two",
}


@dataclass(frozen=True)
class Summary:
    """What was found of a quantity.

    Attributes
    ----------
    quantity, what : str
        As in the table; of loss both directions together.
    points, agreeing : int
        Rows that were measured, and those that are exact, explained or expected.
    largest_ppm : float
        The largest error of those with an exact number above 0, in millionths; nan if there is none.
    largest : float
        The same error in its unit.
    unit : str
    uncertainty_ppm : float
        What that row's measurement can't tell, in millionths; of random quantities its standard error.
    known_ppm : float
        What of that row's error is known beforehand.
    largest_z : float
        The largest error of a random quantity over its standard error; else nan.
    """

    quantity: str
    what: str
    points: int
    agreeing: int
    largest_ppm: float
    largest: float
    unit: str
    uncertainty_ppm: float
    known_ppm: float
    largest_z: float


def summaries(table: pd.DataFrame) -> list[Summary]:
    """Return a `Summary` of each quantity of ``analysis/calibration.csv``, and what of it, that was measured anywhere."""
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


def section(material: ReportMaterial) -> dict:
    """Return both tables."""
    table = material.tables.calibration
    return {
        "summary": data_table("calibration-summary", "By quantity", SUMMARY, [_summary_row(s) for s in summaries(table)]),
        "points": data_table("calibration-points", "Every point", POINTS, [_point_row(row) for row in table.to_dict("records")]),
        "off": int((table["verdict"] == "off").sum()),
        "measured": int(table["measured"].notna().sum()),
    }  # fmt: skip


def findings(material: ReportMaterial) -> list[Finding]:
    """Return the sentence that opens the report."""
    return [Finding("Accuracy", sentence(material.tables.calibration), TOPIC.anchor)]


def sentence(table: pd.DataFrame) -> str:
    """Return in how many rows the exact number was measured, the largest error of the rate, and what is off."""
    quantities = summaries(table)
    points, agreeing = (sum(getattr(summary, name) for summary in quantities) for name in ("points", "agreeing"))
    text = f"{agreeing:,} of {count(points, 'measured value')} agree with their exact numbers"
    rates = [summary for summary in quantities if summary.quantity == "rate"]
    if rates and not is_missing(rates[0].largest_ppm):
        text += f"; the rate is {_ppm_words(rates[0].largest_ppm)} off at most"
        if abs(rates[0].known_ppm) >= 1:
            text += f", of which {_ppm_words(rates[0].known_ppm)} are the shaper's rounding to whole nanoseconds"
    off = table[table["verdict"] == "off"]
    places = [f"{row.quantity} of {row.scenario_label}" for row in off.itertuples()]
    return f"{text}{f'. Off: {listed(places)}' if places else ''}."


def _ppm_words(value):
    return f"{signed(value, 1 if abs(value) < 1000 else 0)} ppm"


def _ppm_cell(value):
    return Cell(NONE) if is_missing(value) else Cell(signed(value, 1 if abs(value) < 1000 else 0), value)


SUMMARY = [
    Column("Quantity", header=True), Column("Values", "number"), Column("As they must be", "number"),
    Column("Largest error", "number"), Column("In ppm", "number"), Column("Known of it, ppm", "number"),
    Column("Uncertainty there, ppm", "number"), Column("Largest z", "number"), Column("What limits the measurement", "words"),
]  # fmt: skip
POINTS = [
    Column("Quantity", filtered=True, header=True), Column("Of it", "short", filtered=True), Column("Scenario", filtered=True),
    Column("Set", "short"), Column("Unit", filtered=True), Column("Exact", "number"), Column("Measured", "number"),
    Column("Error, ppm", "number"), Column("Known, ppm", "number"), Column("Uncertainty, ppm", "number"),
    Column("z", "number"), Column("Verdict", filtered=True), Column("What limits it", "note"),
]  # fmt: skip
DIGITS = 9


def _summary_row(summary):
    return [
        ", ".join(filter(None, (summary.quantity.capitalize(), summary.what))), number_cell(summary.points, 0), number_cell(summary.agreeing, 0),
        Cell(NONE) if is_missing(summary.largest) else Cell(f"{signed(summary.largest)} {summary.unit}", summary.largest),
        _ppm_cell(summary.largest_ppm), _ppm_cell(summary.known_ppm), number_cell(summary.uncertainty_ppm, 1),
        number_cell(summary.largest_z, 2), LIMITS[summary.quantity],
    ]  # fmt: skip


def _point_row(row):
    return [
        row["quantity"], row["what"], row["scenario_label"], row["point"], row["unit"].replace("µs", "µs"),
        _exact_cell(row["expected"]), _exact_cell(row["measured"]), _ppm_cell(row["error_ppm"]), _ppm_cell(row["known_ppm"]),
        number_cell(row["uncertainty_ppm"], 1), Cell(NONE) if is_missing(row["z"]) else Cell(signed(row["z"], 2), row["z"]),
        Cell(row["verdict"], style=VERDICTS[row["verdict"]]), row["note"],
    ]  # fmt: skip


def _exact_cell(value):
    """Return a number with enough digits to see millionths of it."""
    if is_missing(value):
        return Cell(NONE)
    text = f"{value:,.{DIGITS}g}" if value < 10**DIGITS else number(value, 0)
    return Cell(minus(text), value)
