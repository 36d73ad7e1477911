"""``make studies``: the studies of this checkout, what each asks of a machine, and what of it is done."""

import sys
from collections import Counter
from pathlib import Path

from session.run_cost import document_kb, run_time_s
from session.study_names import study_files
from study_files import study as studies

HEADINGS = ("study", "runs", "done", "core-hours", "disk MB", "file")


def row_of(file, results=Path("results")) -> tuple[str, ...]:
    """Return what `HEADINGS` says of the study of a file: core-hours and disk of all its runs, rather too many.

    Raises `studies.StudyError` if the file is no study.
    """
    study = studies.resolve(studies.load(str(file), {}), str(file))
    counts = Counter(scenario for scenario, *_ in studies.all_runs(study))
    hours = kilobytes = 0.0
    for scenario, runs in counts.items():
        conditions = studies.largest_conditions(study, scenario)
        hours += runs * run_time_s(conditions) / 3600
        kilobytes += runs * document_kb(conditions)
    done = sum(1 for _ in (results / study["study"] / "runs").glob("*/*/*/*.json.gz"))
    whole = "all" if done >= counts.total() else f"{done:,}"
    page = (results / study["study"] / "report.html").is_file()
    return (
        study["study"], f"{counts.total():,}", whole + (", report" if page else ""), f"{hours:.2g}" if hours < 10 else f"{hours:.0f}",
        f"{kilobytes / 1e3:,.0f}" if kilobytes > 1e4 else f"{kilobytes / 1e3:.1f}", str(file),
    )  # fmt: skip


def main() -> None:
    """Print the table; end with 1 if a file is no study."""
    rows, problems = [HEADINGS], []
    for file in dict.fromkeys(study_files().values()):
        try:
            rows.append(row_of(file))
        except studies.StudyError as error:
            problems.append(f"sawtooth: {error}")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        # Numbers to the right, names to the left.
        cells = (
            cell.rjust(w) if i in (1, 3, 4) else cell.ljust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join(cells).rstrip())
    print(
        "\nCore-hours and disk are of all run documents, as if every link were full: most take a third of it. make STUDY=<study> runs one."
    )
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
