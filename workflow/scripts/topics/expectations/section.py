"""The section on the gate: what was expected, what came out, and whether the study passes."""

from report_parts.data_tables import Cell, Column, data_table, number_cell
from report_parts.material import Finding
from topics.claims.page_tables import value_text
from topics.expectations.tables import MET, NOT_MET
from wording.number_format import NONE, count

STYLES = {MET: "verdict good", NOT_MET: "verdict bad"}


def section(material) -> dict:
    """Return what the template needs."""
    table = material.tables.expectations
    return {"table": _table(table), "words": gate_sentence(table)}


def findings(material) -> list[Finding]:
    """Return whether the study passes as a gate."""
    return [Finding("Gate", gate_sentence(material.tables.expectations), "expectations")]


def gate_sentence(table) -> str:
    """Say how many expectations are met, and which aren't."""
    passed = table.groupby("expectation", sort=False)["passed"].all()
    missed = list(passed.index[~passed])
    if not missed:
        return f"The study passes as a gate: {count(len(passed), 'expectation')} of {len(passed)} met."
    names = ", ".join(missed[:5]) + (f" and {len(missed) - 5} more" if len(missed) > 5 else "")
    return f"The study doesn't pass as a gate: {len(missed)} of {count(len(passed), 'expectation')} not met ({names})."


def _table(table):
    columns = {
        Column("Expectation", "words", header=True): lambda row: row["statement"] or row["expectation"],
        Column("Gate", filtered=True): _gate_cell,
        Column("Outcome", filtered=True): lambda row: Cell(
            row["outcome"], style=STYLES.get(row["outcome"], "verdict open")
        ),
        Column("Of", "words"): lambda row: row["subject"],
        Column("Found, with interval", "short"): lambda row: row["found"] or value_text(row | {"bounds": ""}),
        Column("Expected", "short"): lambda row: row["expected"],
        Column("Why", "words"): lambda row: row["because"],
        Column("Run to repeat", "short"): lambda row: row["run"] or NONE,
        Column("n", "number"): lambda row: number_cell(row["number"], 0),
    }
    rows = [[cell(row) for cell in columns.values()] for row in table.to_dict("records")]
    return data_table("expectations-table", "What was expected, and what came out", list(columns), rows)


def _gate_cell(row):
    return Cell("passes", style="verdict good") if row["passed"] else Cell("fails", style="verdict bad")
