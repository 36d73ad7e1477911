"""Count each cell's valid and excluded runs, and the runs that passed and failed each check."""

import pandas as pd

from run_tables.exclusions import not_run
from run_tables.reading import run_name
from run_tables.run_keys import CELL, RUN
from topics.validity.tables import CHECK_COUNTS, VALIDITY


def _summarise_cells(runs, checks):
    """Return `VALIDITY`: the number of valid and of excluded runs in each cell, and the reasons for exclusions."""
    failed = checks[~checks["ok"]].groupby(CELL, sort=False)["check"]
    reasons = {
        cell: "; ".join(f"{name} ({count})" for name, count in names.value_counts().items()) for cell, names in failed
    }
    table = (
        runs.assign(not_run=not_run(runs))
        .groupby(CELL, sort=False)
        .agg(
            scenario_label=("scenario_label", "first"),
            total=("valid", "size"),
            valid=("valid", "sum"),
            not_run=("not_run", "sum"),
        )
    )
    table = table.assign(
        excluded=table["total"] - table["valid"] - table["not_run"],
        reasons=[reasons.get(cell, "") for cell in table.index],
    )
    return table.reset_index()[VALIDITY.names]


def _summarise_checks(checks):
    """Return `CHECK_COUNTS`: how many runs passed and how many failed each check, in the order of the checks."""
    rows = []
    for name, group in checks.groupby("check", sort=False):
        example = group.sort_values("ok", kind="stable").iloc[0]
        passed = int(group["ok"].sum())
        rows.append([name, passed, len(group) - passed, example["expected"], example["observed"]])
    return pd.DataFrame(rows, columns=CHECK_COUNTS.names)


def _require_agreement(runs, checks):
    """Raise `ValueError` if the validity of a run contradicts the run's checks; the message names the first such run.

    A run is valid if it was checked and failed no check.
    """
    verdict = checks.groupby(RUN)["ok"].all()
    index = pd.MultiIndex.from_frame(runs[RUN])
    unknown = verdict.index.difference(index)
    if len(unknown):
        name = "/".join(map(str, unknown[0]))
        raise ValueError(f"tidy/checks.csv: the run {name} is not in tidy/runs.csv")
    judged, absent = verdict.reindex(index), not_run(runs).to_numpy()
    for problem, wrong in (
        ("has no check", judged.isna().to_numpy() & ~absent),
        ("was not carried out but has checks", judged.notna().to_numpy() & absent),
        ("is valid but failed a check", (judged.eq(False)).to_numpy() & runs["valid"].to_numpy()),
        ("is excluded but failed no check", judged.eq(True).to_numpy() & ~runs["valid"].to_numpy()),
    ):
        if wrong.any():
            name = run_name(runs[wrong].iloc[0])
            raise ValueError(f"tidy/runs.csv and tidy/checks.csv disagree: the run {name} {problem}")


def summarise_validity(runs, checks) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `VALIDITY` and `CHECK_COUNTS`."""
    _require_agreement(runs, checks)
    return _summarise_cells(runs, checks), _summarise_checks(checks)
