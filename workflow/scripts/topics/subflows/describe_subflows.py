"""Describe what MPTCP's subflows take of a bottleneck that they share with other flows, and what RFC 6356 would leave them."""

import pandas as pd

from inference.mean_interval import mean_interval
from rule_script import run_rule
from run_tables.reading import read_runs, read_table
from run_tables.run_keys import CELL, RUN
from run_tables.tidy_tables import FLOWS, SCENARIOS
from topics.subflows.tables import SUBFLOW_SHARES
from wording.number_format import count, plain
from wording.scenario_words import rate_words

MEASURES = (
    "share_percent", "mptcp_goodput_mbps", "other_goodput_mbps", "mptcp_retransmit_percent", "other_retransmit_percent",
)  # fmt: skip


def measure_run(flows, mss_bytes) -> dict[str, float]:
    """Return `MEASURES` of a run, from its rows of ``tidy/flows.csv``."""
    first = flows["pair"] == 1
    goodput = flows["goodput_steady_mbps"]
    return {
        "share_percent": 100 * goodput[first].sum(skipna=False) / goodput.sum(skipna=False),
        "mptcp_goodput_mbps": goodput[first].mean(),
        "other_goodput_mbps": goodput[~first].mean(),
        "mptcp_retransmit_percent": _retransmit_percent(flows[first], mss_bytes),
        "other_retransmit_percent": _retransmit_percent(flows[~first], mss_bytes),
    }


def _retransmit_percent(flows, mss_bytes):
    return 100 * flows["retransmits"].sum() * mss_bytes / flows["bytes_sent"].sum()


def describe_subflows(runs, flows, scenarios, confidence) -> pd.DataFrame:
    """Return `SUBFLOW_SHARES`: a row a cell, in the order of `runs`."""
    shared = (scenarios["topology"] == "dumbbell") & (scenarios["multipath"] == "mptcp") & (scenarios["pairs"] > 1)
    compared = scenarios[shared].set_index("scenario")
    of_run, rows = dict(list(flows.groupby(RUN))), []
    for cell, of_cell in runs[runs["scenario"].isin(compared.index)].groupby(CELL, sort=False):
        valid, scenario = of_cell[of_cell["valid"]], compared.loc[cell[0]]
        measured = pd.DataFrame(
            [
                measure_run(of_run[tuple(run[name] for name in RUN)], run["mss_bytes"])
                for run in valid.to_dict("records")
            ],
            columns=MEASURES,
        )
        subflows, (mptcp, others) = int(scenario["paths"]), flow_counts(scenario)
        shares = measured["share_percent"].dropna()
        rows.append(
            {
                **dict(zip(CELL, cell, strict=True)),
                "scenario_label": of_cell["scenario_label"].iloc[0],
                "platform": scenario["platform"],
                "conditions": conditions_words(scenario),
                "subflows": subflows,
                "mptcp_flows": mptcp,
                "other_flows": others,
                "n": len(valid),
                **{name: measured[name].mean() for name in MEASURES},
                **_interval(shares, confidence),
                "uncoupled_percent": 100 * mptcp * subflows / (mptcp * subflows + others),
                "coupled_percent": 100 * mptcp / (mptcp + others),
            }
        )
    return pd.DataFrame(rows, columns=SUBFLOW_SHARES.names)


def flow_counts(scenario) -> tuple[int, int]:
    """Return how many flows the first pair has, and all others: pairs take flows in turn."""
    flows, pairs = int(scenario["flows"]), int(scenario["pairs"])
    first = len(range(0, flows, pairs))
    return first, flows - first


def conditions_words(scenario) -> str:
    """Return what a scenario is besides its number of subflows: "1 MPTCP and 1 other flow, 20 Mbit/s, drop-tail, 66 packets"."""
    mptcp, others = flow_counts(scenario)
    loss = f", {plain(scenario['loss_forward_percent'])} % loss" if scenario["loss_forward_percent"] else ""
    queue = f"{scenario['discipline']}, {scenario['queue']}"
    return f"{mptcp} MPTCP and {count(others, 'other flow')}, {rate_words(scenario['rate_mbps'])}, {queue}{loss}"


def _interval(shares, confidence):
    if len(shares) < 2:
        return {}
    _, low, high = mean_interval(shares, confidence)
    return {"share_percent_low": max(low, 0.0), "share_percent_high": min(high, 100.0)}


def main(inputs, outputs, params) -> None:
    """Read the tidy tables, write the cells."""
    tables = read_runs(inputs.runs), read_table(inputs.flows, FLOWS), read_table(inputs.scenarios, SCENARIOS)
    cells = describe_subflows(*tables, params.confidence)
    cells.to_csv(outputs.subflow_shares, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
