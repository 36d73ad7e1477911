"""Declarations of the tables of paths and bottlenecks; `path_counts` and `chain_metrics` compute their rows."""

from run_tables.run_keys import NO_DISCIPLINE, NO_WINDOW, NOT_SAMPLED, RUN_KEYS, VALID
from run_tables.table import Table, count_column, number_column, ordinal_column, text_column

_SUBFLOW = "no subflow of MPTCP is on the path"
PATHS = Table(
    "paths",
    "a path of a run over cables",
    (
        *RUN_KEYS,
        ordinal_column("path", "Number of the path, from 1."),
        count_column("packets", "packets", "Packets that left the sender on this path while traffic flowed."),
        count_column("bytes", "bytes", "Bytes that left the sender on this path while traffic flowed, including all headers, as counted by the shaper.", "nothing limits the rate"),
        number_column("share_percent", "%", "This path's share of the packets on all paths.", "no packet left the sender"),
        count_column("queue_drops", "packets", "Packets dropped by the queue on this path."),
        count_column("subflow_bytes_acked", "bytes", "Bytes acknowledged on the MPTCP subflows on this path until the last reading of the sockets (at 3/4 of the duration).", _SUBFLOW),
        count_column("subflow_retransmits", "segments", "Segments retransmitted on the MPTCP subflows on this path until the last reading of the sockets.", _SUBFLOW),
        number_column("subflow_rtt_ms", "ms", "Mean smoothed RTT of the MPTCP subflows on this path at the last reading of the sockets.", _SUBFLOW),
        text_column("subflow_cca", "CCAs of the MPTCP subflows on this path, joined by `+`.", _SUBFLOW),
        VALID,
    ),
    "tidy",
)  # fmt: skip
_NO_QUEUE_SAMPLES = f"{NOT_SAMPLED}; {NO_WINDOW}"
BOTTLENECKS = Table(
    "bottlenecks",
    "a bottleneck of a run over a chain",
    (
        *RUN_KEYS,
        ordinal_column("bottleneck", "Number of the bottleneck, from 1 in the data's direction."),
        number_column("rate_mbps", "Mbit/s", "Rate of the bottleneck."),
        number_column("delay_ms", "ms", "One-way delay of the bottleneck's link in the data's direction."),
        number_column("rtt_path_ms", "ms", "Mean RTT of the two empty paths through the bottleneck: the long flows' path and the cross flows' path."),
        text_column("discipline", "Queueing discipline of the bottleneck."),
        count_column("queue_packets", "packets", "Limit of the bottleneck's queue in packets.", "the limit is in bytes"),
        count_column("queue_bytes", "bytes", "Limit of the bottleneck's queue in bytes.", "the limit is in packets"),
        count_column("flows", "", "Number of flows that go through the bottleneck."),
        number_column("ideal_goodput_mbps", "Mbit/s", "Total goodput of the flows through the bottleneck if the bottleneck were always full: the payload's share of the rate."),
        number_column("goodput_mbps", "Mbit/s", "Total goodput in the window of the flows that go through the bottleneck.", NO_WINDOW),
        number_column("jain_index", "", "Jain's fairness index of the goodputs of the flows that go through the bottleneck.", NO_WINDOW),
        count_column("packets_sent", "packets", "Packets offered to the bottleneck, including dropped packets."),
        count_column("queue_drops", "packets", "Packets dropped by the bottleneck's queue."),
        count_column("queue_marks", "packets", "Packets marked CE by the bottleneck's queue.", NO_DISCIPLINE),
        count_column("link_drops", "packets", "Packets lost at random behind the bottleneck."),
        number_column("loss_percent", "%", "Share of the offered packets that were dropped by the bottleneck's queue or lost behind it.", "no packet was offered"),
        number_column("queue_mean_packets", "packets", "Mean number of packets in the bottleneck's queue, over the samples inside the window.", _NO_QUEUE_SAMPLES),
        VALID,
    ),
    "tidy",
)  # fmt: skip
