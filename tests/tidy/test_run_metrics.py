"""Metrics of recorded runs, against sums calculated by hand and other counters of the same run."""

import pytest

from run_tables.retransmit_share import retransmit_percent
from run_tables.run_metrics import bottleneck_metrics, flow_metrics, ideal_shares, interval_metrics, run_metrics
from run_tables.tidy_rows import rows_of_run
from run_tables.tidy_tables import RUNS


def test_run_is_the_sum_of_its_flows(recorded):
    document = recorded("lossy-reno-ipv4")
    flows = flow_metrics(document)
    run = run_metrics(document, flows)
    assert [flow["flow"] for flow in flows] == [0, 1, 2, 3]
    received = [p["server"]["end"]["sum_received"]["bytes"] for p in document["traffic"]]
    assert [flow["bytes_received"] for flow in flows] == received
    assert run["goodput_mbps"] == pytest.approx(sum(f["goodput_mbps"] for f in flows))
    assert run["application_goodput_mbps"] == pytest.approx(sum(received) * 8 / 10.03e6, rel=0.01)
    # As iperf3 prints it, but for its whole blocks and what the last message took.
    assert run["goodput_mbps"] == pytest.approx(run["application_goodput_mbps"], rel=0.03)
    seconds = (run["window_end_ns"] - run["window_begin_ns"]) / 1e9
    assert run["goodput_mbps"] == pytest.approx(run["delivered_bytes"] * 8 / seconds / 1e6)
    counts = [flow["bytes"] for flow in document["delivered"]["flows"]]
    begin, end = (document["delivered"]["time_ns"].index(run[name]) for name in ("window_begin_ns", "window_end_ns"))
    assert run["delivered_bytes"] == sum(of_flow[end] - of_flow[begin] for of_flow in counts)
    assert run["rtt_min_ms"] == 20
    assert 20 <= run["rtt_mean_ms"] <= 42


def test_published_definitions_by_hand(recorded):
    document = recorded("lossy-reno-ipv4")
    run = run_metrics(document, flow_metrics(document))
    ends = [process["client"]["end"] for process in document["traffic"]]
    received = [end["streams"][0]["receiver"]["bits_per_second"] for end in ends]
    assert run["throughput_per_stream_mbps"] == pytest.approx(sum(received) / 4 / 1e6)
    assert run["rtt_first_stream_ms"] == ends[0]["streams"][0]["sender"]["mean_rtt"] / 1000
    retransmits = sum(end["sum_sent"]["retransmits"] for end in ends)
    packets = sum(end["sum_sent"]["bytes"] for end in ends) / 1448
    assert run["published_loss_percent"] == pytest.approx(100 * retransmits / packets)


def test_retransmissions_are_a_share_of_what_the_kernel_sent(recorded):
    """The kernel's own counters of payload sent and retransmitted (tcpi_bytes_sent, tcpi_bytes_retrans) give the same."""
    document = recorded("lossy-reno-ipv4")
    run = run_metrics(document, flow_metrics(document))
    last = document["sockets"][-1]["sockets"]
    again, sent, acked, count = (
        sum(socket[name] for socket in last)
        for name in ("bytes_retransmitted", "bytes_sent", "bytes_acked", "retransmits")
    )
    assert retransmit_percent(count, acked, run["mss_bytes"]) == pytest.approx(100 * again / sent, rel=0.01)
    assert run["retransmit_percent"] == pytest.approx(100 * again / sent, rel=0.15)


@pytest.mark.parametrize("lost", [0.01, 0.5, 0.9])
def test_the_retransmitted_share_is_the_lost_share(lost):
    """If each lost segment is sent until it arrives, the share of retransmissions is the probability of loss, and never above 100 %."""
    data = 1000
    assert retransmit_percent(data * lost / (1 - lost), data * 1448, 1448) == pytest.approx(100 * lost)


def ideal(document):
    return ideal_shares(document, None)["ideal_goodput_mbps"]


def test_ideal_goodput_is_the_payloads_share_or_the_senders_limit(recorded):
    document = recorded("slow-vegas-ipv6")
    scenario = document["specification"]["scenario"]
    full = scenario["link"]["rate_mbps"] * 1428 / 1514
    assert ideal(document) == pytest.approx(full)
    scenario["flows"], scenario["traffic"]["bitrate_mbps"] = 2, full / 4
    assert ideal(document) == pytest.approx(full / 2)
    scenario["link"]["rate_mbps"] = None
    scenario["traffic"]["bitrate_mbps"] = full
    assert ideal(document) == pytest.approx(2 * full)
    scenario["traffic"]["bitrate_mbps"] = None
    assert ideal(document) is None


def test_losses_agree_with_the_senders_counters(recorded):
    document = recorded("lossy-reno-ipv4")
    run = run_metrics(document, flow_metrics(document))
    drops = run["queue_drops"] + run["link_drops"]
    retransmitted = document["stack"]["tcp"]["h1"]["TcpRetransSegs"]
    # Each loss costs one retransmission, spurious ones and those of control connections aside.
    assert drops == pytest.approx(retransmitted, abs=0.05 * drops + 5)
    assert run["retransmits"] == pytest.approx(retransmitted, abs=5)
    assert run["loss_percent"] == pytest.approx(100 * drops / run["packets_sent"])


def test_loss_is_the_queues_and_the_links(recorded):
    document = recorded("lossy-reno-ipv4")
    base = bottleneck_metrics(document)
    after = document["links"]["after"]
    after["r1-eth1"]["qdiscs"]["htb"]["drops"] += 100
    after["r2-eth0"]["qdiscs"]["netem"]["drops"] += 10
    more = bottleneck_metrics(document)
    assert more["queue_drops"] == base["queue_drops"] + 100
    assert more["link_drops"] == base["link_drops"] + 10
    assert more["packets_sent"] == base["packets_sent"] + 100


def test_what_one_netem_counts_together_is_not_taken_apart(recorded):
    document = recorded("lossy-reno-ipv4")
    document["specification"]["scenario"]["link"]["netem"] = "both-ends"
    document["network"]["set"]["bottleneck"]["forward"] = []
    assert bottleneck_metrics(document)["queue_drops"] is None
    document["specification"]["scenario"]["link"]["loss_percent"]["forward"] = 0
    assert bottleneck_metrics(document)["link_drops"] == 0


def test_intervals_cover_the_duration(recorded):
    intervals = list(interval_metrics(recorded("lossy-reno-ipv4")))
    first = [i for i in intervals if i["flow"] == 0 and i["end_s"] - i["start_s"] > 0.5]
    assert [round(i["end_s"]) for i in first] == list(range(1, 11))
    assert all(i["cwnd_bytes"] > 0 and i["rtt_ms"] >= 20 for i in first)


def test_rows(recorded):
    document = recorded("lossy-reno-ipv4")
    document["verdict"]["valid"] = False
    document["verdict"]["checks"][0] |= {"ok": False, "expected": "this", "observed": "that"}
    run, flows, intervals, checks = rows_of_run(document, "lossy", "f" * 64)
    assert tuple(sorted(run)) == tuple(sorted(RUNS.names))
    assert run["invalid_because"] == "qdiscs: that, expected this"
    assert (run["valid"], flows[0]["valid"]) == (False, False)
    assert (run["queue_packets"], run["packet_bytes"], run["queue_bytes"]) == (166, 1514, 166 * 1514)
    assert run["queue_bdp"] == 1  # as the study says it: 250,000 bytes, and 1,324 more to whole packets
    assert len(flows) == 4
    assert [check["ok"] for check in checks].count(False) == 1
