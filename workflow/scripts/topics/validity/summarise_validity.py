"""Count valid and excluded runs per cell, and passed and failed checks per check."""

import pandas as pd

from rule_script import run_rule
from run_tables.reading import read_checks, read_runs, run_name
from run_tables.tidy_tables import CELL, RUN
from topics.validity.tables import CHECK_COUNTS, VALIDITY


def summarise_cells(runs, checks) -> pd.DataFrame:
    """Count the runs of each cell and say why some were excluded.

    Parameters
    ----------
    runs, checks : pandas.DataFrame
        ``tidy/runs.csv`` and ``tidy/checks.csv``.

    Returns
    -------
    pandas.DataFrame
        As `VALIDITY`, cells in the table's order.
    """
    failed = checks[~checks["ok"]].groupby(CELL, sort=False)["check"]
    reasons = {
        cell: "; ".join(f"{name} ({count})" for name, count in names.value_counts().items()) for cell, names in failed
    }
    rows = [
        {
            "scenario": cell[0],
            "scenario_label": group["scenario_label"].iloc[0],
            "cca": cell[1],
            "ip_version": cell[2],
            "total": len(group),
            "valid": int(group["valid"].sum()),
            "excluded": int((~group["valid"]).sum()),
            "reasons": reasons.get(cell, ""),
        }
        for cell, group in runs.groupby(CELL, sort=False)
    ]
    return pd.DataFrame(rows, columns=VALIDITY.names)


def summarise_checks(checks) -> pd.DataFrame:
    """Count for each check the runs that passed and failed it.

    Parameters
    ----------
    checks : pandas.DataFrame
        ``tidy/checks.csv``.

    Returns
    -------
    pandas.DataFrame
        As `CHECK_COUNTS`, in the order in which the checks are made.
    """
    rows = []
    for name, group in checks.groupby("check", sort=False):
        example = group.sort_values("ok", kind="stable").iloc[0]
        rows.append(
            {
                "check": name,
                "passed": int(group["ok"].sum()),
                "failed": int((~group["ok"]).sum()),
                "expected_example": example["expected"],
                "observed_example": example["observed"],
            }
        )
    return pd.DataFrame(rows, columns=CHECK_COUNTS.names)


def require_agreement(runs, checks, runs_path, checks_path) -> None:
    """Raise unless a run is valid exactly if it was checked and no check failed.

    Raises
    ------
    ValueError
        Names the first run of which the two tables tell different stories.
    """
    verdict = checks.groupby(RUN)["ok"].all()
    index = pd.MultiIndex.from_frame(runs[RUN])
    unknown = verdict.index.difference(index)
    if len(unknown):
        name = "/".join(map(str, unknown[0]))
        raise ValueError(f"{checks_path}: the run {name} is not in {runs_path}")
    judged = verdict.reindex(index)
    for problem, wrong in (
        ("has no check", judged.isna().to_numpy()),
        ("is valid but failed a check", (judged.eq(False)).to_numpy() & runs["valid"].to_numpy()),
        ("is excluded but failed no check", judged.eq(True).to_numpy() & ~runs["valid"].to_numpy()),
    ):
        if wrong.any():
            raise ValueError(
                f"{runs_path} and {checks_path} disagree: the run {run_name(runs[wrong].iloc[0])} {problem}"
            )


def main(inputs, outputs, params) -> None:
    """Read runs and checks, write both summaries."""
    runs, checks = read_runs(inputs.runs), read_checks(inputs.checks)
    require_agreement(runs, checks, inputs.runs, inputs.checks)
    summarise_cells(runs, checks).to_csv(outputs.validity, index=False, lineterminator="\n")
    summarise_checks(checks).to_csv(outputs.checks, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
