"""Two hosts and a cable: rate, queue and serialisation are those of a real cable, to the byte of a header."""

import pytest

from experiment.specification import RunSpecification
from run_tables.run_metrics import flow_metrics, run_metrics

RATE_MBPS = 100
#: What a frame has besides the IP packet: Ethernet's header, checksum, preamble and the gap to the next.
FRAME_BYTES = 14 + 4 + 8 + 12
IP_BYTES = {"ipv4": 20, "ipv6": 40}
UDP_BYTES, TCP_BYTES = 8, 20 + 12
LINK = {
    "rate_mbps": RATE_MBPS,
    "delay_ms": {"forward": 0, "reverse": 0},
    "frame_overhead_bytes": 24,
    "serialisation": "virtual-clock",
}
#: A reading of the guest's clock moves it by 256 ns; a ping-pong's two sides read it a few times an exchange.
READINGS_US = 8 * 0.256


@pytest.fixture
def on_cable(run):
    """A function that executes a run over a cable of 100 Mbit/s."""

    def carry_out(link=None, **changes):
        return run(topology="cable", queue={"packets": 1000}, link=LINK | (link or {}), **changes)

    return carry_out


def metrics(document):
    return run_metrics(document, flow_metrics(document))


@pytest.mark.parametrize("ip_version", ["ipv4", "ipv6"])
@pytest.mark.parametrize("size", [128, 1408])
def test_datagrams_get_what_their_headers_leave(on_cable, size, ip_version):
    traffic = {"protocol": "udp", "block_bytes": size, "messages": 5000, "interval_s": 0.1}
    document = on_cable(traffic=traffic, ip_version=ip_version)
    exact = RATE_MBPS * size / (size + UDP_BYTES + IP_BYTES[ip_version] + FRAME_BYTES)
    values = metrics(document)
    assert values["goodput_mbps"] == pytest.approx(exact, rel=0.005)
    assert values["ideal_goodput_mbps"] == pytest.approx(exact, rel=1e-9)
    # A full socket buffer holds the application back, so nothing is lost in the host's own queue.
    assert values["queue_drops"] == 0
    assert (values["rtt_mean_ms"], values["retransmits"]) == (None, None)


@pytest.mark.parametrize(("size", "ip_version"), [(128, "ipv4"), (1408, "ipv6")])
def test_segments_get_what_their_headers_leave(on_cable, size, ip_version):
    traffic = {"block_bytes": size, "duration_s": 1}
    document = on_cable(transport={"segment_bytes": size}, traffic=traffic, ip_version=ip_version)
    exact = RATE_MBPS * size / (size + TCP_BYTES + IP_BYTES[ip_version] + FRAME_BYTES)
    assert metrics(document)["goodput_mbps"] == pytest.approx(exact, rel=0.005)


@pytest.mark.slow
def test_small_messages_of_tcp_travel_in_full_segments(on_cable):
    document = on_cable(traffic={"block_bytes": 128, "duration_s": 1})
    packets = document["links"]["after"]["h1-eth0"]["tx_packets"] - document["links"]["before"]["h1-eth0"]["tx_packets"]
    sent = document["traffic"][0]["client"]["end"]["sum_sent"]["bytes"]
    assert sent / packets == pytest.approx(1448, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["tcp", pytest.param("udp", marks=pytest.mark.long)])
@pytest.mark.parametrize("size", [128, 1408])
def test_a_message_back_and_forth_takes_two_frames(on_cable, size, protocol):
    traffic = {"application": "round-trip", "protocol": protocol, "block_bytes": size, "duration_s": 2}
    document = on_cable(traffic=traffic)
    headers = IP_BYTES["ipv4"] + FRAME_BYTES + (TCP_BYTES if protocol == "tcp" else UDP_BYTES)
    exact_us = 2 * (size + headers) * 8 / RATE_MBPS
    found_us = document["traffic"][0]["round_trip"]["rtt_us"]
    # qperf takes the time in steps of 10 ms.
    assert exact_us * 0.995 < found_us < exact_us * 1.005 + READINGS_US
    assert metrics(document)["rtt_mean_ms"] == pytest.approx(found_us / 1e3)


def test_a_cable_without_serialisation_takes_no_time_when_idle(on_cable):
    document = on_cable(link={"serialisation": "never"})
    assert document["network"]["set"]["netem"] == {"forward": [], "reverse": []}
    assert document["idle_rtt"][0]["min_ms"] < 0.01
    serialised = on_cable()
    assert serialised["network"]["set"]["netem"] == {"forward": ["h2-in0"], "reverse": ["h1-in0"]}
    frame_bytes = 56 + 8 + IP_BYTES["ipv4"] + FRAME_BYTES
    assert serialised["idle_rtt"][0]["min_ms"] == pytest.approx(2 * frame_bytes * 8 / RATE_MBPS / 1e3, abs=0.003)


def test_the_senders_queue_holds_single_packets(on_cable):
    document = on_cable(cca="cubic", link={"serialisation": "never"})
    interfaces = document["network"]["read_back"]["interfaces"]
    assert {interfaces[name]["gso_max_segs"] for name in ("h1-eth0", "h2-eth0")} == {1}
    counts = document["links"]["after"]["h1-eth0"]
    assert counts["qdiscs"]["htb"]["bytes"] / counts["qdiscs"]["htb"]["packets"] < 1515


def test_delay_and_loss_stand_where_packets_arrive(on_cable):
    link = {"delay_ms": {"forward": 15, "reverse": 5}, "loss_percent": {"forward": 1, "reverse": 0}}
    document = on_cable(link=link, traffic={"duration_s": 5})
    assert 20 <= document["idle_rtt"][0]["min_ms"] < 20.1
    after, before = (document["links"][when]["h2-in0"]["qdiscs"]["netem"]["drops"] for when in ("after", "before"))
    assert 0 < after - before == metrics(document)["link_drops"]


@pytest.mark.parametrize("ip_version", ["ipv4", "ipv6"])
def test_a_file_is_downloaded_whole(on_cable, ip_version):
    traffic = {"application": "ftp", "file_bytes": 20_000_000, "sample_interval_ms": 100}
    document = on_cable(traffic=traffic, ip_version=ip_version, cca="vegas")
    transfer = document["traffic"][0]["transfer"]
    limit = RunSpecification(document["specification"]).goodput_limit_mbps
    assert transfer["bytes"] == 20_000_000
    assert 0.98 * limit < metrics(document)["goodput_mbps"] < limit
    assert {s["cca"] for look in document["sockets"] for s in look["sockets"]} == {"vegas"}
    acked = document["series"]["sockets"][0]["bytes_acked"]
    assert acked == sorted(acked) and acked[-1] > 18_000_000


@pytest.mark.parametrize(
    "traffic", [{"protocol": "udp", "block_bytes": 500}, {"application": "round-trip", "block_bytes": 500}]
)
def test_the_same_seed_gives_the_same_bytes(on_cable, traffic):
    # At a tenth of the rate: thousands of packets, not tens of thousands.
    first, second = (on_cable(link={"rate_mbps": 10}, traffic={"duration_s": 1} | traffic) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("application", ["round-trip", "ftp"])
def test_the_cca_of_what_can_not_choose_one_is_that_of_the_route(on_cable, application):
    """It is Vegas, which is no guest host's default."""
    document = on_cable(
        cca="vegas", traffic={"application": application, "duration_s": 1, "block_bytes": 128, "file_bytes": 2_000_000}
    )
    hosts = document["network"]["read_back"]["hosts"]
    assert {host["route"] for host in hosts.values()} == {"congctl vegas"}
    assert "vegas" not in {host["net.ipv4.tcp_congestion_control"] for host in hosts.values()}
    if application == "ftp":
        assert {socket["cca"] for look in document["sockets"] for socket in look["sockets"]} == {"vegas"}


@pytest.mark.slow
@pytest.mark.parametrize("ip_version", ["ipv4", "ipv6"])
def test_acknowledgements_that_are_not_delayed(on_cable, ip_version):
    """One segment of data each, over a cable and inside tunnels: about as many ACKs as segments."""
    single = {"traffic": {"duration_s": 1}, "ip_version": ip_version}
    # One flow, so one tunnel: what comes out of order is acknowledged at once.
    tunnels = {"multipath": {"paths": 2, "by": "gre", "distribution": "per-flow", "path_delay_ms": [0, 0]}}
    plain = {"link": {"serialisation": "never", "frame_overhead_bytes": 0}}
    for changes in (single, single | tunnels | plain):
        few, many = (
            on_cable(**changes, transport={"delayed_acks": delayed, "min_rto_ms": 300}) for delayed in (True, False)
        )
        acks = [document["stack"]["tcp"]["h2"]["TcpOutSegs"] for document in (few, many)]
        assert acks[1] > 1.5 * acks[0]
        assert few["network"]["read_back"]["hosts"]["h1"]["route"] == "rto_min 300ms"
