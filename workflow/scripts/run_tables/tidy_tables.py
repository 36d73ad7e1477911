"""Declarations of the tidy tables of runs, flows and checks.

Neighbouring modules declare the tables of paths, scenarios, groups and time series. To add a column to the table of runs, declare it here,
and compute it in `tidy_rows.py` or in a module that is called from there.
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

_NO_STEADY = f"the application is FTP; {NO_WINDOW}; MSER finds no steady part"
_NO_DISORDER = "no late packets are configured"
_NO_BURSTS = "no bursts of losses are configured"
_NO_REPORT = (
    "the application sends round trips of single messages, or a program doesn't report its bytes (`reports_bytes`)"
)
_NO_SOCKET = "the flow is from a program over UDP"
_NO_LOG = "no qlog of a program over UDP was read"
_NO_REPEATS = "a program's retransmits over time are not known"
_NO_COMMON = "the application has no window"
_WINDOW_BEGIN = "Start of the window, measured from the traffic's origin. It is the first reading at which all flows had delivered data."
_WINDOW_END = "End of the window, measured from the traffic's origin. It is the last reading before any flow ends."

RUNS = Table(
    "runs",
    "a run",
    (
        *LABELLED_CELL,
        REPLICATION,
        count_column("seed", "", "Seed of the run. Within a replication, all CCAs and IP versions of a scenario have the same seed."),
        VALID,
        text_column("invalid_because", "Failed checks, each with the observed and the expected value.", "the run is valid"),
        text_column(
            "excluded_by",
            "Cause of the exclusion: `instrument` (path, hosts or measurement differed from the specification), `sender` (only the "
            "senders' behaviour made a check fail), `crash` (the kernel crashed), `not ended` (the run exceeded its time limit) or `not run` (there is no document). "
            "`sender`, `crash` and `not ended` are results of the CCAs that ran, not faults of the measurement.",
            "the run is valid",
        ),
        number_column("rate_mbps", "Mbit/s", "Rate of the bottleneck. With several paths, it is the rate of a single path; if the paths' rates differ, it is the lowest rate.", "nothing limits the rate"),
        number_column("delay_ms", "ms", "One-way delay in the data's direction: between the two routers of a dumbbell, between the first and the last router of a chain, or of the cable."),
        number_column("rtt_path_ms", "ms", "RTT of the empty path before any change to the path, averaged over pairs of hosts and paths."),
        number_column("loss_configured_percent", "%", "Random loss configured behind each bottleneck in the data's direction, before any change to the path.", "each of several paths has its own loss (`path_loss_percent` of the scenario)"),
        count_column("flows", "", "Number of long flows and program flows in all groups. A flow that pauses counts once for each period in which it sends."),
        count_column(
            "flows_under_test", "",
            "Number of flows that use the CCA under test; the CCA may belong to a program. Goodput, RTT, retransmits and all other measures of a run's flows cover only the flows under test. "
            "The other flows are in `flows.csv` and `groups.csv`.",
        ),
        count_column("queue_packets", "packets", "Configured limit of the bottleneck's queue.", "the limit is in bytes, or there is no limit"),
        count_column(
            "queue_bytes", "bytes", "Size of the full queue as counted by the bottleneck: the limit in bytes, or the limit in packets times the size of a full packet.",
            "the queue has no limit, or the size of a packet is not known",
        ),
        number_column(
            "packet_bytes", "bytes", "Size of a full packet as counted by the bottleneck, including headers, tunnel and frame overhead.",
            "sockets were not read, or the application has only messages",
        ),
        number_column(
            "queue_bdp", "BDP", "Size of the full queue in bandwidth-delay products (rate times RTT of the empty path). It is the configured value, or is computed from `queue_bytes`.",
            "rate, RTT or size is not known",
        ),
        number_column("duration_s", "s", "Time for which each flow sends if no amount is set; flow groups start and stop within this time."),
        number_column(
            "mss_bytes", "bytes", "Payload of a full segment of the run's connections.", "sockets were not read",
            "the sender's tcpi_snd_mss, the largest of all readings",
        ),
        number_column(
            "capacity_mbps", "Mbit/s",
            "Capacity of the path in the data's direction, including headers, averaged over the time in which the data delivered in the window left the bottleneck. "
            "It is computed from the rate (or the timeline or trace), the policer and the outages. Several paths count together; in a chain, only the narrowest bottleneck counts.",
            "nothing limits the rate, or round trips are measured",
        ),
        number_column(
            "ideal_goodput_mbps", "Mbit/s",
            "Goodput if the path were always full: the payload's share of `capacity_mbps`, or the senders' own limit, whichever is lower.",
            "neither the path nor a sender has a limit; the topology is a chain (`bottlenecks` has a value for each bottleneck)",
        ),
        number_column(
            "ideal_percent", "%",
            "`goodput_mbps` as a share of `ideal_goodput_mbps`. Packets that were in transit or unacknowledged at the beginning of the window don't raise the value above 100.",
            "`goodput_mbps` or `ideal_goodput_mbps` is empty",
        ),
        number_column(
            "goodput_mbps", "Mbit/s",
            "Rate at which the flows under test (`flows_under_test`) delivered data in the window that all flows have in common, including start-up. "
            "For UDP, only reporting intervals entirely inside the window count.",
            f"the application sends round trips of single messages; {NO_WINDOW}",
            "TCP_INFO: tcpi_bytes_acked, and tcpi_sacked for selectively acknowledged data; MPTCP: mptcpi_bytes_acked; "
            "UDP: iperf3's server; FTP: size over wget's time; ns-3: its senders", least=0,
        ),
        number_column(
            "goodput_steady_mbps", "Mbit/s", "`goodput_mbps` over the time after start-up, which begins at `steady_begin_ns`. The goodput may still change after start-up (`goodput_steady_change_percent`).",
            _NO_STEADY,
        ),
        number_column(
            "goodput_steady_change_percent", "%",
            "Change in goodput after start-up: the mean over the second half of the time after start-up minus the mean over the first half, relative to the mean of both halves. "
            "A value far from 0 means that the run isn't steady, regardless of the rule for start-up.",
            f"{_NO_COMMON}; {_NO_STEADY}; nothing was delivered after start-up",
        ),
        count_column(
            "steady_begin_ns", "ns",
            "Start of the steady part, measured from the traffic's origin. The study's rule (`steady_state`) determines it: `share` takes the first "
            "reading after the given share of the window; `mser` takes the reading after which the mean of the total goodput has the smallest standard error.",
            f"{_NO_COMMON}; {_NO_STEADY}",
        ),
        count_column("delivered_bytes", "bytes", "Data delivered by the flows under test in the window.", f"the application is FTP; {NO_WINDOW}"),
        count_column("window_begin_ns", "ns", _WINDOW_BEGIN, f"{_NO_COMMON}; {NO_WINDOW}"),
        count_column("window_end_ns", "ns", _WINDOW_END, f"{_NO_COMMON}; {NO_WINDOW}"),
        number_column(
            "application_goodput_mbps", "Mbit/s",
            "Goodput printed by the application, summed over the flows. Papers based on the application's output report this value. iperf3 counts whole blocks "
            "over each flow's own time, which ends when the flow's last message arrives.",
            f"{_NO_REPORT}; flows were scheduled at different times, so the sum of their rates has no meaning",
            "iperf3, receiver side; FTP: size over wget's time; ns-3: its receivers",
        ),
        number_column(
            "rtt_mean_ms", "ms", "Mean smoothed RTT of the senders' TCP, averaged over the flows. The RTT is read once per reporting interval. With `processes: per-side`, it is read together with the delivered bytes; for MPTCP and FTP, it is read whenever the sockets are read. For a program over UDP, it is the program's own smoothed RTT. For round trips, the value is the mean time of a round trip.",
            f"the protocol is UDP; {_NO_LOG}", "iperf3's mean_rtt; MPTCP and FTP: TCP_INFO over all readings; round trips: qperf; ns-3: single segments; programs: TCP_INFO or qlog", least=0,
        ),
        number_column(
            "rtt_above_ms", "ms",
            "`rtt_mean_ms` minus the shortest RTT of the empty path during the run (`rtt_shortest_ms` in `flows`). The difference is caused by queues, jitter, late packets and acknowledgements, and by times at which the path is longer.",
            f"the protocol is UDP; {_NO_LOG}; the paths of a flow have different RTTs",
        ),
        number_column(
            "rtt_steady_ms", "ms", "Mean of the smoothed RTTs at the ends of the reporting intervals that begin after start-up. The RTT may still change after start-up (`rtt_steady_change_percent`).",
            f"no interval begins after start-up; {NO_VALUE}; {_NO_STEADY}", "iperf3: tcpi_rtt at each interval's end",
        ),
        number_column(
            "rtt_steady_change_percent", "%",
            "Change in RTT over the reporting intervals that begin after start-up: the mean over the second half of these intervals minus the mean over the first half, relative to the mean of both halves. The change is averaged over flows.",
            f"fewer than four intervals begin after start-up; {NO_VALUE}; {_NO_STEADY}",
        ),
        number_column("rtt_min_ms", "ms", "Smallest RTT of the flows under test until the last reading of the sockets (at three quarters of the duration).", NO_VALUE, "tcpi_min_rtt"),
        number_column(
            "loss_percent", "%", "Dropped packets as a share of all packets offered to the bottleneck or its policer, in the data's direction. Packets dropped by the policer, by the queue and behind the bottleneck (`link_drops`) count.",
            "nothing is emulated", "counters of the queueing disciplines", least=0, most=100,
        ),
        count_column("retransmits", "segments", "Segments retransmitted by TCP, summed over the flows. For MPTCP and FTP, it is the sending hosts' count for all their connections.", NO_VALUE, "iperf3; MPTCP and FTP: TcpRetransSegs"),
        number_column("jain_index", "", "Jain's fairness index of the goodputs of the flows under test: 1 if all goodputs are equal, 1/n if one flow gets everything.", NO_VALUE, least=0, most=1),
        number_column("jain_steady_index", "", "Jain's fairness index of the goodputs of the flows under test after start-up.", f"{NO_VALUE}; {_NO_STEADY}"),
        number_column("throughput_per_stream_mbps", "Mbit/s", "Mean goodput per flow, from `application_goodput_mbps`: the throughput as TCP-ExBench computes it.", _NO_REPORT, least=0),
        number_column("rtt_first_stream_ms", "ms", "Mean RTT of the first flow: the RTT as TCP-ExBench computes it.", NO_VALUE, least=0),
        number_column("published_loss_percent", "%", "Retransmits divided by (bytes that the application passed to TCP / MSS), which TCP-ExBench calls packet loss. It may exceed 100.", "nothing was sent, or retransmits are not known", least=0),
        number_column("retransmit_percent", "%", "Retransmitted segments as a share of all segments sent: retransmits divided by the sum of retransmits and full segments that the receivers' applications got.", "nothing was received or retransmitted, or retransmits are not known", least=0, most=100),
        number_column(
            "retransmit_steady_percent", "%", "`retransmit_percent` in the reporting intervals that begin after start-up, with the bytes that the applications passed to TCP in place of those received.",
            f"no interval begins after start-up; {NO_VALUE}; {_NO_STEADY}",
        ),
        number_column("queue_mean_packets", "packets", "Mean number of packets in the bottleneck's queue, over the samples inside the window.", NOT_SAMPLED),
        number_column("queue_steady_packets", "packets", "Mean number of packets in the bottleneck's queue, over the samples inside the window after start-up.", f"{NOT_SAMPLED}; {_NO_STEADY}"),
        *(
            number_column(f"queueing_p{p}_ms", "ms", f"{words} of the queueing delay over the queue's samples. The queueing delay is the time that the waiting packets need to leave the queue.", NOT_SAMPLED)
            for p, words in ((50, "Median"), (95, "95th percentile"), (99, "99th percentile"))
        ),
        number_column("queueing_mean_ms", "ms", "Mean of the queueing delay over the queue's samples. The queueing delay is the time that the waiting packets need to leave the queue.", NOT_SAMPLED),
        number_column(
            "utilisation_percent", "%",
            "Data delivered by all flows in the window of `goodput_mbps`, excluding retransmissions, as a share of the path's capacity (`capacity_mbps`). As in `ideal_percent`, packets that were in transit at the beginning of the window don't raise the value above 100.",
            "the delivered amount is not known, nothing limits the rate, there are several bottlenecks, or web objects, streams or other traffic share the path",
        ),
        number_column(
            "convergence_s", "s",
            "Time from the last flow's start until all flows of all groups were within 10 % of their fair shares for the first time (delta-fair convergence, RFC 5166).",
            "the flows never had fair shares, there is only one flow, or deliveries are not recorded",
        ),
        count_column(
            "packets_sent", "packets",
            "Packets offered to the bottleneck, including dropped packets. A super-packet counts as one packet. In a chain, packets and drops are summed over all bottlenecks: "
            "a packet is offered to each bottleneck on its path.",
            "nothing is emulated",
        ),
        count_column("queue_drops", "packets", "Packets dropped by the bottleneck's queue because it was full or because its discipline decided to drop them.", "queue and loss share one netem, or nothing is emulated"),
        count_column("link_drops", "packets", "Packets dropped behind the bottleneck, by random loss or because the timeline took the link down.", "queue and loss share one netem, or nothing is emulated"),
        count_column("policer_drops", "packets", "Packets dropped by the policer in front of the bottleneck; they were never offered to the bottleneck.", "there is no policer", "counters of arrivals at r1"),
        *DISCIPLINE_COLUMNS,
        count_column("queue_marks", "packets", "Packets marked CE, as counted by the queue's discipline. A packet that two rules of the discipline mark counts twice; this is possible in dualpi2, and in codel and fq_codel with `ce_threshold_ms`.", NO_DISCIPLINE, "the discipline's statistics"),
        count_column("overflow_drops", "packets", "Packets dropped because the queue was full. The discipline decided to drop the other packets in `queue_drops`.", f"{NO_DISCIPLINE}, or the discipline doesn't report it (cake)", "the discipline's statistics"),
        count_column("ce_received", "packets", "Packets that arrived at the receivers with a CE mark; a packet that the path duplicates counts twice.", NO_ECN, "InCEPkts of the receivers' IP"),
        count_column("ce_echoed", "segments", "Segments delivered while receivers reported CE to the senders. With `accurate` ECN, these are the marked segments; with `classic` ECN, these are all segments until the sender has responded.", f"{NO_ECN}, or a program over UDP is under test", "TcpExtTCPDeliveredCE"),
        count_column("outage_drops", "packets", "Packets lost in the data's direction because a path of MPTCP was down (`multipath.outage`); no other column counts them.", "no path went down"),
        count_column("background_requests", "messages", "Requests of the server's clients.", "there is no server"),
        count_column("background_answers", "messages", "Answers of the server.", "there is no server"),
        number_column("background_mbps", "Mbit/s", "Rate of the server's answers on the cable, headers and frame overhead included.", "there is no server"),
        number_column("background_back_mbps", "Mbit/s", "Rate of the clients' requests on the cable, headers and frame overhead included.", "there is no server"),
        *APPLICATION_COLUMNS,
        number_column("transfer_s", "s", "Time of the longest file transfer.", "no file was transferred", least=0),
        count_column("out_of_order_segments", "segments", "Segments that waited at the receivers for an earlier segment.", NO_VALUE, "TcpExtTCPOFOQueue"),
        count_column("out_of_order_mptcp", "segments", "Segments that waited at the receivers for data from another subflow.", NO_VALUE, "MPTcpExtOFOQueue"),
        count_column(
            "reordering_events", "", "Number of times that a sender concluded that a segment was reordered, not lost.", NO_VALUE,
            "TcpExtTCPSACKReorder, TCPRenoReorder, TCPTSReorder",
        ),
        count_column(
            "recoveries", "", "Number of times that a sender assumed a loss and entered fast recovery.", NO_VALUE,
            "TcpExtTCPSackRecovery, TCPRenoRecovery",
        ),
        count_column(
            "recoveries_undone", "", "Number of `recoveries` that the senders undid, because timestamps or DSACK showed that nothing had been lost.", NO_VALUE,
            "TcpExtTCPFullUndo, TCPPartialUndo, TCPDSACKUndo",
        ),
        count_column(
            "duplicate_segments", "segments",
            "Segments that arrived at the receivers a second time, because they were retransmitted needlessly or duplicated by the path (`duplicate_packets`).", NO_VALUE,
            "TcpExtTCPDSACKOldSent, TCPDSACKOfoSent of the receiving hosts",
        ),
        count_column(
            "spurious_retransmits", "segments", "Retransmitted segments that the receiver already had. If the path duplicates no packets, all `duplicate_segments` are spurious retransmits.",
            f"the path duplicates packets, so retransmissions and duplicates are indistinguishable; {NO_VALUE}",
        ),
        *option_columns(),
        number_column(
            "waiting_per_late_packet", "segments",
            "Segments that waited at the receivers, per late packet. The value may be lower than the reordering extent of RFC 4737, the number of segments that overtake a late packet: "
            "a retransmission may end the wait before the late packet arrives, and a segment that waits for two late packets counts once.",
            f"{_NO_DISORDER}, packets were dropped (segments wait for dropped packets too), or the protocol is UDP", "TcpExtTCPOFOQueue, netem",
        ),
        number_column("loss_burst_configured_packets", "packets", "Configured mean length of the bursts of losses in the data's direction.", _NO_BURSTS),
        count_column("loss_bursts", "", "Number of completed bursts of random losses in the data's direction.", _NO_BURSTS, "netem's drops, and its random numbers"),
        number_column("loss_burst_packets", "packets", "Mean length of the completed bursts of random losses in the data's direction: lost packets per burst.", f"{_NO_BURSTS}, or no burst ended", "netem's drops, and its random numbers"),
        number_column("cwnd_packets", "packets", "Mean congestion window over all flows and the three readings of the senders' sockets (at quarters of the duration). Each subflow of MPTCP counts separately. For a program over TCP under test, all readings of its flows' sockets count.", "sockets were not read, or a program over UDP is under test"),
        number_column(
            "window_limited_percent", "%",
            "Share of a flow's busy time (the time with data to send) in which the flow waited for the receiver's window or for room in "
            "the send buffer, averaged over flows. It covers the time until the last reading of the sockets. Waiting for the send buffer counts only if the kernel records it: "
            "the time for which a program blocks while it writes does not count.",
            "sockets were not read, or the platform doesn't count it", "tcpi_rwnd_limited, tcpi_sndbuf_limited, tcpi_busy_time", least=0, most=100,
        ),
        number_column("cpu_busy_percent", "%", "Busy share of the cores that carried the run while traffic flowed, averaged over these cores.", "the clock is virtual", "/proc/stat", least=0, most=100),
        number_column("cpu_seconds_per_gbyte", "s/GB", "Total busy time of the cores that carried the run, divided by the data that arrived, in GB (10^9 bytes).", "the clock is virtual"),
        text_column("platform", "Platform that carried the packets: `uml`, `host`, or `ns3:` and a version."),
        count_column("pairs", "", "Number of pairs of hosts."),
        text_column("testbed_digest", "Content digest of the testbed that executed the run."),
        text_column("image_digest", "Content digest of the testbed's container image."),
        text_column("document_sha256", "SHA-256 of the run document, as `sha256sum` prints it."),
    ),
    "tidy",
)  # fmt: skip
CONTROLS = Table("controls", "a control run (only in studies with such runs)", RUNS.columns, "tidy")
FLOWS = Table(
    "flows",
    "a flow of a run",
    (
        *RUN_KEYS,
        ordinal_column("flow", "Number of the flow, from 0."),
        text_column("flow_cca", "CCA that was requested for the flow; the CCAs of a mix are assigned to the flows in turn."),
        ordinal_column("pair", "Number of the flow's pair of hosts, from 1."),
        count_column("hops", "", "Number of bottlenecks that the flow crosses: 1, except for a chain's long flows, which cross all bottlenecks."),
        ordinal_column("first_hop", "Number of the first bottleneck that the flow crosses, from 1 in the data's direction."),
        text_column("direction", "Direction of the flow's data: `forward`, or `reverse` for the opposite direction. The columns of `runs` cover `forward`."),
        number_column("rtt_path_ms", "ms", "RTT of the empty path between the flow's hosts, before any change to the path."),
        number_column("rtt_shortest_ms", "ms", "Shortest RTT of the empty path between the flow's hosts during the run, without jitter. With several paths, it is the RTT of the shortest path."),
        number_column("start_offset_ms", "ms", "Scheduled start of the flow, measured from the traffic's origin."),
        number_column("goodput_mbps", "Mbit/s", "Rate at which the flow delivered data in the window, including start-up.", f"the application sends round trips of single messages; {NO_WINDOW}"),
        number_column("goodput_steady_mbps", "Mbit/s", "Rate at which the flow delivered data in the window, excluding start-up.", _NO_STEADY),
        count_column("delivered_bytes", "bytes", "Data acknowledged cumulatively or selectively in the window.", f"the application is FTP; {NO_WINDOW}"),
        count_column("window_begin_ns", "ns", _WINDOW_BEGIN, NO_WINDOW),
        count_column("window_end_ns", "ns", _WINDOW_END, NO_WINDOW),
        number_column("application_goodput_mbps", "Mbit/s", "Goodput printed by the application: the data that the receiving application got, divided by the flow's own time.", _NO_REPORT),
        number_column("rtt_mean_ms", "ms", "Mean of the sender's smoothed RTTs. The RTT is read once per reporting interval. With `processes: per-side`, it is read together with the delivered bytes; for MPTCP and FTP, it is read whenever the sockets are read. For a program over UDP, it is the program's own smoothed RTT.", f"{NO_VALUE}; {_NO_LOG}", "programs over UDP: qlog"),
        number_column("rtt_steady_ms", "ms", "Mean of the smoothed RTTs at the ends of the flow's reporting intervals that begin after start-up.", f"{NO_VALUE}; {_NO_STEADY}"),
        number_column("rtt_min_ms", "ms", "Smallest single RTT until the last reading of the sockets.", NO_VALUE, "tcpi_min_rtt; qlog"),
        number_column("rtt_max_ms", "ms", "Largest of the smoothed RTTs at the ends of the flow's reporting intervals.", NO_VALUE),
        count_column("retransmits", "segments", "Retransmitted segments. If several MPTCP flows share a sending host, only segments retransmitted until the last reading of the sockets count.", NO_VALUE),
        number_column("rtt_steady_change_percent", "%", "Change in RTT over the reporting intervals that begin after start-up: the mean over the second half of these intervals minus the mean over the first half, relative to the mean of both halves.", f"fewer than four intervals begin after start-up; {NO_VALUE}; {_NO_STEADY}"),
        count_column("retransmits_steady", "segments", "Segments retransmitted in the reporting intervals that begin after start-up.", f"{NO_VALUE}; {_NO_STEADY}; {_NO_REPEATS}"),
        number_column("bytes_sent_steady", "bytes", "Bytes sent in the reporting intervals that begin after start-up.", f"{NO_VALUE}; {_NO_STEADY}; {_NO_REPEATS}"),
        count_column("bytes_sent", "bytes", "Bytes that the sender's application passed to TCP; TCP may not have sent all of these bytes. For a program, the payload of its packets, for TCP without repeated data.", NO_VALUE),
        count_column("bytes_received", "bytes", "Bytes that the receiving application got.", NO_VALUE),
        count_column("cwnd_max_bytes", "bytes", "Largest of the congestion windows at the ends of the flow's reporting intervals.", NO_VALUE),
        text_column("cca_observed", "CCA in use, as reported by the sender's program or kernel.", "no CCA was reported"),
        text_column("ecn_observed", "Mode of ECN that the flow's connection negotiated, at the last reading of the sockets.", f"{NO_DISCIPLINE} and {NO_ECN}; {_NO_SOCKET}", "tcpi_ecn_mode, tcpi_options"),
        count_column("ce_received", "segments", "Segments with a CE mark that the receiver had received by the last reading of the sockets.", f"{NO_DISCIPLINE} and {NO_ECN}; the kernel doesn't count them; {_NO_SOCKET}", "the receiver's tcpi_received_ce"),
        count_column("ce_echoed", "segments", "Segments delivered while the receiver reported CE, until the last reading of the sockets.", f"{NO_DISCIPLINE} and {NO_ECN}; {_NO_SOCKET}", "tcpi_delivered_ce"),
        text_column("group", "Name of the flow's group.", "the scenario has no groups"),
        truth_column("under_test", "Whether the columns of `runs` include the flow: it uses the run's CCA and sends in the direction `forward`."),
        number_column(
            "goodput_lifetime_mbps", "Mbit/s", "Goodput over the flow's own lifetime: from the first reading with data of the flow to the last reading before the flow ended.",
            "deliveries of the flow are not recorded",
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
        truth_column("ok", "Whether the run passed the check."),
        text_column("expected", "Expected value, in words."),
        text_column("observed", "Observed value, in words."),
    ),
    "tidy",
)
TIDY_TABLES = (
    RUNS, CONTROLS, FLOWS, PATHS, BOTTLENECKS, GROUPS, SHORT_FLOWS, CHECKS, SCENARIOS, INTERVALS, SOCKETS, QUEUE, CPU, CHANGES,
)  # fmt: skip
