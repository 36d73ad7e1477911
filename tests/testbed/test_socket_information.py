"""The kernel's netlink answers as recorded in a guest, beside the output of ss and tc at the same instant."""

import json
import socket
import struct

import pytest

from testbed.network.netlink import HEADER, NLMSG_DONE, attributes, messages
from testbed.readings.cca_information import BBR3_INFO, BBR_INFO, bbr3
from testbed.readings.queue_information import counters, qdisc, queue
from testbed.readings.socket_information import (
    INET_DIAG_INFO,
    MESSAGE_BYTES,
    connection,
    delivery,
    established,
    sockid_of,
    tcp_info,
)

#: What ss prints of `NAMED` comes after a colon, of `RATES` in the word after.
NAMED = {
    "rto": "rto_ms", "mss": "mss_bytes", "cwnd": "cwnd_packets", "ssthresh": "ssthresh_packets",
    "bytes_sent": "bytes_sent", "bytes_retrans": "bytes_retransmitted", "bytes_acked": "bytes_acked",
    "unacked": "unacked_packets", "lost": "lost_packets", "sacked": "sacked_packets", "minrtt": "rtt_min_ms",
}  # fmt: skip
RATES = {"pacing_rate": "pacing_mbps", "delivery_rate": "delivery_mbps"}
CCAS = ("reno", "cubic", "bbr", "vegas", "dctcp", "illinois")


@pytest.fixture(scope="module")
def answers(root):
    """CCA -> recorded answers of its run."""
    recorded = json.loads((root / "tests" / "data" / "netlink.json").read_text())
    return {one["run"].split("/")[1]: one for one in recorded}


def bodies(replies):
    """Return (buffer, start, end) of the messages in hexadecimal replies, without the message that ends a dump."""
    places = []
    for reply in map(bytes.fromhex, replies):
        sequence = HEADER.unpack_from(reply)[3]
        places += [(reply, *place) for kind, *place in messages(reply, len(reply), sequence) if kind != NLMSG_DONE]
    return places


def by_ss(line):
    """Return the words of a line of ``ss -tinHO`` that a reading must contain too."""
    words = line.split()
    values = {key: value for key, _, value in (word.partition(":") for word in words[4:]) if key in NAMED and value}
    values |= {rate: words[words.index(rate) + 1] for rate in RATES if rate in words}
    for key in ("rtt", "retrans", "bbr", "dctcp"):
        values |= {key: word.split(":", 1)[1] for word in words if word.startswith(f"{key}:")}
    if "dctcp" in values:
        values["dctcp"] = values["dctcp"].split(",ab_ecn")[0]
    values["ports"] = words[2].rsplit(":", 1)[1], words[3].rsplit(":", 1)[1]
    values["app_limited"] = "app_limited" in words
    return values


def as_ss(read):
    """Return a reading in ss's words and precision; values that are 0 or unknown are not printed."""
    values = {key: f"{read[column]:.6g}" if "_ms" in column else f"{read[column]}"
            for key, column in NAMED.items() if read[column]}  # fmt: skip
    values |= {rate: bps(read[column]) for rate, column in RATES.items() if read[column]}
    values["rtt"] = f"{read['rtt_ms']:.6g}/{read['rttvar_ms']:.6g}"
    if read["retransmits"]:
        values["retrans"] = f"{read['retransmits_unacked']}/{read['retransmits']}"
    if "bbr_bw_mbps" in read:
        values["bbr"] = (
            f"(bw:{bps(read['bbr_bw_mbps'])},mrtt:{read['bbr_rtt_min_ms']:.6g},"
            f"pacing_gain:{read['bbr_pacing_gain']:.6g},cwnd_gain:{read['bbr_cwnd_gain']:.6g})"
        )
    if "dctcp_alpha" in read:
        values["dctcp"] = f"(ce_state:{read['dctcp_ce_state']},alpha:{read['dctcp_alpha'] * 1024:g}"
    values["ports"] = f"{read['local_port']}", f"{read['remote_port']}"
    values["app_limited"] = read["app_limited"]
    return values


def bps(mbps):
    return f"{mbps * 1e6:.0f}bps"


@pytest.mark.parametrize("cca", CCAS)
def test_every_number_of_ss(answers, cca):
    read = [connection(*body) for body in bodies(answers[cca]["sockets"])]
    lines = answers[cca]["ss"]
    assert len(read) == len(lines) == 2
    assert [as_ss(one) for one in read] == [by_ss(line) for line in lines]
    # iperf3's control connection has the kernel's default.
    assert sorted(one["cca"] for one in read) == sorted(["cubic", cca])
    assert all(one["cca"] in line.split() for one, line in zip(read, lines, strict=True))


def data(answers, cca):
    """Return (body, reading) of the connection that carries the data."""
    connections = [(body, connection(*body)) for body in bodies(answers[cca]["sockets"])]
    return max(connections, key=lambda one: one[1]["bytes_sent"])


def test_what_ss_does_not_print(answers):
    _, reno = data(answers, "reno")
    assert reno["state"] == "recovery"
    assert "bbr_bw_mbps" not in reno and "vegas_rtt_ms" not in reno
    # BBR leaves it infinite until it drains its queue.
    assert data(answers, "bbr")[1]["ssthresh_packets"] is None


def test_vegas_and_its_like(answers):
    # ss uses struct tcpvegas_info only for its rate: cwnd * mss over that RTT.
    for cca in ("vegas", "illinois"):
        _, read = data(answers, cca)
        line = next(line for line in answers[cca]["ss"] if cca in line.split())
        assert read["vegas_enabled"]
        send = read["cwnd_packets"] * read["mss_bytes"] * 8 / read["vegas_rtt_ms"] / 1e3
        assert bps(send) in line.split()
        assert read["vegas_rtt_count"] > 0
        assert 40 <= read["vegas_rtt_min_ms"] <= read["rtt_ms"]


def information(body):
    """Return the bytes of a message's struct tcp_info."""
    buffer, start, end = body
    at, until = attributes(buffer, start + MESSAGE_BYTES, end)[INET_DIAG_INFO]
    return bytearray(buffer[at:until])


def test_kernels_with_more_or_less_to_say(answers):
    body, read = data(answers, "cubic")
    known = information(body)
    whole = tcp_info(known, 0, len(known))
    assert whole.items() <= read.items()
    assert tcp_info(known + bytes(64), 0, len(known) + 64) == whole
    # Up to tcpi_total_retrans, as Linux 2.6 to 3.14 had it.
    old = tcp_info(known, 0, 104)
    assert old == {key: whole[key] for key in old}
    assert set(whole) - set(old) == {
        "pacing_mbps", "bytes_acked", "rtt_min_ms", "delivery_mbps", "busy_ms", "rwnd_limited_ms", "sndbuf_limited_ms", "bytes_sent", "bytes_retransmitted",
        "peer_window_bytes",
    }  # fmt: skip
    # Half a field is none.
    assert tcp_info(known, 0, 103).keys() == old.keys() - {"retransmits"}


def test_values_that_mean_unknown(answers):
    known = information(data(answers, "reno")[0])
    struct.pack_into("=II", known, 68, 0, 250_000)  # no RTT yet
    struct.pack_into("=Q", known, 104, 2**64 - 1)  # paced without limit
    struct.pack_into("=I", known, 148, 2**32 - 1)  # no least RTT
    struct.pack_into("=Q", known, 160, 0)  # no delivery rate
    read = tcp_info(known, 0, len(known))
    assert {key for key, value in read.items() if value is None} == {
        "rtt_ms", "rttvar_ms", "pacing_mbps", "rtt_min_ms", "delivery_mbps",
    }  # fmt: skip


def test_unknown_state_is_an_error(answers):
    known = information(data(answers, "reno")[0])
    known[1] = 5
    with pytest.raises(ValueError, match="tcpi_ca_state 5, expected 0 to 4"):
        tcp_info(known, 0, len(known))


def test_only_established_ones(answers):
    (buffer, start, end), read = data(answers, "reno")
    assert established(buffer, start, end, connection) == read
    closing = bytearray(buffer)
    closing[start + 1] = 4  # TCP_FIN_WAIT1
    assert established(closing, start, end, connection) is None


def test_answers_cut_short(answers):
    reply = bytes.fromhex(answers["reno"]["sockets"][0])
    sequence = HEADER.unpack_from(reply)[3]
    for length in (8, 100, len(reply) - 1):
        with pytest.raises(ValueError, match="netlink"):
            list(messages(reply, length, sequence))
    buffer, start, end = data(answers, "reno")[0]
    with pytest.raises(ValueError, match="inet_diag_msg of 71 bytes"):
        connection(buffer, start, start + 71)
    with pytest.raises(ValueError, match="netlink attribute"):
        connection(buffer, start, end - 20)


def test_answers_to_another_question_are_passed_over(answers):
    reply = bytes.fromhex(answers["reno"]["sockets"][0])
    sequence = HEADER.unpack_from(reply)[3]
    assert len(list(messages(reply, len(reply), sequence))) == 2
    assert list(messages(reply, len(reply), sequence + 1)) == []


@pytest.mark.parametrize("cca", CCAS)
def test_queue_as_tc_says_it(answers, cca):
    ((buffer, start, end),) = bodies([answers[cca]["queue"]])
    tc = answers[cca]["tc"]
    assert queue(buffer, start, end) == {"packets": tc["qlen"], "bytes": tc["backlog"], "drops": tc["drops"]}
    assert qdisc(buffer, start, end)[1:] == ("pfifo", 0x10 << 16)
    _, kind, counted = counters(buffer, start, end)
    assert (kind, counted["drops"], counted["backlog_packets"]) == ("pfifo", tc["drops"], tc["qlen"])


def test_queue_without_statistics(answers):
    buffer, start, _ = bodies([answers["reno"]["queue"]])[0]
    with pytest.raises(ValueError, match="gnet_stats_queue of 0 bytes"):
        queue(buffer, start, start + 20)


def test_bbr3_says_more_and_no_bound_is_no_value():
    message = bytes(100) + BBR_INFO.pack(6_250_000, 20_000, 320, 512)
    message += BBR3_INFO.pack(6_500_000, 2**64 - 1, 2, 4, 3, 2**32 - 1, 177, 5)
    assert bbr3(message, 100) == {
        "bbr_version": 3,
        "bbr_phase": 4,
        "bbr_bw_hi_mbps": 52,
        "bbr_bw_lo_mbps": None,
        "bbr_inflight_hi_packets": 177,
        "bbr_inflight_lo_packets": None,
    }


def test_what_is_read_of_thousands_is_what_is_read_of_few(answers):
    for cca in CCAS:
        (buffer, start, end), read = data(answers, cca)
        brief = delivery(buffer, start, end)
        assert brief["rtt_us"] == round(read["rtt_ms"] * 1e3)
        assert all(brief[name] == read[name] for name in brief.keys() - {"rtt_us"})
        assert brief.keys() == {"local_port", "remote_port", "mss_bytes", "sacked_packets", "rtt_us", "bytes_acked"}


def test_a_connection_is_named_as_the_kernel_names_it(answers):
    (buffer, start, _), read = data(answers, "reno")
    sockid = bytes(buffer[start + 4 : start + 52])
    addresses = [socket.inet_ntop(socket.AF_INET, sockid[at : at + 4]) for at in (4, 20)]
    named = sockid_of((addresses[0], read["local_port"]), (addresses[1], read["remote_port"]))
    assert named[:40] == sockid[:40] and len(named) == len(sockid)
    assert named[40:] == b"\xff" * 8
