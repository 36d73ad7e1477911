"""Describe the completion times and slowdowns of web objects, by cell and by size."""

import math

import numpy as np
import pandas as pd

from experiment.flow_groups import WEB
from inference.censored_times import ended_quantile
from run_tables.estimated_cells import estimated_cells
from run_tables.group_tables import GROUP_COLUMNS
from run_tables.run_keys import CELL
from topics.short_flows.tables import LEAST_OBJECTS, MEASURES, SHORT_FLOW_CELLS, SHORT_FLOW_SIZES, WORST

GROUP = [column.name for column in GROUP_COLUMNS]


def describe_groups(groups, settings, confidence) -> pd.DataFrame:
    """Return `SHORT_FLOW_CELLS`: one row per cell and group, in the order of ``groups``."""
    of_web, of_scenario = groups[groups["application"] == WEB], pd.DataFrame.from_dict(settings, orient="index")
    return estimated_cells(SHORT_FLOW_CELLS, of_web, confidence, (*CELL, *GROUP), of_scenario, _complete)


def _complete(row, valid):
    """Return the columns of a row that aren't means over runs.

    If a run didn't reach a percentile, the percentile's mean is unknown, so its columns are None.
    """
    asked = valid["members"].sum()
    unreached = {column.name for column in (*MEASURES, *WORST) if valid[column.name].isna().any()}
    empty = {name: None for name in row if name.removesuffix("_low").removesuffix("_high") in unreached}
    return {"complete_percent": 100 * valid["complete"].sum() / asked if asked else None, **empty}


def describe_sizes(short_flows, settings) -> pd.DataFrame:
    """Return `SHORT_FLOW_SIZES`: one row for each size class of a group in a cell.

    A class is listed only if the slowdown of at least one completed object is known.
    """
    rows = []
    known = short_flows[short_flows["valid"] & (short_flows["slowdown"].notna() | short_flows["completion_ms"].isna())]
    classes = 2.0 ** np.floor(np.log2(known["bytes"].astype(float)))
    for key, of_class in known.groupby([*CELL, *GROUP, classes.rename("from_bytes")], sort=False):
        slowdowns, complete = of_class["slowdown"].fillna(math.inf), of_class["slowdown"].notna()
        if not complete.any():
            continue
        rows.append(
            {
                **dict(zip([*CELL, *GROUP, "from_bytes"], key, strict=True)),
                **settings[key[0]],
                "to_bytes": 2 * key[-1],
                "n": len(slowdowns),
                "complete": int(complete.sum()),
                "slowdown_p50": ended_quantile(slowdowns, complete, 0.5),
                "slowdown_p95": ended_quantile(slowdowns, complete, 0.95) if len(slowdowns) >= LEAST_OBJECTS else None,
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
