"""Goodput of the flows of a cell by rank: one replication as it was, and the range over all of them."""

import pandas as pd

from run_tables.tidy_tables import CELL, RUN
from wording.number_format import number
from wording.scenario_series import buffers_of, platforms_of

COLUMNS = [
    *CELL, "scenario_label", "platform", "series", "buffer", "rank", "replication", "flow", "goodput_mbps",
    "lowest_mbps", "highest_mbps", "replications",
]  # fmt: skip


def flow_ranks(flows: pd.DataFrame, valid: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Rank the flows of each valid run from the highest goodput down.

    Parameters
    ----------
    flows : pandas.DataFrame
        ``tidy/flows.csv``: cell, replication, flow, goodput_mbps.
    valid : pandas.DataFrame
        Rows of ``tidy/runs.csv``: the valid runs.
    table : pandas.DataFrame
        Scenarios, as `scenario_series.with_series` gives them.

    Returns
    -------
    pandas.DataFrame
        `COLUMNS`: a row a cell and rank, with the flow of that rank in the first valid replication, and the
        lowest and highest goodput that the rank has over the replications.
    """
    named = table.set_index("scenario")[["label", "platform", "series", "buffer"]].rename(
        columns={"label": "scenario_label"}
    )
    ranked = flows.merge(valid[RUN], on=RUN).join(named, on="scenario", how="inner")
    ranked = ranked.sort_values("goodput_mbps", ascending=False, kind="stable")
    ranked["rank"] = ranked.groupby(RUN, sort=False).cumcount() + 1
    over = ranked.groupby([*CELL, "rank"], sort=False)["goodput_mbps"]
    ranked["lowest_mbps"], ranked["highest_mbps"] = over.transform("min"), over.transform("max")
    ranked["replications"] = over.transform("count")
    first = ranked["replication"] == ranked.groupby(CELL)["replication"].transform("min")
    order = {name: place for place, name in enumerate(table["scenario"])}
    shown = ranked[first].assign(order=ranked["scenario"].map(order))
    return shown.sort_values(["order", "cca", "ip_version", "rank"]).reset_index(drop=True)[COLUMNS]


def shown_by_buffer(table: pd.DataFrame) -> tuple[list[str], pd.DataFrame]:
    """Return the series that have several buffers, in the platforms' order, and all buffers that these have."""
    order = platforms_of(table)
    sizes = table.groupby("series", sort=False)["buffer"].nunique()
    several = table[table["series"].isin(sizes[sizes > 1].index)]
    place = {
        name: (order.index(platform), number)
        for number, (name, platform) in enumerate(zip(several["series"], several["platform"], strict=True))
    }
    return sorted(dict.fromkeys(several["series"]), key=place.get), buffers_of(several)


def shown_by_platform(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the conditions and buffer that most platforms have, of several the smallest buffer, and these platforms.

    Returns
    -------
    here : pandas.DataFrame
        Rows of `table`.
    platforms : list of str
    """
    sizes = list(buffers_of(table)["buffer"])
    best = min(
        table.groupby(["conditions", "buffer"], sort=False),
        key=lambda item: (-item[1]["platform"].nunique(), sizes.index(item[0][1]), item[0][0]),
    )[1]
    return best, platforms_of(best)


def ranks_in_words(ranks: pd.DataFrame) -> str:
    """Return highest, middle and lowest goodput of ranked flows: "8.2, 6.1, 0.02 (16 flows)"."""
    values = pd.Series(sorted(ranks["goodput_mbps"], reverse=True), dtype=float)
    if values.empty:
        return "no valid run"
    return f"{number(values.iloc[0])}, {number(values.median())}, {number(values.iloc[-1])}"
