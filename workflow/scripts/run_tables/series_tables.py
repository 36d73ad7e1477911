"""Declarations of the tables of time series; `time_series`, `cpu_times` and `path_changes` compute their rows."""

from run_tables.run_keys import NO_DISCIPLINE, NO_ECN, NO_VALUE, RUN_KEYS
from run_tables.table import Table, count_column, number_column, ordinal_column, text_column

_NO_BBR3 = "the CCA is not BBRv3"
_NO_BOUND = f"there is no bound at this time; {_NO_BBR3}"
INTERVALS = Table(
    "intervals",
    "a reporting interval of a flow on the sender's side",
    (
        *RUN_KEYS,
        ordinal_column("flow", "Number of the flow, from 0."),
        number_column("start_s", "s", "Start of the interval, measured from the flow's own start."),
        number_column("end_s", "s", "End of the interval, measured from the flow's own start."),
        number_column(
            "sent_mbps",
            "Mbit/s",
            "Rate of the data that the sender's application passed to TCP; some of the data may still be in the send buffer. For a program, the payload rate of its packets; over TCP, retransmitted data are not counted again.",
        ),
        count_column(
            "retransmits",
            "segments",
            "Segments retransmitted.",
            f"{NO_VALUE}; a program's retransmits over time are not known",
        ),
        count_column("cwnd_bytes", "bytes", "Congestion window at the end of the interval.", NO_VALUE),
        number_column("rtt_ms", "ms", "Smoothed RTT at the end of the interval.", NO_VALUE),
        number_column("rttvar_ms", "ms", "Mean deviation of the RTT at the end of the interval.", NO_VALUE),
    ),
    "tidy",
    "parquet",
)
_UNKNOWN = "the platform or the CCA doesn't provide it, or the flow belongs to a program over UDP without a qlog"
SOCKETS = Table(
    "sockets",
    "a flow's socket at one instant (for MPTCP, a subflow's socket; for a program over UDP under test, values from its packets and its qlog), in studies with time series",
    (
        *RUN_KEYS,
        ordinal_column("flow", "Number of the flow, from 0."),
        text_column("flow_cca", "CCA of the flow; in a mix, one of the mix's CCAs."),
        ordinal_column("path", "For MPTCP, the number of the subflow's path, from 1.", "the flow is plain TCP"),
        number_column("time_s", "s", "Time since the traffic's origin, the earliest moment at which a flow may start."),
        text_column("state", "Loss state of TCP. For a program over UDP, it is the congestion control state in the program's log, or `unknown` if the log has no state.", _UNKNOWN, "tcpi_ca_state; qlog"),
        number_column("cwnd_packets", "segments", "Congestion window. For a program over UDP, it is counted in packets of the program's largest size.", _UNKNOWN, "tcpi_snd_cwnd; qlog"),
        number_column("ssthresh_packets", "segments", "Slow start threshold.", "the threshold is infinite or not known", "tcpi_snd_ssthresh; qlog"),
        number_column("unacked_packets", "segments", "Segments sent and not acknowledged.", _UNKNOWN, "tcpi_unacked; qlog (bytes in flight)"),
        number_column("sacked_packets", "segments", "Unacknowledged segments that were SACKed.", _UNKNOWN, "tcpi_sacked"),
        number_column("lost_packets", "segments", "Unacknowledged segments that are considered lost.", _UNKNOWN, "tcpi_lost"),
        number_column("retransmits", "segments", "Segments retransmitted so far. For a program over UDP, it is the number of packets declared lost so far.", _UNKNOWN, "tcpi_total_retrans; qlog"),
        number_column("bytes_sent", "bytes", "Payload sent so far, retransmissions included.", _UNKNOWN, "tcpi_bytes_sent; for a program over UDP, the payload of its packets"),
        number_column("bytes_acked", "bytes", "Payload acknowledged so far.", _UNKNOWN, "tcpi_bytes_acked; for a program over UDP, the payload that arrived"),
        number_column("bytes_retransmitted", "bytes", "Payload retransmitted so far.", _UNKNOWN, "tcpi_bytes_retrans"),
        number_column("rtt_ms", "ms", "Smoothed RTT.", _UNKNOWN, "tcpi_rtt; qlog"),
        number_column("rttvar_ms", "ms", "Mean deviation of the RTT.", _UNKNOWN, "tcpi_rttvar; qlog"),
        number_column("rtt_min_ms", "ms", "Smallest RTT.", _UNKNOWN, "tcpi_min_rtt; qlog"),
        number_column("rto_ms", "ms", "Retransmission timeout.", _UNKNOWN, "tcpi_rto"),
        number_column("pacing_mbps", "Mbit/s", "Pacing rate.", _UNKNOWN, "tcpi_pacing_rate"),
        number_column("delivery_mbps", "Mbit/s", "Latest delivery rate.", _UNKNOWN, "tcpi_delivery_rate"),
        number_column("bbr_bw_mbps", "Mbit/s", "BBR's estimate of the bottleneck's rate.", _UNKNOWN, "tcpbbr_bw"),
        number_column("bbr_rtt_min_ms", "ms", "BBR's minimum RTT (its RTprop).", _UNKNOWN, "tcpbbr_rtt"),
        number_column("bbr_pacing_gain", "", "BBR's pacing gain.", _UNKNOWN, "tcpbbr_pacing_gain"),
        number_column("bbr_cwnd_gain", "", "BBR's cwnd gain.", _UNKNOWN, "tcpbbr_cwnd_gain"),
        number_column("bbr_version", "", "Version of BBR: 3 for BBRv3.", _NO_BBR3, "tcpbbr_version"),
        number_column(
            "bbr_phase", "",
            "BBRv3's phase: 1 STARTUP, 2 DRAIN, 3 PROBE_RTT, 4 PROBE_BW_UP, 5 PROBE_BW_DOWN, 6 PROBE_BW_CRUISE, 7 PROBE_BW_REFILL.",
            _NO_BBR3, "tcpbbr_phase",
        ),
        number_column("bbr_bw_hi_mbps", "Mbit/s", "BBRv3's upper bound for the rate: the largest rate measured recently.", _NO_BBR3, "tcpbbr_bw_hi"),
        number_column("bbr_bw_lo_mbps", "Mbit/s", "BBRv3's short-term bound for the rate.", _NO_BOUND, "tcpbbr_bw_lo"),
        number_column("bbr_inflight_hi_packets", "segments", "BBRv3's long-term bound for the data in flight.", _NO_BOUND, "tcpbbr_inflight_hi"),
        number_column("bbr_inflight_lo_packets", "segments", "BBRv3's short-term bound for the data in flight.", _NO_BOUND, "tcpbbr_inflight_lo"),
        number_column(
            "vegas_rtt_ms", "ms",
            "For Vegas and YeAH, the base RTT (the smallest RTT of the connection); for other CCAs that report a value, the latest or mean RTT.",
            _UNKNOWN, "tcpv_rtt",
        ),
        number_column(
            "vegas_rtt_min_ms", "ms",
            "For Vegas and YeAH, the smallest RTT of the latest round trip; for other CCAs, the smallest RTT of the connection.",
            _UNKNOWN, "tcpv_minrtt",
        ),
        number_column("delivered_ce_packets", "segments", "Segments delivered so far while the receiver reported CE marks.", f"{NO_DISCIPLINE} and {NO_ECN}", "tcpi_delivered_ce"),
    ),
    "tidy",
    "parquet",
)  # fmt: skip
QUEUE = Table(
    "queue",
    "the bottleneck's queue in the data's direction at one instant",
    (
        *RUN_KEYS,
        ordinal_column("bottleneck", "Number of the bottleneck, from 1; only a chain has several."),
        number_column("time_s", "s", "Time since the traffic's origin."),
        count_column("packets", "packets", "Packets in the queue."),
        count_column("bytes", "bytes", "Bytes in the queue."),
        count_column("drops", "packets", "Packets dropped since the traffic's origin."),
        number_column(
            "delay_ms",
            "ms",
            "Time that the waiting packets need to leave the queue at the link's current and later rates.",
            "nothing limits the rate",
        ),
        count_column("marks", "packets", "Packets marked CE since the traffic's origin.", NO_DISCIPLINE),
        number_column(
            "discipline_delay_ms",
            "ms",
            "Delay reported by the discipline: codel, pie, cake (for the busiest tin) or dualpi2 (for the classic queue).",
            "the discipline reports none",
        ),
        number_column(
            "l4s_delay_ms",
            "ms",
            "Delay of dualpi2's low-latency queue, as reported by the discipline.",
            "the discipline isn't dualpi2",
        ),
    ),
    "tidy",
    "parquet",
)
CPU = Table(
    "cpu",
    "a core that carried a run, over the interval between two readings (only under a real clock)",
    (
        *RUN_KEYS,
        ordinal_column("core", "Number of the core."),
        text_column("role", "Role of the core: senders, receivers, routers by name, or the testbed's own program."),
        number_column("time_s", "s", "Time of the reading, since the traffic's origin."),
        number_column(
            "busy_percent",
            "%",
            "Share of the time since the previous reading in which the core was not idle, as measured by the kernel.",
        ),
        number_column(
            "user_percent",
            "%",
            "Share of the time spent in processes, as sampled by the kernel; the sampled parts need not add up to `busy_percent`.",
        ),
        number_column("system_percent", "%", "Share of the time spent in the kernel, as sampled."),
        number_column("softirq_percent", "%", "Share of the time spent in soft and hard interrupts, as sampled."),
        number_column("steal_percent", "%", "Share of the time taken by a hypervisor, as sampled."),
    ),
    "tidy",
    "parquet",
)
CHANGES = Table(
    "changes",
    "a change to a run's path (only in studies with such changes)",
    (
        *RUN_KEYS,
        ordinal_column("change", "Number of the change in its run, from 1."),
        text_column("direction", "`forward` (data) or `reverse` (acknowledgements)."),
        text_column("quantity", "Quantity that changed: `rate_mbps`, `delay_ms` or `loss_percent`."),
        text_column("kind", "`step`; `ramp` for a part of a ramp; `down` or `up` for a link that fails or returns; or `trace` for a step of a trace."),
        number_column("value", "as `quantity` says", "New value."),
        count_column("at_ns", "ns", "Scheduled time of the change, measured from the traffic's origin."),
        count_column("realised_ns", "ns", "Time at which the change had been made, measured on the run's clock from the traffic's origin."),
        number_column("value_told", "as `quantity` says", "Value that the kernel reported immediately after the change.", source="rtnetlink"),
        number_column("offered_mbps", "Mbit/s", "For a trace, the mean capacity of the link from this change until the next change. The shaper's rate (`value`) rises earlier: otherwise a packet whose sending began at the old rate would waste capacity."),
        count_column("bytes", "bytes", "Bytes that had left the changed devices by the time of the change.", source="their queueing disciplines"),
        count_column("drops", "packets", "Packets that the changed devices had dropped by the time of the change. For a change in loss, these are packets lost at random or in an outage; for a change in rate, these are packets dropped by the full queue.", source="their queueing disciplines"),
    ),
    "tidy",
)  # fmt: skip
