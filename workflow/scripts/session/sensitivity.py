"""The sensitivity of a study's conclusions to its settings: `make sensitivity STUDY=...`.

``python -m session.sensitivity write STUDY_FILE OUTPUT --count N --seed S`` writes the study of perturbed scenarios, which the
workflow then runs like any other; ``python -m session.sensitivity show RESULTS`` prints the table of results.
"""

import argparse
import csv
import sys
from pathlib import Path

from session.derived_study import size_words, write_study
from study_files import study as studies
from study_files.perturbed_study import WORDS, perturbed_study
from study_files.study_design import StudyDesign
from testbed.machine.messages import tell
from topics.sensitivity.topic import comparisons_perturbed
from wording.terminal_text import shown

TABLE = "analysis/sensitivity.csv"
#: Default number of perturbed scenarios.
SCENARIOS = 2
HEADINGS = ("scenario", "changed", "comparison", "conclusions", "shown", "same", "turned", "lost", "won")


def write(source, output, count, seed, platform=None) -> str:
    """Write the study of perturbed scenarios for a study file; return a text with the new study's size and the omitted perturbations.

    ``platform`` is the platform of the command, which replaces the study's own; None if the command names none.

    Raises `studies.StudyError` if the file doesn't contain a study that can run, or if the study can't be perturbed.
    """
    study = studies.resolve(studies.load(source) | ({"platform": platform} if platform else {}), source)
    if study["analysis"]["sensitivity"] or study["analysis"]["calibration"]:
        key = "sensitivity" if study["analysis"]["sensitivity"] else "calibration"
        raise studies.StudyError(source, [f"analysis.{key} is true; allowed with make sensitivity: false."])
    if not comparisons_perturbed(StudyDesign(study)):
        raise studies.StudyError(
            source,
            ["compares neither IP versions nor CCAs by tests; allowed with make sensitivity: a study that does."],
        )
    perturbed, left_out = perturbed_study(study, count, seed, _is_possible)
    if not perturbed["scenarios"]:
        raise studies.StudyError(source, ["has no scenario that could be perturbed."])
    resolved = write_study(perturbed, output, f"`make sensitivity` of {source}")
    return "\n".join([size_words(output, resolved), *left_out])


def _is_possible(study):
    try:
        studies.resolve(study, "perturbed")
    except studies.StudyError:
        return False
    return True


def table_text(folder) -> str:
    """Return the table of a study of perturbed scenarios as text, followed by a line about each row with changed conclusions.

    Raises `ValueError` if the results folder has no such table.
    """
    if not (table := Path(folder, TABLE)).is_file():
        raise ValueError(f"{folder} has no {TABLE}; allowed: the results of a finished make sensitivity.")
    with table.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    cells = [HEADINGS]
    for row in rows:
        names = (row["scenario"], WORDS[row["perturbation"]], row["comparison"])
        cells.append((*names, *(row[name] for name in HEADINGS[3:])))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    moved = [f"{row['scenario']}, {WORDS[row['perturbation']]}: {row['moved']}" for row in rows if row["moved"]]
    return "\n".join([*lines, "", *moved])


def _whole(name, text, least):
    """Parse a whole number given to `make`; raise `ValueError` if the text isn't a whole number of at least ``least``."""
    if not (text.isascii() and text.isdigit()) or int(text) < least:
        raise ValueError(f"{name} is {shown(text)!r}; allowed: whole numbers of at least {least}.")
    return int(text)


def main(arguments=None) -> int:
    """Read the command line, and write the study or show the table; return the exit status."""
    parser = argparse.ArgumentParser(prog="sensitivity", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="write the study of perturbed scenarios")
    writing.add_argument("study", help="the study's file")
    writing.add_argument("output", help="the file to write")
    writing.add_argument("--count", default=str(SCENARIOS), help="number of scenarios to perturb")
    writing.add_argument("--seed", default="1", help="seed for choosing the scenarios")
    writing.add_argument("--platform", help="platform on which the study runs, if the command names one")
    showing = commands.add_parser("show", help="print the table")
    showing.add_argument("results", type=Path, help="results/<study>-sensitivity")
    options = parser.parse_args(arguments)
    try:
        if options.command == "show":
            print(table_text(options.results))
        else:
            count, seed = _whole("N", options.count, 1), _whole("SEED", options.seed, 0)
            print(write(options.study, options.output, count, seed, options.platform))
    except (studies.StudyError, OSError, ValueError) as error:
        tell(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
