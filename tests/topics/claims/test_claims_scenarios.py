"""The paper's scenarios are found among a study's by what both say of them."""

import math

import pandas as pd
import pytest

import claim_runs
from run_tables.tidy_tables import RUNS, SCENARIOS
from tidy_tables import completed
from topics.claims.claim_scenarios import match_scenarios, scenario_conditions


def conditions(number, **change):
    return {
        "id": number, "rate_mbps": [1000, None], "delay_ms": [10], "loss_configured_percent": [0], "flows": [1],
    } | change  # fmt: skip


def test_scenarios_are_recognised_by_their_conditions():
    runs = claim_runs.table(lambda *cell: [1, 2], delays_ms=(50, 10))
    wanted = [conditions("a"), conditions("b", delay_ms=[20, 50]), conditions("c", flows=[2])]
    found, missing = match_scenarios(scenario_conditions(runs), wanted)
    assert found == {"a": "10ms", "b": "50ms"}
    assert missing == {"c": "no scenario of this study has the conditions of scenario c"}
    runs["rate_mbps"] = math.nan
    assert match_scenarios(scenario_conditions(runs), [conditions("a")])[0] == {"a": "10ms"}
    assert match_scenarios(scenario_conditions(runs), [conditions("a", rate_mbps=[1000])])[0] == {}
    runs["rate_mbps"] = 100.0
    assert match_scenarios(scenario_conditions(runs), [conditions("a")])[0] == {}


def test_label_decides_between_scenarios_with_the_same_conditions():
    runs = claim_runs.table(lambda *cell: [1, 2], delays_ms=(10, 20))
    runs["delay_ms"] = 10.0
    assert match_scenarios(scenario_conditions(runs), [conditions("2")])[0] == {"2": "20ms"}
    found, missing = match_scenarios(scenario_conditions(runs), [conditions("4")])
    assert found == {}
    assert missing["4"] == "10ms, 20ms all have the conditions of scenario 4, and none has its number as label"


def platforms(*queues):
    """Return runs and scenarios on two platforms with these queues: RTT 120 ms, 100 Mbit/s, 1,420 bytes a packet."""
    rows = [
        {
            "scenario": f"{platform}-{place}", "scenario_label": f"{platform}-{place}", "platform": platform, "pairs": 16,
            "rate_mbps": 100.0, "rtt_path_ms": 120.0, "mss_bytes": 1420.0, "flows": 16.0, "queue": queue,
            "queue_packets": float(queue.split()[0]) if queue.endswith("packets") else math.nan,
        }
        for platform in ("uml", "ns3:3.44")
        for place, queue in enumerate(queues)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    return completed(table, RUNS), completed(table[["scenario", "queue"]], SCENARIOS)


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({"platform": ["uml"], "queue_packets": [10]}, "uml-0"),
        ({"platform": ["ns3:3.39", "ns3:3.44"], "queue_packets": [10]}, "ns3:3.44-0"),
        ({"platform": ["ns3:3.39"]}, None),
        ({"platform": ["uml"], "queue_bytes": [750000]}, "uml-1"),
        # A BDP is 1.5 MB: 10 packets are 0.0095 of it.
        ({"platform": ["uml"], "queue_bdp": {"at_least": 0.009, "at_most": 0.01}}, "uml-0"),
        ({"platform": ["uml"], "queue_bdp": {"at_least": 0.5}}, "uml-1"),
        ({"platform": ["uml"], "queue_bdp": {"at_most": 0.009}}, None),
        ({"platform": ["uml"], "queue_packets": [10], "pairs": [16], "rtt_path_ms": [120]}, "uml-0"),
        ({"platform": ["uml"], "queue_packets": [10], "pairs": [1]}, None),
    ],
)
def test_platforms_and_queues_are_told_apart(condition, found):
    known = scenario_conditions(*platforms("10 packets", "750000 bytes"))
    assert match_scenarios(known, [{"id": "a"} | condition])[0] == ({"a": found} if found else {})


def test_a_queue_in_bytes_is_unknown_without_the_table_of_scenarios():
    runs, _ = platforms("750000 bytes")
    assert match_scenarios(scenario_conditions(runs), [{"id": "a", "queue_bytes": [750000]}])[0] == {}


def test_a_missing_value_is_in_no_range():
    runs, scenarios = platforms("10 packets", "750000 bytes")
    known = scenario_conditions(runs[runs["platform"] == "uml"], scenarios)
    assert match_scenarios(known, [{"id": "a", "queue_packets": {"at_most": 1000}}])[0] == {"a": "uml-0"}
