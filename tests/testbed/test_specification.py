"""Values derived from a specification: queues, limits, seeds."""

import copy

import pytest

from experiment.specification import RunSpecification
from testbed.machine.uml import command_line, memory_mib, run_time_s, wall_limit_s
from testbed.network.transport import settings


@pytest.fixture
def document(recorded):
    return recorded("lossy-reno-ipv4")["specification"]


def changed(document, **sections):
    document = copy.deepcopy(document)
    for name, values in sections.items():
        place = document["scenario"] if name != "top" else document
        if name in ("top",):
            place.update(values)
        elif isinstance(values, dict) and name != "queue":
            place[name].update(values)
        else:
            place[name] = values
    return RunSpecification(document)


def test_bdp_and_queue(document):
    # 100 Mbit/s x 20 ms = 250,000 bytes = 165.1 packets of 1514 bytes.
    run = RunSpecification(document)
    assert run.bdp_bytes == 250_000
    assert run.queue_packets == 166
    assert changed(document, queue={"bdp": 0.001}).queue_packets == 1
    assert changed(document, queue={"packets": 7}).queue_packets == 7
    in_bytes = changed(document, queue={"bytes": 9000})
    assert (in_bytes.queue_packets, in_bytes.queue_bytes) == (None, 9000)


def test_payload_and_goodput_limit(document):
    # RFC 1122/8200 headers and RFC 7323's 12-byte option leave 1448 and 1428 of 1500 bytes.
    four = changed(document, top={"ip_version": "ipv4"})
    six = changed(document, top={"ip_version": "ipv6"})
    assert (four.segment_bytes, six.segment_bytes) == (1448, 1428)
    assert four.goodput_limit_mbps == pytest.approx(100 * 1448 / 1514)
    assert changed(document, link={"rate_mbps": None}).goodput_limit_mbps is None


def test_buffers_are_above_twice_bdp_and_queue(document):
    for rate in (1, 100, 1000, 10_000):
        run = changed(document, link={"rate_mbps": rate, "delay_ms": {"forward": 100, "reverse": 100}})
        least = min(2**31 - 2**20, 2 * (run.bdp_bytes + run.queue_packets * 1514))
        assert min(run.receive_buffer_bytes, run.send_buffer_bytes) >= least


def test_buffers_are_what_the_study_asks_for(document):
    run = changed(document, transport={"receive_buffer_bytes": 65_536})
    assert run.receive_buffer_bytes == 65_536
    assert run.send_buffer_bytes == RunSpecification(document).send_buffer_bytes
    assert settings(run)["net.ipv4.tcp_rmem"] == "4096\t65536\t65536"


def test_receive_buffers_are_whole_from_the_start_where_the_study_says_so(document):
    grown = settings(RunSpecification(document))
    whole = settings(changed(document, transport={"receive_buffer_autotuning": False}))
    assert [grown["net.ipv4.tcp_moderate_rcvbuf"], whole["net.ipv4.tcp_moderate_rcvbuf"]] == ["1", "0"]
    largest = grown["net.ipv4.tcp_rmem"].split()[2]
    assert grown["net.ipv4.tcp_rmem"] == f"4096\t131072\t{largest}"
    assert whole["net.ipv4.tcp_rmem"] == f"4096\t{largest}\t{largest}"


def test_a_queue_in_bdps_has_packets_of_the_runs_own_size(document):
    """256 bytes of payload make packets of 322 bytes with IPv4: 250,000 bytes are 777 of them."""
    small = changed(document, transport={"segment_bytes": 256})
    assert (small.packet_bytes, small.queue_packets) == (322, 777)


def test_substreams_depend_on_seed_and_name_alone(document):
    one, other_cell = RunSpecification(document), changed(document, top={"cca": "bbr", "ip_version": "ipv6"})
    assert one.substream("netem-forward") == other_cell.substream("netem-forward")
    assert one.substream("netem-forward") != one.substream("netem-reverse")
    assert one.substream("guest") != changed(document, top={"seed": 2}).substream("guest")
    assert all(0 <= one.substream(str(i)) < 2**63 for i in range(100))


def test_recorded_substream_never_changes(document):
    assert changed(document, top={"seed": 1}).substream("netem-forward") == 9037222550543914746


def test_command_line_holds_nothing_of_this_machine(document):
    words = command_line(RunSpecification(document))
    assert words == command_line(RunSpecification(document))
    assert not any("/work" in word or "/home" in word or "/tmp" in word for word in words)
    assert memory_mib(changed(document, link={"rate_mbps": 10_000})) > memory_mib(RunSpecification(document))


def test_many_hosts_are_given_time_to_start(document):
    one = RunSpecification(document)
    many = changed(document, hosts={"pairs": 64, "access_delay_ms": [0] * 64})
    # 64 pairs took 71 s in all on one of two busy cores.
    assert run_time_s(many) - run_time_s(one) == pytest.approx(63)
    assert wall_limit_s(many) > wall_limit_s(one) + 3 * 63
