"""Compare MPTCP's share of a shared bottleneck with the share that RFC 6356 allows."""

import pandas as pd

from run_tables.estimated_cells import estimated_cells
from run_tables.retransmit_share import retransmit_percent_of
from run_tables.run_keys import RUN
from topics.subflows.tables import SUBFLOW_SHARES
from wording.number_format import count

MEASURES = (
    "share_percent", "mptcp_goodput_mbps", "other_goodput_mbps", "mptcp_retransmit_percent", "other_retransmit_percent",
)  # fmt: skip


def measure_run(flows, mss_bytes) -> dict[str, float]:
    """Return a run's `MEASURES`, computed from the run's rows in ``tidy/flows.csv``."""
    first = flows["pair"] == 1
    goodput = flows["goodput_steady_mbps"]
    return {
        "share_percent": 100 * goodput[first].sum(skipna=False) / goodput.sum(skipna=False),
        "mptcp_goodput_mbps": goodput[first].mean(),
        "other_goodput_mbps": goodput[~first].mean(),
        "mptcp_retransmit_percent": retransmit_percent_of(flows[first], mss_bytes),
        "other_retransmit_percent": retransmit_percent_of(flows[~first], mss_bytes),
    }


def describe_subflows(runs, flows, scenarios, settings, confidence) -> pd.DataFrame:
    """Return `SUBFLOW_SHARES`: one row per cell, in the order of `runs`."""
    shared = (scenarios["topology"] == "dumbbell") & (scenarios["multipath"] == "mptcp") & (scenarios["pairs"] > 1)
    compared, of_run = scenarios[shared].set_index("scenario"), dict(list(flows.groupby(RUN)))
    runs = runs[runs["scenario"].isin(compared.index)]
    valid = runs[runs["valid"]]
    rows = [measure_run(of_run[tuple(run[name] for name in RUN)], run["mss_bytes"]) for run in valid.to_dict("records")]
    measured = runs.join(pd.DataFrame(rows, valid.index, MEASURES))
    about = {name: _about(scenario, settings[name]) for name, scenario in compared.iterrows()}
    return estimated_cells(
        SUBFLOW_SHARES, measured, confidence, of_scenario=pd.DataFrame.from_dict(about, orient="index")
    )


def _about(scenario, setting):
    """Return the columns whose values a scenario determines."""
    subflows, (mptcp, others) = int(scenario["paths"]), flow_counts(scenario)
    return {
        "platform": scenario["platform"],
        "setting": setting["setting"],
        "conditions": f"{mptcp} MPTCP and {count(others, 'other flow')}, {setting['conditions']}",
        "subflows": subflows,
        "mptcp_flows": mptcp,
        "other_flows": others,
        "uncoupled_percent": 100 * mptcp * subflows / (mptcp * subflows + others),
        "coupled_percent": 100 * mptcp / (mptcp + others),
    }


def flow_counts(scenario) -> tuple[int, int]:
    """Return the number of flows on the first pair of hosts, and the number on all other pairs.

    Flows are assigned to the pairs in turn.
    """
    flows, pairs = int(scenario["flows"]), int(scenario["pairs"])
    first = len(range(0, flows, pairs))
    return first, flows - first
