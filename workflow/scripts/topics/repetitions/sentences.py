"""Sentences on whether programs are reproducible."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from run_tables.run_keys import CELL
from topics.repetitions.tables import DIFFERENT, FAILED, REPETITIONS, SAME
from wording.sentence_words import listed
from wording.terminal_text import shown

#: Maximum numbers of programs, and of runs with another document, that a sentence names.
MOST_NAMED, MOST_RUNS = 4, 2
#: Maximum length of a sentence on a terminal, in characters.
MOST_CHARACTERS = 600


def repetition_sentences(rows: Iterable[Mapping]) -> list[str]:
    """Return sentences on the runs that were executed twice; ``rows`` are the rows of `REPETITIONS`."""
    rows = list(rows)
    sentences = []
    if different := [row for row in rows if row["result"] == DIFFERENT]:
        heading = f"First difference{'' if len(different) == 1 else 's'}"
        sentences += [not_reproducible_words(rows), f"{heading}: {_first_of(different)}."]
    if same := [row for row in rows if row["result"] == SAME]:
        repeated = "run was repeated" if len(same) == 1 else "runs were repeated"
        sentences.append(f"{len(same):,} {repeated} with the same bytes: with {_listed(_programs_of(same))}.")
    if failed := [row for row in rows if row["result"] == FAILED]:
        runs = "run is" if len(failed) == 1 else "runs are"
        sentences.append(f"{len(failed):,} repeated {runs} no evidence of reproducibility: {_first_of(failed)}.")
    return sentences


def not_reproducible_words(rows: Iterable[Mapping]) -> str:
    """Return a sentence on the runs that gave another document when they were repeated; "" if there are none."""
    rows = list(rows)
    of_both = [row for row in rows if row["result"] != FAILED]
    different = [row for row in of_both if row["result"] == DIFFERENT]
    if not different:
        return ""
    runs = "run that was" if len(of_both) == 1 else "runs that were"
    return f"{len(different):,} of {len(of_both):,} {runs} compared with a repetition gave a different document for the same seed, so runs with {_suspects(rows)} can't be reproduced."


def told_words(folder: Path) -> list[str]:
    """Return the sentences on the repeated runs of the results in ``folder``, for a terminal; empty if no run was repeated."""
    try:
        with (folder / REPETITIONS.path).open(encoding="utf-8", newline="") as file:
            return [shown(sentence, MOST_CHARACTERS) for sentence in repetition_sentences(csv.DictReader(file))]
    except OSError:
        return []


def _suspects(rows):
    """Return the programs of runs that gave another document, as text, without the programs of runs that gave the same bytes.

    Several programs may share a run. If all programs of a run also had a run with the same bytes, none of them is left out.
    """
    well = set(_programs_of(row for row in rows if row["result"] == SAME))
    of_runs = [_programs_of([row]) for row in rows if row["result"] == DIFFERENT]
    left = [[name for name in names if name not in well] or names for names in of_runs]
    return _listed(list(dict.fromkeys(name for names in left for name in names)))


def _programs_of(rows):
    return list(dict.fromkeys(name for row in rows for name in row["programs"].split("; ")))


def _listed(names):
    if len(names) <= MOST_NAMED:
        return listed(names)
    return (
        f"{len(names)} combinations of program and CCA"
        if any(":" in name for name in names)
        else f"{len(names)} programs"
    )


def _first_of(rows):
    """Return the names and differences of the first rows as text."""
    more = f"; and {len(rows) - MOST_RUNS:,} more" if len(rows) > MOST_RUNS else ""
    return "; ".join(f"{_name_of(row)}, {row['difference']}" for row in rows[:MOST_RUNS]) + more


def _name_of(row):
    return "/".join([*(row[key] for key in CELL), str(int(row["replication"]))])
