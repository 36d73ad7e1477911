"""Sentences that state whether programs are reproducible."""

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
    """Return sentences about the runs that were executed twice; ``rows`` are the rows of `REPETITIONS`."""
    rows = list(rows)
    sentences = []
    if different := [row for row in rows if row["result"] == DIFFERENT]:
        of_runs = [f"{_name_of(row)}, {row['difference']}" for row in different[:MOST_RUNS]]
        heading = f"First difference{'' if len(of_runs) == 1 else 's'}"
        sentences += [not_reproducible_words(rows), f"{heading}: {'; '.join(of_runs)}."]
    if same := [row for row in rows if row["result"] == SAME]:
        repeated = "run was repeated" if len(same) == 1 else "runs were repeated"
        sentences.append(f"{len(same):,} {repeated} with the same bytes: with {_programs_of(same)}.")
    if failed := [row for row in rows if row["result"] == FAILED]:
        runs = "run, which failed, was" if len(failed) == 1 else "runs, which failed, were"
        sentences.append(f"{len(failed):,} {runs} not compared with a repetition: with {_programs_of(failed)}.")
    return sentences


def not_reproducible_words(rows: Iterable[Mapping]) -> str:
    """Return a sentence about the runs that gave a different document when they were repeated; "" if there are none."""
    of_both = [row for row in rows if row["result"] != FAILED]
    different = [row for row in of_both if row["result"] == DIFFERENT]
    if not different:
        return ""
    runs = "run that was" if len(of_both) == 1 else "runs that were"
    return f"{len(different):,} of {len(of_both):,} {runs} compared with a repetition gave a different document for the same seed, so runs with {_programs_of(different)} can't be reproduced."


def told_words(folder: Path) -> list[str]:
    """Return the sentences about repeated runs in the results folder ``folder``, for the terminal; empty if no run was repeated."""
    try:
        with (folder / REPETITIONS.path).open(encoding="utf-8", newline="") as file:
            return [shown(sentence, MOST_CHARACTERS) for sentence in repetition_sentences(csv.DictReader(file))]
    except OSError:
        return []


def _programs_of(rows):
    """Return the programs that the rows name as text: their names, or only their number if there are many."""
    names = list(dict.fromkeys(name for row in rows for name in row["programs"].split("; ")))
    return f"{len(names)} programs" if len(names) > MOST_NAMED else listed(names)


def _name_of(row):
    return "/".join([*(row[key] for key in CELL), str(int(row["replication"]))])
