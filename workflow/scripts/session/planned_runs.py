"""Which runs a dry run has planned, by scenario and CCA: Snakemake's table has the number of jobs only."""

import sys
from collections.abc import Iterable

#: The most scenarios that are shown.
MOST_LINES = 30


def show_planned_runs(outputs: Iterable[str]) -> None:
    """Print the runs among the outputs of planned jobs."""
    for line in planned_runs(outputs):
        print(line, file=sys.stderr)


def planned_runs(outputs: Iterable[str]) -> list[str]:
    """Return lines with the number of runs and the CCAs of each scenario that has any.

    >>> planned_runs([f"results/s/runs/far/{cca}/ipv4/{n}.json.gz" for cca in ("reno", "bbr") for n in (1, 2)])
    ['sawtooth: 4 runs would be carried out:', '  far: 4 runs, of bbr, reno']
    >>> planned_runs(["results/s/report.html"])
    []
    """
    scenarios = {}
    for path in outputs:
        folders = path.split("/")
        if path.endswith(".json.gz") and folders[-5:-4] == ["runs"]:
            scenarios.setdefault(folders[-4], []).append(folders[-3])
    lines = [
        f"  {scenario}: {count_of(len(ccas))}, of {', '.join(sorted(set(ccas)))}"
        for scenario, ccas in sorted(scenarios.items())
    ]
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"  and {len(lines) - MOST_LINES} more scenarios"]
    total = count_of(sum(map(len, scenarios.values())))
    return [f"sawtooth: {total} would be carried out:", *lines] if lines else []


def count_of(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs:,} runs"
