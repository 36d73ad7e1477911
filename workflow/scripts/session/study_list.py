"""``make studies``: the studies of this checkout, with the cost and progress of each."""

import sys
from pathlib import Path

from session.machine_speed import SpeedRecord, samples_of, speed_of
from session.study_cost import cost_of, existing_runs, off_by, speed_record
from session.study_names import study_files
from study_files import study as studies
from wording.terminal_text import said

HEADINGS = ("study", "runs", "done", "core-hours", "off by", "disk MB", "file")


def row_of(file, study: dict, record: SpeedRecord, results=Path("results")) -> tuple[str, ...]:
    """Return a study's row for `HEADINGS`, and record the times of its runs.

    A study's core-hours are estimated from other studies, so that the study's own runs show the error of the estimate.
    """
    cost, folder = cost_of(study), results / study["study"]
    record.keep(folder, samples_of(folder, cost.measured))
    hours = speed_of(record.samples(without=folder)).seconds(cost.work) / 3600
    runs, done = sum(cost.runs.values()), existing_runs(study, folder).total()
    off = off_by(cost, folder, record)
    return (
        study["study"], f"{runs:,}", ("all" if done >= runs else f"{done:,}") + (", report" if (folder / "report.html").is_file() else ""),
        f"{hours:.2g}" if hours < 10 else f"{hours:.0f}", f"{round(100 * (off[0] / off[1] - 1)):+d}%" if off else "",
        f"{cost.kilobytes / 1e3:,.0f}" if cost.kilobytes > 1e4 else f"{cost.kilobytes / 1e3:.1f}", str(file),
    )  # fmt: skip


def main() -> None:
    """Print the table; exit with 1 if a file isn't a study."""
    record, rows, problems = speed_record(Path.cwd()), [HEADINGS], []
    for file in dict.fromkeys(study_files().values()):
        try:
            rows.append(row_of(file, studies.resolve(studies.load(str(file), {}), str(file)), record))
        except studies.StudyError as error:
            problems.append(said(error))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        # Align numbers to the right, names to the left.
        cells = (
            cell.rjust(w) if i in (1, 3, 4, 5) else cell.ljust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join(cells).rstrip())
    known = speed_of(record.samples()).runs
    print(
        "\nCore-hours and disk space are for all runs of a study. Speed: "
        + (f"measured in {known:,} runs on this machine" if known else "as on the machine in benchmarks/README.md")
        + ".\noff by: how much longer (+) or shorter (-) a study's runs took than estimated from other studies. make STUDY=<study> runs a study."
    )
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
