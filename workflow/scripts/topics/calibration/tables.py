"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import LABELLED_CELL, RUN_KEYS
from run_tables.table import Table, count_column, number_column, text_column, truth_column, verdict_column

_NO_TCP = "the run had no TCP flow whose deliveries were read over time"
_NOT_SAMPLED = "the queue was not sampled"
_NO_DATAGRAMS = "iperf3 sent no UDP"
_NO_ROUND_TRIPS = "the application is not `round-trip`"
_NO_BURST = "the queue was not sampled, or an acknowledgement or a drop came earlier"
_NO_LINK = "the path has no netem in this direction"
_NOT_RANDOM = "the quantity is not random"

READINGS = Table(
    "readings",
    "a run, with the readings of the path in its document",
    (
        *RUN_KEYS,
        text_column("failed_checks", "Names of the checks that the run failed, separated by spaces.", "the run is valid"),
        number_column(
            "echo_ms", "ms",
            "Shortest round-trip time of the echo requests over the idle path; IPv6's announcements may lengthen the first round trip.",
            "no reply came back", "ping",
        ),
        count_column("payload_bytes", "bytes", "Payload of a full segment.", _NO_TCP, "tcpi_snd_mss"),
        count_column("delivered_bytes", "bytes", "Bytes delivered between the readings at `begin_ns` and `end_ns`.", _NO_TCP, "tcpi_bytes_acked, tcpi_sacked"),
        count_column("begin_ns", "ns", "Time of the first reading of deliveries (after a quarter of the window), measured from the traffic's origin.", _NO_TCP),
        count_column("end_ns", "ns", "Time of the second reading of deliveries, measured from the traffic's origin.", _NO_TCP),
        count_column("retransmits", "segments", "Number of segments retransmitted since the last sample before `begin_ns`.", _NOT_SAMPLED, "tcpi_total_retrans"),
        count_column("queue_least_packets", "packets", "Shortest queue among the samples between `begin_ns` and `end_ns`.", _NOT_SAMPLED),
        count_column("queue_most_packets", "packets", "Longest queue among all samples.", _NOT_SAMPLED),
        count_column("queue_most_bytes", "bytes", "Largest number of waiting bytes among all samples.", _NOT_SAMPLED),
        count_column("drops", "packets", "Number of packets dropped by the full queue.", _NOT_SAMPLED),
        count_column("first_drop_packets", "packets", "Number of packets that waited at the first sample after a drop.", f"{_NOT_SAMPLED}, or nothing was dropped"),
        count_column("first_drop_bytes", "bytes", "Number of bytes that waited at the first sample after a drop.", f"{_NOT_SAMPLED}, or nothing was dropped"),
        number_column("sample_ms", "ms", "Time between two samples.", _NOT_SAMPLED),
        count_column(
            "burst_packets", "packets",
            "Size of the burst after idle time: number of packets that had left when the first waiting packet left.",
            _NO_BURST,
        ),
        number_column("burst_ms", "ms", "Time at which `burst_packets` was observed, measured from the first sample with waiting packets.", _NO_BURST),
        count_column("offered_forward", "packets", "Number of packets that reached the random loss in the data's direction.", _NO_LINK),
        count_column("lost_forward", "packets", "Number of packets lost at random in the data's direction.", _NO_LINK),
        count_column("offered_reverse", "packets", "Number of packets that reached the random loss in the other direction.", _NO_LINK),
        count_column("lost_reverse", "packets", "Number of packets lost at random in the other direction.", _NO_LINK),
        *(
            column
            for way in ("forward", "reverse")
            for column in (
                number_column(f"share_{way}_percent", "%", f"Expected share of packets lost at random ({way}); for correlated losses, less than the configured share."),
                number_column(f"of_one_{way}", "packets", f"Number of packets that carry as much information on the lost share as one packet with independent loss ({way})."),
                number_column(f"drawn_{way}_ms", "ms", f"Expected mean of the jitter that is added to a delay ({way})."),
                number_column(f"deviation_{way}_ms", "ms", f"Expected standard deviation of the jitter that is added to a delay ({way})."),
            )
        ),
        truth_column("even", "Whether all jitter is uniformly distributed."),
        number_column("spread_ms", "ms", "Smoothed difference between two packets' delays, averaged over whole seconds.", _NO_DATAGRAMS, "iperf3's jitter (RFC 3550)"),
        count_column("spread_seconds", "", "Number of whole seconds over which `spread_ms` is averaged.", _NO_DATAGRAMS),
        number_column("round_trip_us", "µs", "Mean round-trip time of a message.", _NO_ROUND_TRIPS, "qperf"),
        count_column("exchanges", "", "Number of messages that came back.", _NO_ROUND_TRIPS, "qperf"),
    ),
)  # fmt: skip
CALIBRATION = Table(
    "calibration",
    "a quantity at a point",
    (
        *LABELLED_CELL,
        text_column("quantity", "The measured quantity: `rate`, `delay`, `serialisation`, `loss`, `queue`, `jitter` or `burst`."),
        text_column("what", "Part of the quantity: `longest`, `first drop`, `forward` and so on.", "the quantity has only one part"),
        text_column("unit", "Unit of the values."),
        text_column("point", "Settings of the point in words."),
        number_column("expected", "", "The exact number, in the row's unit."),
        number_column("measured", "", "The measured value, in the row's unit.", "it could not be measured, for the reason in `note`"),
        number_column("error", "", "Measured minus expected value, in the row's unit.", "nothing was measured"),
        number_column("error_ppm", "ppm", "Error in millionths of the expected value.", "nothing was measured, or 0 is expected"),
        number_column("known_ppm", "ppm", "Part of the error with a known cause: a shaper counts whole nanoseconds, and frames that don't belong to the flow use part of the rate."),
        number_column("uncertainty", "", "Resolution of the measurement: one packet, one clock step or one sample.", "the quantity is random"),
        number_column("uncertainty_ppm", "ppm", "Resolution of the measurement in millionths of the expected value.", "the quantity is random, or 0 is expected"),
        number_column("standard_error", "", "Standard error that follows from the number of trials.", _NOT_RANDOM),
        number_column("z", "", "Error divided by the standard error.", _NOT_RANDOM),
        count_column("trials", "", "Number of trials: packets, seconds or exchanges.", _NOT_RANDOM),
        verdict_column(
            "verdict",
            "`exact`, `explained` (by a known cause), `expected` (for random quantities), `off`, or `not measured`.",
            unmeasured=("not measured",),
        ),
        text_column("note", "Limit of the measurement, or the reason why nothing was measured; also the checks that the run failed."),
    ),
)  # fmt: skip
