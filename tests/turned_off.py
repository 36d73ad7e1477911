"""Every key of a scenario, and what happens in the guest when its effect is turned off behind the testbed's back.

An `Off` is a scenario with the key, Python code that turns off the effect in the guest once the network has been read back, and the check
that must notice this. Some also make the kernel lie: a second reading of the network gives the same answer as the first. Keys without an
effect on the network are `EXEMPT`, each with the reason.
"""

import json
from dataclasses import dataclass

from experiment.disciplines import DISCIPLINES
from experiment.host_options import HOST_OPTIONS, SENDER
from experiment.qdisc import DROP_TAIL
from study_files.study_schema import dereferenced, keys_of, scenario_schema, study_schema

#: Code added to the end of `testbed.guest`; it turns off an effect after the first reading of the network.
PRELUDE = """

import testbed.checks.verification as _verification
from testbed.network.commands import batch as _batch
from testbed.network.sysctl import write as _write

_told, _honest_read_back = [], read_back


def _tc(path, node, *lines):
    _batch(path.net[node], "tc", list(lines))


def read_back(path, specification):
    if not _told:
        _told.append(_honest_read_back(path, specification))
        _turn_off(path, specification)
        return _told[0]
    return _told[0] if {lies} else _honest_read_back(path, specification)


def _turn_off(path, specification):
{code}
"""


@dataclass(frozen=True)
class Off:
    """A scenario, code that turns off one of its effects (Python with ``path`` and ``specification``), and the name of the check that
    fails."""

    scenario: dict
    code: str
    check: str
    lies: bool = True
    cca: str = "reno"
    #: Code at module level, for an effect that is turned off by replacing a function of the testbed.
    before: str = ""

    def guest(self) -> str:
        """Return the code that is added to the guest's program."""
        code = "\n".join(f"    {line}" for line in (self.code or "pass").splitlines())
        return self.before + PRELUDE.replace("{lies}", str(self.lies)).replace("{code}", code)


def scenario(**sections) -> dict:
    """Return a scenario of two seconds at 10 Mbit/s and an RTT of 20 ms with some sections changed."""
    base = {"link": {"rate_mbps": 10, "delay_ms": 10}, "queue": {"packets": 40}, "traffic": {"duration_s": 2}}
    merged = {key: base[key] | sections.get(key, {}) for key in ("link", "traffic")}
    return {"id": "s"} | base | sections | merged


def tc(node, *lines) -> str:
    """Return code that makes tc execute lines in a node."""
    return f"_tc(path, {node!r}, {', '.join(map(repr, lines))})"


def netem(words, device="r2-eth0", node="r2") -> str:
    """Return code that gives a device a new netem with the seed and limit of the old one; a change would keep unnamed values."""
    return (
        f"_old = path.devices[{device!r}].emulation\n"
        f"_tc(path, {node!r}, 'qdisc delete dev {device} root', "
        f"f'qdisc add dev {device} root handle 20: netem limit {{_old.limit_packets}} {words} seed {{_old.seed}}')"
    )


def without(*words) -> str:
    """Return code that calls iperf3's client without an option and its value."""
    return (
        "\n\nimport testbed.traffic.iperf3 as _iperf3\n_client_command = _iperf3.client_command\n\n\ndef _without(*arguments):\n"
        f"    words, off = _client_command(*arguments), {words!r}\n"
        "    return [w for n, w in enumerate(words) if w not in off and (n == 0 or words[n - 1] not in off)]\n\n\n"
        "_iperf3.client_command = _without\n"
    )


def instead(option, value) -> str:
    """Return code that calls iperf3's client with a different value of an option."""
    return (
        "\n\nimport testbed.traffic.iperf3 as _iperf3\n_client_command = _iperf3.client_command\n\n\ndef _instead(*arguments):\n"
        f"    words = _client_command(*arguments)\n    words[words.index({option!r}) + 1] = {value!r}\n    return words\n\n\n"
        "_iperf3.client_command = _instead\n"
    )


def _limit(limit, value) -> str:
    """Return code that sets a different limit of super-packets on the sender's interface."""
    return f"from testbed.network.devices import set_limit\nset_limit(path.net['h1'], 'h1-eth0', {limit!r}, {value})"


def never(quantity) -> str:
    """Return code that suppresses every change of a quantity but reports that it took place."""
    return (
        "\n\nfrom testbed.network.netlink import Channel as _Channel\n"
        "_honest_set = PathChanges._set_rate, PathChanges._set_netem\n\n\n"
        "def _only_say(self, device, change):\n"
        "    channel, index = self._channels[device.node.name], self._index[device.name]\n"
        "    if change.quantity == 'rate_mbps':\n"
        "        return {'value': change.value} | self._counted_by_shaper(channel, index, 'counts')\n"
        "    return {'value': change.value} | self._counted(channel, index, 0x200000, 'counts')\n\n\n"
        f"if {quantity!r} == 'rate_mbps':\n    PathChanges._set_rate = _only_say\nelse:\n"
        f"    PathChanges._set_netem = lambda self, device, change: _only_say(self, device, change) if change.quantity == {quantity!r} "
        "else _honest_set[1](self, device, change)\n"
    )


RATE = "class change dev {} parent 1: classid 1:1 htb rate {} ceil {} burst 1514 cburst 1514 quantum 1514"
FASTER, SLOWER = (tc("r1", RATE.format("r1-eth1", rate, rate)) for rate in ("12mbit", "9mbit"))
SLOW_BUCKET = tc("r1", f"{RATE.format('r1-eth1', '10mbit', '10mbit')}")
CABLE, CHAIN = {"topology": "cable"}, {"topology": "chain", "chain": {"bottlenecks": 2}}
MPTCP = CABLE | {"multipath": {"by": "mptcp", "paths": 2, "path_delay_ms": [0, 5]}}
UNLIKE = CABLE | {
    "multipath": {
        "by": "mptcp", "paths": 2, "path_rate_mbps": [10, 5], "path_loss_percent": [3, 0], "path_queue_packets": [40, 20],
    }
}  # fmt: skip
GRE = CABLE | {"multipath": {"by": "gre", "paths": 2}}
OUTAGE = CABLE | {"multipath": {"by": "mptcp", "paths": 2, "outage": {"path": 2, "at_s": 0.6, "for_s": 0.5}}}
POLICER = {"link": {"policer": {"rate_mbps": 4, "burst_bytes": 30000}}}
POLICED_BACK = {"link": {"reverse_policer": {"rate_mbps": 4, "burst_bytes": 30000}}}
LATE = {"link": {"reordering": {"percent": 10, "late_ms": 5}}}
WEB = {
    "flows": [
        {"name": "w", "application": "web", "count": 5, "bytes": 20000, "start_s": 0.5},
        {"name": "long", "stop_s": 2},
    ]
}
CALL = {"flows": [{"name": "call", "application": "real-time", "stop_s": 2}, {"name": "long", "stop_s": 2}]}
GROUPS = {"flows": [{"name": "long", "stop_s": 2, "rate_mbps": 2, "pair": 1}]}
TRACE = {"link": {"trace": {"rates_mbps": [4, 8, 4, 6], "step_ms": 250}}}


def changing(**entry) -> dict:
    """Return a scenario whose path changes at 0.7 s."""
    return {"link": {"timeline": [{"at_s": 0.7} | entry]}}


#: Numbers of a table of delays, in two clusters.
TABLE = [-8000, -7900, -7800, 7800, 7900, 8000]
POLICE = "actions change action police rate {} burst {} overhead 14 conform-exceed drop index 1"
PLANNED = "\n\nimport testbed.traffic.group_programs as _programs\n"
SLOWER_CALL = PLANNED + (
    "_start = _programs.GroupPrograms._start\n\n\ndef _every_other(self, who, host, arguments, plan=None):\n"
    "    plan = plan | {'time_ns': [times[::2] for times in plan['time_ns']]} if plan and 'packet_bytes' in plan else plan\n"
    "    return _start(self, who, host, arguments, plan)\n\n\n_programs.GroupPrograms._start = _every_other\n"
)
#: Key -> the way to turn off its effect, or a list of several ways.
OFF = {
    "link.rate_mbps": [Off(scenario(), FASTER, "rate"), Off(scenario(), SLOWER, "rate"), Off(scenario(link={"loss_percent": 2}), FASTER, "rate"),
                       Off(scenario(link={"netem": "both-ends"}), FASTER, "rate"),
                       Off(scenario(), tc("r2", RATE.format("r2-eth1", "20mbit", "20mbit")), "rate")],
    "link.delay_ms": [Off(scenario(), netem("delay 9.9ms"), "delay"), Off(scenario(), netem("delay 10.1ms"), "delay")],
    "link.jitter_ms": [Off(scenario(link={"jitter_ms": 4}), netem("delay 10ms"), "delay"),
                       Off(scenario(link={"jitter_ms": 4}), netem("delay 10ms 2ms"), "delay"),
                       Off(scenario(link={"jitter_ms": 4}), netem("delay 10ms 8ms"), "delay")],
    "link.loss_percent": [Off(scenario(link={"loss_percent": 3}), netem("delay 10ms"), "loss_forward"),
                          Off(scenario(link={"loss_percent": 3}), netem("delay 10ms", "r1-eth0", "r1"), "loss_reverse"),
                          Off(scenario(link={"loss_percent": 3}), netem("delay 10ms loss 12%"), "loss_forward")],
    "link.reverse_rate_mbps": [Off(scenario(link={"reverse_rate_mbps": 2}), tc("r2", RATE.format("r2-eth1", "10mbit", "10mbit")), "rate")],
    "link.jitter_distribution": [Off(scenario(link={"delay_ms": 40, "jitter_ms": 8, "jitter_distribution": "pareto"}), netem("delay 40ms 8ms"), "delay"),
                                 Off(scenario(link={"delay_ms": 40, "jitter_ms": 8, "jitter_distribution": "normal"}), netem("delay 40ms 3ms distribution normal"), "delay")],
    "link.reverse_trace.rates_mbps": [Off(scenario(link={"reverse_trace": {"direction": "reverse", "rates_mbps": [4, 8, 4, 6], "step_ms": 250}}), "", "rate", before=never("rate_mbps"))],
    "link.jitter_order": [Off(scenario(link={"jitter_ms": 4, "jitter_order": "kept"}), netem("delay 10ms 4ms"), "delay")],
    "link.ack_slot_ms": [Off(scenario(link={"ack_slot_ms": 4}), netem("delay 10ms", "r1-eth0", "r1"), "delay"),
                         Off(scenario(link={"ack_slot_ms": 4}), netem("delay 10ms slot 1ms 1ms", "r1-eth0", "r1"), "delay")],
    "link.loss_burst_packets": [Off(scenario(link={"loss_percent": 3, "loss_burst_packets": 6}), netem("delay 10ms loss 3%"), "loss_bursts")],
    "link.loss_gemodel": [Off(scenario(link={"loss_gemodel": {"p_percent": 2, "r_percent": 30, "bad_loss_percent": 60}}), netem("delay 10ms loss gemodel 2% 30%"), "loss_bursts")],
    "link.loss_state": [Off(scenario(link={"loss_state": {"p13_percent": 2, "p31_percent": 30}}), netem("delay 10ms loss 6.25%"), "loss_bursts"),
                        Off(scenario(link={"loss_state": {"p13_percent": 1, "p31_percent": 30}}), netem("delay 10ms", "r1-eth0", "r1"), "loss_bursts")],
    "link.jitter_table.numbers": [Off(scenario(link={"delay_ms": 40, "jitter_ms": 8, "jitter_table": {"numbers": TABLE}}), netem(words), "delay")
                                  for words in ("delay 40ms 8ms", "delay 40ms 8ms distribution normal", "delay 40ms")],
    "link.data_slot_ms": [Off(scenario(link={"data_slot_ms": 4}), netem("delay 10ms"), "delay"),
                          Off(scenario(link={"data_slot_ms": 4}), netem("delay 10ms slot 1ms 1ms"), "delay")],
    "link.shaper": [
        Off(scenario(link={"shaper": "tbf"}), tc("r1", "qdisc replace dev r1-eth1 root handle 1: tbf rate 12mbit burst 1514 limit 200000", "qdisc replace dev r1-eth1 parent 1:1 handle 10: pfifo limit 40"), "rate"),
        Off(scenario(link={"shaper": "netem"}), tc("r1", "qdisc replace dev r1-eth1 root handle 20: netem limit 40 rate 12mbit"), "rate"),
        Off(scenario(link={"shaper": "netem"}), tc("r1", "qdisc replace dev r1-eth1 root handle 20: netem limit 60 rate 10mbit"), "queue_limit"),
        Off(scenario(link={"shaper": "netem", "netem": "sending-host"}), tc("h1", "qdisc replace dev h1-eth0 root handle 20: netem delay 12ms limit 40 rate 10mbit"), "delay"),
    ],
    "link.shaper_burst_bytes": [Off(scenario(link={"shaper_burst_bytes": 60_000}, queue={"packets": 9}), SLOW_BUCKET, "burst")],
    "link.netem": [Off(scenario(link={"netem": "both-ends"}), tc("r1", "qdisc delete dev r1-eth1 parent 1:1 handle 20:", "qdisc add dev r1-eth1 parent 1:1 handle 10: pfifo limit 40"), "qdiscs")],
    "link.frame_overhead_bytes": [Off(scenario(link={"frame_overhead_bytes": 24}), tc("r1", RATE.format("r1-eth1", "10mbit", "10mbit")), "rate")],
    "link.serialisation": [Off(scenario(**CABLE, link={"serialisation": "virtual-clock"}), netem("delay 10ms", "h2-in0", "h2"), "delay")],
    "link.timeline": [Off(scenario(**changing(rate_mbps=5)), "", "rate", before=never("rate_mbps")),
                      Off(scenario(**changing(delay_ms=20)), "", "delay", before=never("delay_ms")),
                      *(Off(scenario(link={"timeline": [{"at_s": 0.7, key: value}, {"at_s": 1.6, key: 10}]}), "", "timeline", cca="cubic", before=never(key))
                        for key, value in (("rate_mbps", 5), ("rate_mbps", 20), ("delay_ms", 40), ("delay_ms", 2))),
                      Off(scenario(**changing(loss_percent=10)), "", "loss_forward", before=never("loss_percent")),
                      Off(scenario(**changing(down_for_s=0.5)), "", "loss_forward", before=never("loss_percent"))],
    "link.policer.rate_mbps": [Off(scenario(**POLICER), tc("r1", POLICE.format("9mbit", 30000)), "policed"),
                               Off(scenario(**POLICER), tc("r1", POLICE.format("2mbit", 30000)), "policed")],
    "link.policer.burst_bytes": [Off(scenario(**POLICER), tc("r1", POLICE.format("4mbit", 90000)), "policed"),
                                 Off(scenario(**POLICER), tc("r1", POLICE.format("4mbit", 15000)), "policed")],
    "link.reverse_policer.rate_mbps": [Off(scenario(**POLICED_BACK), tc("r2", POLICE.format("9mbit", 30000)), "policed"),
                                       Off(scenario(**POLICED_BACK), tc("r2", POLICE.format("2mbit", 30000)), "policed")],
    "link.reverse_policer.burst_bytes": [Off(scenario(**POLICED_BACK), tc("r2", POLICE.format("4mbit", n)), "policed") for n in (90000, 15000)],
    "link.mtu_bytes": [Off(scenario(link={"mtu_bytes": 9000}), "path.net['h2'].popen(['ip', 'link', 'set', 'h2-eth0', 'mtu', '1500']).wait()", "segment_size"),
                       Off(scenario(link={"mtu_bytes": 1400}), "path.net['r1'].popen(['ip', 'link', 'set', 'r1-eth1', 'mtu', '1500']).wait()", "unchanged", lies=False)],
    "link.reordering.percent": [Off(scenario(**LATE), netem("delay 5ms reorder 99.9%", "r2-in1"), "reordering")],
    "link.reordering.late_ms": [Off(scenario(**LATE), netem("delay 0.5ms reorder 90%", "r2-in1"), "delay")],
    "link.reordering.direction": [Off(scenario(**LATE), netem("delay 0ms", "r2-in1"), "reordering")],
    "link.reordering.gap_packets": [Off(scenario(link={"reordering": {"percent": 50, "late_ms": 5, "gap_packets": 5}}), netem("delay 5ms reorder 50%", "r2-in1"), "reordering")],
    "link.correlation.loss_percent": [Off(scenario(link={"loss_percent": 3, "correlation": {"loss_percent": 10}}), netem("delay 10ms loss 3%"), "loss_forward"),
                                      Off(scenario(link={"loss_percent": 5, "correlation": {"loss_percent": 20}}), netem("delay 10ms loss 5%", "r1-eth0", "r1"), "loss_reverse")],
    "link.correlation.corrupt_percent": [Off(scenario(link={"corrupt_percent": 10, "correlation": {"corrupt_percent": 30}}, traffic={"duration_s": 4, "control_connection": "own-network"}), netem("delay 0ms corrupt 10%", "r2-in1"), "corruption")],
    "link.correlation.reorder_percent": [Off(scenario(link={"reordering": {"percent": 20, "late_ms": 5}, "correlation": {"reorder_percent": 40, "direction": "forward"}}), netem("delay 5ms reorder 80%", "r2-in1"), "reordering")],
    "link.duplicate_percent": [Off(scenario(link={"duplicate_percent": 5}), netem("delay 0ms", "r2-in1"), "duplicates")],
    "link.corrupt_percent": [Off(scenario(link={"corrupt_percent": 5}, traffic={"duration_s": 4, "control_connection": "own-network"}), netem("delay 0ms", "r2-in1"), "corruption")],
    "link.trace.rates_mbps": [Off(scenario(**TRACE), "", "timeline", before=never("rate_mbps"))],
    "queue.packets": [Off(scenario(), tc("r1", f"qdisc change dev r1-eth1 parent 1:1 handle 10: pfifo limit {n}"), "queue_limit") for n in (41, 39)],
    "reverse_queue.packets": [Off(scenario(reverse_queue={"packets": 20}), tc("r2", f"qdisc change dev r2-eth1 parent 1:1 handle 10: pfifo limit {n}"), "queue_limit") for n in (21, 40)],
    "reverse_queue.bytes": [Off(scenario(reverse_queue={"bytes": 60000}), tc("r2", "qdisc change dev r2-eth1 parent 1:1 handle 10: bfifo limit 58000"), "queue_limit")],
    "reverse_queue.bdp": [Off(scenario(reverse_queue={"bdp": 2}), tc("r2", "qdisc change dev r2-eth1 parent 1:1 handle 10: pfifo limit 17"), "queue_limit")],
    "reverse_queue.discipline": [Off(scenario(reverse_queue={"discipline": "codel"}), tc("r2", "qdisc delete dev r2-eth1 parent 1:1 handle 10:", "qdisc add dev r2-eth1 parent 1:1 handle 10: pfifo limit 1000"), "qdiscs")],
    "queue.bytes": [Off(scenario(queue={"bytes": 60000}), tc("r1", f"qdisc change dev r1-eth1 parent 1:1 handle 10: bfifo limit {n}"), "queue_limit") for n in (62000, 58000)],
    "queue.bdp": [Off(scenario(queue={"bdp": 1}), tc("r1", "qdisc change dev r1-eth1 parent 1:1 handle 10: pfifo limit 100"), "queue_limit")],
    "queue.discipline": [Off(scenario(queue={"discipline": "codel"}), tc("r1", "qdisc delete dev r1-eth1 parent 1:1 handle 10:", "qdisc add dev r1-eth1 parent 1:1 handle 10: pfifo limit 1000"), "qdiscs")],
    "topology": [Off(scenario(**CHAIN), tc("r2", RATE.format("r2-right", "20mbit", "20mbit")), "rate")],
    "chain.bottlenecks": [Off(scenario(**CHAIN), netem("delay 1ms", "r3-in-left", "r3"), "delay")],
    "multipath.by": [Off(scenario(**MPTCP), "for host in ('h1', 'h2'):\n    path.net[host].popen(['ip', 'mptcp', 'endpoint', 'flush']).wait()", "subflows")],
    "multipath.path_delay_ms": [Off(scenario(**MPTCP), netem("delay 10ms", "h2-in1", "h2"), "delay")],
    "multipath.path_rate_mbps": [Off(scenario(**UNLIKE), tc("h1", RATE.format("h1-eth1", "20mbit", "20mbit")), "rate")],
    "multipath.path_loss_percent": [Off(scenario(**UNLIKE), netem("delay 10ms", "h2-in0", "h2"), "loss_forward")],
    "multipath.path_queue_packets": [Off(scenario(**UNLIKE), tc("h1", "qdisc change dev h1-eth1 parent 1:1 handle 10: pfifo limit 40"), "queue_limit")],
    "multipath.outage": [Off(scenario(**OUTAGE), "", "outage", before="\n\nimport testbed.network.outage as _outage\n_outage.set_and_read = lambda *_: True\n")],
    "multipath.tunnel_ip_version": [Off(scenario(**GRE), tc("h1", "qdisc delete dev h1-eth1 root", "qdisc add dev h1-eth1 root handle 2: pfifo limit 40"), "qdiscs")],
    "hosts.access_delay_ms": [Off(scenario(flows=2, hosts={"pairs": 2, "access_delay_ms": [0, 5]}), netem("delay 10ms", "r2-eth2"), "delay")],
    "hosts.qdisc": [Off(scenario(hosts={"qdisc": qdisc}), tc("h1", "qdisc delete dev h1-eth0 root"), "qdiscs", lies=False) for qdisc in ("fq", "fq_codel")],
    "traffic.messages": [Off(scenario(traffic={"messages": 3000, "block_bytes": 1000}, transport={"receive_buffer_autotuning": False}), "", "messages", before=instead("--blockcount", "100"))],
    "traffic.bitrate_mbps": [Off(scenario(traffic={"bitrate_mbps": 2, "block_bytes": 2000}), "", "sending_rate", before=without("--bitrate")),
                             Off(scenario(traffic={"bitrate_mbps": 2, "protocol": "udp", "block_bytes": 1000}), "", "sending_rate", before=without("--bitrate"))],
    "transport.segment_bytes": [Off(scenario(transport={"segment_bytes": 1000}), "", "segment_size", before=without("--set-mss"))],
    "transport.receive_buffer_bytes": [Off(scenario(link={"delay_ms": 50}, transport={"receive_buffer_bytes": 20000}),
                                           "_write(path.net['h2'], {'net.ipv4.tcp_rmem': '4096 131072 6291456'})", "receive_buffer")],
    "transport.send_buffer_bytes": [Off(scenario(link={"delay_ms": 50}, transport={"send_buffer_bytes": 20000}),
                                        "_write(path.net['h1'], {'net.ipv4.tcp_wmem': '4096 16384 4194304'})", "send_buffer")],
    "transport.receive_buffer_autotuning": [Off(scenario(transport={"receive_buffer_autotuning": False}),
                                                "_write(path.net['h2'], {'net.ipv4.tcp_moderate_rcvbuf': 1})", "unchanged", lies=False)],
    "transport.delayed_acks": [Off(scenario(transport={"delayed_acks": False}),
                                   "import subprocess\npath.net['h2'].popen(['ip', 'route', 'replace', 'default', 'via', '10.2.1.1']).wait()", "acknowledgements")],
    "transport.min_rto_ms": [Off(scenario(transport={"min_rto_ms": asked}),
                                 "path.net['h1'].popen(['ip', 'route', 'replace', 'default', 'via', '10.1.1.1']).wait()", "least_timeout") for asked in (20, 900)],
    "transport.ecn": [Off(scenario(queue={"discipline": "fq_codel"}, transport={"ecn": "classic"}), "_write(path.net['h2'], {'net.ipv4.tcp_ecn': 0})", "ecn")],
    "transport.segmentation_offload": [Off(scenario(), "from testbed.network.devices import set_offloads\nset_offloads(path.net['h1'], 'h1-eth0', True)", "unchanged", lies=False)],
    "transport.cca_set_by": [Off(scenario(), "", "cca", cca="vegas", before=without("--congestion"))],
    "transport.restricted_ccas": [Off(scenario(transport={"cca_set_by": "sysctl"}), "_write(path.net['h1'], {'net.ipv4.tcp_congestion_control': 'cubic'})", "cca", cca="vegas")],
    "transport.gso_max_segments": [Off(scenario(transport={"segmentation_offload": True, "gso_max_segments": 1}), _limit("gso_max_segs", 60_000), "super_packets")],
    "transport.gso_max_bytes": [Off(scenario(transport={"segmentation_offload": True, "gso_max_bytes": 2000}), _limit("gso_max_size", 65_536), "super_packets")],
    "transport.max_pacing_rate_mbps": [Off(scenario(transport={"max_pacing_rate_mbps": 3}), "", "pacing_limit", before=without("--fq-rate")),
                                       Off(scenario(transport={"max_pacing_rate_mbps": 3}), "", "pacing_limit", before=instead("--fq-rate", "9M"))],
    "flow_group.rate_mbps": [Off(scenario(**GROUPS, traffic={"block_bytes": 2000}), "", "sending_rate", before=without("--bitrate"))],
    "flow_group.bytes": [Off(scenario(**WEB), "", "web_objects", before=PLANNED + "_programs.drawn_objects = lambda s, g, _d=_programs.drawn_objects: (_d(s, g)[0], [9000] * 5)\n")],
    "flow_group.start_s": [Off(scenario(**WEB), "", "web_objects", before=PLANNED + "_programs.drawn_objects = lambda s, g, _d=_programs.drawn_objects: ([t + 10**8 for t in _d(s, g)[0]], _d(s, g)[1])\n")],
    "flow_group.interval_ms": [Off(scenario(**CALL), "", "real_time", before=SLOWER_CALL)],
}  # fmt: skip
STRUCTURE = (
    "how many there are of what; the checks `streams`, `cca`, `overlap` and the sections of the document count them"
)
PLANNED_TOO = "is in the plan that the programs of the group get and that their check compares with: `web_objects`, `real_time`, `duration`"
AS_FORWARD = "the same declaration as `queue`'s, set and read back by the same code on the other interface"
FROM_FILE = "becomes `rates_mbps` when the study is read"
#: Key -> the reason why there is nothing on the path that could be turned off.
EXEMPT = {
    "flow_group.program": "programs of a study, which the checks `programs`, `program_cca`, `program_data` and `program_packets` judge (`test_programs.py`)",
    **dict.fromkeys(("id", "label"), "a name"),
    **dict.fromkeys(("replications", "seeds_of"), "which runs there are, and of which seeds: no run knows of it"),
    "background": "two programs beside the traffic, whose requests and answers the check `background` counts",
    **dict.fromkeys((f"link.{trace}.{key}" for trace in ("trace", "reverse_trace") for key in ("file", "format", "step_ms", "sha256", "period_ms", "direction")), FROM_FILE),
    **dict.fromkeys((f"link.jitter_table.{key}" for key in ("file", "sha256")), "becomes `numbers` when the study is read"),
    **dict.fromkeys(("chain.cross_flows", "chain.cross_cca", "multipath.paths", "hosts.pairs", "flows", "groups", "traffic.processes"), STRUCTURE),
    "multipath.distribution": "the check `path_shares` counts what each path carried",
    **dict.fromkeys(("multipath.outage.path", "multipath.outage.at_s", "multipath.outage.for_s"), "a part of `multipath.outage`"),
    **dict.fromkeys(("traffic.application", "traffic.protocol", "traffic.no_delay", "traffic.file_bytes", "traffic.block_bytes"),
                    "which program is started and with which options, that each answers for in its own output"),
    **dict.fromkeys(("traffic.duration_s", "traffic.interval_s", "traffic.start_within_ms"), "times of the programs: checks `duration`, `intervals`, `overlap`"),
    "traffic.sample_interval_ms": "readings, not traffic: the check `series` counts them",
    "traffic.control_connection": "the way of iperf3's own messages, which carries no data",
    "transport.recovery": "Linux has one way",
    "transport.receive_wait": "where the receiver waits; the results are the same",
    "link.correlation.delay_percent": "Linux takes the remainder of a correlated number, which is as even as any: it has no effect",
    "link.correlation.direction": "where the others are",
    **dict.fromkeys((f"reverse_queue.{p.name}" for one in DISCIPLINES.values() for p in one.parameters), AS_FORWARD),
    "platform": "what carries the run out", "kernel": "the check `kernel` compares the build's number",
    **dict.fromkeys((f"variation.{key}" for key in ("rtt_percent", "rate_percent", "queue_packets", "background_percent", "start_ms", "down_percent")),
                    "draws other values of other keys before there is a run"),
    **dict.fromkeys((f"flow_group.{key}" for key in ("name", "application", "cca", "count", "pair", "direction", "ecn", "stop_s", "on_s", "off_s", "arrivals_per_s", "sizes", "packet_bytes")), PLANNED_TOO),
    **dict.fromkeys((f"change.{key}" for key in ("at_s", "direction", "rate_mbps", "delay_ms", "loss_percent", "down_for_s", "over_s", "step_ms")), "a part of `link.timeline`"),
}  # fmt: skip


def of_disciplines() -> dict[str, list[Off]]:
    """Return key -> code that gives a discipline's parameter a different value, for each discipline that has it; a second reading notices
    it."""
    offs = {}
    for discipline in DISCIPLINES.values():
        for parameter in discipline.parameters if discipline.name != DROP_TAIL else ():
            code = (
                "from experiment.disciplines import discipline_of\n"
                "_b = path.interfaces['r1-eth1'].emulation\n"
                f"_queue = _b.queue | {json.dumps(other(discipline, parameter))}\n".replace("true", "True")
                .replace("false", "False")
                .replace("null", "None")
                + "_words = discipline_of(_queue).command(*_b.kind_and_limit, _queue, _b.packet_bytes)\n"
                "_tc(path, 'r1', 'qdisc delete dev r1-eth1 parent 1:1 handle 10:', f'qdisc add dev r1-eth1 parent 1:1 handle 10: {_words}')"
            )
            offs.setdefault(f"queue.{parameter.name}", []).append(
                Off(
                    scenario(queue={"discipline": discipline.name}, transport={"receive_buffer_autotuning": False}),
                    code,
                    "unchanged",
                    lies=False,
                )
            )
    return offs


def of_hosts() -> dict[str, list[Off]]:
    """Return key -> code that gives a host's setting a different value; a second reading notices it."""
    return {
        f"transport.{option.name}": [
            Off(
                scenario(transport={option.name: (asked := asked_of(option))}),
                _otherwise(option, asked),
                "unchanged",
                lies=False,
            )
        ]
        for option in HOST_OPTIONS
        if option.sysctl or option.metric
    }


def asked_of(option) -> object:
    """Return a value of a host's option that isn't the kernel's default."""
    if "enum" in option.value:
        return next(one for one in option.value["enum"] if one != option.default)
    if isinstance(option.default, bool):
        return not option.default
    return max(option.value["minimum"], 4000 if "bytes" in option.name else 7)


def _otherwise(option, asked):
    """Return code that gives an option a different value on the hosts to which it applies."""
    host, router = ("h1", "10.1.1.1") if SENDER in option.sides else ("h2", "10.2.1.1")
    if option.metric:
        return f"path.net[{host!r}].popen(['ip', 'route', 'replace', 'default', 'via', {router!r}, {option.metric!r}, '3']).wait()"
    return f"_write(path.net[{host!r}], {{{option.sysctl!r}: {int(option.written(asked)) + 1}}})"


def other(discipline, parameter) -> dict:
    """Return a different value of a discipline's parameter, with the settings that it needs."""
    if parameter.is_switch:
        return {parameter.name: not parameter.default}
    if parameter.choices:
        return {parameter.name: next(one for one in parameter.choices if one != parameter.default)}
    if parameter.name == "step_packets":
        return {"min_packets": 20, "max_packets": 20, "probability": 1, "burst_packets": 20}
    given = {"min_packets": 8, "max_packets": 30, "burst_packets": 40, "depth_packets": 60}
    value = given.get(parameter.name, (parameter.default or 10) * 2)
    return {parameter.name: min(value, parameter.most) if value != parameter.default else parameter.default / 2}


def all_off() -> dict[str, list[Off]]:
    """Return key -> all its `Off` objects."""
    return OFF | of_disciplines() | of_hosts()


def keys_of_the_schema() -> list[str]:
    """Return all keys of a scenario in the schema, joined by dots; those of groups and changes have their definition's name."""
    found = []

    def walk(node, place):
        children = keys_of(node)
        if not children:
            found.append(place)
        for key, child in children.items():
            walk(child, f"{place}.{key}" if place else key)

    walk(scenario_schema(), "")
    definitions = study_schema()["$defs"]
    for name in ("flow_group", "change"):
        walk(dereferenced(definitions[name]), name)
    return found
