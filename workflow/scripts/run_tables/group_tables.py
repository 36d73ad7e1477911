"""Declarations of the tables of flow groups and web objects; `group_metrics` computes their rows."""

from run_tables.run_keys import RUN_KEYS, VALID
from run_tables.table import Table, count_column, number_column, ordinal_column, text_column

_OTHER_GROUP = "the column doesn't apply to the group's application"
_NOT_REACHED = f"too few objects or flows were complete to reach the percentile, or {_OTHER_GROUP}"
_NONE_ARRIVED = f"no packet arrived, or {_OTHER_GROUP}"
#: Columns that identify a group of flows in a run.
GROUP_COLUMNS = (
    text_column("group", "Name of the group."),
    text_column(
        "group_cca",
        "CCA of the group. For web objects, it is the server's CCA; for a program, it is the program's name and CCA, such as `quicgo:cubic`. The CCAs of several flows are joined by `+`.",
        "the group doesn't use TCP",
    ),
    text_column("beside", "CCAs of the run's long flows and programs in other groups, joined by `+`, or `none`."),
)


def _percentile_columns(name, unit, meaning, empty):
    """Return the declaration of one column per percentile, named as in `group_metrics`."""
    ending = f"_{unit}" if unit else ""
    words = {50: "Median", 95: "95th percentile", 99: "99th percentile"}
    return tuple(
        number_column(f"{name}_p{p}{ending}", unit, f"{word} of {meaning}.", empty, least=0)
        for p, word in words.items()
    )


GROUPS = Table(
    "groups",
    "a group of flows of a run (only in studies with such groups)",
    (
        *RUN_KEYS,
        *GROUP_COLUMNS,
        text_column("application", "`iperf3`, `web`, `real-time` or `program`."),
        text_column("direction", "Direction of the group's data: `forward` or `reverse`."),
        number_column("start_s", "s", "Start of the group, measured from the traffic's origin."),
        number_column("stop_s", "s", "End of the group, measured from the traffic's origin.", "the group requests a fixed number of objects, or sends a fixed amount"),
        count_column("members", "", "Number of flows, streams, or requested objects."),
        number_column("goodput_mbps", "Mbit/s", "Sum of the goodputs of the group's long flows or program flows, each averaged over the flow's lifetime. If flows pause, the sum is averaged over their on-times. A program's goodput is based on the bytes that the program reports; without a report, it is based on the data delivered by TCP or on the payload that arrived over UDP.", _OTHER_GROUP),
        count_column("complete", "objects", "Number of complete web objects, or of complete flows of a program whose flows send a fixed amount.", _OTHER_GROUP),
        *_percentile_columns("completion", "ms", "the completion times: from connect to the last byte for web objects, and from the client's start to its end for a program's flows. For incomplete objects and flows, only a lower bound is known (Kaplan-Meier estimator)", _NOT_REACHED),
        *_percentile_columns("completion_worst", "ms", "the completion times, with incomplete objects and flows counted as the slowest", _NOT_REACHED),
        number_column("watched_ms", "ms", "Longest time that the run waited for an object or flow. Percentiles that were not reached exceed this time.", _OTHER_GROUP, least=0),
        *_percentile_columns("slowdown", "", "the slowdowns: completion time divided by the completion time on an empty path (`tcp_models/completion_time.py`). Incomplete objects count as the slowest", _NOT_REACHED),
        count_column("packets", "packets", "Data packets sent by real-time streams or programs.", _OTHER_GROUP),
        number_column("lost_percent", "%", "Share of the group's data packets that had not arrived when the run ended: dropped packets, and packets still on their way.", _OTHER_GROUP, least=0, most=100),
        number_column("repeated_percent", "%", "Share of the group's data packets with data that the program's TCP had already sent.", f"a program's retransmissions over UDP can't be identified; {_OTHER_GROUP}", least=0, most=100),
        *_percentile_columns("delay", "ms", "the one-way delays of the packets that arrived", _NONE_ARRIVED),
        *_percentile_columns("queueing", "ms", "the queueing times of the packets that arrived. A queueing time is the one-way delay minus the delay that the path had when the packet left the queue", f"jitter or late packets are configured; {_NONE_ARRIVED}"),
        number_column("jitter_ms", "ms", "Interarrival jitter (RFC 3550), averaged over packets and streams.", _NONE_ARRIVED, least=0),
        VALID,
    ),
    "tidy",
)  # fmt: skip
SHORT_FLOWS = Table(
    "short_flows",
    "a requested web object (only in studies with groups of flows)",
    (
        *RUN_KEYS,
        *GROUP_COLUMNS,
        ordinal_column("object", "Number of the object in its group, from 0."),
        number_column(
            "start_s",
            "s",
            "Time at which the client called connect, measured from the traffic's origin.",
            "the client never called connect",
        ),
        count_column("bytes", "bytes", "Size of the object."),
        number_column(
            "completion_ms", "ms", "Time from `start_s` to the object's last byte.", "the object was never complete"
        ),
        number_column(
            "watched_ms",
            "ms",
            "Time for which the run waited for the object: until it was complete, or until the end of the run.",
            "the object failed, and would never have been complete",
        ),
        number_column(
            "ideal_ms",
            "ms",
            "Completion time on an empty path.",
            "the object was never complete, or the path changes or is policed",
        ),
        number_column(
            "slowdown",
            "",
            "`completion_ms` divided by `ideal_ms`.",
            "the object was never complete, or the path changes or is policed",
        ),
        text_column("failure", "Reason why the object was not complete.", "the object was complete"),
        VALID,
    ),
    "tidy",
    "parquet",
)
