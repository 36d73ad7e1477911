"""``make studies``: the studies of this checkout, what each asks of a machine, and what of it is done."""

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from session.machine_speed import FEWEST_RUNS, Measured, measured_in
from session.run_cost import document_kb, run_time_s
from session.study_names import study_files
from study_files import study as studies
from wording.terminal_text import said

HEADINGS = ("study", "runs", "done", "core-hours", "off by", "disk MB", "file")


@dataclass(frozen=True)
class Cost:
    """What the runs of a study ask of a machine.

    ``bound_s`` is the upper bound of their core-seconds under a virtual clock, ``real_s`` the core-seconds of runs under
    the host's clock, ``kilobytes`` the size of all documents, ``measured`` what the runs took that were carried out here.
    """

    name: str
    file: Path
    runs: int
    done: int
    has_page: bool
    bound_s: float
    real_s: float
    kilobytes: float
    measured: Measured

    def core_hours(self, part: float) -> float:
        """Return the core-hours of all runs on a machine where runs take this part of their bound."""
        return (part * self.bound_s + self.real_s) / 3600


def cost_of(file, results=Path("results")) -> Cost:
    """Return the cost of the study of a file.

    Raises `studies.StudyError` if the file is no study.
    """
    study = studies.resolve(studies.load(str(file), {}), str(file))
    counts = Counter(scenario for scenario, *_ in studies.all_runs(study))
    platforms = {scenario["id"]: scenario["platform"] for scenario in study["scenarios"]}
    bounds_s, real_s, kilobytes = {}, 0.0, 0.0
    for scenario, runs in counts.items():
        conditions = studies.largest_conditions(study, scenario)
        seconds = run_time_s(conditions)
        if platforms[scenario] == "host":
            real_s += runs * seconds
        else:
            bounds_s[scenario] = seconds
        kilobytes += runs * document_kb(conditions)
    folder = results / study["study"]
    return Cost(
        name=study["study"],
        file=Path(file),
        runs=counts.total(),
        done=sum(1 for _ in (folder / "runs").glob("*/*/*/*.json.gz")),
        has_page=(folder / "report.html").is_file(),
        bound_s=sum(counts[scenario] * seconds for scenario, seconds in bounds_s.items()),
        real_s=real_s,
        kilobytes=kilobytes,
        measured=measured_in(folder, bounds_s),
    )


def row_of(cost: Cost, others: Measured) -> tuple[str, ...]:
    """Return a study's row under `HEADINGS`; ``others`` are the times of all other studies' runs here.

    A study is estimated from the others, so that its own runs show how far off the estimate is.
    """
    hours = cost.core_hours(others.part)
    done = "all" if cost.done >= cost.runs else f"{cost.done:,}"
    measured = cost.measured
    off = ""
    if measured.runs >= FEWEST_RUNS:
        off = f"{round(100 * (measured.took_s / (others.part * measured.bound_s) - 1)):+d}%"
    return (
        cost.name, f"{cost.runs:,}", done + (", report" if cost.has_page else ""), f"{hours:.2g}" if hours < 10 else f"{hours:.0f}",
        off, f"{cost.kilobytes / 1e3:,.0f}" if cost.kilobytes > 1e4 else f"{cost.kilobytes / 1e3:.1f}", str(cost.file),
    )  # fmt: skip


def main() -> None:
    """Print the table; end with 1 if a file is no study."""
    costs, problems = [], []
    for file in dict.fromkeys(study_files().values()):
        try:
            costs.append(cost_of(file))
        except studies.StudyError as error:
            problems.append(said(error))
    total = sum((cost.measured for cost in costs), Measured())
    rows = [HEADINGS]
    for cost in costs:
        rows.append(row_of(cost, sum((other.measured for other in costs if other is not cost), Measured())))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        # Numbers to the right, names to the left.
        cells = (
            cell.rjust(w) if i in (1, 3, 4, 5) else cell.ljust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join(cells).rstrip())
    speed = (
        f"the {total.runs:,} runs carried out here"
        if total.runs >= FEWEST_RUNS
        else "a machine with two cores (fewer than ten runs were carried out here)"
    )
    print(
        f"\nCore-hours and disk are of all run documents. Speed: that of {speed}.\n"
        "off by: how much longer (+) or shorter (-) a study's runs took than estimated. make STUDY=<study> runs one."
    )
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
