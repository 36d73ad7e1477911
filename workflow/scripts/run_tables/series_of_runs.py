"""Read time series one run at a time, because ``tidy/sockets.parquet`` of a large study doesn't fit into memory."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow.parquet

from run_tables.run_keys import RUN

# Number of row groups that are read at once; each run fills one or more.
GROUPS_AT_ONCE = 64


def series_of_runs(path, columns, wanted=None) -> Iterator[tuple[tuple[str, str, str, int], pd.DataFrame]]:
    """Yield the rows of each run from a table of time series.

    Parameters
    ----------
    path : str or path
        ``tidy/sockets.parquet`` or ``tidy/queue.parquet``, in which the rows of a run are contiguous.
    columns : list of str
        Columns to read in addition to the run's factors.
    wanted : set of tuple, optional
        Runs as (scenario, cca, ip_version, replication); others are skipped.

    Yields
    ------
    run : tuple
        scenario, cca, ip_version, replication.
    rows : pandas.DataFrame
        Rows with `columns`, in the file's order.
    """
    file = pyarrow.parquet.ParquetFile(path, read_dictionary=RUN[:3])
    run, parts = None, []
    for first in range(0, file.num_row_groups, GROUPS_AT_ONCE):
        groups = range(first, min(first + GROUPS_AT_ONCE, file.num_row_groups))
        table = file.read_row_groups(list(groups), columns=[*RUN, *columns]).to_pandas()
        for name, begin, end in _runs_in(table):
            # The rows of a run may continue in the next row groups.
            if name != run:
                if parts:
                    yield run, pd.concat(parts, ignore_index=True)
                run, parts = name, []
            if wanted is None or name in wanted:
                parts.append(table[columns].iloc[begin:end])
    if parts:
        yield run, pd.concat(parts, ignore_index=True)


def _runs_in(table):
    """Return (run, first row, last row + 1) for each run in a table."""
    if table.empty:
        return []
    codes = np.column_stack([*(table[name].cat.codes for name in RUN[:3]), table[RUN[3]]])
    begins = np.flatnonzero(np.append(True, (codes[1:] != codes[:-1]).any(axis=1)))
    names = table[RUN].iloc[begins].itertuples(index=False)
    ends = [*begins[1:], len(table)]
    return [
        ((*map(str, row[:3]), int(row[3])), begin, end) for row, begin, end in zip(names, begins, ends, strict=True)
    ]
