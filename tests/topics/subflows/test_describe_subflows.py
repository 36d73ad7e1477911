"""Shares of MPTCP's subflows, against numbers worked out by hand."""

import pandas as pd
import pytest

from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import FLOWS, RUNS
from tidy_tables import completed
from topics.subflows.describe_subflows import describe_subflows, flow_counts, measure_run

SCENARIO = {
    "scenario": "two", "topology": "dumbbell", "multipath": "mptcp", "paths": 2, "pairs": 2, "flows": 3, "rate_mbps": 20.0,
    "discipline": "drop-tail", "queue": "66 packets", "platform": "uml", "loss_forward_percent": 0.0,
}  # fmt: skip
KEYS = {"scenario": "two", "cca": "reno", "ip_version": "ipv4"}


def test_a_cell_by_hand():
    runs = [
        KEYS | {"scenario_label": "label", "replication": n, "valid": n < 3, "mss_bytes": 1000.0} for n in (1, 2, 3)
    ]
    flows = [
        KEYS | {
            "replication": n, "valid": n < 3, "flow": flow, "pair": pair, "goodput_steady_mbps": goodput, "retransmits": 10.0 * (pair == 1),
            "bytes_received": 990e3,
        }
        for n, first in ((1, 6.0), (2, 7.0), (3, 1.0))
        for flow, pair, goodput in ((0, 1, first), (1, 2, 4.0), (2, 1, 6.0))
    ]  # fmt: skip
    cell = describe_subflows(
        completed(pd.DataFrame(runs), RUNS),
        completed(pd.DataFrame(flows), FLOWS),
        completed(pd.DataFrame([SCENARIO]), SCENARIOS),
        {SCENARIO["scenario"]: {"setting": 3, "conditions": "20 Mbit/s, RTT 40 ms"}},
        0.95,
    ).iloc[0]
    assert cell["share_percent"] == pytest.approx((75 + 100 * 13 / 17) / 2)
    assert (cell["n"], cell["mptcp_flows"], cell["other_flows"], cell["subflows"]) == (2, 2, 1, 2)
    # Four subflows beside one flow, or two connections beside one.
    assert (cell["uncoupled_percent"], cell["coupled_percent"]) == (80, pytest.approx(200 / 3))
    assert (cell["mptcp_retransmit_percent"], cell["other_retransmit_percent"]) == (1, 0)
    assert (cell["setting"], cell["conditions"]) == (3, "2 MPTCP and 1 other flow, 20 Mbit/s, RTT 40 ms")
    assert cell["mptcp_goodput_mbps"] == pytest.approx(6.25)


def test_pairs_take_flows_in_turn():
    assert flow_counts(SCENARIO | {"flows": 5, "pairs": 3}) == (2, 3)


def test_retransmissions_that_were_not_counted_are_not_none():
    flows = pd.DataFrame(
        {"pair": [1, 2], "goodput_steady_mbps": 5.0, "retransmits": [None, 10.0], "bytes_received": 990e3}
    )
    measured = measure_run(flows, 1000.0)
    assert pd.isna(measured["mptcp_retransmit_percent"]) and measured["other_retransmit_percent"] == 1
