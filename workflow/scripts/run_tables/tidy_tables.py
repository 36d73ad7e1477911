"""The tidy tables of runs, flows and checks, column by column; those of paths, scenarios, groups and time series are in neighbouring modules.

A simple column of a run is defined in two places: its declaration here, and the function that computes it (`tidy_rows.py` and
the modules that it calls).
"""

from run_tables.condition_columns import APPLICATION_COLUMNS, DISCIPLINE_COLUMNS
from run_tables.group_tables import GROUPS, SHORT_FLOWS
from run_tables.link_option_columns import option_columns
from run_tables.path_tables import BOTTLENECKS, PATHS
from run_tables.run_keys import (
    LABELLED_CELL,
    NO_DISCIPLINE,
    NO_ECN,
    NO_VALUE,
    NO_WINDOW,
    NOT_SAMPLED,
    REPLICATION,
    RUN_KEYS,
    VALID,
)
from run_tables.scenario_table import SCENARIOS
from run_tables.series_tables import CHANGES, CPU, INTERVALS, QUEUE, SOCKETS
from run_tables.table import Table, count_column, number_column, ordinal_column, text_column, truth_column

_NO_STEADY = f"FTP has none; {NO_WINDOW}; MSER finds no steady part"
_NO_DISORDER = "none are to be"
_NO_BURSTS = "losses have no bursts"
_NO_COMMON = "the application has no window"
_WINDOW_BEGIN = "When the window begins, from the traffic's origin: the first reading at which all flows had data."
_WINDOW_END = "When it ends: the last reading before a flow ends."

RUNS = Table(
    "runs",
    "a run",
    (
        *LABELLED_CELL,
        REPLICATION,
        count_column("seed", "", "The run's seed; the same for all CCAs and IP versions of a scenario and replication."),
        VALID,
        text_column("invalid_because", "Each check that failed, what was observed, and what was expected.", "the run is valid"),
        text_column(
            "excluded_by",
            "What excludes the run: `instrument` (the path, the hosts or what measures them were not as asked), `sender` (they were, but the "
            "senders behaved so that a check fails), `crash` (the kernel's), `not ended` (within its time limit), `not run` (there is no document). "
            "`sender`, `crash` and `not ended` are outcomes of the CCAs that ran.",
            "the run is valid",
        ),
        number_column("rate_mbps", "Mbit/s", "Rate of the bottleneck; of several paths each one's, or the slowest's if they differ.", "nothing limits the rate"),
        number_column("delay_ms", "ms", "One-way delay between the routers (of a chain the first and the last), or of the cable, in the data's direction."),
        number_column("rtt_path_ms", "ms", "RTT of the empty path, the mean over pairs of hosts and paths; of a path that changes, at first."),
        number_column("loss_configured_percent", "%", "Random loss that is set in the data's direction, behind each bottleneck; of a path that changes, at first.", "each of several paths has its own (`path_loss_percent` of the scenario)"),
        count_column("flows", "", "Number of long flows and of flows of programs, those of all groups together; one that pauses counts for each time that it sends."),
        count_column(
            "flows_under_test", "",
            "Number of these with the CCA under test, which may be a program's: goodput, RTT, retransmits and all else that is measured of a run's flows is of them. "
            "The others are in `flows.csv` and `groups.csv`.",
        ),
        count_column("queue_packets", "packets", "Limit of the bottleneck's queue, as it was set.", "its limit is in bytes, or there is none"),
        count_column(
            "queue_bytes", "bytes", "What the full queue holds, as the bottleneck counts: its limit, or so many full packets of the run.",
            "it has no limit, or nobody knows the size of a packet",
        ),
        number_column(
            "packet_bytes", "bytes", "A full packet as the bottleneck counts it: with headers, tunnel, and what a frame takes besides.",
            "nobody looked at the sockets, or the application has messages only",
        ),
        number_column(
            "queue_bdp", "BDP", "What the full queue holds in products of rate and RTT of the empty path: as the study says it, or by `queue_bytes`.",
            "rate, RTT or size aren't known",
        ),
        number_column("duration_s", "s", "How long each flow sends, where no amount is set; flow groups start and stop within it."),
        number_column(
            "mss_bytes", "bytes", "Payload of a full segment of the run's connections.", "nobody looked at the sockets",
            "the sender's tcpi_snd_mss, the largest of all looks",
        ),
        number_column(
            "capacity_mbps", "Mbit/s",
            "What the path lets pass in the data's direction, headers included, on average over the time that the deliveries of the window left the bottleneck: "
            "by its rate, timeline or trace, a policer, and outages; all paths together, of a chain the narrowest bottleneck's.",
            "nothing limits the rate, or round trips are measured",
        ),
        number_column(
            "ideal_goodput_mbps", "Mbit/s",
            "What the receivers would get of a path that is always full: the payload's share of `capacity_mbps`, or what the senders are limited to, whichever is less.",
            "neither the path nor a sender has a limit; on a chain each bottleneck has its own (`bottlenecks`)",
        ),
        number_column(
            "ideal_percent", "%",
            "`goodput_mbps` as a share of `ideal_goodput_mbps`. Packets that were on their way or unacknowledged when the window began don't make it more than 100.",
            "there is no goodput or no ideal",
        ),
        number_column(
            "goodput_mbps", "Mbit/s",
            "What was delivered of the flows under test (`flows_under_test`) over the window that all flows have in common, start-up included; "
            "of UDP over whole reporting intervals of it.",
            f"round trips of single messages have none; {NO_WINDOW}",
            "TCP_INFO: tcpi_bytes_acked, and of what was acknowledged selectively tcpi_sacked; MPTCP: mptcpi_bytes_acked; "
            "UDP: iperf3's server; FTP: size over wget's time; ns-3: its senders", least=0,
        ),
        number_column(
            "goodput_steady_mbps", "Mbit/s", "The same without start-up: from `steady_begin_ns` on, whether or not it is steady then (`goodput_steady_change_percent`).",
            _NO_STEADY,
        ),
        number_column(
            "goodput_steady_change_percent", "%",
            "How far goodput changes after start-up: its mean over the second half of that time less that over the first, of the mean of both. "
            "Far from 0 the run is not steady, whatever the rule.",
            f"{_NO_COMMON}; {_NO_STEADY}, or nothing was delivered then",
        ),
        count_column(
            "steady_begin_ns", "ns",
            "When the steady part begins, from the traffic's origin, by the study's rule (`steady_state`): of a share the first "
            "reading after so much of the window, of MSER that from which on what all flows got has the smallest error.",
            f"{_NO_COMMON}; {_NO_STEADY}",
        ),
        count_column("delivered_bytes", "bytes", "Delivered of the flows under test in the window.", f"FTP has none; {NO_WINDOW}"),
        count_column("window_begin_ns", "ns", _WINDOW_BEGIN, f"{_NO_COMMON}; {NO_WINDOW}"),
        count_column("window_end_ns", "ns", _WINDOW_END, f"{_NO_COMMON}; {NO_WINDOW}"),
        number_column(
            "application_goodput_mbps", "Mbit/s",
            "As the application prints it, summed over the flows: what a paper that used it has. iperf3 counts whole blocks, "
            "over each flow's own time, which lasts until its last message has arrived.",
            "round trips of single messages have none; flows were to send at different times, whose rates add up to nothing",
            "iperf3, receiver side; FTP: size over wget's time; ns-3: its receivers",
        ),
        number_column(
            "rtt_mean_ms", "ms", "Mean of the smoothed RTTs that the senders' TCP had, taken once a reporting interval, the mean over the flows; with `processes: per-side` at each reading of what was delivered; of MPTCP and FTP over the looks at the sockets; of round trips their mean time.",
            "UDP has none", "iperf3's mean_rtt; MPTCP and FTP: TCP_INFO over all looks; round trips: qperf; ns-3: single segments", least=0,
        ),
        number_column(
            "rtt_above_ms", "ms",
            "`rtt_mean_ms` above the RTT of the empty path when it is shortest in the run (`rtt_shortest_ms` of flows): waiting in queues, jitter, late packets and acknowledgements, and longer paths at other times.",
            "UDP has none; the paths of a flow have different RTTs",
        ),
        number_column(
            "rtt_steady_ms", "ms", "The mean of smoothed RTTs at the ends of the reporting intervals that begin after start-up, whether or not it is steady then.",
            f"no interval begins there, or {NO_VALUE}; {_NO_STEADY}", "iperf3: tcpi_rtt at each interval's end",
        ),
        number_column(
            "rtt_steady_change_percent", "%",
            "How far RTT changes after start-up: the mean of the second half of these intervals less that of the first, of the mean of both; the mean over flows.",
            f"fewer than four intervals begin there, or {NO_VALUE}; {_NO_STEADY}",
        ),
        number_column("rtt_min_ms", "ms", "Smallest RTT of the flows under test until the last look at the sockets, at three quarters of the time.", NO_VALUE, "tcpi_min_rtt"),
        number_column(
            "loss_percent", "%", "Packets of the data's direction dropped by the bottleneck's queue, behind it (`link_drops`) and by a policer, over all that were offered to the bottleneck or the policer.",
            "nothing is emulated", "counters of the queueing disciplines", least=0, most=100,
        ),
        count_column("retransmits", "segments", "Segments that TCP retransmitted, summed over the flows; of MPTCP and FTP by the sending hosts, all their connections.", NO_VALUE, "iperf3; MPTCP and FTP: TcpRetransSegs"),
        number_column("jain_index", "", "Jain's fairness index of the goodputs of the flows under test: 1 if all are equal, 1/n if one has all.", NO_VALUE, least=0, most=1),
        number_column("jain_steady_index", "", "The same of their goodputs after start-up.", f"{NO_VALUE}; {_NO_STEADY}"),
        number_column("throughput_per_stream_mbps", "Mbit/s", "Mean goodput of a flow, as TCP-ExBench computes its throughput.", NO_VALUE, least=0),
        number_column("rtt_first_stream_ms", "ms", "Mean RTT of the first flow, as TCP-ExBench computes its RTT.", NO_VALUE, least=0),
        number_column("retransmit_percent", "%", "Retransmits over bytes sent / MSS, which TCP-ExBench calls packet loss.", "nothing was sent, or TCP has none", least=0),
        number_column(
            "retransmit_steady_percent", "%", "The same of the reporting intervals that begin after start-up, whether or not it is steady then: segments retransmitted in them over bytes sent in them / MSS.",
            f"no interval begins there, or {NO_VALUE}; {_NO_STEADY}",
        ),
        number_column("queue_mean_packets", "packets", "Mean of the queue's samples inside the window.", NOT_SAMPLED),
        number_column("queue_steady_packets", "packets", "The same after start-up.", f"{NOT_SAMPLED}; {_NO_STEADY}"),
        *(
            number_column(f"queueing_p{p}_ms", "ms", f"{words} of the time that what waits in the queue takes to leave, over the queue's samples.", NOT_SAMPLED)
            for p, words in ((50, "Median"), (95, "95th percentile"), (99, "99th percentile"))
        ),
        number_column("queueing_mean_ms", "ms", "Mean of the same.", NOT_SAMPLED),
        number_column(
            "utilisation_percent", "%",
            "What was delivered of all flows in the window of `goodput_mbps`, of what the path allowed (`capacity_mbps`): at most 100, as `ideal_percent`; retransmissions are not in it.",
            "nothing says what was delivered, nothing limits the rate, there are several bottlenecks, or web objects, streams or other traffic share it",
        ),
        number_column(
            "convergence_s", "s",
            "From the last flow's start until all flows, those of all groups, had within 10 % of their fair shares for the first time (delta-fair convergence, RFC 5166).",
            "they never had, there is one flow, or the application is another",
        ),
        count_column(
            "packets_sent", "packets",
            "Offered to the bottleneck, dropped ones included; a super-packet is one. Of a chain, as the drops, at all bottlenecks "
            "together: a packet is offered to each that it passes.",
            "nothing is emulated",
        ),
        count_column("queue_drops", "packets", "Dropped by the bottleneck's queue: because it was full, or by its discipline.", "queue and loss share one netem, or nothing is emulated"),
        count_column("link_drops", "packets", "Dropped behind the bottleneck: by random loss, or because the link was down by its timeline.", "queue and loss share one netem, or nothing is emulated"),
        count_column("policer_drops", "packets", "Dropped by the policer in front of the bottleneck, to which they were never offered.", "there is none", "counters of what arrives at r1"),
        *DISCIPLINE_COLUMNS,
        count_column("queue_marks", "packets", "Marked CE by the queue's discipline, as it counts: codel and fq_codel with `ce_threshold_ms`, and dualpi2, count a packet twice that two of their rules mark.", NO_DISCIPLINE, "the discipline's statistics"),
        count_column("overflow_drops", "packets", "Of `queue_drops`, those because the queue was full; the others are the discipline's choice.", f"{NO_DISCIPLINE}, or doesn't tell (cake)", "the discipline's statistics"),
        count_column("ce_received", "packets", "That arrived at the receivers with a CE mark; one that the path duplicates counts twice.", NO_ECN, "InCEPkts of their IP"),
        count_column("ce_echoed", "segments", "Delivered while receivers told the senders of CE: with `accurate` the marked ones, with `classic` all until the sender has answered.", NO_ECN, "TcpExtTCPDeliveredCE"),
        count_column("outage_drops", "packets", "Lost in the data's direction because a path of MPTCP was down (`multipath.outage`); in no other count.", "no path went down"),
        count_column("background_requests", "messages", "Requests of the server's clients.", "there is no server"),
        count_column("background_answers", "messages", "Answers of the server.", "there is no server"),
        number_column("background_mbps", "Mbit/s", "What the server's answers took of the cable, headers and frame overhead included.", "there is no server"),
        number_column("background_back_mbps", "Mbit/s", "What the requests took of the cable in the other direction.", "there is no server"),
        *APPLICATION_COLUMNS,
        number_column("transfer_s", "s", "Time of the longest file transfer.", "no file was transferred", least=0),
        count_column("out_of_order_segments", "segments", "Waited at the receivers for one before them.", NO_VALUE, "TcpExtTCPOFOQueue"),
        count_column("out_of_order_mptcp", "segments", "Data that waited at the receivers for another subflow's.", NO_VALUE, "MPTcpExtOFOQueue"),
        count_column(
            "reordering_events", "", "How often the senders concluded that a segment had been overtaken and not lost.", NO_VALUE,
            "TcpExtTCPSACKReorder, TCPRenoReorder, TCPTSReorder",
        ),
        count_column(
            "recoveries", "", "How often the senders took a segment for lost and entered fast recovery.", NO_VALUE,
            "TcpExtTCPSackRecovery, TCPRenoRecovery",
        ),
        count_column(
            "recoveries_undone", "", "How often they took that back, as timestamps or DSACK told them that nothing had been lost.", NO_VALUE,
            "TcpExtTCPFullUndo, TCPPartialUndo, TCPDSACKUndo",
        ),
        count_column(
            "duplicate_segments", "segments",
            "Arrived at the receivers a second time: retransmitted for nothing, or duplicated by the path (`duplicate_packets`).", NO_VALUE,
            "TcpExtTCPDSACKOldSent, TCPDSACKOfoSent of the receiving hosts",
        ),
        count_column(
            "spurious_retransmits", "segments", "Retransmitted and arrived although the receiver had them already: `duplicate_segments` of a path that duplicates nothing.",
            f"the path duplicates packets, so that nothing tells the two apart; {NO_VALUE}",
        ),
        *option_columns(),
        number_column(
            "waiting_per_late_packet", "segments",
            "Segments that waited at the receivers, by late packet. Fewer than overtook it (the reordering extent of RFC 4737) where a "
            "retransmission came before it, which ends the wait, or where a segment waited for two.",
            f"{_NO_DISORDER}, packets were dropped, for which segments wait as well, or the protocol is UDP", "TcpExtTCPOFOQueue, netem",
        ),
        number_column("loss_burst_configured_packets", "packets", "Mean length of the bursts in which the data's packets are to be lost.", _NO_BURSTS),
        count_column("loss_bursts", "", "Bursts of random losses of the data's direction that ended.", _NO_BURSTS, "netem's drops, and its random numbers"),
        number_column("loss_burst_packets", "packets", "Their mean length: what was lost, by burst.", f"{_NO_BURSTS}, or none ended", "netem's drops, and its random numbers"),
        number_column("cwnd_packets", "packets", "Mean congestion window over the looks at the senders' sockets (three, at quarters of the time), of all flows, each subflow of MPTCP by itself.", "nobody looked"),
        number_column(
            "window_limited_percent", "%",
            "Share of the time with data to send in which a flow waited for the receiver's window or, as far as its kernel counts it, for room in "
            "its send buffer, until the last look at the sockets; the mean over flows. A program that blocks while it writes is not counted.",
            "nobody looked, or the platform doesn't count it", "tcpi_rwnd_limited, tcpi_sndbuf_limited, tcpi_busy_time", least=0, most=100,
        ),
        number_column("cpu_busy_percent", "%", "Mean over the cores that carried the run while traffic flowed.", "the clock is not a real one", "/proc/stat", least=0, most=100),
        number_column("cpu_seconds_per_gbyte", "s/GB", "Busy time of these cores, all together, over the data that arrived (10^9 bytes).", "the clock is not a real one"),
        text_column("platform", "What carried the packets: `uml`, `host`, or `ns3:` and a version."),
        count_column("pairs", "", "Number of pairs of hosts."),
        text_column("testbed_digest", "Content digest of the program that carried the run out."),
        text_column("image_digest", "Content digest of its container image."),
        text_column("document_sha256", "SHA-256 of the run document, as `sha256sum` prints it."),
    ),
    "tidy",
)  # fmt: skip
CONTROLS = Table("controls", "a control run; only of studies that have some", RUNS.columns, "tidy")
FLOWS = Table(
    "flows",
    "a flow of a run",
    (
        *RUN_KEYS,
        ordinal_column("flow", "Number of the flow, from 0."),
        text_column("flow_cca", "CCA that was asked for it; those of a mix go to the flows in turn."),
        ordinal_column("pair", "Its pair of hosts, from 1."),
        count_column("hops", "", "Number of bottlenecks that it passes: 1, but for a chain's long flows, which pass all."),
        ordinal_column("first_hop", "The first of them, from 1 in the data's direction."),
        text_column("direction", "Of its data: `forward`, or `reverse`, against the others'. The run's own columns are of `forward`."),
        number_column("rtt_path_ms", "ms", "RTT of the empty path of its pair before any change."),
        number_column("rtt_shortest_ms", "ms", "RTT of the empty path of its pair when it is shortest in the run, jitter aside; of several paths the shortest."),
        number_column("start_offset_ms", "ms", "When it was to start, from the run's traffic origin."),
        number_column("goodput_mbps", "Mbit/s", "What was delivered over the window, start-up included.", f"round trips have none; {NO_WINDOW}"),
        number_column("goodput_steady_mbps", "Mbit/s", "The same without start-up.", _NO_STEADY),
        count_column("delivered_bytes", "bytes", "Delivered in the window: acknowledged, cumulatively or selectively.", f"FTP has none; {NO_WINDOW}"),
        count_column("window_begin_ns", "ns", _WINDOW_BEGIN, NO_WINDOW),
        count_column("window_end_ns", "ns", _WINDOW_END, NO_WINDOW),
        number_column("application_goodput_mbps", "Mbit/s", "As the application prints it: what its receiver got, over its own time.", "round trips have none"),
        number_column("rtt_mean_ms", "ms", "Mean of the smoothed RTTs that its sender had, taken once a reporting interval; with `processes: per-side` at each reading of what was delivered; of MPTCP and FTP over the looks at the sockets.", NO_VALUE),
        number_column("rtt_steady_ms", "ms", "Mean of the smoothed RTTs at the ends of its reporting intervals that begin after start-up.", f"{NO_VALUE}; {_NO_STEADY}"),
        number_column("rtt_min_ms", "ms", "Smallest single RTT until the last look at the sockets.", NO_VALUE, "tcpi_min_rtt"),
        number_column("rtt_max_ms", "ms", "Largest smoothed RTT of those read at each interval's end.", NO_VALUE),
        count_column("retransmits", "segments", "Retransmitted; of several flows of MPTCP on one host until the last look at the sockets.", NO_VALUE),
        number_column("rtt_steady_change_percent", "%", "How far that changes: the mean of the second half of these intervals less that of the first, of the mean of both.", f"fewer than four intervals begin there, or {NO_VALUE}; {_NO_STEADY}"),
        count_column("retransmits_steady", "segments", "In the reporting intervals that begin after start-up.", f"{NO_VALUE}; {_NO_STEADY}"),
        number_column("bytes_sent_steady", "bytes", "In these intervals.", f"{NO_VALUE}; {_NO_STEADY}"),
        count_column("bytes_sent", "bytes", "That the sender's application gave to TCP, which may not have sent all.", NO_VALUE),
        count_column("bytes_received", "bytes", "That the receiver's application got.", NO_VALUE),
        count_column("cwnd_max_bytes", "bytes", "Largest congestion window of those read at each interval's end.", NO_VALUE),
        text_column("cca_observed", "CCA that ran, as the sender's own program or kernel says.", "nothing says it"),
        text_column("ecn_observed", "What its connection negotiated of ECN, at the last look at the sockets.", f"{NO_DISCIPLINE} and {NO_ECN}", "tcpi_ecn_mode, tcpi_options"),
        count_column("ce_received", "segments", "That its receiver had got with a CE mark at the last look.", "the same, or an earlier kernel", "the receiver's tcpi_received_ce"),
        count_column("ce_echoed", "segments", "Delivered while its receiver reported CE, until the last look.", "the same", "tcpi_delivered_ce"),
        text_column("group", "Name of its group.", "all flows of the scenario are alike"),
        number_column(
            "goodput_lifetime_mbps", "Mbit/s", "What was delivered over its own life: from the first reading with data of it to the last before it ended.",
            "only TCP of iperf3 has it",
        ),
        VALID,
    ),
    "tidy",
)  # fmt: skip
CHECKS = Table(
    "checks",
    "a check of a run",
    (
        *RUN_KEYS,
        text_column("check", "Name of the check."),
        truth_column("ok", "Whether the run passed it."),
        text_column("expected", "What was expected, in words."),
        text_column("observed", "What was observed, in words."),
    ),
    "tidy",
)
TIDY_TABLES = (
    RUNS, CONTROLS, FLOWS, PATHS, BOTTLENECKS, GROUPS, SHORT_FLOWS, CHECKS, SCENARIOS, INTERVALS, SOCKETS, QUEUE, CPU, CHANGES,
)  # fmt: skip
