"""Every check passes on recorded sound runs, and fails on runs with a planted error."""

import math
import random
import re

import pytest

from experiment.late_deliveries import lost_in_a_row
from experiment.specification import RunSpecification
from run_tables.exclusions import excluded_by
from testbed.checks.flow_checks import check_goodput_ceiling
from testbed.checks.loss_checks import LOSS_FALSE_ALARM, relative_entropy
from testbed.checks.mark_checks import check_ecn
from testbed.checks.read_back_checks import check_pacing
from testbed.checks.verification import checks_of, judge
from testbed.readings.deliveries import windows


def failed(document):
    """Return the names of the failed checks of a document."""
    specification = RunSpecification(document["specification"])
    return {check["name"] for check in judge(specification, document)["checks"] if not check["ok"]}


@pytest.mark.parametrize("name", ["lossy-reno-ipv4", "slow-vegas-ipv6"])
def test_recorded_runs_pass_all_checks(recorded, name):
    document = recorded(name)
    specification = RunSpecification(document["specification"])
    verdict = judge(specification, document)
    assert [c for c in verdict["checks"] if not c["ok"]] == []
    assert verdict["valid"] is True
    assert len(verdict["checks"]) == len(checks_of(specification))
    assert [numbers(c) for c in verdict["checks"]] == [numbers(c) for c in document["verdict"]["checks"]]


def numbers(check):
    """Return a check without its words: the name, the outcome, and the numbers in the expected and in the observed text."""
    return check["name"], check["ok"], *(sorted(re.findall(r"[\d.]*\d", check[of])) for of in ("expected", "observed"))


def qdisc(document, interface, kind):
    return document["network"]["read_back"]["interfaces"][interface]["qdiscs"][kind]


def set_in(*path):
    """Return a change that sets the value at a path to the last argument."""
    *keys, last, value = path

    def change(document):
        place = document
        for key in keys:
            place = place[key]
        place[last] = value

    return change


def add_netem_drops(count, interface="r2-eth0"):
    def change(document):
        document["links"]["after"][interface]["qdiscs"]["netem"]["drops"] += count

    return change


def other_cca_in_ss(document):
    document["sockets"][1]["sockets"][0]["cca"] = "cubic"


def no_flow_at_first_sample(document):
    document["sockets"][0]["sockets"] = []


def one_flow_waits(document):
    """One data connection has sent only its cookie."""
    document["sockets"][0]["sockets"][2]["bytes_sent"] = 37


def asked_for_but_not_there(document):
    document["specification"]["scenario"]["traffic"]["sample_interval_ms"] = 100


def one_flow_is_short(document):
    document["specification"]["scenario"]["traffic"]["sample_interval_ms"] = 100
    lengths = [101, 101, 98, 101]
    document["series"] = {"sockets": [{"flow": flow, "time_s": [0.0] * n} for flow, n in enumerate(lengths)]}


def nothing_delivered(document):
    """Neither iperf3, which counts blocks, nor the kernel reports a delivery."""
    document["traffic"][0]["client"]["end"]["streams"][0]["receiver"]["bytes"] = 0
    (flow,) = (flow for flow in document["delivered"]["flows"] if flow["flow"] == document["traffic"][0]["flows"][0])
    flow["bytes"] = [37 for _ in flow["bytes"]]


def never_sent(document):
    """The kernel shows nothing sent at any reading either."""
    nothing_delivered(document)
    for look in document["sockets"]:
        for socket in look["sockets"]:
            if socket["flow"] == document["traffic"][0]["flows"][0]:
                socket["bytes_sent"] = 37


def lost_stream(document):
    document["traffic"].pop()


def lost_interval(document):
    document["traffic"][0]["client"]["intervals"].pop(3)


def as_fast_as_the_link(document, more_packets=0):
    """Let the flows have received what the link passes in their window, and some more packets."""
    specification, window = RunSpecification(document["specification"]), windows(document)[0]
    seconds = (window.end_ns - window.begin_ns) / 1e9
    passed = specification.goodput_limit_mbps * 1e6 / 8 * seconds + more_packets * specification.packet_bytes
    counts = document["delivered"]["flows"][0]["bytes"]
    counts[-1] += round(passed) - sum(window.delivered_bytes.values())


def faster_than_the_link(document):
    """The excess is 19 packets, where acknowledgements may be late by two for each of four flows, and selective ones by 10 at 100
    Mbit/s."""
    as_fast_as_the_link(document, 19)


def held_back_by(column):
    """Return a corruption: after the first reading the second connection was limited for 2 % of its time."""

    def corrupt(document):
        first, last = (document["sockets"][look]["sockets"][1] for look in (0, -1))
        last[column] = first[column] + 0.02 * (last["busy_ms"] - first["busy_ms"])

    return corrupt


def nothing_lost(document):
    for interface in document["links"]["after"].values():
        for qdisc in interface["qdiscs"].values():
            qdisc["drops"] = 0


#: Checks of what the losses of a path may do too.
EXCUSED_BY_LOSSES = ("streams", "overlap")
READ_BACK = ("network", "read_back")
CORRUPTIONS = [
    ("qdiscs", set_in(*READ_BACK, "interfaces", "r2-eth0", "qdiscs", "netem", "seed", 1)),
    ("qdiscs", set_in(*READ_BACK, "interfaces", "r2-eth0", "qdiscs", "netem", "delay_ms", 10.1)),
    ("qdiscs", set_in(*READ_BACK, "interfaces", "r2-eth0", "qdiscs", "netem", "loss_percent", 0)),
    ("qdiscs", set_in(*READ_BACK, "interfaces", "r1-eth1", "qdiscs", "pfifo", "limit", 1000)),
    ("qdiscs", set_in(*READ_BACK, "interfaces", "r1-eth1", "qdiscs", "htb", "rate_bps", 99_000_000)),
    ("qdiscs", set_in(*READ_BACK, "interfaces", "h1-eth0", "qdiscs", {"fq": {}})),
    ("offloads", set_in(*READ_BACK, "interfaces", "r1-eth0", "offloads", "generic-receive-offload", True)),
    ("host_settings", set_in(*READ_BACK, "hosts", "h2", "net.ipv4.tcp_rmem", "4096\t131072\t6291456")),
    ("host_settings", set_in(*READ_BACK, "hosts", "h1", "net.ipv4.tcp_ecn", "1")),
    ("cca", set_in("traffic", 0, "client", "end", "sender_tcp_congestion", "cubic")),
    ("cca", other_cca_in_ss),
    ("segment_size", set_in("sockets", 2, "sockets", 3, "mss_bytes", 1436)),
    ("series", asked_for_but_not_there),
    ("series", one_flow_is_short),
    ("host_settings", set_in(*READ_BACK, "hosts", "h2", "route", "quickack 1")),
    ("pacing", set_in(*READ_BACK, "interfaces", "h1-eth0", "qdiscs", {"fq": {}})),
    ("idle_rtt", set_in("idle_rtt", 0, "min_ms", 19.9)),
    ("idle_rtt", set_in("idle_rtt", 0, "min_ms", 20.3)),
    ("idle_rtt", set_in("idle_rtt", 0, "min_ms", None)),
    ("exit_status", set_in("traffic", 1, "server", "error", "the client has unexpectedly closed the connection")),
    ("duration", set_in("traffic", 3, "client", "end", "sum_sent", "seconds", 9.8)),
    ("streams", lost_stream),
    ("streams", never_sent),
    ("intervals", lost_interval),
    ("overlap", no_flow_at_first_sample),
    ("overlap", one_flow_waits),
    ("loss_forward", add_netem_drops(150)),
    ("loss_forward", add_netem_drops(-150)),
    ("loss_reverse", add_netem_drops(1, "r1-eth0")),
    ("rtt_floor", set_in("sockets", 0, "sockets", 1, "rtt_min_ms", 19.99)),
    ("goodput_ceiling", faster_than_the_link),
    ("buffers", held_back_by("rwnd_limited_ms")),
    ("buffers", held_back_by("sndbuf_limited_ms")),
    ("memory", set_in("stack", "tcp", "h2", "TcpExtTCPRcvQDrop", 1)),
    ("memory", set_in("stack", "tcp", "h1", "TcpExtTCPMemoryPressures", 3)),
    ("drops_elsewhere", set_in("stack", "backlog_drops", 1)),
    ("qdiscs", set_in("links", "after", "r1-eth1", "qdiscs", {"fq": {"drops": 0, "backlog_packets": 0}})),
    ("unchanged", set_in("network", "changed", {"interfaces/r1-eth1/qdiscs/htb/rate_bps": [1e8, 2e8]})),
    ("delay", set_in("probe", "delays", 0, "longest_ns", 10_003_000)),
    ("delay", set_in("probe", "delays", 1, "shortest_ns", 9_997_000)),
    ("delay", set_in("probe", "delays", 1, "twice", 1)),
    ("delay", set_in("probe", "delays", 1, "arrived", 0)),
    ("rate", set_in("probe", "bottlenecks", 0, "gap_ns", 120_900)),
    ("rate", set_in("probe", "bottlenecks", 1, "gap_ns", 121_300)),
    ("rate", set_in("probe", "bottlenecks", 1, "gap_ns", None)),
    ("queue_limit", set_in("probe", "bottlenecks", 0, "waiting_packets", 167)),
    ("queue_limit", set_in("probe", "bottlenecks", 1, "waiting_packets", 165)),
    ("drops_elsewhere", set_in("links", "after", "h2-eth0", "device_drops", 2)),
]


@pytest.mark.parametrize(("check", "corrupt"), CORRUPTIONS)
def test_each_check_fails_on_what_it_is_for(recorded, check, corrupt):
    document = recorded("lossy-reno-ipv4")
    corrupt(document)
    if check in EXCUSED_BY_LOSSES:
        nothing_lost(document)
    assert check in failed(document)


@pytest.mark.parametrize(
    ("check", "corrupt"), [("streams", never_sent), ("overlap", no_flow_at_first_sample), ("overlap", one_flow_waits)]
)
def test_what_losses_may_have_done_is_a_result(recorded, check, corrupt):
    document = recorded("lossy-reno-ipv4")
    corrupt(document)
    assert check not in failed(document)


def test_every_check_is_seen_to_fail(recorded):
    checks = checks_of(RunSpecification(recorded("slow-vegas-ipv6")["specification"]))
    names = {check.__name__.removeprefix("check_") for check in checks}
    assert names == {check for check, _ in CORRUPTIONS}


def test_a_failed_check_makes_the_run_invalid_and_says_why(recorded):
    document = recorded("slow-vegas-ipv6")
    document["traffic"][0]["client"]["end"]["sender_tcp_congestion"] = "cubic"
    verdict = judge(RunSpecification(document["specification"]), document)
    assert verdict["valid"] is False
    (check,) = (c for c in verdict["checks"] if not c["ok"])
    assert check["name"] == "cca"
    assert "vegas" in check["expected"]
    assert "cubic" in check["observed"]


def test_both_ends_netem_may_drop_more_than_the_configured_loss(recorded):
    document = recorded("lossy-reno-ipv4")
    document["specification"]["scenario"]["link"]["netem"] = "both-ends"
    document["network"]["set"]["bottleneck"] = {"forward": [], "reverse": []}
    add_netem_drops(5000)(document)
    assert "loss_forward" not in failed(document)
    add_netem_drops(-5000 - 200)(document)
    assert "loss_forward" in failed(document)


def test_a_shaper_above_netem_counts_random_losses_too(recorded):
    """When netem loses a packet, the shaper sees a drop (`net_xmit_drop_count`), as with a full queue."""
    document = recorded("lossy-reno-ipv4")
    document["specification"]["scenario"]["link"]["netem"] = "both-ends"
    add_netem_drops(300)(document)
    assert "loss_forward" not in failed(document)
    add_netem_drops(-300 - 200)(document)
    assert "loss_forward" in failed(document)


def test_a_link_that_is_full_all_the_time_passes_no_more(recorded):
    document = recorded("lossy-reno-ipv4")
    for more_packets in (0, 7):
        as_fast_as_the_link(document, more_packets)
        assert "goodput_ceiling" not in failed(document)


@pytest.mark.parametrize(("apart_s", "sound"), [(0.118, True), (0.125, False)])
def test_senders_hear_of_the_bottleneck_as_much_apart_as_their_rtts(recorded, apart_s, sound):
    """At the end the nearer of two knows of more that passed than the farther: up to 120 ms of the link, here."""
    document = recorded("lossy-reno-ipv4")
    document["specification"]["scenario"]["hosts"] |= {"pairs": 2, "access_delay_ms": [0, 30]}
    specification = RunSpecification(document["specification"])
    as_fast_as_the_link(document, apart_s * specification.goodput_limit_mbps * 1e6 / 8 / specification.packet_bytes)
    assert check_goodput_ceiling(specification, document).ok is sound


def test_a_window_may_open_at_first(recorded):
    document = recorded("lossy-reno-ipv4")
    for look in document["sockets"]:
        look["sockets"][1]["rwnd_limited_ms"] = 500
    assert "buffers" not in failed(document)


@pytest.mark.parametrize(("size", "ok"), [(17_722_368, True), (None, False)], ids=["Linux's size", "the largest"])
def test_a_send_buffer_that_linux_sizes_by_the_window_may_hold_a_flow_back(recorded, size, ok):
    """A BBR flow of the default study, at 100 ms and 1 % of loss, had a buffer of 17,722,368 bytes: it waited 3.7 % of its time."""
    document = recorded("lossy-reno-ipv4")
    held_back_by("sndbuf_limited_ms")(document)
    specification = RunSpecification(document["specification"])
    document["sockets"][-1]["sockets"][1]["send_buffer_bytes"] = size or specification.send_buffer_bytes
    assert ("buffers" not in failed(document)) is ok


@pytest.mark.parametrize(
    ("seen", "repeated", "ok"),
    [("off", 1, True), ("off", 0, False), ("accurate", 1, False)],
    ids=["after a loss", "nothing was lost", "more than asked for"],
)
def test_a_connection_whose_syn_was_lost_does_without_ecn(recorded, seen, repeated, ok):
    document = recorded("lossy-reno-ipv4")
    document["specification"]["scenario"]["transport"]["ecn"] = "classic"
    for look in document["sockets"]:
        for number, socket in enumerate(look["sockets"]):
            socket["ecn"] = seen if number == 2 else "classic"
    document["stack"]["tcp"]["h1"]["TcpExtTCPSynRetrans"] = repeated
    check = check_ecn(RunSpecification(document["specification"]), document)
    assert check.ok is ok


def test_what_senders_did_is_told_from_what_the_path_did(recorded):
    for corrupt, cause in ((held_back_by("sndbuf_limited_ms"), "sender"), (lost_stream, "instrument")):
        document = recorded("lossy-reno-ipv4")
        corrupt(document)
        document["verdict"] = judge(RunSpecification(document["specification"]), document)
        assert cause in {check.get("cause") for check in document["verdict"]["checks"]}
        assert excluded_by(document) == cause


def test_a_buffer_that_the_study_limits_may_hold_a_flow_back(recorded):
    document = recorded("lossy-reno-ipv4")
    held_back_by("rwnd_limited_ms")(document)
    document["specification"]["scenario"]["transport"]["send_buffer_bytes"] = 100_000
    assert "buffers" in failed(document)
    document["specification"]["scenario"]["transport"]["receive_buffer_bytes"] = 100_000
    assert "buffers" not in failed(document)


def test_a_cca_of_ones_own_may_leave_the_pacing_rate_alone(recorded):
    """Sockets whose CCA sets no rate show none, but for the kernel's CCAs a missing rate means a broken reading."""
    document = recorded("lossy-reno-ipv4")
    del document["sockets"][1]["sockets"][0]["pacing_mbps"]
    assert not check_pacing(RunSpecification(document["specification"]), document).ok
    definition = {"source": "tcp_mine.c", "sha256": "0" * 64, "cca": "reno", "parameters": {}}
    document["specification"]["cca_definitions"] = {"reno": definition}
    assert check_pacing(RunSpecification(document["specification"]), document).ok


def test_relative_entropy():
    # D(q||p) = q ln(q/p) + (1-q) ln((1-q)/(1-p)); Cover and Thomas, 2nd ed., example 2.3.1:
    # D(p||q) for r = 1/2, s = 1/4 is 1 - log2(3)/2 = 0.2075 bit.
    assert relative_entropy(0.5, 0.25) / 0.6931471805599453 == pytest.approx(0.2075, abs=5e-5)
    assert relative_entropy(0.3, 0.3) == 0
    assert relative_entropy(0.1, 0.0) == float("inf")
    assert relative_entropy(0.0, 0.0) == 0


def test_loss_check_accepts_what_a_binomial_gives():
    """None of 200 sound runs fails; most of 200 with twice the loss do."""

    draw = random.Random(7)

    def fails(share):
        dropped = sum(draw.random() < share for _ in range(5000))
        return 5000 * relative_entropy(dropped / 5000, 0.01) > math.log(2 / LOSS_FALSE_ALARM)

    assert sum(fails(0.01) for _ in range(200)) == 0
    assert sum(fails(0.02) for _ in range(200)) > 150


def test_a_slow_flow_may_not_fill_a_block(recorded):
    """iperf3 reports that nothing was received; the kernel knows of the partial block."""
    document = recorded("lossy-reno-ipv4")
    document["traffic"][0]["client"]["end"]["streams"][0]["receiver"]["bytes"] = 0
    assert "streams" not in failed(document)


def test_a_flow_that_others_starve_is_a_result(recorded):
    """The flow sent data, and none arrived: this is no fault of the run, as in a simulated one."""
    document = recorded("lossy-reno-ipv4")
    nothing_delivered(document)
    assert "streams" not in failed(document)


@pytest.mark.parametrize(("loss", "count"), [(0, 0), (0.01, 4), (0.2, 12), (0.4, 22)])
def test_how_many_packets_may_be_lost_in_a_row(loss, count):
    assert lost_in_a_row(loss) == count
    assert loss**count >= 1e-9 > (loss ** (count + 1) if loss else 0)
