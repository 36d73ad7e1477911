"""Choose the runs that are executed twice."""

from collections.abc import Iterable

from study_files.program_ccas import programs_of_runs


def runs_to_repeat(study: dict, runs: Iterable[tuple]) -> dict[tuple, list[str]]:
    """Choose up to two runs of each declared program; return them in the order of ``runs``, with the names of the programs in each.

    The first is the program's first run. The second is the first replication in the program's last scenario, with the last CCA and IP
    version.

    Parameters
    ----------
    study : dict
        Resolved study.
    runs : iterable of tuple
        Scenario, CCA, IP version and replication of each run.
    """
    programs, of_program = programs_of_runs(study), {}
    runs = [run for run in runs if run[:2] in programs]
    for run in runs:
        for name in programs[run[:2]]:
            of_program.setdefault(name, []).append(run)
    chosen = set()
    for own in of_program.values():
        last = (run for run in own if run[:3] == own[-1][:3])
        chosen |= {own[0], min(last, key=lambda run: run[3])}
    return {run: programs[run[:2]] for run in runs if run in chosen}


def repetition_path(run: tuple) -> str:
    """Return the path, in the results folder, of the document of a run's second execution; ``run`` is as in `runs_to_repeat`."""
    return f"logs/repetitions/{'/'.join(map(str, run))}.json.gz"
