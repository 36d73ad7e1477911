"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import LABELLED_CELL, RUN_KEYS
from run_tables.table import Table, count_column, number_column, text_column, truth_column, verdict_column

_NO_TCP = "the run had no flow of TCP with deliveries read over time"
_NOT_SAMPLED = "the queue was not sampled"
_NO_DATAGRAMS = "iperf3 sent no UDP"
_NO_ROUND_TRIPS = "the application is a different one"
_NO_BURST = "not sampled, or acknowledgements or drops came earlier"
_NO_LINK = "nothing there could drop packets at random"
_NOT_RANDOM = "no part of it is random"

READINGS = Table(
    "readings",
    "a run, with the readings of the path in its document",
    (
        *RUN_KEYS,
        text_column("failed_checks", "Names of the checks that the run failed, separated by spaces.", "the run is valid"),
        number_column(
            "echo_ms", "ms",
            "Shortest round-trip time of the echo requests over the idle path; the first one may include the time of IPv6's announcements.",
            "none came back", "ping",
        ),
        count_column("payload_bytes", "bytes", "Payload of a full segment.", _NO_TCP, "tcpi_snd_mss"),
        count_column("delivered_bytes", "bytes", "Bytes delivered between the two readings.", _NO_TCP, "tcpi_bytes_acked, tcpi_sacked"),
        count_column("begin_ns", "ns", "Time of the first reading, from the traffic's origin: after a quarter of the window.", _NO_TCP),
        count_column("end_ns", "ns", "Time of the second reading.", _NO_TCP),
        count_column("retransmits", "segments", "Segments retransmitted since the last sample before the first reading.", _NOT_SAMPLED, "tcpi_total_retrans"),
        count_column("queue_least_packets", "packets", "The shortest queue of all samples between the two readings.", _NOT_SAMPLED),
        count_column("queue_most_packets", "packets", "The longest queue of all samples.", _NOT_SAMPLED),
        count_column("queue_most_bytes", "bytes", "Largest number of waiting bytes of all samples.", _NOT_SAMPLED),
        count_column("drops", "packets", "Packets dropped by the full queue.", _NOT_SAMPLED),
        count_column("first_drop_packets", "packets", "Packets that waited at the first sample after a drop.", f"{_NOT_SAMPLED}, or nothing was dropped"),
        count_column("first_drop_bytes", "bytes", "The same in bytes.", f"{_NOT_SAMPLED}, or nothing was dropped"),
        number_column("sample_ms", "ms", "Time between two samples.", _NOT_SAMPLED),
        count_column(
            "burst_packets", "packets",
            "After idle time: number of packets that had left when the first packet that had to wait left.",
            _NO_BURST,
        ),
        number_column("burst_ms", "ms", "Time of that observation, from the sample in which the first packets waited.", _NO_BURST),
        count_column("offered_forward", "packets", "Packets that reached the random loss in the data's direction.", _NO_LINK),
        count_column("lost_forward", "packets", "Number of these that were lost.", _NO_LINK),
        count_column("offered_reverse", "packets", "Packets that reached the random loss in the other direction.", _NO_LINK),
        count_column("lost_reverse", "packets", "Number of these that were lost.", _NO_LINK),
        *(
            column
            for way in ("forward", "reverse")
            for column in (
                number_column(f"share_{way}_percent", "%", f"Share of the packets that are lost at random ({way}); for correlated losses it is less than configured."),
                number_column(f"of_one_{way}", "packets", f"Number of these packets that carry as much information on the share as one independent loss ({way})."),
                number_column(f"drawn_{way}_ms", "ms", f"Mean of the jitter that is added to a delay ({way})."),
                number_column(f"deviation_{way}_ms", "ms", f"Standard deviation of that jitter ({way})."),
            )
        ),
        truth_column("even", "Whether all jitter is uniformly distributed."),
        number_column("spread_ms", "ms", "Mean over whole seconds of the smoothed difference of two packets' delays.", _NO_DATAGRAMS, "iperf3's jitter (RFC 3550)"),
        count_column("spread_seconds", "", "Number of these seconds.", _NO_DATAGRAMS),
        number_column("round_trip_us", "µs", "Mean round-trip time of a message.", _NO_ROUND_TRIPS, "qperf"),
        count_column("exchanges", "", "Messages that came back.", _NO_ROUND_TRIPS, "qperf"),
    ),
)  # fmt: skip
CALIBRATION = Table(
    "calibration",
    "a quantity at a point",
    (
        *LABELLED_CELL,
        text_column("quantity", "`rate`, `delay`, `serialisation`, `loss`, `queue`, `jitter` or `burst`."),
        text_column("what", "Part of the quantity: `longest`, `first drop`, `forward` and so on.", "there is only one"),
        text_column("unit", "Unit of the values."),
        text_column("point", "Settings in words."),
        number_column("expected", "", "The exact number, in the row's unit."),
        number_column("measured", "", "The measured value.", "it could not be measured, for the reason in `note`"),
        number_column("error", "", "Measured minus expected value.", "nothing was measured"),
        number_column("error_ppm", "ppm", "The same in millionths of the expected value.", "nothing was measured, or 0 is expected"),
        number_column("known_ppm", "ppm", "Part of the error with a known cause: a shaper counts whole nanoseconds, and the rate includes frames that don't belong to the flow."),
        number_column("uncertainty", "", "Resolution of the measurement: one packet, one clock step or one sample.", _NOT_RANDOM.replace("no part of it is", "it is")),
        number_column("uncertainty_ppm", "ppm", "The same in millionths of the expected value.", "it is random, or 0 is expected"),
        number_column("standard_error", "", "Standard error that follows from the number of trials.", _NOT_RANDOM),
        number_column("z", "", "Error divided by the standard error.", _NOT_RANDOM),
        count_column("trials", "", "Number of packets, seconds or exchanges.", _NOT_RANDOM),
        verdict_column(
            "verdict",
            "`exact`, `explained` (by a known cause), `expected` (for random quantities), `off`, or `not measured`.",
            unmeasured=("not measured",),
        ),
        text_column("note", "Limit of the measurement, or the reason why there is none."),
    ),
)  # fmt: skip
