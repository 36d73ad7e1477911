"""The paths of a run over cables and the bottlenecks of a run over a chain, column by column (`path_counts`, `chain_metrics`)."""

from run_tables.run_keys import NO_DISCIPLINE, NO_WINDOW, NOT_SAMPLED, RUN_KEYS, VALID
from run_tables.table import Table, count_column, number_column, ordinal_column, text_column

_SUBFLOW = "no subflow of MPTCP is on the path"
PATHS = Table(
    "paths",
    "a path of a run over cables",
    (
        *RUN_KEYS,
        ordinal_column("path", "Number of the path, from 1."),
        count_column("packets", "packets", "Packets that left the sender on the path while traffic flowed."),
        count_column("bytes", "bytes", "Bytes of these packets' frames, all headers included, as counted by the shaper.", "nothing limits the rate"),
        number_column("share_percent", "%", "Share of all paths' packets.", "no packet left"),
        count_column("queue_drops", "packets", "Packets dropped by the path's queue."),
        count_column("subflow_bytes_acked", "bytes", "Bytes acknowledged on MPTCP's subflows of the path until the last reading of the sockets (at 3/4 of the duration).", _SUBFLOW),
        count_column("subflow_retransmits", "segments", "Segments that these subflows had retransmitted until then.", _SUBFLOW),
        number_column("subflow_rtt_ms", "ms", "Mean smoothed RTT of these subflows at the last reading of the sockets.", _SUBFLOW),
        text_column("subflow_cca", "CCAs of these subflows, joined by `+`.", _SUBFLOW),
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
        number_column("delay_ms", "ms", "One-way delay of its link in the data's direction."),
        number_column("rtt_path_ms", "ms", "RTT of the empty paths through it, averaged over the long flows' and the cross flows' path."),
        text_column("discipline", "Its queueing discipline."),
        count_column("queue_packets", "packets", "Limit of its queue.", "its limit is in bytes"),
        count_column("queue_bytes", "bytes", "Limit of its queue.", "its limit is in packets"),
        count_column("flows", "", "Number of flows that pass it."),
        number_column("ideal_goodput_mbps", "Mbit/s", "Goodput of these flows together if the bottleneck were always full: the payload's share of the rate."),
        number_column("goodput_mbps", "Mbit/s", "Data delivered by the flows that pass it, in the window.", NO_WINDOW),
        number_column("jain_index", "", "Jain's fairness index of the goodputs of the flows that pass it.", NO_WINDOW),
        count_column("packets_sent", "packets", "Packets offered to the bottleneck, including dropped ones."),
        count_column("queue_drops", "packets", "Packets dropped by its queue."),
        count_column("queue_marks", "packets", "Packets marked CE by its queue.", NO_DISCIPLINE),
        count_column("link_drops", "packets", "Packets lost at random behind the bottleneck."),
        number_column("loss_percent", "%", "Share of the offered packets that were dropped by its queue or lost behind it.", "no packet was offered"),
        number_column("queue_mean_packets", "packets", "Mean of its queue's samples inside the window.", _NO_QUEUE_SAMPLES),
        VALID,
    ),
    "tidy",
)  # fmt: skip
