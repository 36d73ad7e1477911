"""Programs that send over TCP, in the guest: their CCA, their connections, and the readings of the kernel's sockets."""

import pytest

from program_runs import group_rows
from run_tables.program_deliveries import with_program_deliveries
from run_tables.tidy_rows import factors, rows_of_run
from run_tables.time_series import socket_tables


@pytest.mark.parametrize("ip_version", ["ipv4", "ipv6"])
def test_tcp_of_a_program_is_measured_as_that_of_iperf3(carried, ip_version):
    """Beside iperf3's flow, both fill the bottleneck; data that arrived once are the program's goodput, and repeated data are counted."""
    document = carried(
        {"name": "prog", "program": "tcp:tcp", "stop_s": 4}, {"name": "long", "stop_s": 4}, ip_version=ip_version
    )
    (packets,), (entry,) = document["program_packets"]["flows"], document["programs"]
    assert packets["distinct_bytes"] == entry["client"]["reported"]
    drops = packets["packets_sent"] - packets["packets_arrived"]
    assert packets["repeated_packets"] >= drops > 0
    run, flows, _, _ = rows_of_run(document, "a", "0" * 64)
    assert [(flow["group"], flow["flow_cca"]) for flow in flows] == [("long", "reno"), ("prog", "tcp:tcp")]
    assert flows[1]["retransmits"] == packets["repeated_packets"]
    # Both flows wait in the same queue.
    assert flows[1]["rtt_mean_ms"] == pytest.approx(flows[0]["rtt_mean_ms"], rel=0.1)
    assert flows[1]["rtt_min_ms"] == pytest.approx(flows[0]["rtt_min_ms"], rel=0.01)
    assert flows[1]["cwnd_max_bytes"] >= 2 * 1448 and flows[1]["cca_observed"] == "cubic"
    together = sum(flow["goodput_mbps"] for flow in flows)
    assert 0.95 * run["ideal_goodput_mbps"] < together <= 1.01 * run["ideal_goodput_mbps"]
    assert group_rows(document)["prog"]["queueing_p95_ms"] > 20


@pytest.mark.parametrize(
    ("names", "cca"), [(("p:vegas",), "vegas"), (("p:mine",), "cubic"), (("p",), "cubic"), (("p:vegas", "q:reno"), "cubic")]
)  # fmt: skip
def test_a_program_that_chooses_no_cca_sends_by_the_one_in_its_name(carried, names, cca):
    """The server prints the CCA of its connection (TCP_CONGESTION is option 13). Two programs on a host that name two CCAs have neither."""
    shows = {
        "path": None, "protocol": "tcp", "ready_line": "ready", "server_ends": "itself", "reports_bytes": "got",
        "server": ["python3", "-c", "import socket, sys; s = socket.create_server((sys.argv[1], int(sys.argv[2]))); print('ready', flush=True); c, _ = s.accept(); c.sendall(bytes(int(sys.argv[3]))); print('CCA', c.getsockopt(6, 13, 16).strip(bytes(1)).decode()); c.close()", "{server_address}", "{port}", "{bytes}"],
        "client": ["python3", "-c", "import socket, sys; c = socket.create_connection((sys.argv[1], int(sys.argv[2])))\nn = 0\nwhile d := c.recv(65536): n += len(d)\nprint('got', n)", "{server_address}", "{port}"],
    }  # fmt: skip
    called = (one.partition(":") for one in names)
    programs = {name: shows | ({"ccas": [chosen]} if chosen else {}) for name, _, chosen in called}
    groups = [{"name": f"g{n}", "program": name, "bytes": 100_000} for n, name in enumerate(names)]
    document = carried(*groups, programs=programs, failing=("program_cca",) if len(names) > 1 else ())
    assert [entry["server"]["last"] for entry in document["programs"]] == [f"ready | CCA {cca}"] * len(names)
    assert [one["cca"] for one in document["program_sockets"]] == [cca] * len(names)
    (check,) = (one for one in document["verdict"]["checks"] if one["name"] == "program_cca")
    why = "sent by cubic, the default of h1, whose programs name different CCAs or none (p:vegas, q:reno)"
    assert (why in check["observed"]) == (len(names) > 1)


def test_a_connection_that_one_side_has_closed_is_still_read(carried):
    """The client ends its direction at once, as ncat does at the end of its input; all data are sent in the state CLOSE_WAIT or LAST_ACK."""
    half_closed = {
        "path": None, "protocol": "tcp", "ready_line": "ready", "server_ends": "itself", "reports_bytes": "got", "ccas": ["vegas"],
        "server": ["python3", "-c", "import socket, sys; s = socket.create_server((sys.argv[1], int(sys.argv[2]))); print('ready', flush=True); c, _ = s.accept(); c.recv(1); c.sendall(bytes(int(sys.argv[3]))); c.close()", "{server_address}", "{port}", "{bytes}"],
        "client": ["python3", "-c", "import socket, sys; c = socket.create_connection((sys.argv[1], int(sys.argv[2]))); c.shutdown(1)\nn = 0\nwhile d := c.recv(65536): n += len(d)\nprint('got', n)", "{server_address}", "{port}"],
    }  # fmt: skip
    document = carried(
        {"name": "half", "program": "half:vegas", "bytes": 500_000},
        programs={"half": half_closed},
        traffic={"duration_s": 4, "sample_interval_ms": 50},
    )
    (sockets,) = document["program_sockets"]
    assert (sockets["connections"], sockets["cca"]) == (1, "vegas")
    # 500 kB over 10 Mbit/s take 0.4 s.
    assert len(sockets["series"]["time_s"]) >= 6 and sockets["series"]["bytes_acked"][-1] > 400_000


def test_a_program_under_test_has_the_columns_of_the_kernels_flows(under_test):
    """A program sends two TCP flows: run, flows and time series have the columns that sockets would give, from packets."""
    link, traffic = {"rate_mbps": 10, "delay_ms": 20}, {"duration_s": 6, "sample_interval_ms": 50}
    document = under_test("tcp", flows=2, link=link, queue={"packets": 50}, traffic=traffic)
    assert document["verdict"]["valid"] and "delivered" not in document
    whole = with_program_deliveries(document)
    run, flows, intervals, _ = rows_of_run(whole, "a", "0" * 64)
    assert (run["flows_under_test"], run["mss_bytes"], run["packet_bytes"]) == (2, 1448, 1514)
    assert run["goodput_mbps"] == pytest.approx(sum(flow["goodput_mbps"] for flow in flows))
    assert 95 < run["ideal_percent"] <= 100 and run["utilisation_percent"] == pytest.approx(run["ideal_percent"], abs=1)
    assert 0.5 < run["jain_steady_index"] <= 1 and run["retransmits"] == sum(flow["retransmits"] for flow in flows)
    reported = [entry["client"]["reported"] for entry in document["programs"]]
    tables = list(socket_tables(whole, factors(document), {flow["flow"]: flow["flow_cca"] for flow in flows}))
    for table, packets, said in zip(tables, document["program_packets"]["flows"], reported, strict=True):
        acked, times = table["bytes_acked"].to_pylist(), table["time_s"].to_pylist()
        # The flow's last packets are in flight at the last reading: half of a path and a queue of 83 packets.
        assert acked == sorted(acked) and 0 <= said - acked[-1] < 83 * 1448 + 10e6 / 8 * 0.1
        assert table["bytes_sent"].to_pylist()[-1] <= packets["bytes_sent"] and set(times) <= set(
            document["series"]["queue"]["time_s"]
        )
        assert set(table["flow_cca"].to_pylist()) == {"tcp:tcp"} and len(times) > 100
        assert not table["cwnd_packets"].null_count and set(table["state"].to_pylist()) >= {"open", "recovery"}
        assert max(filter(None, table["rtt_ms"].to_pylist())) > 60
    rtts = [rtt for table in tables for rtt in table["rtt_ms"].to_pylist() if rtt is not None]
    assert run["rtt_mean_ms"] == pytest.approx(sum(rtts) / len(rtts), rel=0.1)
    assert run["rtt_mean_ms"] <= run["rtt_steady_ms"] * 1.1 and 40 <= run["rtt_min_ms"] < run["rtt_mean_ms"]
    assert sum(row["retransmits"] for row in intervals) == run["retransmits"] and run["recoveries"] > 0
    windows = [window for table in tables for window in table["cwnd_packets"].to_pylist()]
    assert run["cwnd_packets"] == pytest.approx(sum(windows) / len(windows))


def test_a_run_without_time_series_has_the_same_values(under_test):
    """Without time series, the document has fewer columns of readings, every 100 ms; the tables have the same columns."""
    options = {"link": {"rate_mbps": 10, "delay_ms": 20}, "queue": {"packets": 50}}
    runs = []
    for traffic in ({"sample_interval_ms": 100}, {}):
        document = under_test("tcp", traffic={"duration_s": 4} | traffic, **options)
        runs.append(rows_of_run(with_program_deliveries(document), "a", "0" * 64))
    (sampled, flows, intervals, _), (run, same_flows, same_intervals, _) = runs
    assert flows == same_flows and intervals == same_intervals
    named = ("rtt_mean_ms", "rtt_steady_ms", "rtt_min_ms", "retransmits", "cwnd_packets", "recoveries")
    assert {name: run[name] for name in named} == {name: sampled[name] for name in named}
    assert None not in [run[name] for name in named]


def test_retransmissions_of_parallel_connections_are_counted(carried):
    """The numbers of connections overlap: with one count for all, none of their retransmissions were seen."""
    several = {
        "path": None, "protocol": "tcp", "ready_line": "ready", "reports_bytes": "got",
        "server": ["python3", "-c", "import os, socket, sys; s = socket.create_server((sys.argv[1], int(sys.argv[2]))); print('ready', flush=True)\nwhile True:\n    c, _ = s.accept()\n    if os.fork() == 0:\n        c.sendall(bytes(int(sys.argv[3]) // 4)); os._exit(0)\n    c.close()", "{server_address}", "{port}", "{bytes}"],
        "client": ["python3", "-c", "import selectors, socket, sys; all = selectors.DefaultSelector()\nfor _ in range(4): all.register(socket.create_connection((sys.argv[1], int(sys.argv[2]))), 1)\nn = 0\nwhile all.get_map():\n    for key, _ in all.select():\n        n += len(d := key.fileobj.recv(65536)); d or all.unregister(key.fileobj)\nprint('got', n)", "{server_address}", "{port}"],
    }  # fmt: skip
    document = carried({"name": "four", "program": "four", "bytes": 2_000_000}, programs={"four": several})
    (packets,), (entry,) = document["program_packets"]["flows"], document["programs"]
    assert packets["distinct_bytes"] == entry["client"]["reported"] == 2_000_000
    assert packets["repeated_packets"] >= packets["packets_sent"] - packets["packets_arrived"] > 0


def test_flows_that_begin_later_are_read_beside_a_program(carried):
    """Two programs and the first flow have as many connections as both flows; the second flow was never read."""
    groups = [{"name": f"p{n}", "program": "tcp:tcp", "stop_s": 3} for n in range(2)]
    document = carried(
        *groups,
        {"name": "a", "stop_s": 3},
        {"name": "b", "start_s": 1, "stop_s": 3},
        traffic={"duration_s": 4, "sample_interval_ms": 100},
    )
    assert all(count for flow in document["delivered"]["flows"] for count in flow["bytes"][-1:])


@pytest.mark.parametrize("ecn", ["classic", "accurate"])
def test_marks_of_a_program_are_counted_as_those_of_iperf3(under_test, ecn):
    """Two flows of a program, whose marks add up to the hosts' counters; the counters also count what comes after the last reading."""
    queue = {"discipline": "codel", "packets": 1000, "ecn": True}
    document = under_test(
        "tcp", flows=2, link={"rate_mbps": 10, "delay_ms": 20}, queue=queue, traffic={"duration_s": 6}, transport={"ecn": ecn}
    )  # fmt: skip
    assert document["verdict"]["valid"]
    run, flows, _, _ = rows_of_run(with_program_deliveries(document), "a", "0" * 64)
    assert [flow["ecn_observed"] for flow in flows] == [ecn] * 2
    for name in ("ce_received", "ce_echoed"):
        assert 0.8 * run[name] <= sum(flow[name] for flow in flows) <= run[name] and run[name] > 3, name
    assert run["ce_received"] <= run["queue_marks"]
    assert 0 <= run["window_limited_percent"] < 100


def test_tcp_tells_nothing_about_marks_of_a_program_over_udp(under_test):
    queue, traffic = {"discipline": "codel", "packets": 1000, "ecn": True}, {"duration_s": 2}
    document = under_test("udp", link={"rate_mbps": 10, "delay_ms": 20}, queue=queue, traffic=traffic, transport={"ecn": "classic"})  # fmt: skip
    run, (flow,), _, _ = rows_of_run(with_program_deliveries(document), "a", "0" * 64)
    unknown = (
        run["ce_echoed"],
        run["window_limited_percent"],
        flow["ecn_observed"],
        flow["ce_received"],
        flow["ce_echoed"],
    )
    assert set(unknown) == {None} and run["ce_received"] is not None
