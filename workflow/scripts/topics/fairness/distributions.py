"""What many flows with one CCA get, as a distribution instead of a row for each."""

import pandas as pd

#: More flows with one CCA are no rows of their own.
MOST_ROWS = 12
#: The median, and between which percentiles of the flows a line reaches.
LOW, MIDDLE, HIGH = 0.05, 0.5, 0.95
#: What a distribution is of: cells, and the CCAs of their flows.
OF = ["scenario", "scenario_label", "ip_version", "cca", "flow_cca"]


def has_many(shares) -> bool:
    """Return whether flows with one CCA are too many for a row each in any cell of `analysis/shares.csv`."""
    return bool(len(shares)) and int(shares.groupby(OF, sort=False).size().max()) > MOST_ROWS


def distributions(shares) -> pd.DataFrame:
    """Return a row for each cell and CCA: medians over its flows, their 5th and 95th percentiles as low and high end."""
    rows = []
    for _, flows in shares.groupby(OF, sort=False):
        row = flows.iloc[0].to_dict() | {"flows": len(flows)}
        for name in ("share", "fair_ratio"):
            low, middle, high = flows[name].quantile([LOW, MIDDLE, HIGH])
            row |= {name: middle, f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return pd.DataFrame(rows, columns=shares.columns)
