"""The page about a series: new failures, results by verdict (worse, better, like, open), and the text for the cover letter."""

from report_parts.cells_table import N, cells_table, shown_cell, shown_interval, shown_number, shown_p, shown_text
from report_parts.data_tables import Cell
from sending.letter import cover_letter
from sending.tested import counts_words
from session.change_verdicts import CHANGES
from session.compare_results import STYLES
from session.standalone_page import standalone_page
from topics.exam.page_tables import VERDICTS
from wording.number_format import count

#: Lists of tests in the order of the table: the words, and the attribute of `BothResults`.
LISTS = (
    ("newly failed", "newly_failed"),
    ("added by the series, failed", "failed_of_added"),
    ("no longer fit", "not_fit_any_more"),
    ("newly passed", "newly_passed"),
    ("added by the series", "added"),
    ("removed by the series", "removed"),
)
CHANGE_COLUMNS = (
    shown_cell("Change", lambda row: Cell(row["change"], CHANGES.index(row["change"]), STYLES[row["change"]]), filtered=True),
    shown_text("Scenario", "scenario", filtered=True, header=True),
    shown_text("CCA", "cca", filtered=True),
    shown_text("IP", "ip_version", filtered=True),
    shown_text("Measure", "measure", filtered=True),
    shown_number("Base", "first"),
    shown_number("Patched", "second"),
    shown_text("Unit", "unit"),
    shown_number("Change of a pair", "effect"),
    shown_number("From", "low"),
    shown_number("To", "high"),
    shown_text("Unit of the change", "effect_unit"),
    shown_number("Margin", "margin"),
    N,
    shown_number("Worse", "pairs_worse", 0),
    shown_number("Better", "pairs_better", 0),
    shown_number("Needed", "n_needed", 0),
    shown_p("p, all rows", "p_corrected"),
    shown_cell("Note", lambda row: row["note"] if isinstance(row["note"], str) else "", "note"),
)  # fmt: skip
EXAM_COLUMNS = (
    shown_cell("Verdict", lambda row: Cell(row["verdict"], list(VERDICTS).index(row["verdict"]), VERDICTS[row["verdict"]]), filtered=True),
    shown_text("Section", "rfc_section", filtered=True),
    shown_text("Criterion", "criterion", kind="words"),
    shown_text("Scenario", "scenario_label", empty="all", header=True),
    shown_text("Measure", "measure"),
    shown_number("Patched", "value"),
    shown_number("Base", "standard_value"),
    shown_number("Worse by", "worse_by"),
    shown_interval("Interval", "worse_by", 2),
    shown_number("Margin", "margin"),
    N,
    shown_number("Runs worse", "runs_worse", 0),
    shown_number("Runs better", "runs_better", 0),
    shown_number("Needed", "runs_needed", 0),
    shown_p("p, all rows", "p_corrected"),
    shown_text("Reason", "reason", kind="note"),
)  # fmt: skip


def page(found) -> str:
    """Return the findings as an HTML page that loads no other files."""
    asked = found.question
    facts = [
        ("Series", f"{' '.join(asked.given)}: {count(asked.number, 'patch', 'patches')} to {', '.join(asked.touched.paths)}; SHA-256 {asked.sha256}"),
        ("Base", asked.base_words),
        ("Examined", found.ccas_words),
        ("To repeat it", found.command),
    ]  # fmt: skip
    return standalone_page(
        "series.html.j2",
        "series",
        f"{asked.name} on {asked.base.name}",
        verdict=[*found.verdict(), *found.worst()],
        facts=facts,
        selftests=_test_words(found),
        tests=_tests_table(found),
        changes=None if found.changes is None else cells_table("changes", "What changed, worse first", found.changes, CHANGE_COLUMNS),
        regression_report=f"../../series-{asked.name}/report.html",
        exams=[_exam(found, cca, card) for cca, card in found.exams.items()],
        letter=cover_letter(found),
    )  # fmt: skip


def _test_words(found):
    if found.tested is None:
        return []
    return [f"Base: {counts_words(found.tested.base)}.", f"Patched: {counts_words(found.tested.patched)}."]


def _tests_table(found):
    rows = []
    for what, name in LISTS if found.tested else ():
        rows += [{"what": what, **test} for test in getattr(found.tested, name)]
    columns = (
        shown_text("Change", "what", filtered=True),
        shown_text("Script", "script", header=True),
        shown_text("IP", "ip_version"),
        shown_text("Result", "result"),
        shown_text("Reason", "reason", kind="note"),
    )
    return cells_table("tests", "Tests whose result the series changes", rows, columns)


def _exam(found, cca, card):
    return {
        "cca": cca,
        "report": f"../../series-{found.question.name}-exam-{cca}/report.html",
        "table": cells_table(f"card-{cca}", f"Rows that decide for {cca}", card, EXAM_COLUMNS),
    }
