"""Tables of quantities sampled during a run, column by column (`time_series`, `cpu_times`, `path_changes`)."""

from run_tables.run_keys import NO_DISCIPLINE, NO_ECN, NO_VALUE, RUN_KEYS
from run_tables.table import Table, count_column, number_column, ordinal_column, text_column

_NO_BBR3 = "the CCA is not BBRv3"
_NO_BOUND = f"it has none then; {_NO_BBR3}"
INTERVALS = Table(
    "intervals",
    "a reporting interval of a flow, the sender's side",
    (
        *RUN_KEYS,
        ordinal_column("flow", "Number of the flow, from 0."),
        number_column("start_s", "s", "Begin, from the flow's own."),
        number_column("end_s", "s", "End."),
        number_column(
            "sent_mbps", "Mbit/s", "Given to TCP by the sender's application, which may still wait in the send buffer."
        ),
        count_column("retransmits", "segments", "Retransmitted.", NO_VALUE),
        count_column("cwnd_bytes", "bytes", "Congestion window at its end.", NO_VALUE),
        number_column("rtt_ms", "ms", "Smoothed RTT at its end.", NO_VALUE),
        number_column("rttvar_ms", "ms", "Mean deviation of the RTT at its end.", NO_VALUE),
    ),
    "tidy",
    "parquet",
)
_UNKNOWN = "the platform or the CCA doesn't know it, or it is a program's that has no qlog"
SOCKETS = Table(
    "sockets",
    "a flow's socket at one instant (of MPTCP a subflow's; of a program under test what its packets and its qlog say); only of studies that ask for time series",
    (
        *RUN_KEYS,
        ordinal_column("flow", "Number of the flow, from 0."),
        text_column("flow_cca", "Its own CCA, in a mix one of them."),
        ordinal_column("path", "Of MPTCP the path of the subflow, from 1.", "it is plain TCP"),
        number_column("time_s", "s", "Since the traffic's origin, the earliest moment at which a flow may start."),
        text_column("state", "Loss state; of a program the state of its congestion control, or `not told`.", _UNKNOWN, "tcpi_ca_state; qlog"),
        number_column("cwnd_packets", "segments", "Congestion window; of a program in packets of its largest size.", _UNKNOWN, "tcpi_snd_cwnd; qlog"),
        number_column("ssthresh_packets", "segments", "Slow start threshold.", "it is infinite, or not known", "tcpi_snd_ssthresh; qlog"),
        number_column("unacked_packets", "segments", "Sent and not acknowledged.", _UNKNOWN, "tcpi_unacked; qlog (bytes in flight)"),
        number_column("sacked_packets", "segments", "Of these, acknowledged selectively.", _UNKNOWN, "tcpi_sacked"),
        number_column("lost_packets", "segments", "Of these, taken for lost.", _UNKNOWN, "tcpi_lost"),
        number_column("retransmits", "segments", "Retransmitted so far; of a program declared lost so far.", _UNKNOWN, "tcpi_total_retrans; qlog"),
        number_column("bytes_sent", "bytes", "Payload sent so far, retransmissions included.", _UNKNOWN, "tcpi_bytes_sent; of a program the payload of its packets"),
        number_column("bytes_acked", "bytes", "Payload acknowledged so far.", _UNKNOWN, "tcpi_bytes_acked; of a program what arrived"),
        number_column("bytes_retransmitted", "bytes", "Payload retransmitted so far.", _UNKNOWN, "tcpi_bytes_retrans"),
        number_column("rtt_ms", "ms", "Smoothed RTT.", _UNKNOWN, "tcpi_rtt; qlog"),
        number_column("rttvar_ms", "ms", "Its mean deviation.", _UNKNOWN, "tcpi_rttvar; qlog"),
        number_column("rtt_min_ms", "ms", "Smallest RTT.", _UNKNOWN, "tcpi_min_rtt; qlog"),
        number_column("rto_ms", "ms", "Retransmission timeout.", _UNKNOWN, "tcpi_rto"),
        number_column("pacing_mbps", "Mbit/s", "Pacing rate.", _UNKNOWN, "tcpi_pacing_rate"),
        number_column("delivery_mbps", "Mbit/s", "Latest delivery rate.", _UNKNOWN, "tcpi_delivery_rate"),
        number_column("bbr_bw_mbps", "Mbit/s", "BBR's estimate of the bottleneck's rate.", _UNKNOWN, "tcpbbr_bw"),
        number_column("bbr_rtt_min_ms", "ms", "BBR's smallest RTT (its RTprop).", _UNKNOWN, "tcpbbr_rtt"),
        number_column("bbr_pacing_gain", "", "BBR's pacing gain.", _UNKNOWN, "tcpbbr_pacing_gain"),
        number_column("bbr_cwnd_gain", "", "BBR's cwnd gain.", _UNKNOWN, "tcpbbr_cwnd_gain"),
        number_column("bbr_version", "", "BBR's version, 3 of BBRv3.", _NO_BBR3, "tcpbbr_version"),
        number_column(
            "bbr_phase", "",
            "BBRv3's phase: 1 STARTUP, 2 DRAIN, 3 PROBE_RTT, 4 PROBE_BW_UP, 5 PROBE_BW_DOWN, 6 PROBE_BW_CRUISE, 7 PROBE_BW_REFILL.",
            _NO_BBR3, "tcpbbr_phase",
        ),
        number_column("bbr_bw_hi_mbps", "Mbit/s", "BBRv3's upper bound of the rate, the largest that was measured of late.", _NO_BBR3, "tcpbbr_bw_hi"),
        number_column("bbr_bw_lo_mbps", "Mbit/s", "BBRv3's short-term bound of the rate.", _NO_BOUND, "tcpbbr_bw_lo"),
        number_column("bbr_inflight_hi_packets", "segments", "BBRv3's long-term bound of what is under way.", _NO_BOUND, "tcpbbr_inflight_hi"),
        number_column("bbr_inflight_lo_packets", "segments", "BBRv3's short-term bound of what is under way.", _NO_BOUND, "tcpbbr_inflight_lo"),
        number_column(
            "vegas_rtt_ms", "ms",
            "Vegas and YeAH: their base RTT, the smallest of the connection; other CCAs that report so: their latest or mean RTT.",
            _UNKNOWN, "tcpv_rtt",
        ),
        number_column(
            "vegas_rtt_min_ms", "ms",
            "Vegas and YeAH: the smallest RTT of the latest round trip; other CCAs: the smallest of the connection.",
            _UNKNOWN, "tcpv_minrtt",
        ),
        number_column("delivered_ce_packets", "segments", "Delivered so far while the receiver reported CE marks.", f"{NO_DISCIPLINE} and {NO_ECN}", "tcpi_delivered_ce"),
    ),
    "tidy",
    "parquet",
)  # fmt: skip
QUEUE = Table(
    "queue",
    "the bottleneck's queue in the data's direction at one instant",
    (
        *RUN_KEYS,
        ordinal_column("bottleneck", "Number of the bottleneck, from 1: there is one, but on a chain."),
        number_column("time_s", "s", "Since the traffic's origin."),
        count_column("packets", "packets", "That wait."),
        count_column("bytes", "bytes", "That wait."),
        count_column("drops", "packets", "Since the origin."),
        number_column(
            "delay_ms",
            "ms",
            "Time that what waits takes to leave at the link's rate, or those that follow.",
            "nothing limits the rate",
        ),
        count_column("marks", "packets", "Marked CE since the origin.", NO_DISCIPLINE),
        number_column(
            "discipline_delay_ms",
            "ms",
            "Delay as the discipline itself tells it: codel, pie, cake (of its busiest tin), dualpi2 (of the classic queue).",
            "it tells none",
        ),
        number_column("l4s_delay_ms", "ms", "The same of dualpi2's low-latency queue.", "it has none"),
    ),
    "tidy",
    "parquet",
)
CPU = Table(
    "cpu",
    "a core that carried a run, between two readings; only under a real clock",
    (
        *RUN_KEYS,
        ordinal_column("core", "Number of the core."),
        text_column("role", "What it carried: senders, receivers, routers by name, the testbed's own program."),
        number_column("time_s", "s", "Of the reading, since the traffic's origin."),
        number_column("busy_percent", "%", "All that is not idle since the reading before, which the kernel measures."),
        number_column("user_percent", "%", "Of processes, which the kernel samples; the parts need not add up."),
        number_column("system_percent", "%", "Of the kernel."),
        number_column("softirq_percent", "%", "Of interrupts, soft and hard."),
        number_column("steal_percent", "%", "Taken by a hypervisor."),
    ),
    "tidy",
    "parquet",
)
CHANGES = Table(
    "changes",
    "a change of the path of a run; only of studies that have some",
    (
        *RUN_KEYS,
        ordinal_column("change", "Number of the change in its run, from 1."),
        text_column("direction", "`forward` (data) or `reverse` (acknowledgements)."),
        text_column("quantity", "What changed: `rate_mbps`, `delay_ms` or `loss_percent`."),
        text_column("kind", "`step`, a part of a `ramp`, of a link that is `down` or `up` again, or a step of a `trace`."),
        number_column("value", "as `quantity` says", "What it was changed to."),
        count_column("at_ns", "ns", "When it was to take place, from the traffic's origin."),
        count_column("realised_ns", "ns", "The run's clock when it had."),
        number_column("value_told", "as `quantity` says", "What the kernel gave back at once.", source="rtnetlink"),
        number_column("offered_mbps", "Mbit/s", "Of a trace: what the link offers from this change until the next, on average. The shaper's rate (`value`) rises before, by which nothing is lost to a packet begun at the old rate."),
        count_column("bytes", "bytes", "That had left the devices changed, until then.", source="their queueing disciplines"),
        count_column("drops", "packets", "That they had dropped until then: of a loss those lost at random or by the outage, of a rate those of the full queue.", source="their queueing disciplines"),
    ),
    "tidy",
)  # fmt: skip
