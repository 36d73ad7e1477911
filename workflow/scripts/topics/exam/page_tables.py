"""The tables of an exam's page: the scorecard, and a comparison of our means with published findings."""

import pandas as pd

from report_parts.cells_table import CCA, Shown, cells_table, shown_cell, shown_text
from report_parts.data_tables import Cell, shared_decimals, signed_cell
from report_parts.hypothesis_cells import ALIKE, DIFFERS, OPEN
from topics.exam.beside_published import AGREES, NOT_SHOWN
from topics.exam.beside_published import DIFFERS as PUBLISHED_DIFFERS
from topics.exam.criteria import MEASURES, NEVER, is_infinite
from topics.exam.sentences import unit_of, value_words
from topics.exam.tables import BETTER, LIKE, NOT_APPLICABLE, NOT_ENOUGH, NOT_MEASURED, TOO_VARIABLE, WORSE
from wording.number_format import NONE, count, is_missing, number, plain
from wording.sentence_words import cca_name

GOOD, BAD = "verdict good", "verdict bad"
VERDICTS = {
    WORSE: BAD, TOO_VARIABLE: OPEN, NOT_ENOUGH: OPEN, NOT_MEASURED: OPEN, NOT_APPLICABLE: OPEN, LIKE: ALIKE, BETTER: GOOD, "": "",
}  # fmt: skip
#: Verdict on a published statement -> its style.
AGREEMENT = {AGREES: ALIKE, PUBLISHED_DIFFERS: DIFFERS, NOT_SHOWN: OPEN}


def published_words(row, published: pd.DataFrame) -> str:
    """Return the sources and verdicts of the published statements about a row's CCA, scenario and measure."""
    names = ["cca", "scenario", "measure"]
    rows = published[(published[names] == [row[name] for name in names]).all(axis=1)]
    return " ".join(f"Published: {one['verdict']} ({one['source']})." for one in rows.to_dict("records"))


def _decimals(row):
    measure = MEASURES.get(row["measure"])
    return measure.decimals if measure else 0


def _note_words(row, published):
    note = row["reason"]
    measure = MEASURES.get(row["measure"])
    if not is_missing(row["limit"]):
        note = " ".join(filter(None, (note, f"limit {plain(row['limit'])}{unit_of(measure)}.")))
    failed = (
        f"{int(row['runs_failed'])} runs failed." if not is_missing(row["runs_failed"]) and row["runs_failed"] else ""
    )
    return " ".join(
        filter(None, (note, failed, _missing_words(row), row["worse_by_ip_version"], published_words(row, published)))
    )


def _missing_words(row):
    """Return the number of runs that were not compared; empty if the reason already states this number."""
    missing = 0 if is_missing(row["runs_missing"]) else int(row["runs_missing"])
    if not missing or "missing" in row["reason"]:
        return ""
    return f"{missing} of {count(int(row['runs_planned']), 'run')} {'was' if missing == 1 else 'were'} not compared."


def measure_words(name) -> str:
    """Return a measure's name and unit in words.

    >>> measure_words("queueing_p95_ms"), measure_words("jain_index"), measure_words("")
    ('queueing p95, ms', 'jain index', '–')
    """
    measure = MEASURES.get(name)
    if measure is None:
        return NONE
    words = name.replace("_", " ")
    for end in (" percent", f" {measure.unit}"):
        words = words.removesuffix(end)
    return f"{words}, {measure.unit}" if measure.unit and measure.unit.replace("/", " per ").lower() != words else words


def _mean_cell(row, prefix, decimals, name=""):
    """Return a cell with a mean or median and its interval; the mean or median is the sort key."""
    mean, low, high = (row[f"{prefix}{end}"] for end in ("value", "low", "high"))
    if is_missing(mean):
        return Cell(NONE)
    interval = (
        "" if is_missing(low) or low >= NEVER else f"({value_words(low, decimals)} to {value_words(high, decimals)})"
    )
    return Cell(" ".join(filter(None, (name, value_words(mean, decimals), interval))), float(mean))


def _standard_cell(row):
    return _mean_cell(row, "standard_", _decimals(row), cca_name(row["standard"]) if row["standard"] else "")


def _worse_cell(row):
    by = row["worse_by"]
    if not is_missing(by) and is_infinite(by):
        return Cell(value_words(by, 0), float(by))
    return signed_cell(by, shared_decimals(by, row["margin"]))


SECTION = shown_text("Section", "rfc_section", filtered=True, header=True)


def _runs_cell(row):
    """Return a cell with the counts of worse and better runs, such as "3 worse, 0 better of 20"."""
    if is_missing(row["n"]) or not row["n"]:
        return Cell(NONE)
    return Cell(
        f"{int(row['runs_worse'])} worse, {int(row['runs_better'])} better of {int(row['n'])}",
        row["runs_worse"] / row["n"],
    )


def _most_cell(row):
    most = row["worse_share_at_most"]
    return Cell(NONE) if is_missing(most) else Cell(f"{100 * most:.0f} %", float(most))


def scorecard_columns(published) -> tuple[Shown, ...]:
    """Return the columns of a scorecard; the column of notes includes the published statements."""
    return (
        SECTION,
        shown_cell("Verdict", lambda row: Cell(row["verdict"], style=VERDICTS[row["verdict"]]), filtered=True),
        shown_cell("Criterion", lambda row: f"{row['criterion']} ({row['rfc_word']})", "words", filtered=True),
        shown_text("Case", "scenario_label", empty=NONE, kind="short"),
        shown_text("Measure", "measure", measure_words, kind="short"),
        shown_cell("Runs", _runs_cell, "short"),
        shown_cell("Worse runs, at most", _most_cell, "number"),
        shown_cell("Median", lambda row: _mean_cell(row, "", _decimals(row)), "short"),
        shown_cell("Standard", _standard_cell, "short"),
        shown_cell("Worse by", _worse_cell, "number"),
        shown_cell("Note", lambda row: _note_words(row, published), "note"),
    )


def _difference_words(row):
    return measure_words(row["measure"]) + (f", minus the value of {cca_name(row['minus'])}" if row["minus"] else "")


def _bounds_words(row):
    return bounds_words(row["at_least"], row["at_most"], _decimals(row))


PUBLISHED = (
    SECTION, shown_cell("Verdict", lambda row: Cell(row["verdict"], style=AGREEMENT[row["verdict"]]), filtered=True),
    CCA, shown_text("Case", "scenario_label", kind="short"), shown_cell("Measure", _difference_words, "short"),
    shown_cell("Here", lambda row: _mean_cell(row, "", _decimals(row)), "short"),
    shown_cell("Expected", _bounds_words, "short"), shown_text("Statement", "statement", kind="words"),
    shown_text("Source", "source", kind="words"),
)  # fmt: skip


def published_table(published) -> dict:
    """Return the table that compares our means with published statements."""
    caption = "Our means, and the bounds that follow from the sources"
    return cells_table("exam-published", caption, published, PUBLISHED)


def bounds_words(at_least, at_most, decimals) -> str:
    """Return, in words, the bounds within which a mean should lie.

    >>> bounds_words(1, 2, 1), bounds_words(0, float("nan"), 0), bounds_words(float("nan"), 50, 0)
    ('1.0 to 2.0', 'at least 0', 'at most 50')
    """
    if is_missing(at_most):
        return f"at least {number(at_least, decimals)}"
    low = "at most" if is_missing(at_least) else f"{number(at_least, decimals)} to"
    return f"{low} {number(at_most, decimals)}"
