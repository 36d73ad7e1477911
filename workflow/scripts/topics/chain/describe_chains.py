"""Estimate, for each cell, the goodput share of the flows that cross several bottlenecks, and compute the share predicted by theory."""

import pandas as pd

from run_tables.estimated_cells import estimated_cells
from run_tables.retransmit_share import retransmit_percent_of
from run_tables.run_keys import RUN
from tcp_models.chain_models import fair_share, reno_share_independent, reno_share_synchronised
from topics.chain.tables import CHAIN_CELLS
from wording.number_format import count, is_missing

#: Measures of a run, which are averaged over a cell's runs.
MEASURES = (
    "long_share_percent", "long_goodput_mbps", "cross_goodput_mbps", "used_percent", "long_rtt_ms", "cross_rtt_ms",
    "long_retransmit_percent", "cross_retransmit_percent", "queue_drop_percent",
)  # fmt: skip


def chains_and_dumbbells(scenarios) -> pd.DataFrame:
    """Return the scenarios to compare: chains, and dumbbells with two pairs of hosts.

    A dumbbell is the case with a single bottleneck. Dumbbells with groups of flows, several paths or UDP are left out, because a chain has
    none of these.
    """
    of_chain = {"topology": "dumbbell", "pairs": 2, "groups": "", "multipath": "none", "protocol": "tcp"}
    dumbbells = scenarios[list(of_chain)].eq(pd.Series(of_chain)).all(axis=1)
    return scenarios[(scenarios["bottlenecks"] > 1) | dumbbells]


def measure_run(run, flows, bottlenecks) -> dict[str, float]:
    """Return a run's `MEASURES`.

    Parameters
    ----------
    run : mapping
        A row of ``tidy/runs.csv``.
    flows, bottlenecks : pandas.DataFrame
        The run's rows of ``tidy/flows.csv`` and ``tidy/bottlenecks.csv``; for a dumbbell, ``bottlenecks`` is empty.
    """
    is_long = flows["pair"] == 1
    long, cross = flows[is_long], flows[~is_long]
    whole = long["goodput_steady_mbps"].sum(skipna=False)
    through = [whole + of_pair["goodput_steady_mbps"].sum(skipna=False) for _, of_pair in cross.groupby("pair")]
    ideals = bottlenecks["ideal_goodput_mbps"] if len(bottlenecks) else pd.Series([run["ideal_goodput_mbps"]])
    counted = bottlenecks if len(bottlenecks) else pd.DataFrame([run])
    return {
        "long_share_percent": 100 * sum(whole / one for one in through) / len(through),
        "long_goodput_mbps": long["goodput_steady_mbps"].mean(),
        "cross_goodput_mbps": cross["goodput_steady_mbps"].mean(),
        "used_percent": 100 * sum(one / ideal for one, ideal in zip(through, ideals, strict=True)) / len(through),
        "long_rtt_ms": long["rtt_mean_ms"].mean(),
        "cross_rtt_ms": cross["rtt_mean_ms"].mean(),
        "long_retransmit_percent": retransmit_percent_of(long, run["mss_bytes"]),
        "cross_retransmit_percent": retransmit_percent_of(cross, run["mss_bytes"]),
        "queue_drop_percent": (100 * counted["queue_drops"] / counted["packets_sent"]).mean(),
    }


def describe_chains(runs, flows, bottlenecks, scenarios, settings, confidence) -> pd.DataFrame:
    """Return `CHAIN_CELLS`: one row per cell, in the order of ``runs``."""
    compared = chains_and_dumbbells(scenarios).set_index("scenario")
    of_run = {name: dict(list(table.groupby(RUN))) for name, table in (("flows", flows), ("bottlenecks", bottlenecks))}
    runs = runs[runs["scenario"].isin(compared.index)]
    valid = runs[runs["valid"]]
    rows = [
        measure_run(run, of_run["flows"][name], of_run["bottlenecks"].get(name, bottlenecks.iloc[:0]))
        for name, run in zip(valid[RUN].itertuples(index=False, name=None), valid.to_dict("records"), strict=True)
    ]
    measured = runs.join(pd.DataFrame(rows, valid.index, MEASURES))
    about = {
        name: {
            "platform": scenario["platform"],
            "setting": settings[name]["setting"],
            "conditions": f"{counts_words(scenario)}, {settings[name]['conditions']}",
            "bottlenecks": int(scenario["bottlenecks"]),
            **flow_counts(scenario),
        }
        for name, scenario in compared.iterrows()
    }

    def theory(row, _):
        applies = _are_alike(bottlenecks, row["scenario"]) and not compared.loc[row["scenario"], "cross_cca"]
        return _theory(row) if applies else {}

    return estimated_cells(
        CHAIN_CELLS, measured, confidence, of_scenario=pd.DataFrame.from_dict(about, orient="index"), also=theory
    )


def flow_counts(scenario) -> dict[str, int]:
    """Return the number of long flows (which cross every bottleneck), and the number of cross flows at each bottleneck.

    ``scenario`` is a row of ``tidy/scenarios.csv``.
    """
    flows = int(scenario["flows"])
    if scenario["bottlenecks"] > 1:
        cross = int(scenario["cross_flows"])
        return {"long_flows": flows - cross * int(scenario["bottlenecks"]), "cross_flows": cross}
    # A dumbbell's flows are assigned to its two pairs of hosts in turn.
    return {"long_flows": flows - flows // 2, "cross_flows": flows // 2}


def counts_words(scenario) -> str:
    """Return in words how many long and cross flows a scenario contains: "1 long and 1 cross flow"."""
    counts = flow_counts(scenario)
    return f"{counts['long_flows']} long and {count(counts['cross_flows'], 'cross flow')}"


def _are_alike(bottlenecks, scenario):
    """Return whether all bottlenecks of a scenario have the same rate and queue.

    If there are no rows for a scenario, it has one bottleneck, so the result is True.
    """
    own = bottlenecks[bottlenecks["scenario"] == scenario]
    kinds = own[["rate_mbps", "discipline", "queue_packets", "queue_bytes"]].astype(object).where(own.notna(), None)
    return len(kinds.drop_duplicates()) <= 1


def _theory(row):
    """Return the theoretical shares of a cell's long flows for equal RTTs.

    If the CCA is Reno and the RTTs are known, the result also contains Reno's theoretical shares for the measured RTTs.
    """
    number, flows = row["bottlenecks"], (row["long_flows"], row["cross_flows"])
    predictions = {
        "proportional_percent": 100 * fair_share(number, 1, *flows),
        "minimum_delay_percent": 100 * fair_share(number, 2, *flows),
    }
    ratio = row["cross_rtt_ms"] / row["long_rtt_ms"]
    if row["cca"] == "reno" and not is_missing(ratio):
        predictions["independent_percent"] = 100 * reno_share_independent(number, ratio, *flows)
        predictions["synchronised_percent"] = 100 * reno_share_synchronised(number, ratio, *flows)
    return predictions
