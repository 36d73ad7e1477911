"""A simulator's document gives the same tables as the testbed's."""

import pytest

from run_tables.series_tables import INTERVALS
from run_tables.tidy_rows import rows_of_run
from run_tables.tidy_tables import CHECKS, FLOWS, RUNS
from run_tables.time_series import QUEUE_SCHEMA, SOCKETS_SCHEMA, queue_table, socket_tables


@pytest.fixture
def document(recorded):
    return recorded("simulated-mix-ipv4")


def test_rows_of_both_platforms_have_the_same_columns(document, recorded):
    for source in (document, recorded("lossy-reno-ipv4")):
        run, *others = rows_of_run(source, "label", "f" * 64)
        columns = [run.keys(), *(rows[0].keys() for rows in others)]
        assert columns == [set(table.names) for table in (RUNS, FLOWS, INTERVALS, CHECKS)]


def test_what_is_known_is_there(document):
    run, flows, intervals, _ = rows_of_run(document, "label", "f" * 64)
    assert run["platform"] == "ns3:3.44"
    assert run["queue_packets"] == 20
    assert run["rtt_path_ms"] == 30  # the mean of 20 and 40
    assert [flow["cca_observed"] for flow in flows] == ["reno", "bbr"]
    assert [flow["rtt_path_ms"] for flow in flows] == [20, 40]
    assert all(flow["rtt_min_ms"] >= flow["rtt_path_ms"] for flow in flows)
    assert run["goodput_mbps"] == pytest.approx(sum(flow["bytes_received"] for flow in flows) * 8 / 8e6, rel=0.02)
    assert 5 < run["goodput_mbps"] < 10 * 1448 / 1514
    per_flow = [sum(1 for interval in intervals if interval["flow"] == flow) for flow in (0, 1)]
    assert per_flow == [8, 8]


def test_losses_are_the_queues_and_the_links(document):
    run, flows, _, _ = rows_of_run(document, "label", "f" * 64)
    links = document["links"]["after"]
    assert run["queue_drops"] == links["r1-eth1"]["qdiscs"]["DropTailQueue"]["drops"] > 0
    assert run["link_drops"] == links["r2-eth1"]["qdiscs"]["RateErrorModel"]["drops"] > 0
    assert run["packets_sent"] == links["r1-eth1"]["tx_packets"] + run["queue_drops"]
    # Each loss of data is repaired by at least one retransmission.
    assert sum(flow["retransmits"] for flow in flows) >= 0.9 * (run["queue_drops"] + run["link_drops"])


def test_time_series_have_the_tables_columns(document):
    keys = {"scenario": "s", "cca": "reno+bbr", "ip_version": "ipv4", "replication": 1}
    tables = list(socket_tables(document, keys, {0: "reno", 1: "bbr"}))
    assert [table.schema for table in tables] == [SOCKETS_SCHEMA, SOCKETS_SCHEMA]
    assert set(tables[1].column("flow_cca").to_pylist()) == {"bbr"}
    assert all(value > 0 for value in tables[0].column("cwnd_packets").to_pylist())
    queue = queue_table(document, keys)
    assert queue.schema == QUEUE_SCHEMA
    waiting, delays = (queue.column(name).to_pylist() for name in ("bytes", "delay_ms"))
    assert max(waiting) <= 20 * 1514
    # 10 Mbit/s send 1,250 bytes in a millisecond.
    assert delays == pytest.approx([count / 1250 for count in waiting])
