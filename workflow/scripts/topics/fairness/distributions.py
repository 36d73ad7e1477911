"""The shares of many flows that use one CCA, summarised by quantiles instead of one row per flow."""

import pandas as pd

#: Largest number of flows of one CCA that are listed in separate rows.
MOST_ROWS = 12
#: Quantiles of the flows' shares: the lower end of a line, the median, and the upper end.
LOW, MIDDLE, HIGH = 0.05, 0.5, 0.95
#: Columns that identify a group of flows: the columns of a cell, and the CCA of the flows.
OF = ["scenario", "scenario_label", "ip_version", "cca", "flow_cca"]


def has_many(shares) -> bool:
    """Return whether any cell of `analysis/shares.csv` contains too many flows of one CCA to list them in separate rows."""
    return bool(len(shares)) and int(shares.groupby(OF, sort=False).size().max()) > MOST_ROWS


def distributions(shares) -> pd.DataFrame:
    """Return one row per cell and CCA: the median, 5th percentile and 95th percentile of the flows' shares."""
    rows = []
    for _, flows in shares.groupby(OF, sort=False):
        row = flows.iloc[0].to_dict() | {"flows": len(flows)}
        for name in ("share", "fair_ratio"):
            low, middle, high = flows[name].quantile([LOW, MIDDLE, HIGH])
            row |= {name: middle, f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return pd.DataFrame(rows, columns=shares.columns)
