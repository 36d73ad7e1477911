"""Effects of host settings in the guest, each compared with the kernel's default: by the first flight, the window after a pause, and
counters."""

import pytest

from experiment.host_options import HOST_OPTIONS
from experiment.specification import RunSpecification
from turned_off import asked_of

LINK = {"rate_mbps": 50, "delay_ms": {"forward": 25, "reverse": 25}}
RTT_S = 0.05


def windows(document, quantity="cwnd_packets"):
    """Return (time in s, value) of those samples of the first flow that have one."""
    series = document["series"]["sockets"][0]
    return [(at, value) for at, value in zip(series["time_s"], series[quantity], strict=True) if value is not None]


@pytest.mark.parametrize("packets", [None, 2, 40])
def test_the_first_flight_is_the_initial_window(run, packets):
    """Until the first acknowledgement, one round trip after the first segment, exactly this number of segments is in flight (RFC 6928)."""
    traffic = {"duration_s": 2, "sample_interval_ms": 2, "start_within_ms": 0}
    document = run(link=LINK, traffic=traffic, transport={"initial_window_packets": packets} if packets else {})
    flying = [(at, value) for at, value in windows(document, "unacked_packets") if value]
    first = [value for at, value in flying if at < flying[0][0] + RTT_S - 0.004]
    assert max(first) == (packets or 10)
    assert ("initcwnd 40" in document["network"]["read_back"]["hosts"]["h1"]["route"]) == (packets == 40)


def test_after_a_pause_the_window_is_kept_or_begins_again(run):
    """Bursts of 1 MB every 2 s; between them the connection is idle for many timeouts (RFC 5681, section 4.1)."""
    traffic = {"duration_s": 9, "sample_interval_ms": 5, "bitrate_mbps": 4, "block_bytes": 2**20}
    started = {}
    for kept in (False, True):
        document = run(
            cca="reno",
            link=LINK,
            queue={"packets": 400},
            traffic=traffic,
            transport={"slow_start_after_idle": not kept},
        )
        sent = windows(document, "unacked_packets")
        begins = [after[0] for before, after in zip(sent, sent[1:], strict=False) if before[1] == 0 and after[1] > 0]
        assert 4 <= len(begins) <= 6
        last = begins[-1]
        started[kept] = max(value for at, value in sent if last <= at < last + RTT_S - 0.006)
    assert 10 <= started[False] <= 11 and started[True] > 100


def test_without_selective_acknowledgements_no_socket_has_them(run):
    for selective in (True, False):
        document = run(
            link=LINK | {"loss_percent": {"forward": 1, "reverse": 0}}, transport={"selective_acks": selective}
        )
        tcp = document["stack"]["tcp"]["h1"]
        assert (tcp["TcpExtTCPSackRecovery"] > 0) == selective
        assert (tcp["TcpExtTCPRenoRecovery"] > 0) == (not selective)


def test_every_option_is_read_back_as_it_was_set(run):
    """The check `host_settings` compares; here each option of a run differs from the kernel's default."""
    asked = {option.name: asked_of(option) for option in HOST_OPTIONS}
    hosts = run(transport=asked, traffic={"duration_s": 1})["network"]["read_back"]["hosts"]
    assert hosts["h1"]["net.ipv4.tcp_slow_start_after_idle"] == "0" and hosts["h1"]["net.ipv4.tcp_sack"] == "0"
    assert hosts["h1"]["route"] == "initcwnd 7" and hosts["h2"]["route"] == "initrwnd 7"
    assert "net.ipv4.tcp_comp_sack_nr" not in hosts["h1"] and hosts["h2"]["net.ipv4.tcp_comp_sack_nr"] == "0"


def test_fq_at_the_sender_paces_what_tcp_wants_to_be_paced(run):
    """All of BBR's packets pass fq, and it gets as much as with its own timers."""
    documents = {
        qdisc: run(
            cca="bbr", link=LINK, traffic={"duration_s": 3}, hosts={"pairs": 1, "access_delay_ms": [0], "qdisc": qdisc}
        )
        for qdisc in ("none", "fq")
    }
    counted = documents["fq"]["links"]["after"]["h1-eth0"]["qdiscs"]["fq"]
    assert (
        counted["packets"] > 5000
        and documents["fq"]["network"]["read_back"]["interfaces"]["h1-eth0"]["qdiscs"]["fq"]["limit"] == 10_000
    )
    assert documents["none"]["network"]["set"]["qdiscs"]["h1-eth0"] == {"noqueue": {}}
    goodputs = [one["traffic"][0]["server"]["end"]["sum_received"]["bits_per_second"] for one in documents.values()]
    assert abs(goodputs[0] / goodputs[1] - 1) < 0.1


def test_fq_codel_at_the_sender_serves_flows_in_turn_and_tcp_paces(run):
    """All packets pass it; its limits are the configured ones, the rest are the kernel's defaults."""
    hosts = {"pairs": 1, "access_delay_ms": [0], "qdisc": "fq_codel"}
    document = run(cca="bbr", link=LINK, traffic={"duration_s": 3}, hosts=hosts)
    counted = document["links"]["after"]["h1-eth0"]["qdiscs"]["fq_codel"]
    read_back = document["network"]["read_back"]["interfaces"]["h1-eth0"]["qdiscs"]["fq_codel"]
    assert counted["packets"] > 5000 and counted["drops"] == 0 and read_back["limit"] == 10_000


def test_without_timestamps_a_full_packet_has_twelve_bytes_more_of_payload(run):
    for timestamps, payload in ((True, 1448), (False, 1460)):
        document = run(transport={"timestamps": timestamps}, traffic={"duration_s": 2})
        specification = RunSpecification(document["specification"])
        assert {socket["mss_bytes"] for look in document["sockets"] for socket in look["sockets"]} == {payload}
        assert (specification.segment_bytes, specification.packet_bytes) == (payload, 1514)
