"""Tables with one row per cell: values that all runs of the cell share, and means over the valid runs, with intervals."""

import pandas as pd

from inference.cell_estimates import cell_estimate, estimate_columns
from run_tables.resolution import coarsest
from run_tables.run_keys import CELL
from run_tables.table import Table


def estimated_cells(
    table: Table, runs, confidence, keys=tuple(CELL), of_scenario=None, also=None, steps=None
) -> pd.DataFrame:
    """Return a table with one row per cell, in the order of the runs.

    A column of numbers contains the mean over the cell's valid runs. If the column declares an interval, the ends of the interval are
    filled in too, clipped to the bounds of the column. Columns of other kinds contain the value of the cell's first run. ``n`` is the
    number of valid runs.

    Parameters
    ----------
    table : Table
        Declaration of the table.
    runs : pandas.DataFrame
        One row per run, or per part of a run: ``keys``, ``valid``, and columns of the table.
    confidence : float
        Confidence level of the intervals.
    keys : sequence of str
        Columns that identify a cell, including ``scenario``.
    of_scenario : pandas.DataFrame, optional
        Columns that depend only on the scenario, indexed by scenario.
    also : callable, optional
        Called with the incomplete row and the cell's valid runs; returns the remaining columns.
    steps : dict of str to pandas.Series, optional
        Column -> resolutions from `resolution.resolutions`; the resolution of all other columns is taken as 0.
    """
    scenarios = {} if of_scenario is None else of_scenario.to_dict("index")
    rows, measured = [], [column for column in table if column.name in runs]
    for key, of_cell in runs.groupby(list(keys), sort=False):
        valid = of_cell[of_cell["valid"]]
        row = dict(zip(keys, key, strict=True)) | {"n": len(valid)}
        row |= scenarios.get(row["scenario"], {})
        for column in measured:
            name = column.name
            if name in row:
                continue
            if column.kind != "number":
                row[name] = of_cell[name].iloc[0]
            elif not column.interval:
                row[name] = valid[name].mean()
            else:
                step = coarsest(steps[name][valid.index]) if steps and name in steps else 0.0
                values = valid[name].astype(float)
                estimate = cell_estimate(values, confidence, column.least, column.most, step)
                row |= estimate_columns(estimate, name, column.interval)
        rows.append(row | (also(row, valid) if also else {}))
    return pd.DataFrame(rows, columns=table.names)
