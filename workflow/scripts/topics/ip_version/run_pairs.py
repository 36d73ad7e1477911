"""Pairs of runs over IPv4 and IPv6: the two runs of a scenario, CCA and replication use the same seed."""

import pandas as pd

from run_tables.resolution import resolutions

IPV4, IPV6 = "ipv4", "ipv6"


def pairs_of(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return one row for each pair of runs, in the order of ``runs``.

    The index is scenario, cca and replication. The columns are ipv4 and ipv6 (the values of the metric), mss_ipv4 and mss_ipv6 (in bytes),
    and resolution_ipv4 and resolution_ipv6 (in the metric's unit). All values of a run are missing if the run is invalid or the metric
    wasn't measured.
    """
    known = runs["valid"] & runs[metric].notna()
    values = {"": runs[metric], "mss_": runs["mss_bytes"], "resolution_": resolutions(runs, metric)}
    table = runs.assign(**{f"value_{name}": column.where(known) for name, column in values.items()})
    pair = ["scenario", "cca", "replication"]
    wide = table.pivot(index=pair, columns="ip_version", values=[f"value_{name}" for name in values]).reindex(
        index=pd.MultiIndex.from_frame(table[pair].drop_duplicates()),
        columns=pd.MultiIndex.from_product([[f"value_{name}" for name in values], [IPV4, IPV6]]),
    )
    return wide.set_axis([f"{name}{version}" for name in values for version in (IPV4, IPV6)], axis=1)
