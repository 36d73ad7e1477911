"""Definition and source of each metric, as worded in the report."""

from dataclasses import asdict, dataclass

from report_page.statements import ALWAYS, Facts, Statement, every, known, none, said, some
from run_tables.metrics import Metric


@dataclass(frozen=True)
class MetricWords:
    """Definition and source of a metric; the source is the program or kernel counter from which the metric is read.

    ``elsewhere`` lists pairs (kind of traffic, source) for the kinds of traffic (`metric_definitions._traffic_kind`) with a different
    source; the source is None if the metric doesn't exist for the traffic. ``question`` is the question that the metric answers; it is
    empty for the paper's metrics.
    """

    definition: tuple[Statement, ...]
    source: str
    elsewhere: tuple = ()
    question: str = ""


@dataclass(frozen=True)
class DefinedMetric(Metric):
    """A metric with the definition and the source that apply to the traffic in a study."""

    definition: str = ""
    source: str = ""


# Sources for traffic other than plain iperf3 TCP connections (application_metrics.py, simulated_metrics.py).
_LOOKS = "the kernel's TCP_INFO, unweighted mean over all readings of the sockets and all subflows"
_OF_THE_HOST = "TcpRetransSegs of the sending host, which covers all connections, including the control connection"
#: The kinds of traffic that programs under test generate, by the protocol of their data.
PROGRAMS = {"tcp": "programs over TCP", "udp": "programs over UDP"}
#: The kind of traffic in which two of the testbed's programs carry all flows.
STREAMS = "streams of two programs"
_OF_PROGRAMS = "the bytes that the program reports (without a report, the payload of its packets), at the arrival times of its packets at the receiver's interface"
_GOODPUT_ELSEWHERE = (
    *((kind, _OF_PROGRAMS) for kind in PROGRAMS.values()),
    ("FTP", "size of the file divided by the time from wget's start to its end"),
    ("round trips", None),
    ("UDP", "iperf3's server, whole reporting intervals while all clients were sending"),
    ("MPTCP", "the senders' kernels: acknowledged data of the connection (mptcpi_bytes_acked)"),
    ("ns-3", "the simulator's senders: acknowledged data"),
)
_PUBLISHED_GOODPUT_ELSEWHERE = (
    *_GOODPUT_ELSEWHERE[:4],
    (STREAMS, "the receiving program, over the time from each flow's connection to its end"),
    ("ns-3", "data received by the simulator's receivers, over the time of each flow"),
)
_RTT_ELSEWHERE = (
    (STREAMS, "the kernel's TCP_INFO, mean over all readings of the delivered data"),
    ("MPTCP", _LOOKS),
    ("FTP", _LOOKS),
    ("UDP", None),
    ("round trips", "qperf, the total time of all exchanges divided by the number of exchanges"),
    ("ns-3", "the simulator, mean over the RTTs of individual segments"),
    (PROGRAMS["tcp"], "the kernel's TCP_INFO, mean over the reporting intervals"),
    (PROGRAMS["udp"], "the program's log (qlog), mean over the reporting intervals"),
)
_AGAIN_ELSEWHERE = (
    (STREAMS, "the sending program, after its receiver had received everything (the kernel's TCP_INFO)"),
    ("MPTCP", f"{_OF_THE_HOST}; with several flows, the count of each flow's subflows at the last reading (TCP_INFO)"),
    ("FTP", _OF_THE_HOST),
    ("UDP", None),
    ("round trips", None),
    ("ns-3", "the simulator's senders"),
    (PROGRAMS["tcp"], "packets with data that had been sent before, at the sender's interface"),
    (PROGRAMS["udp"], None),
)

_OF_GROUPS = Statement("Only groups of flows with the CCA under test count.", some("groups"))
#: Precondition: flows under test use the kernel's TCP.
_OF_TCP = known("kernel_tested") | known("tcp_programs_tested")
#: Slug of a metric -> definition and source in words.
WORDS = {
    "goodput": MetricWords(
        (
            Statement(
                "Bytes delivered (acknowledged by the receivers) during the time that all flows of the run have in common, summed over "
                "the flows.",
                some("tcp"),
            ),
            Statement(
                "Bytes that arrived during the time that all flows of the run have in common, in whole reporting intervals, summed over the flows.",
                none("tcp"),
            ),
            Statement("For UDP, goodput counts the bytes that arrived in whole reporting intervals.", some("tcp") & ~every("tcp")),
            Statement("For programs under test ({programs_tested}), goodput counts the bytes that the program reports, or the bytes that arrived if the program reports none.", known("programs_tested")),
            _OF_GROUPS,
            Statement("Start-up is included.", ALWAYS),
        ),
        "the senders' kernels at two times (TCP_INFO): bytes acknowledged and segments SACKed",
        _GOODPUT_ELSEWHERE,
        question="How fast?",
    ),
    "rtt": MetricWords(
        (
            Statement("Mean of the smoothed round-trip times that the sender's TCP measured, averaged over the flows of the run.", _OF_TCP),
            Statement("For programs over UDP ({udp_programs_tested}), it is the mean of the smoothed round-trip times in the program's log (qlog). The log is read only in scenarios with time series; without it, this metric is empty.", known("udp_programs_tested")),
            Statement(
                "It consists of the path's delay and the time spent in queues.", none("jitter") & none("late packets") & none("changing path")
            ),
            Statement(
                "It consists of the path's delay at each time, including jitter and the lateness of late packets, and the time spent in queues.",
                some("jitter") | some("late packets") | some("changing path"),
            ),
            _OF_GROUPS,
        ),
        "iperf3, mean over the reporting intervals of each stream (the kernel's TCP_INFO)",
        _RTT_ELSEWHERE,
        question="How long does a packet take?",
    ),
    "loss": MetricWords(
        (
            Statement("Packets dropped by the bottleneck's queue, divided by all packets offered to the queue.", none("random loss") & none("policer")),
            Statement(
                "Packets dropped by the bottleneck's queue and by the configured loss, divided by all packets offered to the bottleneck.",
                some("random loss") & none("policer"),
            ),
            Statement(
                "Packets dropped by the bottleneck's queue, by the configured loss and by a policer, divided by all packets offered to the "
                "bottleneck or the policer.",
                some("policer"),
            ),
            Statement("Losses on the link also count while the link's loss rate changes or the link is down.", some("changing loss")),
            Statement("Drops are counted where they occur, not inferred from retransmissions.", ALWAYS),
        ),
        "counters of the queueing disciplines",
        question="What gets lost?",
    ),
    "retransmits": MetricWords(
        (
            Statement("Segments that TCP retransmitted, summed over the flows of the run.", _OF_TCP),
            Statement("Programs over UDP ({udp_programs_tested}) don't have this metric.", known("udp_programs_tested")),
            _OF_GROUPS,
            Statement("Not normalised: a faster CCA sends more packets, so more of them can be lost.", known("several_ccas")),
        ),
        "iperf3, sender side (the kernel's TCP_INFO)",
        _AGAIN_ELSEWHERE,
        question="What is retransmitted?",
    ),
    # The metrics as the paper and its script TCP-ExBench define them.
    "published-throughput": MetricWords(
        (
            Statement(
                "Rate at the receiver, averaged over the streams of the run; our goodput is the sum over the streams.", ALWAYS
            ),
            Statement("If twelve streams fill a link, each gets a twelfth of the link.", some("several flows")),
        ),
        "iperf3, receiver side",
        _PUBLISHED_GOODPUT_ELSEWHERE,
    ),
    "published-rtt": MetricWords(
        (
            Statement("Mean round-trip time of the first stream only. The paper gives it in microseconds.", ALWAYS),
            Statement("The RTTs of the other streams are not included.", some("several flows")),
        ),
        "iperf3, mean over the reporting intervals of the first stream (the kernel's TCP_INFO)",
        _RTT_ELSEWHERE,
    ),
    "published-loss": MetricWords(
        (
            Statement(
                "The paper's “packet loss”: segments retransmitted, divided by the bytes that the application passed to TCP in segments. It counts "
                "segments that TCP considered lost, not packets that the network dropped.",
                ALWAYS,
            ),
        ),
        "iperf3, sender side: retransmits / (bytes sent / MSS)",
        _AGAIN_ELSEWHERE,
    ),
    "published-retransmits": MetricWords(
        (Statement("Segments that TCP retransmitted, summed over the streams: the same as our metric.", _OF_TCP),),
        "iperf3, sender side (the kernel's TCP_INFO)",
        _AGAIN_ELSEWHERE,
    ),
}  # fmt: skip


def defined(metric: Metric, source: str, facts: Facts) -> DefinedMetric:
    """Return a metric with the given source, and with the definition that applies to a study."""
    return DefinedMetric(**asdict(metric), definition=said(WORDS[metric.slug].definition, facts), source=source)
