"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import LABELLED_CELL, RUN_KEYS
from run_tables.table import Table, count_column, number_column, text_column, truth_column, verdict_column

_NO_TCP = "the run had no flow of TCP with deliveries read over time"
_NOT_SAMPLED = "the queue was not sampled"
_NO_DATAGRAMS = "nothing was sent as UDP by iperf3"
_NO_ROUND_TRIPS = "the application is another"
_NO_BURST = "not sampled, or acknowledgements or drops came before"
_NO_LINK = "nothing there could drop packets at random"
_NOT_RANDOM = "nothing of it is random"

READINGS = Table(
    "readings",
    "a run, with what its document says of the path",
    (
        *RUN_KEYS,
        text_column("failed_checks", "Names of the checks that the run failed, parted by blanks.", "it is valid"),
        number_column(
            "echo_ms", "ms",
            "Shortest round-trip time of the echo requests over the idle path: what IPv6 announces may be before the first.",
            "none came back", "ping",
        ),
        count_column("payload_bytes", "bytes", "Payload of a full segment.", _NO_TCP, "tcpi_snd_mss"),
        count_column("delivered_bytes", "bytes", "Delivered between the two readings.", _NO_TCP, "tcpi_bytes_acked, tcpi_sacked"),
        count_column("begin_ns", "ns", "When the first reading was, from the traffic's origin: after a quarter of the window.", _NO_TCP),
        count_column("end_ns", "ns", "When the second one was.", _NO_TCP),
        count_column("retransmits", "segments", "Retransmitted from the last sample before the first reading.", _NOT_SAMPLED, "tcpi_total_retrans"),
        count_column("queue_least_packets", "packets", "The shortest queue of all samples between the two readings.", _NOT_SAMPLED),
        count_column("queue_most_packets", "packets", "The longest queue of all samples.", _NOT_SAMPLED),
        count_column("queue_most_bytes", "bytes", "The most bytes that waited at a sample.", _NOT_SAMPLED),
        count_column("drops", "packets", "Dropped by the full queue.", _NOT_SAMPLED),
        count_column("first_drop_packets", "packets", "What waited at the first sample after a drop.", f"{_NOT_SAMPLED}, or nothing was dropped"),
        count_column("first_drop_bytes", "bytes", "The same in bytes.", f"{_NOT_SAMPLED}, or nothing was dropped"),
        number_column("sample_ms", "ms", "Time between two samples.", _NOT_SAMPLED),
        count_column(
            "burst_packets", "packets",
            "After idle: how many of the first packets had left when the first one left that had to wait for its turn.",
            _NO_BURST,
        ),
        number_column("burst_ms", "ms", "When that was seen, from the sample that saw the first packets wait.", _NO_BURST),
        count_column("offered_forward", "packets", "That reached the random loss in the data's direction.", _NO_LINK),
        count_column("lost_forward", "packets", "Of these, lost.", _NO_LINK),
        count_column("offered_reverse", "packets", "That reached the random loss in the other direction.", _NO_LINK),
        count_column("lost_reverse", "packets", "Of these, lost.", _NO_LINK),
        *(
            column
            for way in ("forward", "reverse")
            for column in (
                number_column(f"share_{way}_percent", "%", f"Share of the packets that are lost at random ({way}): of correlated losses less than is configured."),
                number_column(f"of_one_{way}", "packets", f"How many of these packets say as much of the share as one that is lost on its own ({way})."),
                number_column(f"drawn_{way}_ms", "ms", f"Mean of what jitter adds to a delay ({way})."),
                number_column(f"deviation_{way}_ms", "ms", f"Its standard deviation ({way})."),
            )
        ),
        truth_column("even", "Whether all jitter is drawn evenly."),
        number_column("spread_ms", "ms", "Mean over whole seconds of the smoothed difference of two packets' delays.", _NO_DATAGRAMS, "iperf3's jitter (RFC 3550)"),
        count_column("spread_seconds", "", "Number of these seconds.", _NO_DATAGRAMS),
        number_column("round_trip_us", "µs", "Mean time that a message takes there and back.", _NO_ROUND_TRIPS, "qperf"),
        count_column("exchanges", "", "Messages that came back.", _NO_ROUND_TRIPS, "qperf"),
    ),
)  # fmt: skip
CALIBRATION = Table(
    "calibration",
    "a quantity at a point",
    (
        *LABELLED_CELL,
        text_column("quantity", "`rate`, `delay`, `serialisation`, `loss`, `queue`, `jitter` or `burst`."),
        text_column("what", "Which of it: `longest`, `first drop`, `forward` and so on.", "there is one only"),
        text_column("unit", "Unit of the values."),
        text_column("point", "What was set, in words."),
        number_column("expected", "", "The exact number, in the row's unit."),
        number_column("measured", "", "What was measured.", "it could not be, for the reason in `note`"),
        number_column("error", "", "Measured less expected.", "nothing was measured"),
        number_column("error_ppm", "ppm", "The same in millionths of what is expected.", "nothing was measured, or 0 is expected"),
        number_column("known_ppm", "ppm", "What of it is known beforehand: a shaper counts whole nanoseconds, and the rate has frames that are not the flow's."),
        number_column("uncertainty", "", "What the measurement itself can't tell: a packet, a step of a clock, a sample.", _NOT_RANDOM.replace("nothing of it is", "it is")),
        number_column("uncertainty_ppm", "ppm", "The same in millionths of what is expected.", "it is random, or 0 is expected"),
        number_column("standard_error", "", "That the number of trials gives.", _NOT_RANDOM),
        number_column("z", "", "Error over standard error.", _NOT_RANDOM),
        count_column("trials", "", "Packets, seconds or exchanges.", _NOT_RANDOM),
        verdict_column(
            "verdict",
            "`exact`, `explained` (by what is known), `expected` (of random quantities), `off`, or `not measured`.",
            unmeasured=("not measured",),
        ),
        text_column("note", "What limits the measurement, or why there is none."),
    ),
)  # fmt: skip
