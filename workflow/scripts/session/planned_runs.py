"""Report the number and cost of the runs that Snakemake plans, by scenario and CCA; Snakemake's own table shows only job counts."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable

from session.progress_lines import WorkLeft
from session.study_cost import Forecast, core_time

#: Maximum number of scenarios that are shown.
MOST_LINES = 30


def tell_cost(
    forecast: Callable[[], Forecast],
    work_left: WorkLeft,
    cores: int | None,
    grows: bool,
    planned: Callable[[], list[str]],
    is_dry: bool,
) -> None:
    """Report the cost of the planned jobs: to the user in a dry run, otherwise to the progress display.

    ``planned`` returns the paths that the unfinished jobs are going to make; if ``grows``, more jobs may be planned later.
    """
    known = forecast()
    if is_dry:
        show_planned_runs(planned(), known.seconds)
        return

    def runs():
        found = {path: run for path in planned() if (run := scenario_and_cca(path) or repeated_run(path))}
        return {
            path: known.seconds(*run) * ((cores or 1) if known.fills_machine(run[0]) else 1)
            for path, run in found.items()
        }

    work_left.begin(runs(), cores, runs if grows else dict)


def show_planned_runs(outputs: Iterable[str], seconds_of: Callable[[str, str], float]) -> None:
    """Print which runs the planned jobs execute; ``seconds_of`` returns the core-seconds of one run of a scenario and CCA."""
    for line in planned_runs(outputs, seconds_of):
        print(line, file=sys.stderr)


def planned_runs(outputs: Iterable[str], seconds_of: Callable[[str, str], float]) -> list[str]:
    """Return a line with the number and core time of all planned runs, followed by one line per scenario with its run count and CCAs.

    A last line covers second executions of runs with programs.

    >>> paths = [f"results/s/runs/far/{cca}/ipv4/{n}.json.gz" for cca in ("reno", "bbr") for n in (1, 2)]
    >>> for line in planned_runs(paths, lambda scenario, cca: 1.5): print(line)
    sawtooth: 4 runs would be carried out, in about 6 core-seconds (less where the run cache has them):
      far: 4 runs, of bbr, reno
    >>> planned_runs(["results/s/report.html"], lambda scenario, cca: 1.5)
    []
    >>> planned_runs(["results/s/logs/repetitions/far/mine/ipv4/1.json.gz"], lambda scenario, cca: 1.5)
    ['sawtooth: 1 run with programs would be executed a second time, to compare the bytes, in about 2 core-seconds']
    """
    scenarios: dict[str, list[str]] = {}
    repeated = []
    for path in outputs:
        if run := scenario_and_cca(path):
            scenarios.setdefault(run[0], []).append(run[1])
        elif run := repeated_run(path):
            repeated.append(run)
    again = []
    if repeated:
        cost = core_time(sum(seconds_of(*run) for run in repeated))
        again = [
            f"sawtooth: {count_of(len(repeated))} with programs would be executed a second time, to compare the bytes, in about {cost}"
        ]
    if not scenarios:
        return again
    lines = [
        f"  {scenario}: {count_of(len(ccas))}, of {', '.join(sorted(set(ccas)))}"
        for scenario, ccas in sorted(scenarios.items())
    ]
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"  and {len(lines) - MOST_LINES} more scenarios"]
    total = count_of(sum(map(len, scenarios.values())))
    seconds = sum(
        runs * seconds_of(scenario, cca) for scenario, ccas in scenarios.items() for cca, runs in Counter(ccas).items()
    )
    return [
        f"sawtooth: {total} would be carried out, in about {core_time(seconds)} (less where the run cache has them):",
        *lines,
        *again,
    ]


def scenario_and_cca(path: str, folder: str = "runs") -> tuple[str, str] | None:
    """Return the scenario and CCA of a run document from its path, or None for files that aren't documents in ``folder``."""
    folders = path.split("/")
    if path.endswith(".json.gz") and folders[-5:-4] == [folder]:
        return folders[-4], folders[-3]
    return None


def repeated_run(path: str) -> tuple[str, str] | None:
    """Return the scenario and CCA of a run's second execution from the path of its document, or None for other files."""
    return scenario_and_cca(path, "repetitions")


def count_of(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs:,} runs"
