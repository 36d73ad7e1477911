"""The section on repeated runs: whether programs are reproducible."""

from report_parts.cells_table import CCA, IP_VERSION, SCENARIO, PageTable, shown_number, shown_text
from report_parts.material import Finding
from topics.repetitions.sentences import repetition_sentences

SHOWN = (
    SCENARIO, CCA, IP_VERSION, shown_number("Replication", "replication", 0), shown_text("Programs", "programs"),
    shown_text("Result", "result", filtered=True), shown_text("First difference", "difference", empty="none"),
)  # fmt: skip
TABLES = {"table": PageTable("repeated-runs", "Runs that were executed twice", "repetitions", SHOWN)}


def findings(material) -> list[Finding]:
    """Return findings about the runs that were executed twice."""
    rows = material.tables.repetitions.to_dict("records")
    return [Finding("Repetition", sentence, "repetitions") for sentence in repetition_sentences(rows)]
