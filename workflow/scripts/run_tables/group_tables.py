"""The tables of a run's groups of flows and of their web objects, column by column (`group_metrics`)."""

from run_tables.run_keys import RUN_KEYS, VALID
from run_tables.table import Table, count_column, number_column, ordinal_column, text_column

_OTHER_GROUP = "the group's application is another"
_NOT_REACHED = f"too few were complete to reach it, or {_OTHER_GROUP}"
_NONE_ARRIVED = f"none arrived, or {_OTHER_GROUP}"
#: Columns that identify a group of flows within a run.
GROUP_COLUMNS = (
    text_column("group", "Name of the group."),
    text_column(
        "group_cca",
        "Its CCA, of web objects their server's, of a program its name and CCA as `quicgo:cubic`; those of several flows joined by `+`.",
        "it is no TCP",
    ),
    text_column("beside", "CCAs of the run's long flows in other groups, joined by `+`, or `none`."),
)


def _percentile_columns(name, unit, meaning, empty):
    """Return one column per percentile, named as in `group_metrics`."""
    ending = f"_{unit}" if unit else ""
    words = {50: "Median", 95: "95th percentile", 99: "99th percentile"}
    return tuple(
        number_column(f"{name}_p{p}{ending}", unit, f"{word} of {meaning}.", empty, least=0)
        for p, word in words.items()
    )


GROUPS = Table(
    "groups",
    "a group of flows of a run; only of studies with such groups",
    (
        *RUN_KEYS,
        *GROUP_COLUMNS,
        text_column("application", "`iperf3`, `web`, `real-time` or `program`."),
        text_column("direction", "Of its data: `forward` or `reverse`."),
        number_column("start_s", "s", "When it begins, from the traffic's origin."),
        number_column("stop_s", "s", "When it ends.", "it asks for a number of objects, or sends an amount"),
        count_column("members", "", "Flows, streams, or objects that were asked for."),
        number_column("goodput_mbps", "Mbit/s", "Of long flows and programs: the sum of their goodputs, each over its own life; of those that pause the mean over their on-times. A program's is what it says that it got, else what its TCP delivered or its UDP brought.", _OTHER_GROUP),
        count_column("complete", "objects", "Web objects, or flows of a program that send an amount, that were complete.", _OTHER_GROUP),
        *_percentile_columns("completion", "ms", "the completion times of all objects, from connect to the last byte, or of a program's flows, from the client's start to its end; those of objects that were not complete are known to be longer (estimator of Kaplan and Meier)", _NOT_REACHED),
        *_percentile_columns("completion_worst", "ms", "the same if objects that were not complete would have taken longest", _NOT_REACHED),
        number_column("watched_ms", "ms", "Longest time that an object was waited for: percentiles that were not reached are longer.", _OTHER_GROUP, least=0),
        *_percentile_columns("slowdown", "", "completion time over that on an empty path (`tcp_models/completion_time.py`), of objects that were not complete the largest", _NOT_REACHED),
        count_column("packets", "packets", "Packets with data that real-time streams or programs sent.", _OTHER_GROUP),
        number_column("lost_percent", "%", "Of these, that never arrived.", _OTHER_GROUP, least=0, most=100),
        number_column("repeated_percent", "%", "Of these, those with data that a program's TCP had sent before.", f"what a program over UDP sends again is encrypted or its own affair; {_OTHER_GROUP}", least=0, most=100),
        *_percentile_columns("delay", "ms", "the one-way delays of the packets that arrived", _NONE_ARRIVED),
        *_percentile_columns("queueing", "ms", "the times that they waited in the queue: one-way delay less the path's own when each left it", f"jitter or late packets add to it; {_NONE_ARRIVED}"),
        number_column("jitter_ms", "ms", "Interarrival jitter (RFC 3550), the mean over packets and streams.", _NONE_ARRIVED, least=0),
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
        ordinal_column("object", "Number of the object in its group, from 0."),
        number_column("start_s", "s", "When the client called connect, from the traffic's origin.", "it never did"),
        count_column("bytes", "bytes", "Its size."),
        number_column("completion_ms", "ms", "From then to its last byte.", "it was never complete"),
        number_column(
            "watched_ms",
            "ms",
            "How long it was waited for: until it was complete, or to the end of the run.",
            "it failed before, and would never have been complete",
        ),
        number_column(
            "ideal_ms",
            "ms",
            "What that takes on an empty path.",
            "it was never complete, or the path changes or is policed",
        ),
        number_column(
            "slowdown", "", "The one over the other.", "it was never complete, or the path changes or is policed"
        ),
        text_column("failure", "Why it was not complete.", "it was"),
        VALID,
    ),
    "tidy",
    "parquet",
)
