"""Describe what web objects get in each cell: completion times and slowdowns over the replications, and by size."""

import numpy as np
import pandas as pd

from experiment.flow_groups import WEB
from run_tables.estimated_cells import estimated_cells
from run_tables.group_tables import GROUP_COLUMNS
from run_tables.run_keys import CELL
from topics.short_flows.tables import SHORT_FLOW_CELLS, SHORT_FLOW_SIZES

GROUP = [column.name for column in GROUP_COLUMNS]
#: Fewer objects have no 95th percentile.
LEAST_OBJECTS = 20


def describe_groups(groups, settings, confidence) -> pd.DataFrame:
    """Return `SHORT_FLOW_CELLS`: a row a cell and group, in the order of ``groups``."""
    of_web, of_scenario = groups[groups["application"] == WEB], pd.DataFrame.from_dict(settings, orient="index")
    return estimated_cells(SHORT_FLOW_CELLS, of_web, confidence, (*CELL, *GROUP), of_scenario, _complete)


def _complete(row, valid):
    asked = valid["members"].sum()
    return {"complete_percent": 100 * valid["complete"].sum() / asked if asked else None}


def describe_sizes(short_flows, settings) -> pd.DataFrame:
    """Return `SHORT_FLOW_SIZES`: a row a cell, group and class of sizes."""
    rows = []
    known = short_flows[short_flows["valid"] & short_flows["slowdown"].notna()]
    classes = 2.0 ** np.floor(np.log2(known["bytes"].astype(float)))
    for key, of_class in known.groupby([*CELL, *GROUP, classes.rename("from_bytes")], sort=False):
        slowdowns = of_class["slowdown"]
        rows.append(
            {
                **dict(zip([*CELL, *GROUP, "from_bytes"], key, strict=True)),
                **settings[key[0]],
                "to_bytes": 2 * key[-1],
                "n": len(slowdowns),
                "slowdown_p50": slowdowns.median(),
                "slowdown_p95": slowdowns.quantile(0.95) if len(slowdowns) >= LEAST_OBJECTS else None,
            }
        )
    table = pd.DataFrame(rows, columns=SHORT_FLOW_SIZES.names)
    order = {name: place for place, name in enumerate(settings)}
    return table.sort_values(
        ["scenario", "cca", "ip_version", "group", "from_bytes"],
        key=lambda c: c.map(order) if c.name == "scenario" else c,
    )


def describe_short_flows(groups, short_flows, settings, confidence) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `SHORT_FLOW_CELLS` and `SHORT_FLOW_SIZES`."""
    sizes = describe_sizes(pd.read_parquet(short_flows), settings)
    return describe_groups(groups, settings, confidence), sizes
