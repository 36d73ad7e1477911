"""Which run of a cell is drawn."""

import pandas as pd


def cell_runs(runs, scenario, cca, ip_version) -> pd.DataFrame:
    """Return the rows of ``tidy/runs.csv`` of a cell."""
    return runs[(runs["scenario"] == scenario) & (runs["cca"] == cca) & (runs["ip_version"] == ip_version)]


def first_valid(runs, scenario, cca, ip_version) -> int:
    """Return the replication that is drawn: the first valid one of a cell, the first if none is valid."""
    cell = cell_runs(runs, scenario, cca, ip_version)
    valid = cell[cell["valid"]]
    return int((valid if len(valid) else cell)["replication"].min())
