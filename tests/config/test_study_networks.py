"""Cables, several paths and applications: contradictions are refused in a sentence, before any run."""

import pytest

from study_files import study as studies

CABLE = {"id": "a", "topology": "cable", "link": {"rate_mbps": 100, "delay_ms": 0}, "queue": {"packets": 100}}
CLOSE = CABLE["link"]
UDP, ROUND_TRIP = {"protocol": "udp", "block_bytes": 500}, {"application": "round-trip"}
TWO = {"by": "mptcp", "paths": 2}
MESSAGES = {"messages": 1000, "block_bytes": 128, "interval_s": 0.1}
#: Traffic that is not iperf3's over TCP, and how it is called.
NOT_SET = [
    (UDP, "application iperf3 and protocol udp"),
    (ROUND_TRIP, "application round-trip and protocol tcp"),
    ({"application": "ftp"}, "application ftp and protocol tcp"),
]
#: What contradicts itself, and the sentence that says so; first of a dumbbell, then of `CABLE` with a change.
DUMBBELL_CASES = [
    ({"multipath": {"path_queue_packets": [5]}},
     "multipath.path_queue_packets is [5]; allowed with topology dumbbell: null, because only aggregated paths of a cable can differ."),
    ({"background": "server"}, "background is server; allowed with topology dumbbell: none."),
    ({"multipath": {"by": "gre", "paths": 2}}, "multipath.by is gre; allowed with topology dumbbell: mptcp or none."),
    ({"multipath": {"by": "mptcp", "paths": 2}, "traffic": {"application": "ftp"}},
     "multipath.by is mptcp; allowed with topology dumbbell: none with application ftp."),
    ({"multipath": {"by": "mptcp", "paths": 2, "outage": {"path": 2, "at_s": 1, "for_s": 1}}},
     "multipath.outage is set for path 2; allowed with topology dumbbell: null, because subflows share one path."),
    ({"multipath": {"path_delay_ms": 5}}, "multipath.path_delay_ms is not 0; allowed with topology dumbbell: 0."),
    ({"link": {"serialisation": "virtual-clock"}},
     "link.serialisation is virtual-clock; allowed with topology dumbbell: never."),
    ({"link": {"delay_ms": 600}, "traffic": {"duration_s": 1}},
     "traffic.duration_s is 1, 1000 ms of traffic; allowed: traffic that takes longer than the path's RTT, 1200 (ms), so that there is time to read the sockets."),
    ({"link": {"rate_mbps": 20}, "traffic": {"application": "round-trip"}},
     "traffic.block_bytes is 131072, with which an exchange takes 124.9 ms; allowed: sizes with which traffic.duration_s, 10 (s), is enough for 100 exchanges."),
    ({"transport": {"receive_buffer_bytes": 5000}},
     "transport.receive_buffer_bytes is 5000; allowed with segments of 1448 bytes: at least 5792, because Linux advertises half of a buffer as a window, "
     "and cuts segments that are larger than half of the window."),
    ({"transport": {"send_buffer_bytes": 9000, "segmentation_offload": True}, "queue": {"packets": 100}},
     "transport.send_buffer_bytes is 9000; allowed with transport.segmentation_offload: null, because Linux checks a send buffer only when a super-packet "
     "begins: a super-packet that is sent while being filled never ends."),
    ({"platform": "ns3:3.44", "traffic": {"protocol": "udp", "block_bytes": 500}},
     "traffic has application iperf3 and protocol udp; allowed on ns3:3.44: iperf3 and tcp, which its bulk transfers use."),
]  # fmt: skip
#: Times are of what ends with its amount: 128,000 bytes at 100 Mbit/s, 1448 or 1428 of each packet's 1514. 100 GB take
#: 2.4 hours, and MPTCP has a socket to read on each path.
CABLE_CASES = [
    ({"hosts": {"pairs": 2}, "flows": 2}, "hosts.pairs is 2; allowed with topology cable: 1."),
    ({"hosts": {"access_delay_ms": 1}},
     "hosts.access_delay_ms is not 0; allowed with topology cable: 0, because the cable is the only link."),
    ({"link": {"netem": "both-ends", "delay_ms": 1}},
     "link.netem is both-ends; allowed with topology cable: receiving-side."),
    ({"multipath": {"paths": 2}},
     "multipath.paths is 2; allowed with multipath.by none: 1, because plain TCP uses one path."),
    ({"multipath": {"paths": 3, "by": "gre", "path_delay_ms": [0, 1]}},
     "multipath.path_delay_ms has 2 numbers; allowed: one for each of the 3 paths, or one for all."),
    ({"multipath": TWO | {"path_rate_mbps": [1, 2, 3]}},
     "multipath.path_rate_mbps has 3 numbers; allowed: one for each of the 2 paths."),
    ({"multipath": {"path_loss_percent": [5]}},
     "multipath.path_loss_percent is [5]; allowed with multipath.by none: null, because only aggregated paths of a cable can differ."),
    ({"multipath": TWO | {"path_loss_percent": [1, 0]}, "link": CLOSE | {"loss_burst_packets": 4, "loss_percent": 1}},
     "multipath.path_loss_percent is [1, 0]; allowed with link.loss_burst_packets: null."),
    ({"multipath": TWO | {"path_queue_packets": [4, 9]}, "link": CLOSE | {"rate_mbps": None}},
     "multipath.path_queue_packets is [4, 9]; allowed without a link.rate_mbps: null."),
    ({"link": {"rate_mbps": None, "serialisation": "virtual-clock"}, "traffic": {"bitrate_mbps": 5}},
     "link.serialisation is virtual-clock; allowed without a link.rate_mbps: never."),
    ({"link": {"rate_mbps": None}, "traffic": {"bitrate_mbps": 5, "sample_interval_ms": 10}},
     "link.rate_mbps is null; allowed with topology cable and traffic.sample_interval_ms: a number, because there is no queue to sample."),
    ({"multipath": {"by": "mptcp", "paths": 2, "distribution": "per-flow"}},
     "multipath.distribution is per-flow; allowed with multipath.by mptcp: round-robin, because only gre has tunnels."),
    ({"multipath": {"tunnel_ip_version": "ipv6"}},
     "multipath.tunnel_ip_version is ipv6; allowed with multipath.by none: ipv4, because only gre has tunnels."),
    *[({"traffic": UDP, "transport": {key: value}}, f"transport.{key} is {value if value is not False else 'false'}; allowed with protocol udp: {allowed}, because the key is for TCP.")
      for key, value, allowed in (("receive_buffer_bytes", 9000, "null"), ("send_buffer_bytes", 9000, "null"), ("delayed_acks", False, "true"), ("min_rto_ms", 50, "null"))],
    ({"topology": "dumbbell", "transport": {"segment_bytes": 500}, "flows": [{"name": "w", "application": "web", "bytes": 900}]},
     "transport.segment_bytes is 500; allowed without a flow of iperf3: null, because only iperf3 sets it."),
    ({"traffic": {"application": "ftp", "protocol": "udp", "block_bytes": 500}},
     "traffic.protocol is udp; allowed with application ftp: tcp."),
    ({"multipath": {"by": "mptcp", "paths": 2}, "traffic": {"protocol": "udp", "block_bytes": 500}},
     "traffic.protocol is udp; allowed with multipath.by mptcp: tcp, because MPTCP carries nothing else."),
    ({"multipath": {"by": "mptcp", "paths": 2}, "transport": {"send_buffer_bytes": 9000}},
     "transport.send_buffer_bytes is 9000; allowed with multipath.by mptcp: null, because the buffer belongs to the connection, and subflows have none."),
    ({"multipath": {"by": "mptcp", "paths": 2}, "traffic": {"application": "round-trip"}},
     "traffic.application is round-trip; allowed with multipath.by mptcp: iperf3 and ftp."),
    ({"traffic": {"application": "round-trip", "control_connection": "own-network"}},
     "traffic.control_connection is own-network; allowed with application round-trip: automatic and data-path."),
    ({"multipath": {"by": "gre", "paths": 2}, "traffic": {"control_connection": "own-network"}},
     "traffic.control_connection is own-network; allowed with multipath.by gre: automatic and data-path."),
    ({"flows": 2, "traffic": {"application": "ftp"}}, "flows is 2; allowed with application ftp: 1."),
    ({"traffic": {"application": "round-trip", "messages": 1000}},
     "traffic.messages is 1000; allowed with application round-trip: null (traffic.duration_s sets the amount)."),
    ({"traffic": {"application": "ftp", "messages": 1000}},
     "traffic.messages is 1000; allowed with application ftp: null (traffic.file_bytes sets the amount)."),
    ({"traffic": {"application": "ftp", "bitrate_mbps": 5}},
     "traffic.bitrate_mbps is 5; allowed with application ftp: null."),
    ({"traffic": {"protocol": "udp", "block_bytes": 1453}},
     "traffic.block_bytes is 1453; allowed with protocol udp: up to 1452 (bytes), the payload of one IPv6 packet."),
    ({"multipath": {"by": "gre", "paths": 2, "tunnel_ip_version": "ipv6"}, "traffic": {"protocol": "udp", "block_bytes": 1400}},
     "traffic.block_bytes is 1400; allowed with protocol udp: up to 1386 (bytes), the payload of one IPv6 packet."),
    ({"traffic": {"protocol": "udp", "block_bytes": 500, "sample_interval_ms": 10}},
     "traffic.sample_interval_ms is 10; allowed with protocol udp: null, because UDP has no window."),
    ({"link": CLOSE | {"loss_percent": {"forward": 0, "reverse": 1}}, "traffic": ROUND_TRIP | UDP},
     "link.loss_percent.reverse is 1; allowed with application round-trip and protocol udp: 0, because qperf waits for a lost message until the test's time is over."),
    ({"multipath": {"by": "mptcp", "paths": 2}, "transport": {"segment_bytes": 1000}},
     "transport.segment_bytes is 1000; allowed with multipath.by mptcp: null, because MPTCP's own option would use part of it."),
    ({"platform": "host", "link": {"rate_mbps": None}, "traffic": UDP},
     "link.rate_mbps is null and so is traffic.bitrate_mbps; allowed: a number for one of them (Mbit/s), because UDP doesn't adapt its rate."),
    ({"traffic": MESSAGES | {"start_within_ms": 400}},
     "traffic.start_within_ms is 400; allowed: less than half the traffic's duration, 5.353 (ms), so that all flows overlap for some time."),
    ({"link": CLOSE | {"delay_ms": 10}, "traffic": MESSAGES},
     "traffic.messages is 1000, 10.86 ms of traffic; allowed: traffic that takes longer than the path's RTT, 20 (ms), so that there is time to read the sockets."),
    ({"link": CLOSE | {"delay_ms": 50}, "traffic": {"application": "ftp", "file_bytes": 1_000_000}},
     "traffic.file_bytes is 1000000, 84.82 ms of traffic; allowed: traffic that takes longer than the path's RTT, 100 (ms), so that there is time to read the sockets."),
    ({"traffic": {"application": "ftp", "file_bytes": 100_000_000_000, "sample_interval_ms": 1}},
     "traffic.sample_interval_ms is 1, which makes 8,481,793 readings of sockets in a run; allowed: up to 250,000, with at least 34 (ms)."),
    ({"multipath": {"by": "mptcp", "paths": 8}, "traffic": {"duration_s": 100, "sample_interval_ms": 1}},
     "traffic.sample_interval_ms is 1, which makes 800,000 readings of sockets in a run; allowed: up to 250,000, with at least 4 (ms)."),
    ({"platform": "ns3:3.44", "traffic": {"control_connection": "own-network"}},
     "traffic.control_connection is own-network; allowed on ns3:3.44: automatic and data-path, because there is none."),
    ({"platform": "ns3:3.44"}, "topology is cable; allowed on ns3:3.44: dumbbell."),
    *[({"traffic": traffic, "transport": {"segment_bytes": 1000}},
       f"transport.segment_bytes is 1000; allowed with {words}: null, because only iperf3 over TCP sets it.") for traffic, words in NOT_SET],
    *[({"traffic": traffic | {"no_delay": True}},
       f"traffic.no_delay is true; allowed with {words}: false, because only iperf3 over TCP sets it.") for traffic, words in NOT_SET],
]  # fmt: skip
CASES = [*DUMBBELL_CASES, *((CABLE | changes, sentence) for changes, sentence in CABLE_CASES)]


def resolve(scenario, **study):
    return studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [{"id": "a"} | scenario], **study}, "s.yaml")


@pytest.mark.parametrize(("scenario", "sentence"), CASES, ids=[sentence for _, sentence in CASES])
def test_contradictions_are_refused(scenario, sentence):
    with pytest.raises(studies.StudyError) as caught:
        resolve(scenario)
    assert f"s.yaml: scenarios[a].{sentence}" in caught.value.problems


def test_what_the_rules_leave_is_taken():
    """For each refusal, the nearest allowed value is accepted."""
    lossy = {"link": CLOSE | {"loss_percent": 1}}
    gre = {"by": "gre", "paths": 2, "tunnel_ip_version": "ipv6", "distribution": "per-flow"}
    for scenario in (
        CABLE | lossy | {"traffic": UDP},
        CABLE | lossy | {"traffic": ROUND_TRIP},
        CABLE | {"multipath": gre, "transport": {"segment_bytes": 1000}, "traffic": {"no_delay": True}},
        # The kernel's own speed, where its clock is real.
        CABLE | {"platform": "host", "link": {"rate_mbps": None, "delay_ms": 0}},
        # Datagrams have no sockets to look at.
        CABLE | {"link": CLOSE | {"delay_ms": 10}, "traffic": MESSAGES | {"protocol": "udp"}},
    ):
        assert resolve(scenario)["scenarios"]


def test_one_delay_stands_for_all_paths():
    study = resolve(CABLE | {"multipath": {"by": "mptcp", "paths": 3, "path_delay_ms": 2}})
    assert study["scenarios"][0]["multipath"]["path_delay_ms"] == [2, 2, 2]


def test_a_studys_platform_carries_all_scenarios_under_another_name():
    asked = {"analysis": {"compare_with": "s-host"}, "platform": "host"}
    here, there = resolve(CABLE, **asked | {"platform": None}), resolve(CABLE, **asked)
    assert (here["study"], there["study"]) == ("s", "s-host")
    assert [scenario["platform"] for scenario in there["scenarios"]] == ["host"]
    # What is compared with the other is compared the other way round there.
    assert (here["analysis"]["compare_with"], there["analysis"]["compare_with"]) == ("s-host", "s")
    runs = [list(studies.runs(study)) for study in (here, there)]
    assert runs[0] == runs[1]
    seeds = {studies.run_specification(study, "a", "reno", "ipv4", 1)["seed"] for study in (here, there)}
    assert len(seeds) == 1
