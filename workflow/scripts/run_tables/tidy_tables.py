"""The tidy tables, column by column: a run, a flow, a path, a check, a scenario, and what is read over time.

A plain column of a run takes two places: its declaration here, and the function that computes it (`tidy_rows.py` and
the modules that it calls).
"""

from run_tables.table import Table, count, number, ordinal, text, truth

_NO_VALUE = "the run's application or platform has none"
_NO_WINDOW = "the flows had no time in common"
_NO_STEADY = f"FTP has none; {_NO_WINDOW}; MSER finds no steady part"
_NO_BBR3 = "the CCA is not BBRv3"
_NO_BOUND = f"it has none then; {_NO_BBR3}"
_NOT_SAMPLED = "the scenario has no `sample_interval_ms`"
_NO_DISORDER = "none are to be"
_NO_BURSTS = "losses have no bursts"
_NO_COMMON = "each flow has a window of its own, or the application none"
_WINDOW_BEGIN = "When the window begins, from the traffic's origin: the first reading at which all flows had data."
_WINDOW_END = "When it ends: the last reading before a flow ends."

#: What tells cells apart, and runs: the first columns of most tables.
CELL_COLUMNS = (
    text("scenario", "Identifier of the scenario."),
    text("cca", "CCA, or the mix of CCAs joined by `+`, that was asked for."),
    text("ip_version", "`ipv4` or `ipv6`."),
)
REPLICATION = ordinal("replication", "Number of the replication, from 1.")
RUN_KEYS = (*CELL_COLUMNS, REPLICATION)
SCENARIO_LABEL = text("scenario_label", "The scenario's short name.")
VALID = truth("valid", "Whether the run passed all of its checks.")
CELL = [column.name for column in CELL_COLUMNS]
RUN = [column.name for column in RUN_KEYS]

#: What is sent over which topology: of a run, and of its scenario.
APPLICATION_COLUMNS = (
    text("topology", "`dumbbell`, `cable` or `chain`."),
    count(
        "bottlenecks",
        "",
        "Number of bottlenecks in a row: 1, but for a chain. Columns of the bottleneck and of its path speak of a chain's narrowest.",
    ),
    text("background", "What else is on the path: `none` or `server`."),
    text("application", "`iperf3`, `round-trip` (qperf) or `ftp` (vsftpd, wget)."),
    text("protocol", "`tcp` or `udp`."),
    number("message_bytes", "bytes", "What the application writes at a time; of UDP the payload of a packet."),
    text("multipath", "What joins several paths: `none`, `mptcp` or `gre`."),
    count("paths", "", "Number of cables between the hosts."),
    text("tunnel_ip_version", "IP version outside of the tunnels.", "there are no tunnels"),
)
#: What manages the bottleneck's queue, and whether flows may be marked: of a run, and of its scenario.
DISCIPLINE_COLUMNS = (
    text("discipline", "Queueing discipline of the bottleneck: `drop-tail`, `codel` and so on."),
    text("ecn", "What flows ask for of ECN: `off`, `classic` (RFC 3168) or `accurate` (RFC 9768)."),
)
_NO_DISCIPLINE, _NO_ECN = "the queue is drop-tail", "flows have no ECN"
RUNS = Table(
    "runs",
    "a run",
    (
        CELL_COLUMNS[0],
        SCENARIO_LABEL,
        *CELL_COLUMNS[1:],
        REPLICATION,
        count("seed", "", "The run's seed; the same for all CCAs and IP versions of a scenario and replication."),
        VALID,
        text("invalid_because", "Each check that failed, what was observed, and what was expected.", "the run is valid"),
        number("rate_mbps", "Mbit/s", "Rate of the bottleneck, of each on several paths.", "nothing limits the rate"),
        number("delay_ms", "ms", "One-way delay between the routers (of a chain the first and the last), or of the cable, in the data's direction."),
        number("rtt_path_ms", "ms", "RTT of the empty path, the mean over pairs of hosts and paths."),
        number("loss_configured_percent", "%", "Random loss that is set in the data's direction, behind each bottleneck."),
        count("flows", "", "Number of flows."),
        count("queue_packets", "packets", "Limit of the bottleneck's queue, as it was set.", "its limit is in bytes, or there is none"),
        count(
            "queue_bytes", "bytes", "What the full queue holds, as the bottleneck counts: its limit, or so many full packets of the run.",
            "it has no limit, or nobody knows the size of a packet",
        ),
        number(
            "packet_bytes", "bytes", "A full packet as the bottleneck counts it: with headers, tunnel, and what a frame takes besides.",
            "nobody looked at the sockets, or the application has messages only",
        ),
        number(
            "queue_bdp", "BDP", "What the full queue holds in products of rate and RTT of the empty path: as the study says it, or by `queue_bytes`.",
            "rate, RTT or size aren't known",
        ),
        number("duration_s", "s", "How long each flow sends, where no amount is set."),
        number(
            "mss_bytes", "bytes", "Payload of a full segment of the run's connections.", "nobody looked at the sockets",
            "the sender's tcpi_snd_mss, the largest of all looks",
        ),
        number(
            "ideal_goodput_mbps", "Mbit/s",
            "What the receivers would get of a path that is always full: the payload's share of the rate (of one that changes its mean over the window), or what the "
            "senders are limited to, whichever is less.",
            "neither the link nor a sender has a limit; on a chain each bottleneck has its own (`bottlenecks`)",
        ),
        number(
            "goodput_mbps", "Mbit/s",
            "What was delivered of all flows over the window that they have in common, start-up included; of UDP each flow's own window. "
            "Of groups this and all that is measured of a run's flows counts those with the CCA under test, `own`; the others are in "
            "`flows.csv` and `groups.csv`.",
            f"round trips of single messages have none; {_NO_WINDOW}",
            "TCP_INFO: tcpi_bytes_acked, and of what was acknowledged selectively tcpi_sacked; MPTCP: mptcpi_bytes_acked; "
            "UDP: iperf3's server; FTP: size over wget's time; ns-3: its senders",
        ),
        number("goodput_steady_mbps", "Mbit/s", "The same without start-up: from `steady_begin_ns` on.", _NO_STEADY),
        count(
            "steady_begin_ns", "ns",
            "When the steady part begins, from the traffic's origin, by the study's rule (`steady_state`): of a share the first "
            "reading after so much of the window, of MSER that from which on what all flows got has the smallest error.",
            f"{_NO_COMMON}; {_NO_STEADY}",
        ),
        count("delivered_bytes", "bytes", "Delivered of all flows in the window.", f"FTP has none; {_NO_WINDOW}"),
        count("window_begin_ns", "ns", _WINDOW_BEGIN, f"{_NO_COMMON}; {_NO_WINDOW}"),
        count("window_end_ns", "ns", _WINDOW_END, f"{_NO_COMMON}; {_NO_WINDOW}"),
        number(
            "application_goodput_mbps", "Mbit/s",
            "As the application prints it, summed over the flows: what a paper that used it has. iperf3 counts whole blocks, "
            "over each flow's own time, which lasts until its last message has arrived.",
            "round trips of single messages have none",
            "iperf3, receiver side; FTP: size over wget's time; ns-3: its receivers",
        ),
        number(
            "rtt_mean_ms", "ms", "Mean RTT that the senders' TCP measured, the mean over the flows; of round trips their mean time.",
            "UDP has none", "iperf3's mean_rtt; MPTCP and FTP: TCP_INFO over all looks; round trips: qperf; ns-3: single segments",
        ),
        number(
            "rtt_steady_ms", "ms", "The same over the reporting intervals that begin in the steady part.",
            f"no interval begins there, or {_NO_VALUE}; {_NO_STEADY}", "iperf3: tcpi_rtt at each interval's end",
        ),
        number("rtt_min_ms", "ms", "Smallest RTT of all flows.", _NO_VALUE, "tcpi_min_rtt at the last look"),
        number(
            "loss_percent", "%", "Packets dropped by the full queue, by random loss and by a policer, over all that were offered to the bottleneck or the policer.",
            "nothing is emulated", "counters of the queueing disciplines",
        ),
        count("retransmits", "segments", "Segments that TCP sent again, summed over the flows.", _NO_VALUE, "iperf3; MPTCP and FTP: TcpRetransSegs of the sending host"),
        number("jain_index", "", "Jain's fairness index of the flows' goodputs: 1 if all are equal, 1/n if one has all.", _NO_VALUE),
        number("jain_steady_index", "", "The same of their goodputs in the steady part.", f"{_NO_VALUE}; {_NO_STEADY}"),
        number("throughput_per_stream_mbps", "Mbit/s", "Mean goodput of a flow, as TCP-ExBench computes its throughput.", _NO_VALUE),
        number("rtt_first_stream_ms", "ms", "Mean RTT of the first flow, as TCP-ExBench computes its RTT.", _NO_VALUE),
        number("retransmit_percent", "%", "Retransmits over bytes sent / MSS, which TCP-ExBench calls packet loss.", "nothing was sent, or TCP has none"),
        number(
            "retransmit_steady_percent", "%", "The same over the reporting intervals that begin in the steady part.",
            f"no interval begins there, or {_NO_VALUE}; {_NO_STEADY}",
        ),
        number("queue_mean_packets", "packets", "Mean of the queue's samples inside the window.", _NOT_SAMPLED),
        number("queue_steady_packets", "packets", "The same in the steady part.", f"{_NOT_SAMPLED}; {_NO_STEADY}"),
        *(
            number(f"queueing_p{p}_ms", "ms", f"{words} of the time that what waits in the queue takes to leave, over the queue's samples.", _NOT_SAMPLED)
            for p, words in ((50, "Median"), (95, "95th percentile"), (99, "99th percentile"))
        ),
        number(
            "utilisation_percent", "%", "What was delivered in the window of `goodput_mbps`, headers included, of what the bottleneck could have sent; what was sent again is not in it.",
            "nothing says what was delivered, there is no rate, there are several bottlenecks, or web objects, streams or other traffic share it",
        ),
        number(
            "convergence_s", "s",
            "From the last flow's start until all flows had within 10 % of their fair shares for the first time (delta-fair convergence, RFC 5166).",
            "they never had, there is one flow, or the application is another",
        ),
        count(
            "packets_sent", "packets",
            "Offered to the bottleneck, dropped ones included; a super-packet is one. Of a chain, as the drops, at all bottlenecks "
            "together: a packet is offered to each that it passes.",
            "nothing is emulated",
        ),
        count("queue_drops", "packets", "Dropped by the full queue.", "queue and loss share one netem, or nothing is emulated"),
        count("link_drops", "packets", "Dropped by random loss.", "queue and loss share one netem, or nothing is emulated"),
        count("policer_drops", "packets", "Dropped by the policer in front of the bottleneck, to which they were never offered.", "there is none", "counters of what arrives at r1"),
        *DISCIPLINE_COLUMNS,
        count("queue_marks", "packets", "Marked CE by the queue's discipline, as it counts: codel and fq_codel with `ce_threshold_ms`, and dualpi2, count a packet twice that two of their rules mark.", _NO_DISCIPLINE, "the discipline's statistics"),
        count("overflow_drops", "packets", "Of `queue_drops`, those because the queue was full; the others are the discipline's choice.", f"{_NO_DISCIPLINE}, or doesn't tell (cake)", "the discipline's statistics"),
        count("ce_received", "packets", "That arrived at the receivers with a CE mark.", _NO_ECN, "InCEPkts of their IP"),
        count("ce_echoed", "segments", "Delivered while receivers told the senders of CE: with `accurate` the marked ones, with `classic` all until the sender has answered.", _NO_ECN, "TcpExtTCPDeliveredCE"),
        count("outage_drops", "packets", "Lost in the data's direction because a path was down.", "no path went down"),
        count("background_requests", "messages", "Requests of the server's clients.", "there is no server"),
        count("background_answers", "messages", "Answers of the server.", "there is no server"),
        number("background_mbps", "Mbit/s", "What the server's answers took of the cable, headers and frame overhead included.", "there is no server"),
        number("background_back_mbps", "Mbit/s", "What the requests took of the cable in the other direction.", "there is no server"),
        *APPLICATION_COLUMNS,
        number("transfer_s", "s", "Time of the longest file transfer.", "no file was transferred"),
        count("out_of_order_segments", "segments", "Waited at the receivers for one before them.", _NO_VALUE, "TcpExtTCPOFOQueue"),
        count("out_of_order_mptcp", "segments", "Data that waited at the receivers for another subflow's.", _NO_VALUE, "MPTcpExtOFOQueue"),
        count(
            "reordering_events", "", "How often the senders learned that a segment had been overtaken and not lost.", _NO_VALUE,
            "TcpExtTCPSACKReorder, TCPRenoReorder, TCPTSReorder",
        ),
        count(
            "recoveries", "", "How often the senders took a segment for lost and began to reduce cwnd.", _NO_VALUE,
            "TcpExtTCPSackRecovery, TCPRenoRecovery",
        ),
        count(
            "recoveries_undone", "", "How often they took that back, for nothing had been lost.", _NO_VALUE,
            "TcpExtTCPFullUndo, TCPPartialUndo, TCPDSACKUndo",
        ),
        count("spurious_retransmits", "segments", "Sent again although the receiver had them already.", _NO_VALUE, "TcpExtTCPDSACKRecv"),
        count("late_packets", "packets", "Of the data's direction, late by `link.reordering`: overtaken by those that came meanwhile.", _NO_DISORDER, "netem: those that left less those that passed at once"),
        count("duplicate_packets", "packets", "Of the data's direction, that came twice by `link.duplicate_percent`; random loss behind may take them again.", _NO_DISORDER, "netem: those that left less those that arrived"),
        number(
            "reordering_extent_packets", "packets",
            "By how many segments a late packet was overtaken in the mean (reordering extent, RFC 4737): those that waited at the receivers, by late packet.",
            f"{_NO_DISORDER}, packets were dropped, for which segments wait as well, or the protocol is UDP", "TcpExtTCPOFOQueue, netem",
        ),
        number("loss_burst_configured_packets", "packets", "Mean length of the bursts in which the data's packets are to be lost.", _NO_BURSTS),
        count("loss_bursts", "", "Bursts of random losses of the data's direction that ended.", _NO_BURSTS, "netem's drops, and its random numbers"),
        number("loss_burst_packets", "packets", "Their mean length: what was lost, by burst.", f"{_NO_BURSTS}, or none ended", "netem's drops, and its random numbers"),
        number("cwnd_packets", "packets", "Mean congestion window over the looks at the senders' sockets, each subflow of MPTCP by itself.", "nobody looked"),
        number("cpu_busy_percent", "%", "Mean over the cores that carried the run while traffic flowed.", "the clock is not a real one", "/proc/stat"),
        number("cpu_seconds_per_gbyte", "s/GB", "Busy time of these cores, all together, over the data that arrived (10^9 bytes).", "the clock is not a real one"),
        text("platform", "What carried the packets: `uml`, `host`, or `ns3:` and a version."),
        count("pairs", "", "Number of pairs of hosts."),
        text("testbed_digest", "Content digest of the program that carried the run out."),
        text("image_digest", "Content digest of its container image."),
        text("document_sha256", "SHA-256 of the run document, as `sha256sum` prints it."),
    ),
    "tidy",
)  # fmt: skip
CONTROLS = Table("controls", "a control run; only of studies that have some", RUNS.columns, "tidy")
FLOWS = Table(
    "flows",
    "a flow of a run",
    (
        *RUN_KEYS,
        ordinal("flow", "Number of the flow, from 0."),
        text("flow_cca", "CCA that was asked for it; those of a mix go to the flows in turn."),
        ordinal("pair", "Its pair of hosts, from 1."),
        count("hops", "", "Number of bottlenecks that it passes: 1, but for a chain's long flows, which pass all."),
        ordinal("first_hop", "The first of them, from 1 in the data's direction."),
        number("rtt_path_ms", "ms", "RTT of the empty path of its pair."),
        number("start_offset_ms", "ms", "When it was to start, from the run's traffic origin."),
        number("goodput_mbps", "Mbit/s", "What was delivered over the window, start-up included.", f"round trips have none; {_NO_WINDOW}"),
        number("goodput_steady_mbps", "Mbit/s", "The same without start-up.", _NO_STEADY),
        count("delivered_bytes", "bytes", "Delivered in the window: acknowledged, cumulatively or selectively.", f"FTP has none; {_NO_WINDOW}"),
        count("window_begin_ns", "ns", _WINDOW_BEGIN, _NO_WINDOW),
        count("window_end_ns", "ns", _WINDOW_END, _NO_WINDOW),
        number("application_goodput_mbps", "Mbit/s", "As the application prints it: what its receiver got, over its own time.", "round trips have none"),
        number("rtt_mean_ms", "ms", "Mean RTT that its sender measured.", _NO_VALUE),
        number("rtt_steady_ms", "ms", "The same over its reporting intervals that begin in the steady part.", f"{_NO_VALUE}; {_NO_STEADY}"),
        number("rtt_min_ms", "ms", "Smallest single RTT.", _NO_VALUE, "tcpi_min_rtt"),
        number("rtt_max_ms", "ms", "Largest smoothed RTT of those read at each interval's end.", _NO_VALUE),
        count("retransmits", "segments", "Sent again.", _NO_VALUE),
        count("retransmits_steady", "segments", "In the reporting intervals that begin in the steady part.", f"{_NO_VALUE}; {_NO_STEADY}"),
        number("bytes_sent_steady", "bytes", "In these intervals.", f"{_NO_VALUE}; {_NO_STEADY}"),
        count("bytes_sent", "bytes", "That the sender's application gave.", _NO_VALUE),
        count("bytes_received", "bytes", "That the receiver's application got.", _NO_VALUE),
        count("cwnd_max_bytes", "bytes", "Largest congestion window of those read at each interval's end.", _NO_VALUE),
        text("cca_observed", "CCA that ran, as the sender's own program or kernel says.", "nothing says it"),
        text("ecn_observed", "What its connection negotiated of ECN, at the last look at the sockets.", f"{_NO_DISCIPLINE} and {_NO_ECN}", "tcpi_ecn_mode, tcpi_options"),
        count("ce_received", "segments", "That its receiver had got with a CE mark at the last look.", "the same, or an earlier kernel", "the receiver's tcpi_received_ce"),
        count("ce_echoed", "segments", "Delivered while its receiver told of CE, until the last look.", "the same", "tcpi_delivered_ce"),
        text("group", "Name of its group.", "all flows of the scenario are alike"),
        number(
            "goodput_lifetime_mbps", "Mbit/s", "What was delivered over its own life: from the first reading with data of it to the last before it ended.",
            "only TCP of iperf3 has it",
        ),
        VALID,
    ),
    "tidy",
)  # fmt: skip
_OTHER_GROUP = "the group's application is another"
_NONE_COMPLETE = f"none was complete, or {_OTHER_GROUP}"
_NONE_ARRIVED = f"none arrived, or {_OTHER_GROUP}"
#: What tells groups of flows apart within runs.
GROUP_COLUMNS = (
    text("group", "Name of the group."),
    text("group_cca", "Its CCA, of web objects their server's; those of several flows joined by `+`.", "it is no TCP"),
    text("beside", "CCAs of the run's long flows in other groups, joined by `+`, or `none`."),
)


def _percentile_columns(name, unit, meaning, empty):
    """Return a column for each percentile, as `group_metrics` names them."""
    ending = f"_{unit}" if unit else ""
    words = {50: "Median", 95: "95th percentile", 99: "99th percentile"}
    return tuple(number(f"{name}_p{p}{ending}", unit, f"{word} of {meaning}.", empty) for p, word in words.items())


GROUPS = Table(
    "groups",
    "a group of flows of a run; only of studies with such groups",
    (
        *RUN_KEYS,
        *GROUP_COLUMNS,
        text("application", "`iperf3`, `web` or `real-time`."),
        number("start_s", "s", "When it begins, from the traffic's origin."),
        number("stop_s", "s", "When it ends.", "it asks for a number of objects"),
        count("members", "", "Flows, streams, or objects that were asked for."),
        number("goodput_mbps", "Mbit/s", "Of long flows: the sum of their goodputs, each over its own life; of those that pause the mean over their on-times.", _OTHER_GROUP),
        count("complete", "objects", "Web objects that were complete.", _OTHER_GROUP),
        *_percentile_columns("completion", "ms", "the completion times, from connect to the last byte", _NONE_COMPLETE),
        *_percentile_columns("slowdown", "", "completion time over that on an empty path (`tcp_models/completion_time.py`)", _NONE_COMPLETE),
        count("packets", "packets", "Real-time packets that were sent.", _OTHER_GROUP),
        number("lost_percent", "%", "Of these, that never arrived.", _OTHER_GROUP),
        *_percentile_columns("delay", "ms", "the packets' one-way delays", _NONE_ARRIVED),
        *_percentile_columns("queueing", "ms", "the same less the path's delay", _NONE_ARRIVED),
        number("jitter_ms", "ms", "Interarrival jitter (RFC 3550), the mean over packets and streams.", _NONE_ARRIVED),
        VALID,
    ),
    "tidy",
)  # fmt: skip
SHORT_FLOWS = Table(
    "short_flows",
    "a web object that was asked for; only of studies with groups of flows",
    (
        *RUN_KEYS,
        *GROUP_COLUMNS,
        ordinal("object", "Number of the object in its group, from 0."),
        number("start_s", "s", "When the client called connect, from the traffic's origin.", "it never did"),
        count("bytes", "bytes", "Its size."),
        number("completion_ms", "ms", "From then to its last byte.", "it was never complete"),
        number("ideal_ms", "ms", "What that takes on an empty path.", "it was never complete, or the path changes"),
        number("slowdown", "", "The one over the other.", "it was never complete, or the path changes"),
        text("failure", "Why it was not complete.", "it was"),
        VALID,
    ),
    "tidy",
    "parquet",
)
_SUBFLOW = "no subflow of MPTCP is on the path"
PATHS = Table(
    "paths",
    "a path of a run over cables",
    (
        *RUN_KEYS,
        ordinal("path", "Number of the path, from 1."),
        count("packets", "packets", "That left the sender on it while traffic flowed."),
        count("bytes", "bytes", "Of these frames, all headers included, as the shaper counted them.", "nothing limits the rate"),
        number("share_percent", "%", "Of all paths' packets.", "no packet left"),
        count("queue_drops", "packets", "Dropped by the full queue."),
        count("subflow_bytes_acked", "bytes", "Acknowledged of MPTCP's subflows on it at the last look at the sockets (at 3/4 of the duration).", _SUBFLOW),
        count("subflow_retransmits", "segments", "That they had sent again until then.", _SUBFLOW),
        number("subflow_rtt_ms", "ms", "Mean smoothed RTT of MPTCP's subflows on it at the last look at the sockets.", _SUBFLOW),
        text("subflow_cca", "Their CCAs, joined by `+`.", _SUBFLOW),
        VALID,
    ),
    "tidy",
)  # fmt: skip
_NO_QUEUE_SAMPLES = f"{_NOT_SAMPLED}; {_NO_WINDOW}"
BOTTLENECKS = Table(
    "bottlenecks",
    "a bottleneck of a run over a chain",
    (
        *RUN_KEYS,
        ordinal("bottleneck", "Its number, from 1 in the data's direction."),
        number("rate_mbps", "Mbit/s", "Its rate."),
        number("delay_ms", "ms", "One-way delay of its link in the data's direction."),
        number("rtt_path_ms", "ms", "RTT of the empty paths through it, the mean of the long flows' and the cross flows'."),
        text("discipline", "Its queueing discipline."),
        count("queue_packets", "packets", "Limit of its queue.", "its limit is in bytes"),
        count("queue_bytes", "bytes", "Limit of its queue.", "its limit is in packets"),
        count("flows", "", "Number of flows that pass it."),
        number("ideal_goodput_mbps", "Mbit/s", "What these would get together if it were always full: the payload's share of the rate."),
        number("goodput_mbps", "Mbit/s", "What was delivered of the flows that pass it over the window.", _NO_WINDOW),
        number("jain_index", "", "Jain's fairness index of the goodputs of the flows that pass it.", _NO_WINDOW),
        count("packets_sent", "packets", "Offered to it, dropped ones included."),
        count("queue_drops", "packets", "Dropped by its queue."),
        count("queue_marks", "packets", "Marked CE by its queue.", _NO_DISCIPLINE),
        count("link_drops", "packets", "Lost at random behind it."),
        number("loss_percent", "%", "Dropped by its queue or lost behind it, of those offered to it.", "nothing was"),
        number("queue_mean_packets", "packets", "Mean of its queue's samples inside the window.", _NO_QUEUE_SAMPLES),
        VALID,
    ),
    "tidy",
)  # fmt: skip
CHECKS = Table(
    "checks",
    "a check of a run",
    (
        *RUN_KEYS,
        text("check", "Name of the check."),
        truth("ok", "Whether the run passed it."),
        text("expected", "What was expected, in words."),
        text("observed", "What was observed, in words."),
    ),
    "tidy",
)
SCENARIOS = Table(
    "scenarios",
    "a scenario",
    (
        text("scenario", "Its identifier."),
        text("label", "Its short name."),
        number("rate_mbps", "Mbit/s", "Rate of the bottleneck, of each on several paths.", "nothing limits the rate"),
        number("rtt_path_ms", "ms", "RTT of the empty path, the mean over pairs of hosts and paths."),
        number("delay_forward_ms", "ms", "One-way delay in the data's direction, the hosts' own links aside; of a chain all of it."),
        number("delay_reverse_ms", "ms", "One-way delay in the acknowledgements' direction."),
        number("jitter_forward_ms", "ms", "Jitter in the data's direction."),
        number("jitter_reverse_ms", "ms", "Jitter in the other direction."),
        number("loss_forward_percent", "%", "Random loss in the data's direction."),
        number("loss_reverse_percent", "%", "Random loss in the other direction."),
        text("queue", "Limit of the bottleneck's queue as the study has it: `33 packets`, `1 BDP`, `100000 bytes`."),
        text(
            "queue_packets", "The same in packets, as it was set in the runs; where the packets of IPv4 and IPv6 differ, so may these, parted by blanks.",
            "its limit is in bytes",
        ),
        *DISCIPLINE_COLUMNS,
        text("queue_parameters", "The discipline's parameters as a study has them: `target_ms 5, ecn true`; `null` is one that it does without.", _NO_DISCIPLINE),
        count("flows", "", "Number of flows."),
        text("groups", "Its groups of flows: `web, call, long bbr`, each with its CCA if that is not the run's.", "all flows are alike"),
        number("bitrate_mbps", "Mbit/s", "What each sender is limited to.", "it sends as fast as it can"),
        number("duration_s", "s", "How long each flow sends, where no amount is set."),
        text("platform", "What carries the packets: `uml`, `host`, or `ns3:` and a version."),
        truth("segmentation_offload", "Whether hosts hand super-packets of up to 64 KiB to the network."),
        text("netem", "Where delay and loss stand: `receiving-side` or `both-ends`."),
        text("processes", "Of iperf3: `per-flow` or `single`."),
        *APPLICATION_COLUMNS,
        count("cross_flows", "", "Number of flows over each single bottleneck; `flows` has them too.", "there is no chain"),
        text("cross_cca", "CCA of these flows.", "it is the run's own"),
        text("chain_rtts_ms", "RTTs of the empty paths of a chain in ms, parted by blanks: of its long flows, then of the cross flows of each bottleneck.", "there is no chain"),
        text("distribution", "What tunnels share: packets (`round-robin`) or connections (`per-flow`)."),
        text("path_delay_ms", "Delay of each path's own in ms, one way, parted by blanks."),
        ordinal("outage_path", "Number of the path that goes down, from 1.", "none does"),
        number("outage_at_s", "s", "When it goes down, from the traffic's origin.", "none does"),
        number("outage_for_s", "s", "How long it is down.", "none does"),
        count("messages", "messages", "That each flow sends.", "a duration is set"),
        count("file_bytes", "bytes", "Size of the file that is transferred.", "the application is another"),
        number("frame_overhead_bytes", "bytes", "That each frame takes besides those that Linux counts."),
        text("serialisation", "Whether a packet takes its length over the rate to arrive: `never` or `virtual-clock`."),
        count("pairs", "", "Number of pairs of hosts."),
        text("access_delay_ms", "Distinct one-way delays of the hosts' own links in ms, parted by blanks."),
        number("start_within_ms", "ms", "Flows start at random moments within this time.", "it is the empty path's RTT"),
        number("sample_interval_ms", "ms", "How often sockets and queue are read.", "they are not"),
        number("segment_bytes", "bytes", "TCP's limit of a segment.", "the kernel chooses"),
        truth("delayed_acks", "Whether the receivers acknowledge every second segment."),
        truth("receive_buffer_autotuning", "Whether the receivers' buffers grow as data arrive, or have their full size from the start."),
        number("min_rto_ms", "ms", "Smallest retransmission timeout.", "the kernel's own"),
        text("recovery", "How TCP recovers from loss: `prr`, or `classic` in ns-3."),
        text(
            "variation", "What is drawn for each replication around these values: `RTT ±1 %, queue ±1 packet`; the runs have theirs.",
            "nothing: all replications have just these",
        ),
        text("kernel", "The guest kernel of its runs, with patches and options.", "it is the image's, or CCAs have kernels of their own"),
        text("link_options", "What else the link does: changes while traffic flows, a trace, a policer, losses in bursts, jitter in order, acknowledgements in slots, packets late or twice.", "nothing"),
    ),
    "tidy",
)  # fmt: skip
INTERVALS = Table(
    "intervals",
    "a reporting interval of a flow, the sender's side",
    (
        *RUN_KEYS,
        ordinal("flow", "Number of the flow, from 0."),
        number("start_s", "s", "Begin, from the flow's own."),
        number("end_s", "s", "End."),
        number("sent_mbps", "Mbit/s", "Sent."),
        count("retransmits", "segments", "Sent again.", _NO_VALUE),
        count("cwnd_bytes", "bytes", "Congestion window at its end.", _NO_VALUE),
        number("rtt_ms", "ms", "Smoothed RTT at its end.", _NO_VALUE),
        number("rttvar_ms", "ms", "Mean deviation of the RTT at its end.", _NO_VALUE),
    ),
    "tidy",
    "parquet",
)
_UNKNOWN = "the platform or the CCA doesn't know it"
SOCKETS = Table(
    "sockets",
    "a flow's socket at one instant (of MPTCP a subflow's); only of studies that ask for time series",
    (
        *RUN_KEYS,
        ordinal("flow", "Number of the flow, from 0."),
        text("flow_cca", "Its own CCA, in a mix one of them."),
        ordinal("path", "Of MPTCP the path of the subflow, from 1.", "it is plain TCP"),
        number("time_s", "s", "Since the traffic's origin, the earliest moment at which a flow may start."),
        text("state", "Loss state.", _UNKNOWN, "tcpi_ca_state"),
        number("cwnd_packets", "segments", "Congestion window.", _UNKNOWN, "tcpi_snd_cwnd"),
        number("ssthresh_packets", "segments", "Slow start threshold.", "it is infinite, or not known", "tcpi_snd_ssthresh"),
        number("unacked_packets", "segments", "Sent and not acknowledged.", _UNKNOWN, "tcpi_unacked"),
        number("sacked_packets", "segments", "Of these, acknowledged selectively.", _UNKNOWN, "tcpi_sacked"),
        number("lost_packets", "segments", "Of these, taken for lost.", _UNKNOWN, "tcpi_lost"),
        number("retransmits", "segments", "Sent again so far.", _UNKNOWN, "tcpi_total_retrans"),
        number("bytes_sent", "bytes", "Payload sent so far, retransmissions included.", _UNKNOWN, "tcpi_bytes_sent"),
        number("bytes_acked", "bytes", "Payload acknowledged so far.", _UNKNOWN, "tcpi_bytes_acked"),
        number("bytes_retransmitted", "bytes", "Payload sent again so far.", _UNKNOWN, "tcpi_bytes_retrans"),
        number("rtt_ms", "ms", "Smoothed RTT.", _UNKNOWN, "tcpi_rtt"),
        number("rttvar_ms", "ms", "Its mean deviation.", _UNKNOWN, "tcpi_rttvar"),
        number("rtt_min_ms", "ms", "Smallest RTT.", _UNKNOWN, "tcpi_min_rtt"),
        number("rto_ms", "ms", "Retransmission timeout.", _UNKNOWN, "tcpi_rto"),
        number("pacing_mbps", "Mbit/s", "Pacing rate.", _UNKNOWN, "tcpi_pacing_rate"),
        number("delivery_mbps", "Mbit/s", "Latest delivery rate.", _UNKNOWN, "tcpi_delivery_rate"),
        number("bbr_bw_mbps", "Mbit/s", "BBR's estimate of the bottleneck's rate.", _UNKNOWN, "tcpbbr_bw"),
        number("bbr_rtt_min_ms", "ms", "BBR's smallest RTT (its RTprop).", _UNKNOWN, "tcpbbr_rtt"),
        number("bbr_pacing_gain", "", "BBR's pacing gain.", _UNKNOWN, "tcpbbr_pacing_gain"),
        number("bbr_cwnd_gain", "", "BBR's cwnd gain.", _UNKNOWN, "tcpbbr_cwnd_gain"),
        number("bbr_version", "", "BBR's version, 3 of BBRv3.", _NO_BBR3, "tcpbbr_version"),
        number(
            "bbr_phase", "",
            "BBRv3's phase: 1 STARTUP, 2 DRAIN, 3 PROBE_RTT, 4 PROBE_BW_UP, 5 PROBE_BW_DOWN, 6 PROBE_BW_CRUISE, 7 PROBE_BW_REFILL.",
            _NO_BBR3, "tcpbbr_phase",
        ),
        number("bbr_bw_hi_mbps", "Mbit/s", "BBRv3's upper bound of the rate, the largest that was measured of late.", _NO_BBR3, "tcpbbr_bw_hi"),
        number("bbr_bw_lo_mbps", "Mbit/s", "BBRv3's short-term bound of the rate.", _NO_BOUND, "tcpbbr_bw_lo"),
        number("bbr_inflight_hi_packets", "segments", "BBRv3's long-term bound of what is under way.", _NO_BOUND, "tcpbbr_inflight_hi"),
        number("bbr_inflight_lo_packets", "segments", "BBRv3's short-term bound of what is under way.", _NO_BOUND, "tcpbbr_inflight_lo"),
        number(
            "vegas_rtt_ms", "ms",
            "Vegas and YeAH: their base RTT, the smallest of the connection; other CCAs that report so: their latest or mean RTT.",
            _UNKNOWN, "tcpv_rtt",
        ),
        number(
            "vegas_rtt_min_ms", "ms",
            "Vegas and YeAH: the smallest RTT of the latest round trip; other CCAs: the smallest of the connection.",
            _UNKNOWN, "tcpv_minrtt",
        ),
        number("delivered_ce_packets", "segments", "Delivered so far while the receiver told of CE marks.", f"{_NO_DISCIPLINE} and {_NO_ECN}", "tcpi_delivered_ce"),
    ),
    "tidy",
    "parquet",
)  # fmt: skip
QUEUE = Table(
    "queue",
    "the bottleneck's queue in the data's direction at one instant",
    (
        *RUN_KEYS,
        ordinal("bottleneck", "Number of the bottleneck, from 1: there is one, but on a chain."),
        number("time_s", "s", "Since the traffic's origin."),
        count("packets", "packets", "That wait."),
        count("bytes", "bytes", "That wait."),
        count("drops", "packets", "Since the origin."),
        number(
            "delay_ms",
            "ms",
            "Time that what waits takes to leave at the link's rate, or those that follow.",
            "nothing limits the rate",
        ),
        count("marks", "packets", "Marked CE since the origin.", _NO_DISCIPLINE),
        number(
            "discipline_delay_ms",
            "ms",
            "Delay as the discipline itself tells it: codel, pie, cake (of its busiest tin), dualpi2 (of the classic queue).",
            "it tells none",
        ),
        number("l4s_delay_ms", "ms", "The same of dualpi2's low-latency queue.", "it has none"),
    ),
    "tidy",
    "parquet",
)
CPU = Table(
    "cpu",
    "a core that carried a run, between two readings; only under a real clock",
    (
        *RUN_KEYS,
        ordinal("core", "Number of the core."),
        text("role", "What it carried: senders, receivers, routers by name, the testbed's own program."),
        number("time_s", "s", "Of the reading, since the traffic's origin."),
        number("busy_percent", "%", "All that is not idle since the reading before, which the kernel measures."),
        number("user_percent", "%", "Of processes, which the kernel samples; the parts need not add up."),
        number("system_percent", "%", "Of the kernel."),
        number("softirq_percent", "%", "Of interrupts, soft and hard."),
        number("steal_percent", "%", "Taken by a hypervisor."),
    ),
    "tidy",
    "parquet",
)
CHANGES = Table(
    "changes",
    "a change of the path of a run; only of studies that have some",
    (
        *RUN_KEYS,
        ordinal("change", "Number of the change in its run, from 1."),
        text("direction", "`forward` (data) or `reverse` (acknowledgements)."),
        text("quantity", "What changed: `rate_mbps`, `delay_ms` or `loss_percent`."),
        text("kind", "`step`, a part of a `ramp`, of a link that is `down` or `up` again, or a step of a `trace`."),
        number("value", "as `quantity` says", "What it was changed to."),
        count("at_ns", "ns", "When it was to take place, from the traffic's origin."),
        count("realised_ns", "ns", "The run's clock when it had."),
        number("value_told", "as `quantity` says", "What the kernel gave back at once.", source="rtnetlink"),
        count("bytes", "bytes", "That had left the devices changed, until then.", source="their queueing disciplines"),
        count("drops", "packets", "That they had dropped until then: of a loss those lost at random or by the outage, of a rate those of the full queue.", source="their queueing disciplines"),
    ),
    "tidy",
)  # fmt: skip
TIDY_TABLES = (
    RUNS, CONTROLS, FLOWS, PATHS, BOTTLENECKS, GROUPS, SHORT_FLOWS, CHECKS, SCENARIOS, INTERVALS, SOCKETS, QUEUE, CPU, CHANGES,
)  # fmt: skip
