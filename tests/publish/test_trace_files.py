"""A trace as the kernel prints it becomes text, tables and a graph of calls with times of the run."""

import csv
from collections import Counter

import pytest

from publishing.result_checks.received_errors import ReceivedError
from publishing.run_trace import CCA_FUNCTIONS, DEFINED, EVENT, FUNCTION, uncalled
from publishing.trace_files import calls_of, fields_of, seconds, write_calls, write_counters, write_tables, write_text
from testbed.errors import SettingError
from testbed.readings.kernel_trace import chosen, lost

ORIGIN_NS = 2_000_000_000
#: Lines of trace_pipe with the clock "virtual".
TRACE = """\
         iperf3-71      [000] ..s1. 1999999000: tcp_probe: family=AF_INET src=10.0.0.1:40000 dest=10.0.1.1:5201 mark=0 snd_cwnd=10 srtt=40000
         iperf3-71      [000] ..s1. 2500000001: cubictcp_cong_avoid: > cubictcp_cong_avoid
         iperf3-71      [000] ..s1. 2500000001: bictcp_update: > bictcp_update
         iperf3-71      [000] ..s1. 2500000001: bictcp_update: < bictcp_update
         iperf3-71      [000] ..s1. 2500000001: cubictcp_cong_avoid: < cubictcp_cong_avoid
CPU:0 [LOST 3 EVENTS]
          <idle>-0       [000] ..s2. 3000000000: qdisc_dequeue: dequeue ifindex=4 qdisc handle=0x10000 parent=0xFFFFFFFF packets=1
          <idle>-0       [000] ..s2. 3000000000: bbr_main: > bbr_main
"""


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.txt"
    path.write_text(TRACE)
    return path


def test_each_event_is_a_table_by_time_with_its_fields(trace, tmp_path):
    rows = write_tables(trace, ORIGIN_NS, {"4": "r1-eth1"}, tmp_path)
    assert rows == Counter(tcp_probe=1, qdisc_dequeue=1)
    (probe,) = csv.DictReader((tmp_path / "tcp_probe.csv").open())
    assert (probe["time_s"], probe["task"], probe["src"], probe["snd_cwnd"]) == ("-0.000001000", "iperf3-71", "10.0.0.1:40000", "10")  # fmt: skip
    (dequeue,) = csv.DictReader((tmp_path / "qdisc_dequeue.csv").open())
    assert (dequeue["time_s"], dequeue["interface"], dequeue["handle"]) == ("1.000000000", "r1-eth1", "0x10000")


def test_calls_are_nested_as_they_were_and_one_without_an_end_is_left_out(trace, tmp_path):
    calls = calls_of(trace)
    assert [(call.function, call.depth, call.caller) for call in calls] == [
        ("cubictcp_cong_avoid", 0, ""),
        ("bictcp_update", 1, "cubictcp_cong_avoid"),
    ]
    write_calls(calls, ORIGIN_NS, tmp_path)
    graph = [line.rpartition("| ")[2] for line in (tmp_path / "functions.txt").read_text().splitlines()]
    assert graph == ["cubictcp_cong_avoid() {", "  bictcp_update();", "}"]
    assert [row["time_s"] for row in csv.DictReader((tmp_path / "functions.csv").open())] == ["0.500000001"] * 2


def test_the_text_has_the_events_alone(trace, tmp_path):
    write_text(trace, ORIGIN_NS, tmp_path / "text")
    lines = (tmp_path / "text").read_text().splitlines()
    assert [line.split()[3] for line in lines] == ["tcp_probe:", "qdisc_dequeue:"]


def test_what_is_no_event_is_refused(trace):
    trace.write_text(TRACE + "anything\n")
    with pytest.raises(ReceivedError, match=r"trace\.txt, line 9, is not an event"):
        calls_of(trace)


def test_counters_are_what_grew(tmp_path):
    before = {"h1": {"TcpRetransSegs": 1, "TcpInSegs": 5}, "h2": {"TcpRetransSegs": 0, "TcpInSegs": 3}}
    after = {"h1": {"TcpRetransSegs": 8, "TcpInSegs": 5}, "h2": {"TcpRetransSegs": 0, "TcpInSegs": 3}}
    write_counters(before, after, tmp_path / "nstat.csv")
    assert (tmp_path / "nstat.csv").read_text() == "host,TcpRetransSegs\nh1,7\nh2,0\n"


def test_times_before_the_origin_are_negative():
    assert [seconds(ns, 10**9) for ns in (1, 10**9, 2 * 10**9 + 7)] == ["-0.999999999", "0.000000000", "1.000000007"]


def test_an_event_without_fields_keeps_its_text():
    assert fields_of("something happened") == {"text": "something happened"}


@pytest.mark.parametrize("text, fields", [
    ("vec=3 [action=NET_RX]", {"vec": "3", "action": "NET_RX"}),
    ("expires=4294937 [timeout=10] idx=1 flags=", {"expires": "4294937", "timeout": "10", "idx": "1", "flags": ""}),
    ("icmp_send: type=3, code=3. From 10.0.0.1:0 to 10.0.0.2:1 ulen=8", {"type": "3", "code": "3", "ulen": "8"}),
    ("src=[fd00::1]:5001 dest=[fd00::2]:5201, rate=1.5", {"src": "[fd00::1]:5001", "dest": "[fd00::2]:5201", "rate": "1.5"}),
    ("location=tcp_v4_rcv+0x1/0x2 reason: NO_SOCKET", {"location": "tcp_v4_rcv+0x1/0x2", "reason": "NO_SOCKET"}),
    ("sk address = 00000000d1, family = 2 protocol = 6, flags = 0x0", {"address": "00000000d1", "family": "2", "protocol": "6", "flags": "0x0"}),
    ("prev_state=S ==> next_comm=iperf3 next_pid=71", {"prev_state": "S", "next_comm": "iperf3", "next_pid": "71"}),
    ("proto:TCP sysctl_mem=1,2,3 saddrv6=:: flags=ACK|PSH", {"sysctl_mem": "1,2,3", "saddrv6": "::", "flags": "ACK|PSH"}),
    ("work struct 00000000d1ab: function tcp_tsq", {"text": "work struct 00000000d1ab: function tcp_tsq"}),
])  # fmt: skip
def test_values_have_no_punctuation(text, fields):
    assert fields_of(text) == fields


def test_names_without_a_call_are_found(trace):
    asked = {"cca": ["cubictcp_init", "bictcp_*"], "tcp_v6_*": ["tcp_v6_*"], "cubictcp_cong_avoid": ["cubictcp_cong_avoid"], "bbr_main": ["bbr_main"]}  # fmt: skip
    assert uncalled(asked, calls_of(trace)) == ["tcp_v6_*", "bbr_main"]


def test_globs_choose_names_and_a_wrong_one_is_answered_with_the_nearest():
    names = ["tcp:tcp_probe", "tcp:tcp_retransmit_skb", "qdisc:qdisc_dequeue"]
    assert chosen(["tcp:*", "tcp:tcp_probe"], names, "EVENTS") == names[:2]
    with pytest.raises(SettingError, match=r"EVENTS names tcp:tcp_prob, .* \(nearest: tcp:tcp_probe, "):
        chosen(["tcp:tcp_prob"], names, "EVENTS")


def test_events_without_a_place_are_counted():
    assert lost("entries: 5\noverrun: 2\ncommit overrun: 9\ndropped events: 3\nread events: 7\n") == 5


@pytest.mark.parametrize("form, good, bad", [(EVENT, "qdisc:*", "tcp_probe"), (FUNCTION, "cubictcp_*", "a,b")])
def test_names_have_a_form(form, good, bad):
    assert form.fullmatch(good) and not form.fullmatch(bad)


def test_functions_of_ccas_have_the_form_of_names():
    assert all(FUNCTION.fullmatch(glob) for globs in CCA_FUNCTIONS.values() for glob in globs.split())


def test_functions_of_a_c_file_are_those_that_it_defines():
    text = "static u32 aimd_ssthresh(struct sock *sk)\n{\n\treturn tcp_snd_cwnd(sk);\n}\n\nint other(void);\nvoid\nlast(int a,\n     int b)\n{\n\tif (a) {\n\t}\n}\n"
    assert DEFINED.findall(text) == ["aimd_ssthresh", "last"]
