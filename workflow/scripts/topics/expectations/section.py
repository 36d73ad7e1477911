"""The section on the gate: the expectations, their outcomes, and whether the study passes as a gate."""

from report_parts.cells_table import cells_table, shown_cell, shown_number, shown_text
from report_parts.data_tables import Cell
from report_parts.material import Finding
from topics.claims.page_tables import value_text
from topics.expectations.tables import MET, NOT_MET
from wording.number_format import NONE, count

STYLES = {MET: "verdict good", NOT_MET: "verdict bad"}


def _gate_cell(row):
    return Cell("passes", style="verdict good") if row["passed"] else Cell("fails", style="verdict bad")


def _outcome_cell(row):
    return Cell(row["outcome"], style=STYLES.get(row["outcome"], "verdict open"))


SHOWN = (
    shown_cell("Expectation", lambda row: row["statement"] or row["expectation"], "words", header=True),
    shown_cell("Gate", _gate_cell, filtered=True), shown_cell("Outcome", _outcome_cell, filtered=True),
    shown_text("Subject", "subject", kind="words"),
    shown_cell("Found, with interval", lambda row: row["found"] or value_text(row | {"bounds": ""}), "short"),
    shown_text("Expected", "expected", kind="short"), shown_text("Reason", "because", kind="words"),
    shown_text("Run to repeat", "run", empty=NONE, kind="short"), shown_number("n", "number", 0),
)  # fmt: skip


def section(material) -> dict:
    """Return the template's variables."""
    table, caption = material.tables.expectations, "Expected and actual results"
    return {"table": cells_table("expectations-table", caption, table, SHOWN), "words": gate_sentence(table)}


def findings(material) -> list[Finding]:
    """Return a finding that states whether the study passes as a gate."""
    return [Finding("Gate", gate_sentence(material.tables.expectations), "expectations")]


def gate_sentence(table) -> str:
    """Report how many expectations pass, and name those that don't."""
    passed = table.groupby("expectation", sort=False)["passed"].all()
    missed = list(passed.index[~passed])
    if not missed:
        return f"The study passes as a gate: {len(passed)} of {count(len(passed), 'expectation')} met."
    names = ", ".join(missed[:5]) + (f" and {len(missed) - 5} more" if len(missed) > 5 else "")
    return f"The study doesn't pass as a gate: {len(missed)} of {count(len(passed), 'expectation')} not met ({names})."
