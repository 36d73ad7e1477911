"""Count valid and excluded runs per cell, and passed and failed checks per check."""

import pandas as pd

from rule_script import run_rule
from run_tables.reading import read_checks, read_runs, run_name
from run_tables.run_keys import CELL, RUN
from topics.validity.tables import CHECK_COUNTS, VALIDITY


def _summarise_cells(runs, checks):
    """Return `VALIDITY`: the runs of each cell, and why some were excluded."""
    failed = checks[~checks["ok"]].groupby(CELL, sort=False)["check"]
    reasons = {
        cell: "; ".join(f"{name} ({count})" for name, count in names.value_counts().items()) for cell, names in failed
    }
    table = runs.groupby(CELL, sort=False).agg(
        scenario_label=("scenario_label", "first"), total=("valid", "size"), valid=("valid", "sum")
    )
    table = table.assign(
        excluded=table["total"] - table["valid"], reasons=[reasons.get(cell, "") for cell in table.index]
    )
    return table.reset_index()[VALIDITY.names]


def _summarise_checks(checks):
    """Return `CHECK_COUNTS`: the runs that passed and failed each check, in the order in which the checks are made."""
    rows = []
    for name, group in checks.groupby("check", sort=False):
        example = group.sort_values("ok", kind="stable").iloc[0]
        passed = int(group["ok"].sum())
        rows.append([name, passed, len(group) - passed, example["expected"], example["observed"]])
    return pd.DataFrame(rows, columns=CHECK_COUNTS.names)


def _require_agreement(runs, checks, runs_path, checks_path):
    """Raise a `ValueError` with the first run that isn't valid exactly if it was checked and no check failed."""
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
            name = run_name(runs[wrong].iloc[0])
            raise ValueError(f"{runs_path} and {checks_path} disagree: the run {name} {problem}")


def main(inputs, outputs, params) -> None:
    """Read runs and checks, write both summaries."""
    runs, checks = read_runs(inputs.runs), read_checks(inputs.checks)
    _require_agreement(runs, checks, inputs.runs, inputs.checks)
    _summarise_cells(runs, checks).to_csv(outputs.validity, index=False, lineterminator="\n")
    _summarise_checks(checks).to_csv(outputs.checks, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
