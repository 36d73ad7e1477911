"""Read the time series of valid runs from `tidy/sockets.parquet`, run by run."""

from collections.abc import Iterator

import pandas as pd

from run_tables.run_keys import RUN
from run_tables.series_of_runs import series_of_runs

#: Columns that identify a flow of a study.
FLOW = [*RUN, "flow"]


def valid_series(path, columns, runs) -> Iterator[pd.DataFrame]:
    """Yield the samples of each valid run, ordered by flow, then by time.

    Parameters
    ----------
    path : str or path
        ``tidy/sockets.parquet``.
    columns : iterable of str
        Columns to read in addition to `FLOW`, flow_cca and time_s.
    """
    valid = {(*key[:3], int(key[3])) for key in runs.loc[runs["valid"], RUN].itertuples(index=False, name=None)}
    names = list(dict.fromkeys(("flow", "flow_cca", "time_s", *columns)))
    for run, rows in series_of_runs(path, names, wanted=valid):
        yield rows.assign(**dict(zip(RUN, run, strict=True)))[[*RUN, *names]]


def flows_of(series) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Yield (key, rows) for each flow; the key is a dict with the columns `FLOW` and flow_cca."""
    for key, rows in series.groupby(FLOW, sort=False, observed=True):
        yield dict(zip(FLOW, key, strict=True)) | {"flow_cca": str(rows["flow_cca"].iloc[0])}, rows
