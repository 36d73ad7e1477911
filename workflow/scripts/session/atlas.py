"""Write a page with the outcomes of the studies that repeat landmark results; `make atlas` runs the studies first.

``python -m session.atlas results/sqrt-law results/l4s ...`` reads the results of studies with claims and writes to ``results/atlas``:
the page ``index.html``; ``atlas.csv`` (one row per claim, with the columns of ``claims.csv``); the matrix of verdicts (``matrix.svg``,
``matrix.png``); ``atlas.md``; and ``SHA256SUMS``, the checksums of the archives next to the results folders.
"""

import argparse
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from report_parts.cells_table import cells_table, shown_cell, shown_text
from report_parts.data_tables import Cell
from report_parts.inline_figures import inline_panels
from report_parts.page_files import citation
from run_tables.reading import read_runs, read_table
from run_tables.run_documents import DOCUMENT_LIMIT
from run_tables.table import Table, text_column
from session.atlas_figure import TITLE, draw_atlas
from session.made_page import MadePageError, markdown_table, write_between
from session.packed_archives import SUMS, archives_of, archives_table, sums_of
from session.standalone_page import standalone_page
from study_files.strict_yaml import FileError
from testbed.machine.given_file import given_text
from testbed.machine.messages import tell
from topics.claims.claims_file import load_claims
from topics.claims.page_tables import STYLES, value_text
from topics.claims.tables import CLAIMS, NOT_REPRODUCED, NOT_SHOWN, NOT_TESTABLE, REPRODUCED, VERDICTS
from wording.number_format import count
from wording.sentence_words import listed
from wording.terminal_text import shown

PNG_DPI = 160
#: Documentation page that contains the tables, and the page's picture.
PAGE, PICTURE = Path("docs/atlas.md"), Path("docs/pictures/atlas.png")
ARCHIVES = "The studies' archives"
#: Outcome of a publication -> rule in words, and style on the page.
HOLDS, IN_PART, FAILS, OPEN = "holds", "holds in part", "doesn't hold", "open"
OUTCOMES = {
    HOLDS: ("every claim that can be tested is reproduced", "verdict good"),
    IN_PART: ("some claims are reproduced, and others are not reproduced or not shown", "verdict alike"),
    FAILS: ("no claim is reproduced, and at least one has the verdict not reproduced", "verdict bad"),
    OPEN: ("no claim is decided", "verdict open"),
}
ATLAS = Table("atlas", "a claim", (text_column("study", "Study that checks the claim."), *CLAIMS))


class AtlasError(Exception):
    """A folder can't be part of an atlas; the message is one sentence."""


@dataclass(frozen=True)
class Repeated:
    """The results of the study that repeats one publication."""

    folder: str
    study: dict  # resolved
    paper: dict
    claims: pd.DataFrame  # columns of `CLAIMS`
    runs: int
    valid_runs: int

    @property
    def name(self) -> str:
        """The study's name."""
        return self.study["study"]

    @property
    def outcome(self) -> str:
        """The publication's outcome, one of `OUTCOMES`."""
        return outcome_of(self.claims["verdict"])


def outcome_of(verdicts) -> str:
    """Return the outcome of a publication from the verdicts of its claims.

    >>> outcome_of(["reproduced", "not testable"]), outcome_of(["reproduced", "not shown"]), outcome_of(["not shown"])
    ('holds', 'holds in part', 'open')
    """
    found = set(verdicts) - {NOT_TESTABLE}
    if REPRODUCED in found:
        return HOLDS if found == {REPRODUCED} else IN_PART
    return FAILS if NOT_REPRODUCED in found else OPEN


def read_repeated(folder) -> Repeated:
    """Read a results folder; raise `AtlasError` if the folder is incomplete or contains no claims."""
    place = Path(folder)
    files = [place / name for name in ("workflow/study.json", "tidy/runs.csv", "analysis/claims.csv")]
    if missing := [path for path in files if not os.path.isfile(path)]:
        raise AtlasError(
            f"{shown(folder)} is not a folder of finished results: {shown(missing[0])} is missing; allowed: a folder such as results/l4s."
        )
    paper = place / "workflow/claims.yaml"
    if not os.path.isfile(paper):
        raise AtlasError(
            f"{shown(folder)} checks no claims of a publication: {shown(paper)} is missing; allowed: studies that name some in analysis.claims."
        )
    try:
        study = json.loads(given_text(files[0], DOCUMENT_LIMIT))
        runs, claims = read_runs(files[1]), read_table(files[2], CLAIMS)
        named = [study.get(key) for key in ("study", "title")] if isinstance(study, dict) else [None]
        if not all(isinstance(name, str) and name for name in named):
            raise ValueError(f"{files[0]}: not the description of a study")
        if claims.empty or not set(claims["verdict"]) <= set(VERDICTS):
            raise ValueError(f"{files[2]}: no claims, or a verdict other than {', '.join(VERDICTS)}")
        return Repeated(
            str(folder).rstrip("/"), study, load_claims(paper)["paper"], claims, len(runs), int(runs["valid"].sum())
        )
    except (OSError, ValueError, RecursionError, FileError) as error:
        raise AtlasError(f"{shown(str(error), 400)}; run the study again with this version.") from error


def in_order(folders) -> list[Repeated]:
    """Read results folders in the given order; raise `AtlasError` if there are none, or if two of them hold results of the same study."""
    if not folders:
        raise AtlasError(
            "no study is named; allowed: results folders of studies with claims, such as results/sqrt-law."
        )
    atlas = {}
    for folder in folders:
        each = read_repeated(folder)
        if each.name in atlas:
            raise AtlasError(
                f"{shown(atlas[each.name].folder)} and {shown(each.folder)} are both results of the study {each.name}; allowed: one folder per study."
            )
        atlas[each.name] = each
    return list(atlas.values())


def introduction(atlas) -> list[str]:
    """Return sentences about the studies and their outcomes."""
    numbers = {outcome: sum(each.outcome == outcome for each in atlas) for outcome in OUTCOMES}
    said = ", ".join(f"{outcome} {number}" for outcome, number in numbers.items() if number)
    rules = "; ".join(f"{outcome}: {rule}" for outcome, (rule, _) in OUTCOMES.items() if numbers[outcome])
    claims = sum(len(each.claims) for each in atlas)
    return [
        f"{count(len(atlas), 'study', 'studies')} of published results checked {count(claims, 'claim')} under the published conditions, or under the closest conditions that the testbed can create. "
        f"Outcomes of the studies: {said} ({rules}).",
        "A claim is reproduced if the whole interval of our value meets the condition in the claims file, not reproduced if no part of the interval meets it, and not shown if "
        "only a part meets it. A claim is also not shown if a cell has outliers and therefore no interval. If all runs of a cell repeat one measurement, the value itself is judged. "
        "Conditions were written before a study's first run; the claims file mentions later changes. Each study's report shows the conditions, all claims and all figures.",
    ]


def _claim_numbers(repeated):
    numbers = repeated.claims["verdict"].value_counts()
    return listed([f"{numbers[verdict]} {verdict}" for verdict in STYLES if verdict in numbers])


def publications_table(atlas) -> dict:
    """Return the table of publications and their outcomes."""
    rows = [
        {
            "title": each.study["title"],
            "paper": _paper_words(each.paper),
            "outcome": each.outcome,
            "claims": _claim_numbers(each),
            "runs": f"{each.valid_runs:,} of {each.runs:,}",
            "study": each.name,
        }
        for each in atlas
    ]
    columns = (
        shown_text("Result", "title", header=True, kind="words"),
        shown_cell("Outcome", lambda row: Cell(row["outcome"], style=OUTCOMES[row["outcome"]][1]), filtered=True),
        shown_text("Claims", "claims", kind="short"),
        shown_text("Publication", "paper", kind="words"),
        shown_text("Valid runs", "runs"),
        shown_text("Study", "study"),
    )
    return cells_table("publications-table", "Studies and their outcomes", rows, columns)


def _paper_words(paper):
    cited = citation(paper)
    return f"{cited['authors']}: {cited['title']}" + (f" ({cited['source']})" if cited["source"] else "")


def all_claims(atlas) -> pd.DataFrame:
    """Return the claims of all studies, with the columns of `ATLAS`."""
    tables = [each.claims.assign(study=each.name) for each in atlas]
    return pd.concat(tables, ignore_index=True)[ATLAS.names]


def failures_table(atlas) -> dict:
    """Return the table of claims not reproduced or not shown: published value, our value, requirement and cause of the difference."""
    claims = all_claims(atlas)
    rows = claims[claims["verdict"].isin((NOT_REPRODUCED, NOT_SHOWN))].to_dict("records")
    columns = (
        *_claim_columns(),
        shown_text("Required", "requirement", kind="words"),
        shown_cell("Cause", _cause, "words"),
    )
    return cells_table("failures-table", "Claims that are not reproduced or not shown", rows, columns)


def _cause(row):
    """Return the cause of a claim's failure if it is known, otherwise the reason why the claim isn't shown, otherwise "not known"."""
    return row["cause"] or (row["because"] if row["verdict"] == NOT_SHOWN else "not known")


def claims_table(atlas) -> dict:
    """Return the table of all claims."""
    columns = (
        *_claim_columns(),
        shown_text("Required", "requirement", kind="words"),
        shown_text("Our tolerance", "tolerance", kind="words"),
        shown_text("Section", "section", kind="short"),
    )
    return cells_table("claims-table", "All claims", all_claims(atlas).to_dict("records"), columns)


def _claim_columns():
    return (
        shown_text("Study", "study", filtered=True),
        shown_text("Claim", "statement", kind="words", header=True),
        shown_cell("Verdict", lambda row: Cell(row["verdict"], style=STYLES[row["verdict"]]), filtered=True),
        shown_text("The publication", "published", kind="short"),
        shown_cell("Ours, with interval", value_text, "short"),
    )


def page(atlas, archives, svg, reports) -> str:
    """Return the atlas as an HTML page.

    Parameters
    ----------
    atlas : list of Repeated
    archives : list
        Result of `archives_of`.
    svg : path
        Path of the matrix's SVG file.
    reports : list of (str, str)
        Title and relative address of each report.
    """
    panels, columns = inline_panels(svg, "matrix")
    return standalone_page(
        "atlas.html.j2",
        "atlas",
        f"{count(len(atlas), 'study', 'studies')} of published results",
        words=introduction(atlas),
        publications=publications_table(atlas),
        reports=reports,
        panels=[Markup(panel) for panel in panels],  # noqa: S704, written by this module
        columns=columns,
        failures=failures_table(atlas),
        decided=any(each.outcome != OPEN for each in atlas),
        claims=claims_table(atlas),
        archives=archives_table(ARCHIVES, archives),
    )


def markdown(atlas, archives) -> str:
    """Return the sentences and tables of an atlas as Markdown for the documentation."""
    tables = [publications_table(atlas), failures_table(atlas)]
    if archives:
        tables.append(archives_table(ARCHIVES, archives))
    return "\n".join([*(f"{sentence}\n" for sentence in introduction(atlas)), *map(markdown_table, tables)])


def write(atlas, output, document=False) -> list[Path]:
    """Write an atlas's files to a folder; if ``document`` is true, also write the documentation's page and picture. Return the paths."""
    output.mkdir(parents=True, exist_ok=True)
    names = ("index.html", "atlas.csv", "matrix.svg", "matrix.png", "atlas.md", SUMS)
    files = {name: output / name for name in names}
    archives = archives_of(each.folder for each in atlas)
    labels = {each.name: each.name for each in atlas}
    drawing = draw_atlas(rows := all_claims(atlas), labels).drawing(TITLE, rows, ATLAS.digits)
    drawing.figure.savefig(files["matrix.png"], dpi=PNG_DPI, metadata={"Software": None})
    drawing.save(files["matrix.svg"], files["atlas.csv"])
    reports = [
        (each.study["title"], os.path.relpath(report, output))
        for each in atlas
        if (report := Path(each.folder, "report.html")).is_file()
    ]
    html = page(atlas, archives, files["matrix.svg"], reports)
    files["index.html"].write_text(html, encoding="utf-8", newline="\n")
    text = markdown(atlas, archives)
    files["atlas.md"].write_text(text, encoding="utf-8", newline="\n")
    files[SUMS].write_text(sums_of(archives), encoding="utf-8", newline="\n")
    if document:
        picture = PICTURE.relative_to(PAGE.parent)
        write_between(PAGE, "atlas", f"![The verdict on each claim]({picture})\n\n{text}")
        PICTURE.write_bytes(files["matrix.png"].read_bytes())
    return [*files.values(), *([PAGE, PICTURE] if document else [])]


def main(arguments=None) -> int:
    """Read the command line, write the atlas and print its outcomes; return the exit status."""
    parser = argparse.ArgumentParser(prog="atlas", description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", help="results folders of finished studies with claims")
    parser.add_argument(
        "--output", type=Path, default=Path("results/atlas"), help="output folder; results/atlas if not given"
    )
    parser.add_argument("--document", action="store_true", help=f"write {PAGE} and {PICTURE}, too")
    options = parser.parse_args(arguments)
    try:
        atlas = in_order(options.folders)
        files = write(atlas, options.output, options.document)
    except (AtlasError, MadePageError, OSError) as error:
        tell(str(error))
        return 1
    for each in atlas:
        print(f"{each.name}: {each.outcome} ({_claim_numbers(each)})")
    print(f"atlas: {', '.join(map(str, files))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
