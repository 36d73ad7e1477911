"""The section on an exam: findings, verdicts by group, and links to the figures that show the cases."""

import pandas as pd

from report_parts.cells_table import cells_table
from report_parts.hypothesis_cells import OPEN
from report_parts.material import Finding, ReportMaterial
from topics.exam.blind_spots import blind_spots, population_rows
from topics.exam.card_tests import RARE
from topics.exam.criteria import GROUPS
from topics.exam.outcomes import CLOSE_SHARE, FAR
from topics.exam.page_tables import AGREEMENT, BAD, GOOD, VERDICTS, published_table, scorecard_columns
from topics.exam.sentences import (
    failed_runs,
    fallen_rows,
    inapplicable_cases,
    lead,
    margins_words,
    open_rows,
    open_sentence,
    row_sentence,
    worst_rows,
)
from topics.exam.tables import NOT_MEASURED, OPEN_VERDICTS, PRIMARY, SECONDARY, WORSE
from topics.exam.topic import AXES, CASES, FIGURE_OF, THROUGHPUT, TOPIC
from wording.number_format import count, plain
from wording.sentence_words import cca_name, listed


def section(material: ReportMaterial) -> dict:
    """Return the template's variables."""
    card, exam = material.tables.scorecard, material.study["exam"]
    published = material.tables.exam_published
    deciding, shown = card[card["role"] == PRIMARY], card[card["role"] == SECONDARY]
    return {
        "cca": cca_name(exam["cca"]),
        "standards": listed([cca_name(cca) for cca in exam["standards"]]),
        "lead": lead(deciding),
        "inapplicable": inapplicable_cases(card),
        "failed": failed_runs(material.tables.runs, exam["cca"]),
        "groups": [group_verdict(group, deciding[deciding["group"] == group]) for group in GROUPS],
        "worst": [{"text": row_sentence(row), "link": link_of(row, material)} for row in worst_rows(deciding)],
        "fell": [row_sentence(row) for row in fallen_rows(deciding)],
        "open": [open_sentence(row) for row in open_rows(deciding)],
        "tests": len(deciding),
        "far": FAR,
        "close": f"{100 * CLOSE_SHARE:g}",
        "rare": f"{100 * RARE:g}",
        "worse_share": f"{100 * exam['limits']['worse_share']:g}",
        "margins": margins_words(exam["margins"]),
        "limits": {name: plain(limit) for name, limit in exam["limits"].items()},
        "explanation": exam["explanation"],
        "population": population_rows(material.tables.runs, material.tables.scenarios, material.study),
        "blind": blind_spots(material.tables.runs, material.tables.scenarios),
        "table": cells_table("scorecard", "Rows that decide", deciding, scorecard_columns(published)),
        "secondary": cells_table(
            "scorecard-secondary",
            "Other measurements",
            shown,
            scorecard_columns(published)[:1] + scorecard_columns(published)[2:],
        )
        if len(shown)
        else None,
        "published": published_table(published) if len(published) else None,
        "agreement": {verdict: int((published["verdict"] == verdict).sum()) for verdict in AGREEMENT},
    }


def findings(material: ReportMaterial) -> list[Finding]:
    """Return the findings at the top of the report: failures of the CCA, the lead sentence, inapplicable cases, worst rows, collapses."""
    card, exam = material.tables.scorecard, material.study["exam"]
    deciding = card[card["role"] == PRIMARY]
    found = [Finding("Failed", one, TOPIC.anchor) for one in failed_runs(material.tables.runs, exam["cca"])]
    found.append(Finding("Verdict", f"{cca_name(exam['cca'])}: {lead(deciding)}", TOPIC.anchor))
    if cases := inapplicable_cases(card):
        verb = "does" if len(cases) == 1 else "do"
        words = f"{count(len(cases), 'case')} of the exam {verb} not apply and had no run."
        found.append(Finding("Not applicable", words, TOPIC.anchor))
    found += [Finding("Worse", row_sentence(row), link_of(row, material)) for row in worst_rows(deciding)]
    return found + [Finding("Falls", row_sentence(row), link_of(row, material)) for row in fallen_rows(deciding)]


def group_verdict(group, deciding: pd.DataFrame) -> dict[str, str]:
    """Return the name, verdict, style and counts of a group, given its deciding rows.

    The verdict is *worse* if any row is *worse*, *not measured* if no row was measured, and otherwise "nothing worse shown".
    """
    verdicts = set(deciding["verdict"])
    if WORSE in verdicts:
        verdict, style = WORSE, BAD
    elif not verdicts or verdicts == {NOT_MEASURED}:
        verdict, style = NOT_MEASURED, OPEN
    else:
        verdict, style = "nothing worse shown", OPEN if verdicts & {*OPEN_VERDICTS, NOT_MEASURED} else GOOD
    return {"name": group, "verdict": verdict, "style": style, "words": counts_words(deciding)}


def counts_words(card: pd.DataFrame) -> str:
    """Return the number of rows with each verdict, bad verdicts first, such as "2 worse, 1 too variable, 11 like"."""
    counts = card["verdict"].value_counts()
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts) or "no row"


def link_of(row, material) -> str:
    """Return the identifier of the figure that shows a row's case, or the section's identifier if there is no such figure."""
    card = material.tables.scorecard
    measured = set(card.loc[card["scenario"] == row["scenario"], "measure"])
    others = THROUGHPUT if row["measure"] in AXES and measured >= AXES else CASES
    slug = FIGURE_OF.get(row["rfc_section"], others)
    if slug not in material.figures:
        return TOPIC.anchor
    # A link to a closed box opens the box; a link to a figure inside the box doesn't.
    return slug if slug == CASES else f"{slug}-figure"
