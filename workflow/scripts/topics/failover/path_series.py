"""What the subflows on each path had delivered, over time."""

import pandas as pd

#: Of ``tidy/sockets.parquet`` what that takes.
COLUMNS = ["flow", "path", "time_s", "bytes_acked"]


def acked_by_path(samples) -> pd.DataFrame:
    """Return the bytes acknowledged so far, a row a sample's time, a column a path; 0 while a path has no subflow."""
    acked = samples.pivot_table(index="time_s", columns=["flow", "path"], values="bytes_acked", aggfunc="last")
    return acked.sort_index().ffill().fillna(0.0).T.groupby(level="path").sum().T
