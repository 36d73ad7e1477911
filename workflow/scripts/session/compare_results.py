"""List what became better or worse between two results folders: `make compare EXAMS="results/exam-a results/exam-b"`.

Any two results with the same conditions can be compared: two exams, two candidates in one study, two versions of one CCA.
"""

import argparse
import json
import os
import sys
from pathlib import Path

import pandas as pd

from report_parts.cells_table import N, cells_table, shown_cell, shown_number, shown_p, shown_text
from report_parts.data_tables import Cell, number_cell, signed
from run_tables.metrics import METRICS
from run_tables.reading import read_runs, read_table
from run_tables.run_documents import DOCUMENT_LIMIT
from session.change_verdicts import (
    BETTER,
    CHANGES,
    LIKE,
    NOT_ENOUGH,
    NOT_MEASURED,
    SAME,
    SIGNIFICANCE,
    TOO_VARIABLE,
    WORSE,
)
from session.comparable_results import Results, only_in_one, pairs_of_ccas, problem_of
from session.result_comparison import ALL_SCENARIOS, COLUMNS, FAR, NO_PARTNER, compared, margins_of, score_keys
from session.standalone_page import standalone_page
from testbed.machine.given_file import given_text
from testbed.machine.messages import tell
from topics import registry
from topics.exam.criteria import is_infinite
from wording.number_format import count, is_missing, number
from wording.sentence_words import listed
from wording.terminal_text import shown

#: Maximum number of table lines in a terminal; the files contain all rows.
MOST_LINES = 40
#: Maximum size of a table, in bytes: enough for 100,000 runs.
LARGEST_TABLE_BYTES = 2**28
STYLES = {
    BETTER: "verdict good", WORSE: "verdict bad", SAME: "verdict alike", LIKE: "verdict alike",
    **dict.fromkeys((TOO_VARIABLE, NOT_ENOUGH, NOT_MEASURED), "verdict open"),
}  # fmt: skip


class ComparisonError(Exception):
    """Two folders can't be compared; the message is one sentence."""


def read_results(folder) -> Results:
    """Read a results folder; raise `ComparisonError` if it isn't a results folder or isn't complete."""
    place = Path(folder)
    study, runs = place / "workflow/study.json", place / "tidy/runs.csv"
    missing = [path for path in (study, runs) if not os.path.isfile(path)]
    if missing:
        raise ComparisonError(
            f"{shown(folder)} is not a folder of finished results: {shown(missing[0])} is missing; allowed: a folder such as results/smoke."
        )
    declared = {table.name: table for topic in registry.TOPICS for table in topic.tables}
    files = {name: place / f"analysis/{name}.csv" for name in ("scorecard", "exam_values") if name in declared}
    tables = dict.fromkeys(("scorecard", "exam_values"))
    try:
        for path in (runs, *files.values()):
            if os.path.exists(path) and (size := os.path.getsize(path)) > LARGEST_TABLE_BYTES:
                raise ValueError(f"{path} has {size:,} bytes; allowed: up to {LARGEST_TABLE_BYTES:,}")
        content = _study_in(study)
        tables |= {name: read_table(path, declared[name]) for name, path in files.items() if os.path.isfile(path)}
        if tables["scorecard"] is not None and tables["exam_values"] is None:
            raise ValueError(f"{place}/analysis/exam_values.csv is missing, although there is a scorecard")
        return Results(str(folder).rstrip("/"), content, read_runs(runs), **tables)
    except (OSError, ValueError, RecursionError) as error:
        problem = f"{error.filename or study} can't be read ({error.strerror})" if isinstance(error, OSError) else error
        raise ComparisonError(
            f"{shown(problem, 400)}; run the study again with this version, and compare then."
        ) from error


def _study_in(path):
    """Return the resolved study in a file; raise ValueError if the file doesn't contain a study."""
    try:
        content = json.loads(given_text(path, DOCUMENT_LIMIT))
        if content["scenarios"] and content["ccas"] and content["analysis"]["equivalence_margin"]:
            return content
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: not JSON ({error})") from error
    except (KeyError, TypeError, RecursionError):
        pass
    raise ValueError(f"{path}: not the description of a study")


def compare_folders(folders) -> tuple[Results, Results, pd.DataFrame]:
    """Return both results, and the table of changes from the first results to the second results.

    Raises `ComparisonError` if there aren't exactly two folders or they can't be compared.
    """
    if len(folders) != 2:
        raise ComparisonError(
            f'EXAMS names {count(len(folders), "folder")}; allowed: two, separated by a space, as in EXAMS="results/exam-a results/exam-b"; a path must not contain spaces.'
        )
    if os.path.realpath(folders[0]) == os.path.realpath(folders[1]):
        raise ComparisonError(f"EXAMS names {shown(folders[0])} twice; allowed: two folders.")
    first, second = map(read_results, folders)
    if problem := problem_of(first, second):
        raise ComparisonError(shown(problem, 600))
    return first, second, compared(first, second)


def summary_words(first, second, table) -> list[str]:
    """Return sentences about the comparison and its outcome."""
    pairs = pairs_of_ccas(first, second)
    names = ", ".join(
        ours if ours == theirs else f"{ours} ({first.folder}) and {theirs} ({second.folder})" for ours, theirs in pairs
    )
    numbers = table["change"].value_counts()
    counts = ", ".join(f"{numbers.get(change, 0)} {change}" for change in CHANGES)
    words = [
        f"From {first.folder} to {second.folder}, {count(len(table), 'row')}: {counts}.",
        f"Compared: {names}. A row is {WORSE} or {BETTER} if significantly more than half of the pairs of runs differ in this direction by more than the margin, or if significantly more runs "
        f"in one folder failed, exceeded a limit or were far worse (by {FAR} margins) than the rest of their cell. Sign tests are corrected for the whole "
        f"table: with two identical versions, at most {100 * SIGNIFICANCE:g} % of comparisons show a difference.",
        _margin_words(first, second),
    ]
    if open_rows := numbers.get(TOO_VARIABLE, 0) + numbers.get(NOT_ENOUGH, 0):
        # A row over all scenarios needs the pairs of all cells together.
        needed = table.loc[table["scenario"] != ALL_SCENARIOS, "n_needed"].dropna()
        words.append(
            f"{count(open_rows, 'row')} {'is' if open_rows == 1 else 'are'} open: these runs don't decide them"
            + (
                f"; about {needed.median():.0f} pairs in a cell would decide half of the rows about single cells for which a number is known."
                if len(needed)
                else "."
            )
        )
    words += [f"Only in {folder}, and not compared: {listed(names)}." for folder, names in only_in_one(first, second)]
    if rows := int(table["note"].astype(str).str.contains(NO_PARTNER).sum()):
        words.append(
            f"{count(rows, 'row')} {'leaves' if rows == 1 else 'leave'} out runs without a partner in the other folder; the notes give their number."
        )
    if not table["paired"].all():
        words.append("Runs with different seeds are paired by replication number.")
    if first.scorecard is not None and (left := _left_out(first, second)):
        words.append(
            f"{count(left, 'row')} of the scorecards are left out: they were measured in at most one of the folders."
        )
    made = [{each.runs[name].iloc[0] for each in (first, second)} for name in ("testbed_digest", "image_digest")]
    if any(len(digests) > 1 for digests in made):
        words.append("The two results come from different testbeds or images, which may be the cause of differences.")
    return words


def _margin_words(first, second):
    if first.scorecard is not None:
        return "Each row has the margin or the limit that the exam sets."
    margins = [margins_of(each.study) for each in (first, second)]
    words = ", ".join(f"{one.name} {margins[0][one.column]:g} {one.effect_unit}" for one in METRICS)
    other = "" if margins[0] == margins[1] else f"; {second.folder} has different margins"
    return f"Margins from {first.folder} (`analysis.equivalence_margin`): {words}{other}."


def _left_out(first, second):
    """Return the number of rows in either scorecard that are not compared."""
    keys = [
        set(map(tuple, card[card["measure"] != ""][score_keys(card)].to_numpy()))
        for card in (first.scorecard, second.scorecard)
    ]
    unmeasured = sum(int((each.scorecard["measure"] == "").sum()) for each in (first, second))
    return unmeasured + len(keys[0] ^ keys[1])


def table_text(table) -> str:
    """Return the table for a terminal: all rows if there are few, otherwise only rows that are better or worse."""
    chosen = table if len(table) <= MOST_LINES else table[table["change"].isin([BETTER, WORSE])]
    if chosen.empty:
        return "Nothing is better or worse."
    lines = [("", "where", "what", "first", "second", "difference", "pairs", "p")]
    for row in chosen.to_dict("records"):
        where = " ".join(filter(None, [row["scenario"], row["cca"], row["ip_version"]]))
        what = f"{row['criterion'][:40]}: {row['measure']}" if row["criterion"] else row["measure"]
        values = [
            "-" if is_missing(row[name]) else _infinite(row[name]) or _with_unit(number(row[name]), row["unit"])
            for name in ("first", "second")
        ]
        p = "-" if is_missing(row["p_corrected"]) else f"{row['p_corrected']:.2g}"
        lines.append((row["change"], where, what, *values, _effect_text(row), _pairs_text(row), p))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines)
    left = len(table) - len(chosen)
    return text + (f"\n(the files have {count(left, 'more row')} without a difference)" if left else "")


def _with_unit(text, unit):
    return f"{text} {unit}" if unit and isinstance(unit, str) else text


def _infinite(value):
    """Return "infinite" for a value that stands for infinity, otherwise ""."""
    return "infinite" if is_infinite(value) else ""


def _signed(value):
    return ("+" if value > 0 else "−") + _infinite(value) if _infinite(value) else signed(value)


def _effect_text(row):
    if is_missing(row["effect"]):
        return "-"
    text = _signed(row["effect"]) if _infinite(row["effect"]) else _with_unit(signed(row["effect"]), row["effect_unit"])
    if is_missing(row["low"]):
        return text
    return f"{text} ({_signed(row['low'])} to {_signed(row['high'])})"


def _value_cell(name):
    """Return a function that takes a row and returns a cell with one side's value."""

    def cell(row):
        value = row[name]
        return Cell("infinite", float(value)) if not is_missing(value) and _infinite(value) else number_cell(value)

    return cell


def _pairs_text(row):
    """Return the counts of worse, better and needed pairs in words, such as "5 worse, 0 better of 6 (8 needed)"."""
    if not row["n"]:
        return "-"
    text = f"{row['pairs_worse']} worse, {row['pairs_better']} better of {row['n']}"
    return text if is_missing(row["n_needed"]) else f"{text} ({row['n_needed']:.0f} needed)"


def _change_cell(row):
    return Cell(row["change"], CHANGES.index(row["change"]), STYLES[row["change"]])


def _verdicts_words(row):
    return " → ".join(dict.fromkeys([row["first_verdict"], row["second_verdict"]]))


def page(first, second, table) -> str:
    """Return the page as self-contained HTML."""
    cards = first.scorecard is not None
    shown = (
        shown_cell("Change", _change_cell, filtered=True),
        *([shown_text("Criterion", "criterion", kind="words")] if cards else []),
        shown_text("Scenario", "scenario", filtered=True, header=True),
        shown_text("CCA", "cca", filtered=True),
        shown_text("IP", "ip_version", filtered=True),
        shown_text("Measure", "measure", filtered=True),
        shown_cell("First", _value_cell("first"), "number"),
        shown_cell("Second", _value_cell("second"), "number"),
        shown_text("Unit", "unit"),
        shown_cell("Difference", _effect_text, "short"),
        shown_number("Margin", "margin"),
        N,
        shown_number("Worse", "pairs_worse", 0),
        shown_number("Better", "pairs_better", 0),
        shown_number("Needed", "n_needed", 0),
        shown_p("p", "p"),
        shown_p("p, all rows", "p_corrected"),
        *([shown_cell("Verdicts", _verdicts_words, "short")] if cards else []),
        shown_cell("Note", lambda row: row["note"] if isinstance(row["note"], str) else "", "note"),
    )
    return standalone_page(
        "comparison.html.j2",
        "comparison",
        f"{first.folder} and {second.folder}",
        words=summary_words(first, second, table),
        table=cells_table("comparison", "What changed, worse first", table, shown),
    )


def main(arguments=None) -> int:
    """Read the command line, write both files and print the table; return the exit status."""
    parser = argparse.ArgumentParser(prog="compare_results", description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", help="two results folders of the same conditions")
    parser.add_argument(
        "--output",
        type=Path,
        help="path of the files without extension; results/comparison-<first>-<second> if not given",
    )
    options = parser.parse_args(arguments)
    try:
        first, second, table = compare_folders(options.folders)
        output = options.output or Path("results", f"comparison-{Path(first.folder).name}-{Path(second.folder).name}")
        output.parent.mkdir(parents=True, exist_ok=True)
        files = [output.with_name(f"{output.name}.{ending}") for ending in ("csv", "html")]
        table[list(COLUMNS)].to_csv(files[0], index=False, lineterminator="\n")
        files[1].write_text(page(first, second, table), encoding="utf-8", newline="\n")
    except (ComparisonError, OSError) as error:
        tell(str(error))
        return 1
    print(
        "\n".join(
            [*summary_words(first, second, table), "", table_text(table), "", f"table: {files[0]}, page: {files[1]}"]
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
