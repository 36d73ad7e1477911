"""The section on conditions: the settings of each scenario, and what the runs realised."""

import pandas as pd
import pytest

import path_studies
import size_studies
import tidy_tables
from path_studies import scenario
from report_page.conditions import scenario_rows
from run_tables.reading import read_table
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import RUNS


def configured(scenarios, folder, runs=None):
    """Return the rows of scenarios as the page's program reads them, without runs."""
    tidy_tables.completed(scenarios, SCENARIOS).to_csv(folder / "scenarios.csv", index=False)
    runs = (pd.DataFrame() if runs is None else runs).reindex(columns=RUNS.names).astype({"valid": bool})
    return scenario_rows(read_table(folder / "scenarios.csv", SCENARIOS), runs)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sizes", "paths"])
def test_scenarios_that_differ_look_different_as_configured(kind, tmp_path):
    scenarios = size_studies.sizes_scenarios() if kind == "sizes" else path_studies.scenarios()
    shown = ("rate", "delay", "queue", "flows", "duration", "platform", "details")
    rows = {row["name"]: tuple(row[name] for name in shown) for row in configured(scenarios, tmp_path)}
    assert len(rows) == len(scenarios) == len(set(rows.values()))


def test_details_of_traffic_and_cable(tmp_path):
    cable = {"frame_overhead_bytes": 24, "background": "server"}
    udp = scenario("udp").assign(protocol="udp", message_bytes=128, bitrate_mbps=5, **cable)
    ping = scenario("ping", application="round-trip").assign(message_bytes=1408, serialisation="never")
    flows = scenario("flows", "gre", 3, "ipv6").assign(distribution="per-flow", path_delay_ms="0 0 0.5")
    table = pd.concat([udp, ping, flows, scenario("ftp", "mptcp", 4, application="ftp")])
    common = "segmentation offload off; netem receiving-side; "
    cable = "; cable between the hosts; serialisation virtual-clock"
    assert [row["details"] for row in configured(table, tmp_path)] == [
        f"{common}iperf3 processes: per-flow; 5 Mbit/s per flow; UDP, 128 bytes of data per packet{cable}; "
        "24 more bytes per frame than Linux counts; background server",
        f"{common}TCP round trips of 1,408 bytes; cable between the hosts",
        f"{common}iperf3 processes: per-flow; 131,072 bytes written at a time{cable}; "
        "GRE-in-UDP over IPv6 on 3 paths, per-flow; additional one-way delay of the paths: 0, 0 and 0.5 ms",
        f"{common}a file by FTP{cable}; MPTCP over 4 paths; sampled every 50 ms",
    ]


def test_what_nothing_counted_has_no_unit(tmp_path):
    """A ping-pong under a real clock has no RTT from TCP, no packets and no drops."""
    scenarios = tidy_tables.grid((0,), (0,), (1,))
    name, missing = scenarios["scenario"][0], float("nan")
    counts = dict.fromkeys(("rtt_min_ms", "packets_sent", "queue_drops", "link_drops"), missing)
    runs = pd.DataFrame([{"scenario": name, "valid": True, **counts}])
    (row,) = configured(scenarios, tmp_path, runs)
    assert (row["rtt_seen"], row["loss_seen"], row["packets"]) == ("–", "–", "–")


def test_groups_of_flows_are_among_the_conditions(tmp_path):
    scenarios = tidy_tables.grid(delays_ms=(10, 20, 30), losses_percent=(0,), flows=(1,))
    # A group of web objects has no long flows.
    scenarios = scenarios.assign(groups=["web", "own, long bbr", ""], flows=[0, 2, 2])
    runs = pd.DataFrame({"scenario": scenarios["scenario"], "valid": False})
    assert [row["flows"] for row in configured(scenarios, tmp_path, runs)] == ["web", "own, long bbr", "2"]


def test_bursts_late_and_double_packets_stand_beside_what_was_set(tmp_path):
    """Two runs of 1,000 packets behind the queue: 30 lost in 4 bursts, then 10 in 4; 15 late, with 3 and 5 waiting for each; 5
    duplicated."""
    scenarios = tidy_tables.grid(delays_ms=(20,), losses_percent=(2,), flows=(1,))
    runs = pd.DataFrame(
        {
            "scenario": scenarios["scenario"].iloc[0], "valid": True, "packets_sent": [1010, 1000], "queue_drops": [10, 0],
            "link_drops": [30, 10], "loss_burst_configured_packets": 5.0, "loss_bursts": [4, 4], "loss_burst_packets": [7.5, 2.5],
            "late_packets": [10, 5], "duplicate_packets": [5, 0], "waiting_per_late_packet": [3.0, 5.0],
        }
    )  # fmt: skip
    (row,) = configured(scenarios, tmp_path, runs)
    assert (row["loss_set"], row["loss_seen"]) == ("2 % in bursts of 5 packets", "2.000 % in bursts of 5 packets")
    assert row["late_seen"] == "0.750 % late, 0.250 % twice, 4 segments waiting for each late packet"
    (plain,) = configured(scenarios, tmp_path, runs[["scenario", "valid", "packets_sent", "queue_drops", "link_drops"]])
    assert (plain["loss_set"], plain["loss_seen"], plain["late_seen"]) == ("2 %", "2.000 %", "")
