"""Compare the exams of several CCAs on one page, criterion by criterion; `make gallery` runs the exams first.

``python -m session.gallery results/exam-quick-*`` reads finished exams with the same conditions and writes these files to
``results/gallery``: the page ``index.html``; ``gallery.csv`` (each CCA's deciding rows, with the columns of ``scorecard.csv``); the
matrix of verdicts (``matrix.svg``, ``matrix.png``); ``gallery.md``; and ``SHA256SUMS``, the checksums of the archives next to the results
folders. Exams that differ only in ECN can share a page; an exam that uses ECN in all cases, such as DCTCP's, is labelled.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from report_parts.cells_table import cells_table, shown_text
from report_parts.data_tables import Cell, PageColumn, data_table, minus
from report_parts.inline_figures import inline_panels
from session.candidate import kernels_ccas
from session.comparable_results import Results, problem_of
from session.compare_results import ComparisonError, read_results
from session.gallery_figure import LETTERS, ROW_KEYS, TITLE, draw_gallery, row_label, tile_words
from session.made_page import MadePageError, markdown_table, write_between
from session.packed_archives import SUMS, archives_of, archives_table, sums_of
from session.result_comparison import CONFIDENCE
from session.standalone_page import standalone_page
from testbed.machine.messages import tell
from topics.exam.criteria import CRITERIA, MEASURES
from topics.exam.page_tables import VERDICTS, measure_words, scorecard_columns
from topics.exam.scorecard import median_with_interval
from topics.exam.sentences import failed_runs, lead
from topics.exam.tables import EXAM_PUBLISHED, NOT_MEASURED, PRIMARY, SCORECARD, WORSE
from wording.number_format import NONE, count, number
from wording.sentence_words import cca_name, listed
from wording.terminal_text import shown

HARM = next(criterion for criterion in CRITERIA if criterion.section == "5.2.1")
DIGESTS = ("testbed_digest", "image_digest")
PNG_DPI = 160
#: Documentation page with the tables (between two comments), and its picture.
PAGE, PICTURE = Path("config/gallery.md"), Path("report/gallery.png")
ARCHIVES = "The exams' archives"
KEY = ", ".join(f"{letter} {verdict}" for verdict, letter in LETTERS.items())


@dataclass(frozen=True)
class Gallery:
    """Exams with the same conditions."""

    exams: tuple[Results, ...]
    reference: Results  # an exam that uses ECN only in the cases in which the study file sets it
    with_ecn: frozenset[str]  # CCAs whose exams use ECN in all cases

    @property
    def names(self) -> dict[str, str]:
        """Labels by CCA, in the order of the exams."""
        return {each.examined: self.name(each.examined) for each in self.exams}

    def name(self, cca) -> str:
        """Return a CCA's label."""
        return f"{cca_name(cca)}, ECN" if cca in self.with_ecn else cca_name(cca)

    @property
    def standards(self) -> list[str]:
        """The standard CCAs."""
        return self.reference.study["exam"]["standards"]


def gallery_of(exams) -> Gallery:
    """Return a gallery of exams; raise `ComparisonError` if a result isn't an exam or the conditions differ."""
    if not exams:
        raise ComparisonError("no exam is named; allowed: folders of finished exams, such as results/exam-quick-vegas.")
    folders = {}
    for each in exams:
        if each.scorecard is None:
            raise ComparisonError(
                f"{shown(each.folder)} is not an exam; allowed: folders made by make exam, such as results/exam-quick-vegas."
            )
        if (other := folders.setdefault(each.examined, each.folder)) is not each.folder:
            raise ComparisonError(
                f"{shown(other)} and {shown(each.folder)} both examine {each.examined}; allowed: one exam per CCA."
            )
    reference, with_ecn = min(exams, key=_cases_with_ecn), set()
    for each in exams:
        if problem := problem_of(reference, each):
            if problem_of(reference, _with_ecn_of(reference, each)):
                raise ComparisonError(shown(problem, 600))
            with_ecn.add(each.examined)
        for name in DIGESTS:
            made = [sorted(set(one.runs[name].dropna()) - {""}) for one in (reference, each)]
            if made[0] != made[1]:
                raise ComparisonError(
                    f"{name} is {', '.join(made[0])} in {shown(reference.folder)} and {', '.join(made[1])} in {shown(each.folder)}; allowed: exams made with the same image and testbed; run one of these two again."
                )
    return Gallery(tuple(exams), reference, frozenset(with_ecn))


def _cases_with_ecn(exam):
    return sum(scenario["transport"]["ecn"] != "off" for scenario in exam.study["scenarios"])


def _with_ecn_of(reference, exam):
    """Return a copy of an exam in which each case has the ECN setting of the reference exam."""
    ecn = {scenario["id"]: scenario["transport"]["ecn"] for scenario in reference.study["scenarios"]}
    scenarios = [
        one | {"transport": one["transport"] | {"ecn": ecn.get(one["id"], one["transport"]["ecn"])}}
        for one in exam.study["scenarios"]
    ]
    return replace(exam, study=exam.study | {"scenarios": scenarios})


def deciding_rows(gallery) -> pd.DataFrame:
    """Return the deciding rows of all exams, with the columns of `SCORECARD`."""
    cards = [each.scorecard[each.scorecard["role"] == PRIMARY] for each in gallery.exams]
    return pd.concat(cards, ignore_index=True)[SCORECARD.names]


def introduction(gallery) -> list[str]:
    """Return sentences about the examined CCAs and the criteria."""
    study = gallery.reference.study
    words = [
        f"Exams of {count(len(gallery.exams), 'CCA')} by the criteria of RFC 9743 ({count(len(study['scenarios']), 'case')}), compared with "
        f"{listed([cca_name(cca) for cca in gallery.standards])} with the same seeds. A run is worse than a standard CCA's if the difference exceeds a margin that "
        "was fixed beforehand. Verdicts are based on the number of worse runs; if there are several standard CCAs, the smallest number counts. The probability that any row of a card is falsely judged worse is below 5 %."
    ]
    if gallery.with_ecn:
        names = listed([cca_name(cca) for cca in gallery.names if cca in gallery.with_ecn])
        words.append(
            f"Different conditions: the exam of {names} has ECN in all cases, including the runs of the standard CCAs."
        )
    return words


def cards_table(gallery) -> dict:
    """Return a table with the outcome of each scorecard."""
    rows = [
        {
            "cca": gallery.name(each.examined),
            "card": (said := lead(each.scorecard[each.scorecard["role"] == PRIMARY]))[0].upper() + said[1:],
            "failed": " ".join(failed_runs(each.runs, each.examined)),
        }
        for each in gallery.exams
    ]  # fmt: skip
    columns = (
        shown_text("CCA", "cca", header=True),
        shown_text("Card", "card", kind="note"),
        shown_text("Runs ended by the CCA", "failed", empty="none", kind="note"),
    )
    return cells_table("cards-table", "The verdicts of each card", rows, columns)


def matrix_table(gallery, rows) -> dict:
    """Return the matrix of verdicts as a table: deciding rows x CCAs."""
    names = gallery.names
    columns = [
        PageColumn("Row", "short", header=True),
        PageColumn("Measure", "short"),
        *map(PageColumn, names.values()),
    ]
    table = []
    for _, of_row in rows.groupby(ROW_KEYS, sort=False):
        by_cca = {row["cca"]: row for row in of_row.to_dict("records")}
        first = next(iter(by_cca.values()))
        cells = [_matrix_cell(by_cca[cca]) if cca in by_cca else Cell(LETTERS[NOT_MEASURED]) for cca in names]
        table.append([row_label(first), measure_words(first["measure"]), *cells])
    return data_table("matrix", f"Verdicts, and the number of worse runs: {KEY}", columns, table)


def _matrix_cell(row):
    of = f"/{row['n']:.0f}" if row["runs_worse"] > 0 else ""
    return Cell(f"{tile_words(row)}{of}", list(LETTERS).index(row["verdict"]), VERDICTS[row["verdict"]])


def harm_tables(gallery) -> Iterator[dict]:
    """Yield one table per measure of harm: CCAs x cases, the standard CCAs first."""
    values = dict.fromkeys(gallery.standards, gallery.reference.exam_values)
    values = {cca: table[table["cca"] == cca] for cca, table in values.items()}
    subjects = {cca_name(cca): (cca, table, None) for cca, table in values.items()}
    for each in gallery.exams:
        own = each.exam_values[each.exam_values["cca"] == each.examined]
        subjects[gallery.name(each.examined)] = (each.examined, own, each.scorecard)
    for measure in (MEASURES[name] for name in HARM.measures):
        with_values = {
            name
            for _, table, _ in subjects.values()
            for name in table.loc[table["measure"] == measure.name, "scenario"]
        }
        cases = {
            one["id"]: one["label"]
            for one in gallery.reference.study["scenarios"]
            if one["id"] in with_values and HARM.is_answered_by(one["id"])
        }
        if cases:
            rows = [[name, *(_harm_cell(measure, case, *of) for case in cases)] for name, of in subjects.items()]
            columns = [PageColumn("CCA", header=True), *(PageColumn(label, "short") for label in cases.values())]
            words = measure.words[0].upper() + measure.words[1:].rstrip(",")
            yield data_table(f"harm-{measure.name}", f"{words}{measure.unit and f', {measure.unit}'}", columns, rows)


def _harm_cell(measure, case, cca, values, card):
    of_runs = values.loc[(values["measure"] == measure.name) & (values["scenario"] == case), "value"].dropna()
    if of_runs.empty:
        return Cell(NONE)
    known = median_with_interval(of_runs, CONFIDENCE, "value")
    text = number(known["value"], measure.decimals)
    if known["low"] == known["low"]:
        text += f" ({number(known['low'], measure.decimals)} to {number(known['high'], measure.decimals)})"
    row = (
        None
        if card is None
        else card[(card["scenario"] == case) & (card["measure"] == measure.name) & (card["role"] == PRIMARY)]
    )
    is_worse = row is not None and (row["verdict"] == WORSE).any()
    return Cell(minus(text), known["value"], VERDICTS[WORSE] if is_worse else "")


def rows_table(gallery, rows) -> dict:
    """Return the table of all deciding rows."""
    nothing = pd.DataFrame(columns=EXAM_PUBLISHED.names)
    columns = (shown_text("CCA", "cca", gallery.name, filtered=True), *scorecard_columns(nothing))
    return cells_table("rows-table", "Every deciding row of all cards", rows, columns)


def page(gallery, rows, archives, svg) -> str:
    """Return the gallery as an HTML page; ``svg`` is the path of the matrix's SVG file."""
    panels, columns = inline_panels(svg, "matrix")
    return standalone_page(
        "gallery.html.j2",
        "gallery",
        f"{count(len(gallery.exams), 'CCA')} by RFC 9743",
        words=introduction(gallery),
        cards=cards_table(gallery),
        key=f"{KEY}; the number of worse runs follows, if there are any.",
        panels=[Markup(panel) for panel in panels],  # noqa: S704, written by this module
        columns=columns,
        matrix=matrix_table(gallery, rows),
        harms=list(harm_tables(gallery)),
        confidence=f"{100 * CONFIDENCE:g}",
        rows=rows_table(gallery, rows),
        archives=archives_table(ARCHIVES, archives),
    )


def markdown(gallery, rows, archives) -> str:
    """Return the sentences and tables of a gallery as Markdown for the documentation."""
    tables = [cards_table(gallery), matrix_table(gallery, rows), *harm_tables(gallery)]
    if archives:
        tables.append(archives_table(ARCHIVES, archives))
    return "\n".join([*(f"{sentence}\n" for sentence in introduction(gallery)), *map(markdown_table, tables)])


def write(gallery, output, document=False) -> list[Path]:
    """Write a gallery's files to a folder; if ``document`` is true, also write the documentation's page and picture. Return the paths."""
    output.mkdir(parents=True, exist_ok=True)
    files = {
        name: output / name for name in ("index.html", "gallery.csv", "matrix.svg", "matrix.png", "gallery.md", SUMS)
    }
    rows, archives = deciding_rows(gallery), archives_of(each.folder for each in gallery.exams)
    drawing = draw_gallery(rows, gallery.names).drawing(TITLE, rows, SCORECARD.digits)
    drawing.figure.savefig(files["matrix.png"], dpi=PNG_DPI, metadata={"Software": None})
    drawing.save(files["matrix.svg"], files["gallery.csv"])
    files["index.html"].write_text(page(gallery, rows, archives, files["matrix.svg"]), encoding="utf-8", newline="\n")
    text = markdown(gallery, rows, archives)
    files["gallery.md"].write_text(text, encoding="utf-8", newline="\n")
    files[SUMS].write_text(sums_of(archives), encoding="utf-8", newline="\n")
    if document:
        write_between(PAGE, "gallery", f"![The verdicts of all CCAs](../{PICTURE})\n\n{text}")
        PICTURE.write_bytes(files["matrix.png"].read_bytes())
    return [*files.values(), *([PAGE, PICTURE] if document else [])]


def main(arguments=None) -> int:
    """Read the command line, write the gallery and print each card's outcome; return the exit status."""
    parser = argparse.ArgumentParser(prog="gallery", description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", help="results folders of exams with the same conditions")
    parser.add_argument(
        "--output", type=Path, default=Path("results/gallery"), help="output folder; results/gallery if not given"
    )
    parser.add_argument("--document", action="store_true", help=f"write {PAGE} and {PICTURE}, too")
    parser.add_argument("--ccas", action="store_true", help="print the CCAs of the guest kernel, and do nothing else")
    options = parser.parse_args(arguments)
    if options.ccas:
        print(" ".join(kernels_ccas()))
        return 0
    try:
        gallery = gallery_of([read_results(folder) for folder in options.folders])
        files = write(gallery, options.output, options.document)
    except (ComparisonError, MadePageError, OSError) as error:
        tell(str(error))
        return 1
    for row in cards_table(gallery)["rows"]:
        print(": ".join(cell.text for cell in row[:2]))
    print(f"gallery: {', '.join(map(str, files))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
