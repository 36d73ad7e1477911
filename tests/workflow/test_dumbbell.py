"""Separate hosts on both sides of one bottleneck: delays, CCAs, and settings of each pair."""

import pytest

from run_tables.run_metrics import flow_metrics

#: Beside BBR a flow may get less than iperf3's usual block of 128 KiB in some seconds, and would count as idle.
BLOCK_BYTES = 4096


@pytest.mark.slow
def test_each_pair_has_its_own_delay_and_each_flow_its_cca(run):
    document = run(
        cca="reno+cubic+bbr", flows=6, hosts={"pairs": 3, "access_delay_ms": [0, 5, 12.5]},
        traffic={"duration_s": 5, "block_bytes": BLOCK_BYTES}, link={"rate_mbps": 50},
        transport={"receive_buffer_autotuning": False},
    )  # fmt: skip
    idle = document["idle_rtt"]
    assert [pair["sender"] for pair in idle] == ["h1", "h3", "h5"]
    assert [round(pair["min_ms"]) for pair in idle] == [40, 60, 90]
    flows = flow_metrics(document)
    assert [flow["cca_observed"] for flow in flows] == ["reno", "cubic", "bbr"] * 2
    assert [flow["flow_cca"] for flow in flows] == ["reno", "cubic", "bbr"] * 2
    assert [flow["pair"] for flow in flows] == [1, 2, 3] * 2
    assert [flow["rtt_path_ms"] for flow in flows] == [40, 60, 90] * 2
    assert all(flow["rtt_min_ms"] == pytest.approx(flow["rtt_path_ms"], abs=1.5) for flow in flows)


@pytest.mark.slow
def test_loss_falls_on_every_pair(run):
    document = run(
        flows=4, hosts={"pairs": 4, "access_delay_ms": [0] * 4}, traffic={"duration_s": 20},
        link={"rate_mbps": 20, "loss_percent": {"forward": 2, "reverse": 0}},
    )  # fmt: skip
    drops = {
        name: interface["qdiscs"]["netem"]["drops"]
        for name, interface in document["links"]["after"].items()
        if name in document["network"]["set"]["netem"]["forward"]
    }
    assert sorted(drops) == ["r2-eth0", "r2-eth2", "r2-eth3", "r2-eth4"]
    assert all(count > 0 for count in drops.values())
    seeds = {document["network"]["set"]["qdiscs"][name]["netem"]["seed"] for name in drops}
    assert len(seeds) == 4


def test_segments_acknowledgements_and_timeouts_as_asked(run):
    asked = {"segment_bytes": 1000, "delayed_acks": False, "min_rto_ms": 1000}
    document = run(ip_version="ipv6", transport=asked, traffic={"duration_s": 5})
    assert {socket["mss_bytes"] for look in document["sockets"] for socket in look["sockets"]} == {1000}
    assert document["network"]["read_back"]["hosts"]["h1"]["route"] == "rto_min 1000ms"
    assert document["network"]["read_back"]["hosts"]["h2"]["route"] == "quickack 1"
    # An acknowledgement for each packet; with delayed ones there is about one for two.
    passed = {
        name: document["links"]["after"][name]["tx_packets"] - document["links"]["before"][name]["tx_packets"]
        for name in ("r1-eth1", "r2-eth1")
    }
    assert passed["r2-eth1"] == pytest.approx(passed["r1-eth1"], rel=0.02)
    delayed = run(ip_version="ipv6", traffic={"duration_s": 5})
    passed = {
        name: delayed["links"]["after"][name]["tx_packets"] - delayed["links"]["before"][name]["tx_packets"]
        for name in ("r1-eth1", "r2-eth1")
    }
    assert passed["r2-eth1"] < 0.7 * passed["r1-eth1"]


@pytest.mark.long
def test_64_pairs(run):
    document = run(
        flows=64, hosts={"pairs": 64, "access_delay_ms": [1] * 64}, cca="cubic+bbr",
        traffic={"duration_s": 3, "sample_interval_ms": 100, "block_bytes": BLOCK_BYTES}, link={"rate_mbps": 100, "delay_ms": {"forward": 5, "reverse": 5}},
        # Room for most of what 64 flows send at first: one whose SYN is lost twice has hardly begun after 3 s.
        queue={"bdp": 8},
    )  # fmt: skip
    flows = flow_metrics(document)
    assert [flow["flow"] for flow in flows] == list(range(64))
    assert {pair["min_ms"] for pair in document["idle_rtt"]} <= {14.0, 14.001}
    assert 60 < sum(flow["goodput_mbps"] for flow in flows) < 96
    assert len(document["series"]["sockets"]) == 64
