"""Pilot runs of a study: finished runs under the study's conditions, from any results folder."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from run_tables.reading import runs_of_rows
from run_tables.run_documents import DOCUMENT_LIMIT, DocumentError, read_document, run_of
from run_tables.steady_state import SteadyRule
from run_tables.tidy_rows import rows_of_run
from study_files.program_ccas import program_of
from study_files.study_runs import cells, definitions_in, run_conditions
from testbed.machine.given_file import given_text

#: Path of the resolved study, relative to a results folder.
STUDY = "workflow/study.json"


@dataclass
class Pilot:
    """Pilot runs of a study, and the results folders that they come from.

    ``runs`` is a table of the pilot runs, or None if there are none. Its column ``replication`` contains the seed, which both runs of a
    pair share. ``used`` maps a results folder to the number of its pilot runs; ``others`` maps a results folder to the problem in the first
    file that was skipped there.
    """

    runs: pd.DataFrame | None = None
    used: dict[str, int] = field(default_factory=dict)
    others: dict[str, DocumentError] = field(default_factory=dict)


def study_of(folder: Path) -> dict:
    """Return the resolved study of a results folder; raise `ValueError` if the study is missing or can't be read."""
    try:
        study = json.loads(given_text(folder / STUDY, DOCUMENT_LIMIT))
        list(cells(study))
        same_conditions(study, study)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{folder}: not a results folder, because {STUDY} is missing or can't be read") from error
    return study


def same_conditions(study, other) -> dict[str, str]:
    """Return which scenarios have the same conditions: identifier in ``other`` -> identifier in ``study``."""
    ours = {_conditions(study, scenario): scenario["id"] for scenario in reversed(study["scenarios"])}
    known = {scenario["id"]: ours.get(_conditions(other, scenario)) for scenario in other["scenarios"]}
    return {theirs: own for theirs, own in known.items() if own}


def _conditions(study, scenario):
    """Return a scenario's conditions as text, without its name."""
    conditions = run_conditions(study, scenario["id"])["scenario"]
    own = {key: value for key, value in conditions.items() if key != "id"}
    own |= {"variation": scenario["variation"], "kernel": scenario.get("kernel")}
    return json.dumps(own, sort_keys=True)


def _needs(study, scenario, cca):
    """Return the definitions and the program that runs of a CCA or mix in a scenario need; the results depend on these, too."""
    return definitions_in(study, scenario, cca), program_of(study, cca)


def pilot_runs(study, sources: dict[Path, dict]) -> Pilot:
    """Collect the pilot runs of a resolved study.

    ``sources`` maps each results folder to its resolved study. A run that several folders contain is used once. Runs under other
    conditions, such as runs made before a change to a scenario, are skipped.
    """
    pilot, rows = Pilot(), {}
    rule, labels = SteadyRule(**study["steady_state"]), {one["id"]: one["label"] for one in study["scenarios"]}
    for folder, other in sources.items():
        before = len(rows)
        for path, scenario, expected in _files(study, folder, other):
            try:
                document = read_document(path, expected)
            except DocumentError as error:
                pilot.others.setdefault(str(folder), error)
                continue
            row = rows_of_run(document, labels[scenario], None, rule)[0]
            row |= {"scenario": scenario, "replication": row["seed"]}
            rows.setdefault((scenario, row["cca"], row["ip_version"], row["seed"]), row)
        if len(rows) > before:
            pilot.used[str(folder)] = len(rows) - before
    pilot.runs = runs_of_rows(rows.values()) if rows else None
    return pilot


def _files(study, folder, other) -> Iterator[tuple[Path, str, dict]]:
    """Yield the documents of possible pilot runs in a folder: path, matching scenario, and required values of the specification."""
    matching, wanted = same_conditions(study, other), set(cells(study))
    for path in sorted((folder / "runs").glob("*/*/*/*.json.gz")):
        try:
            theirs, cca, ip_version, replication = run_of(path)
        except ValueError:
            continue
        scenario = matching.get(theirs)
        if (scenario, cca, ip_version) not in wanted or cca not in other["ccas"]:
            continue
        if _needs(study, scenario, cca) != _needs(other, theirs, cca):
            continue
        conditions = run_conditions(other, theirs, replication, cca)
        yield path, scenario, conditions | {"cca": cca, "ip_version": ip_version}
