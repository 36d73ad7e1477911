"""Traffic on paths, counters of reordering, and CPU times: from documents reduced to these parts."""

import pytest

from asked_run import asked
from run_tables.cpu_times import cpu_metrics, cpu_table
from run_tables.path_counts import path_rows
from run_tables.path_tables import PATHS
from run_tables.reordering_counts import COUNTERS, cwnd_packets, reordering_counts, window_limited_percent
from run_tables.run_keys import RUN
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_rows import rows_of_scenarios, transfer_s
from run_tables.time_series import socket_tables
from study_files import study

KEYS = {"scenario": "a", "cca": "cubic", "ip_version": "ipv4", "replication": 1}


def interface(packets, count, drops):
    return {
        "tx_packets": packets,
        "qdiscs": {"pfifo": {"bytes": 1, "drops": 9}, "htb": {"bytes": count, "drops": drops}},
    }


def subflow(path, acked, **more):
    return {"flow": 0, "subflow": path, "bytes_acked": acked, "cca": "reno", **more}


@pytest.fixture
def document():
    """Two paths, MPTCP; 30 of 40 packets on the second."""
    return {
        "specification": asked({"topology": "cable", "multipath": {"paths": 2}}),
        "links": {
            "before": {"h1-eth0": interface(5, 1000, 1), "h1-eth1": interface(7, 2000, 0)},
            "after": {"h1-eth0": interface(15, 16_140, 3), "h1-eth1": interface(37, 47_420, 0)},
        },
        "sockets": [
            {"time_s": 1, "sockets": [subflow(0, 1)]},
            {"time_s": 3, "sockets": [subflow(0, 100, rtt_ms=2.0, retransmits=4), subflow(1, 300, rtt_ms=3.0), subflow(1, 20, rtt_ms=5.0)]},
        ],
        "traffic": [{"sender": "h1", "receiver": "h2"}],
        "stack": {
            "tcp": {
                "h1": {
                    "TcpExtTCPSackRecovery": 3, "TcpExtTCPRenoRecovery": 1, "TcpExtTCPDSACKOldSent": 50,
                    "TcpExtTCPOFOQueue": 99, "TcpExtTCPFullUndo": 1, "TcpExtTCPPartialUndo": 2, "TcpExtTCPDSACKUndo": 4,
                    "TcpExtTCPLossUndo": 8,
                },
                "h2": {"TcpExtTCPOFOQueue": 11, "MPTcpExtOFOQueue": 5, "TcpExtTCPDSACKOldSent": 1, "TcpExtTCPDSACKOfoSent": 1},
            }
        },
    }  # fmt: skip


def test_paths_have_what_left_the_sender_on_them(document):
    rows = path_rows(document)
    assert {*RUN, *rows[0], "valid"} == set(PATHS.names)
    counted = [[row[name] for name in ("path", "packets", "bytes", "queue_drops", "share_percent")] for row in rows]
    assert counted == [[1, 10, 15_140, 2, 25], [2, 30, 45_420, 0, 75]]


def test_subflows_are_those_of_the_last_look(document):
    names = [f"subflow_{name}" for name in ("bytes_acked", "retransmits", "rtt_ms", "cca")]
    assert [[row[name] for name in names] for row in path_rows(document)] == [[100, 4, 2, "reno"], [320, 0, 4, "reno"]]
    # One connection above the paths.
    document["sockets"][-1]["sockets"] = [{"flow": 0, "cca": "cubic", "bytes_acked": 400}]
    assert path_rows(document)[0]["subflow_bytes_acked"] is None


def test_without_a_shaper_only_packets_are_known(document):
    for when in document["links"].values():
        for link in when.values():
            link["qdiscs"] = {"noqueue": {"bytes": 0, "drops": 0}}
    counted = [(row["packets"], row["bytes"], row["queue_drops"]) for row in path_rows(document)]
    assert counted == [(10, None, 0), (30, None, 0)]


def test_idle_paths_have_no_share(document):
    document["links"]["after"] = document["links"]["before"]
    assert [row["share_percent"] for row in path_rows(document)] == [None, None]


def test_a_dumbbell_has_no_paths(recorded):
    assert path_rows(recorded("lossy-reno-ipv4")) == []


def test_reordering_is_counted_where_it_shows(document):
    counted = reordering_counts(document)
    assert counted == {
        "out_of_order_segments": 11, "out_of_order_mptcp": 5, "reordering_events": 0, "recoveries": 4,
        "recoveries_undone": 7, "duplicate_segments": 2, "spurious_retransmits": 2,
    }  # fmt: skip


def test_what_nobody_counts_is_missing(document, recorded):
    none = dict.fromkeys((*COUNTERS, "spurious_retransmits"))
    assert reordering_counts(recorded("simulated-mix-ipv4")) == none
    document["specification"]["scenario"]["traffic"]["protocol"] = "udp"
    assert reordering_counts(document) == none


def test_a_segment_that_the_path_duplicates_is_no_spurious_retransmission(document):
    document["specification"]["scenario"]["link"]["duplicate_percent"] = {"forward": 1, "reverse": 0}
    counted = reordering_counts(document)
    assert (counted["duplicate_segments"], counted["spurious_retransmits"]) == (2, None)
    # Of the acknowledgements' direction it says nothing of data.
    document["specification"]["scenario"]["link"]["duplicate_percent"] = {"forward": 0, "reverse": 1}
    assert reordering_counts(document)["spurious_retransmits"] == 2


def test_reordering_of_a_recorded_run_is_that_of_its_losses(recorded):
    counted = reordering_counts(recorded("lossy-reno-ipv4"))
    # Its segments were lost indeed, and each segment behind a lost one waits.
    assert counted["out_of_order_segments"] > counted["recoveries"] > 0
    assert counted["recoveries_undone"] == counted["out_of_order_mptcp"] == 0


def test_waiting_for_a_window_is_a_share_of_the_time_with_data_to_send(recorded):
    document = recorded("lossy-reno-ipv4")
    assert window_limited_percent(document) == 0
    for number, socket in enumerate(document["sockets"][-1]["sockets"]):
        socket |= {"busy_ms": 1000.0, "rwnd_limited_ms": 100.0 * number, "sndbuf_limited_ms": 50.0}
    flows = len(document["sockets"][-1]["sockets"])
    assert window_limited_percent(document) == pytest.approx(5 + 10 * (flows - 1) / 2)
    assert window_limited_percent(recorded("datagrams-ipv6")) is None
    assert window_limited_percent(recorded("simulated-mix-ipv4")) is None


def test_cwnd_is_the_mean_over_looks_and_subflows(document, recorded):
    assert cwnd_packets(document) is None
    looks = [[{"cwnd_packets": 4}, {"cwnd_packets": 8}], [{"cwnd_packets": 3}, {}]]
    document["sockets"] = [{"sockets": sockets} for sockets in looks]
    assert cwnd_packets(document) == 5
    document = recorded("lossy-reno-ipv4")
    seen = [socket["cwnd_packets"] for look in document["sockets"] for socket in look["sockets"]]
    assert min(seen) < cwnd_packets(document) < max(seen)


@pytest.mark.parametrize(("delays", "text"), [([0, 0.5, 0, 0], "0 0.5 0 0"), ([5.0, 5.0], "5 5"), ([0], "0")])
def test_scenarios_keep_the_delay_of_each_path(root, delays, text):
    path = root / "config/studies/multipath.yaml"
    scenario = study.resolve(study.load(path), str(path))["scenarios"][0]
    scenario["multipath"] |= {"paths": len(delays), "path_delay_ms": delays}
    (row,) = rows_of_scenarios([scenario], {scenario["id"]: [100]})
    assert row["path_delay_ms"] == text
    assert set(row) == set(SCENARIOS.names)


@pytest.fixture
def cores():
    """Two cores over 1 s in two readings: 40 and 20 ticks of 10 ms busy."""
    parts = dict.fromkeys(("user", "system", "irq", "softirq", "steal"), [0, 0])
    return {
        "interval_ms": 500, "tick_ms": 10, "time_s": [0.0, 0.5, 1.0],
        "cores": {
            "0": {"roles": ["senders", "program"], **parts, "user": [5, 0], "irq": [1, 0], "softirq": [2, 0], "idle": [20, 40]},
            "1": {"roles": ["receivers"], **parts, "idle": [40, 40]},
        },
    }  # fmt: skip


def test_cpu_times_are_shares_of_elapsed_time(cores):
    table = cpu_table({"cpu": cores}, KEYS).to_pandas()
    assert table[["core", "time_s"]].to_numpy().tolist() == [[0, 0.5], [0, 1], [1, 0.5], [1, 1]]
    assert list(table["busy_percent"]) == pytest.approx([60, 20, 20, 20])
    assert table["role"][0] == "senders, program"
    assert list(table.loc[0, ["user_percent", "softirq_percent", "steal_percent"]]) == pytest.approx([10, 6, 0])
    assert cpu_table({}, KEYS).num_rows == 0


def test_cpu_time_of_a_run(cores):
    # Busy 0.4 and 0.2 s of 1 s on two cores; 2 GB.
    assert cpu_metrics({"cpu": cores}, 2e9) == pytest.approx({"cpu_busy_percent": 30, "cpu_seconds_per_gbyte": 0.3})
    assert cpu_metrics({"cpu": cores}, None)["cpu_seconds_per_gbyte"] is None
    assert set(cpu_metrics({}, 1e9).values()) == {None}


def test_time_of_a_transfer_is_the_longest():
    assert transfer_s({"traffic": [{"transfer": {"seconds": 2.0}}, {"transfer": {"seconds": 3.0}}]}) == 3
    assert transfer_s({"traffic": [{"client": {}}]}) is None


def test_series_of_subflows_name_their_path():
    series = {"flow": 0, "time_s": [0.1], "bytes_acked": [5]}
    document = {"series": {"sockets": [series | {"subflow": 2}, series]}}
    tables = [table.to_pydict() for table in socket_tables(document, KEYS, {0: "cubic"})]
    assert [table["path"] for table in tables] == [[3], [None]]
