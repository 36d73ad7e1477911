"""Test whether programs under test are reproducible: ``python -m publishing.program_repetitions results/<study>``.

The guest's clock and random numbers follow from a run's seed, but a program can read the processor's own random numbers. Of each program in
the study's `ccas`, a few valid runs are repeated, and the result is printed. Nothing is printed for studies without such programs.
"""

import argparse
import json
import sys
from pathlib import Path

from publishing.result_checks import reruns
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import temporary_folder
from publishing.run_again import finished_run, repeat
from run_tables.reading import read_runs
from run_tables.run_keys import CELL
from session.run_cost import run_time_s
from study_files.program_ccas import programs_under_test
from testbed.machine.messages import tell
from wording.number_format import count

#: Number of runs of each program's CCA to repeat.
REPEATED = 2


def main(arguments=None) -> int:
    """Repeat runs of the programs under test; return the exit status, which is 0 whether or not the bytes are the same."""
    parser = argparse.ArgumentParser(prog="program_repetitions", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="results/<study>")
    folder = parser.parse_args(arguments).folder
    table, provenance = folder / "tidy/runs.csv", folder / "tidy/provenance.json"
    if not (table.exists() and provenance.exists()):
        return 0
    programs = programs_under_test(json.loads(provenance.read_text(encoding="utf-8"))["study"])
    try:
        for cca, documents in chosen_runs(read_runs(table), folder, programs).items() if programs else ():
            print(repetition_words(cca, documents), flush=True)
    except ReceivedError as error:
        tell(str(error))
    except KeyboardInterrupt:
        tell("interrupted; whether the program is reproducible was not tested.")
    return 0


def chosen_runs(runs, folder, programs) -> dict[str, list[Path]]:
    """Return the run documents to repeat for each program's CCA: of valid runs, the first of the first and of the last scenario.

    ``programs`` are the names of the study's CCAs that are programs.
    """
    of_programs = runs[runs["valid"] & runs["cca"].isin(list(programs))]
    chosen = {}
    for cca, own in of_programs.groupby("cca", sort=False):
        firsts = own.drop_duplicates("scenario")[[*CELL, "replication"]].astype(str)
        rows = firsts.iloc[sorted({0, len(firsts) - 1})][:REPEATED]
        chosen[cca] = [folder / "runs" / f"{'/'.join(row)}.json.gz" for row in rows.itertuples(index=False)]
    return chosen


def repetition_words(cca, documents) -> str:
    """Repeat runs of a program's CCA; return a sentence on whether their documents are byte-identical.

    Raises
    ------
    ReceivedError
        If a run can't be repeated.
    """
    runs = [finished_run(document, "repetitions") for document in documents]
    seconds = sum(run_time_s(run.specification) for run in runs)
    print(f"repeating {count(len(runs), 'run')} of {cca}, {reruns.about(seconds)}", flush=True)
    for run in runs:
        with temporary_folder() as place:
            difference = repeat(run, place, None, ())
        if difference and difference.startswith("NOT "):
            raise ReceivedError(f"run {shown(run.name)}: {difference}")
        if difference:
            return (
                f"{cca} is not reproducible, run {run.name} is {difference}; "
                "docs/programs.md names causes, such as random numbers of the processor"
            )
    return f"{cca} is reproducible as far as tested: {count(len(runs), 'run')} repeated, with the same bytes"


if __name__ == "__main__":
    sys.exit(main())
