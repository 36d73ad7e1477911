"""The paper's scenarios are found in a study by the conditions that both state."""

import math

import pandas as pd
import pytest

import claim_runs
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import RUNS
from tidy_tables import completed
from topics.claims.claim_scenarios import match_scenarios, scenario_conditions


def conditions(number, **change):
    return {
        "id": number, "rate_mbps": [1000, None], "delay_ms": [10], "loss_configured_percent": [0], "flows": [1],
    } | change  # fmt: skip


def test_scenarios_are_recognised_by_their_conditions():
    runs = claim_runs.table(lambda *cell: [1, 2], delays_ms=(50, 10))
    wanted = [conditions("a"), conditions("b", delay_ms=[20, 50]), conditions("c", flows=[2])]
    matches, missing = match_scenarios(scenario_conditions(runs), wanted)
    assert matches == {"a": "10ms", "b": "50ms"}
    assert missing == {"c": "no scenario of this study has the conditions of scenario c"}
    unlimited, slow = (scenario_conditions(runs.assign(rate_mbps=rate)) for rate in (math.nan, 100.0))
    assert match_scenarios(unlimited, [conditions("a")])[0] == {"a": "10ms"}
    assert match_scenarios(unlimited, [conditions("a", rate_mbps=[1000])])[0] == {}
    assert match_scenarios(slow, [conditions("a")])[0] == {}


def test_label_decides_between_scenarios_with_the_same_conditions():
    runs = claim_runs.table(lambda *cell: [1, 2], delays_ms=(10, 20))
    runs["delay_ms"] = 10.0
    assert match_scenarios(scenario_conditions(runs), [conditions("2")])[0] == {"2": "20ms"}
    matches, missing = match_scenarios(scenario_conditions(runs), [conditions("4")])
    assert matches == {}
    assert missing["4"] == "10ms, 20ms all have the conditions of scenario 4, and none of them is labelled 4"


def platforms():
    """Return runs and scenarios on two platforms with two queues: RTT 120 ms, 100 Mbit/s, 1,420 bytes a packet."""
    rows = [
        {
            "scenario": f"{platform}-{place}", "scenario_label": f"{platform}-{place}", "platform": platform, "pairs": 16,
            "rate_mbps": 100.0, "rtt_path_ms": 120.0, "mss_bytes": 1420.0, "flows": 16.0, "queue": queue,
            "queue_packets": float(queue.split()[0]) if queue.endswith("packets") else math.nan,
            "packet_bytes": 1486.0, "queue_bytes": float(queue.split()[0]) * (1486 if queue.endswith("packets") else 1),
        }
        for platform in ("uml", "ns3:3.44")
        for place, queue in enumerate(("10 packets", "750000 bytes"))
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    return completed(table, RUNS), completed(table[["scenario", "queue"]], SCENARIOS)


def traffics():
    """Return runs and scenarios of three kinds of messages."""
    rows = [
        {"scenario": "whole", "protocol": "tcp", "message_bytes": 128, "background": "none", "segment_bytes": math.nan},
        {"scenario": "short", "protocol": "tcp", "message_bytes": 128, "background": "server", "segment_bytes": 128},
        {"scenario": "large", "protocol": "udp", "message_bytes": 384, "background": "none", "segment_bytes": 64},
    ]
    table = pd.DataFrame(rows).assign(topology="cable", rate_mbps=100.0, scenario_label=lambda table: table["scenario"])
    scenarios = table[["scenario", "segment_bytes"]].assign(queue="1000 packets")
    return completed(table.drop(columns="segment_bytes"), RUNS), completed(scenarios, SCENARIOS)


@pytest.mark.parametrize(
    ("tables", "condition", "matching"),
    [
        (platforms, {"platform": ["uml"], "queue_packets": [10]}, "uml-0"),
        (platforms, {"platform": ["ns3:3.39", "ns3:3.44"], "queue_packets": [10]}, "ns3:3.44-0"),
        (platforms, {"platform": ["ns3:3.39"]}, None),
        (platforms, {"platform": ["uml"], "queue_bytes": [750000]}, "uml-1"),
        # A BDP is 1.5 MB: 10 packets of 1,486 bytes are 0.0099 of it.
        (platforms, {"platform": ["uml"], "queue_bdp": {"at_least": 0.009, "at_most": 0.01}}, "uml-0"),
        (platforms, {"platform": ["uml"], "queue_bdp": {"at_least": 0.5}}, "uml-1"),
        (platforms, {"platform": ["uml"], "queue_bdp": {"at_most": 0.009}}, None),
        (platforms, {"platform": ["uml"], "queue_packets": [10], "pairs": [16], "rtt_path_ms": [120]}, "uml-0"),
        (platforms, {"platform": ["uml"], "queue_packets": [10], "pairs": [1]}, None),
        # A missing value is in no range: the other queue is in bytes.
        (platforms, {"platform": ["uml"], "queue_packets": {"at_most": 1000}}, "uml-0"),
        (traffics, {"segment_bytes": [None]}, "whole"),
        (traffics, {"segment_bytes": [128]}, "short"),
        (traffics, {"message_bytes": [384]}, "large"),
        (traffics, {"protocol": ["udp"]}, "large"),
        (traffics, {"background": ["server"], "multipath": ["none"]}, "short"),
        (traffics, {"message_bytes": {"at_most": 128}, "background": ["none"]}, "whole"),
        (traffics, {"paths": [4]}, None),
        (traffics, {"application": ["ftp"]}, None),
    ],
)
def test_each_condition_tells_scenarios_apart(tables, condition, matching):
    known = scenario_conditions(*tables())
    assert match_scenarios(known, [{"id": "a"} | condition])[0] == ({"a": matching} if matching else {})


def test_a_queue_in_bytes_is_unknown_without_the_table_of_scenarios():
    assert match_scenarios(scenario_conditions(platforms()[0]), [{"id": "a", "queue_bytes": [750000]}])[0] == {}
