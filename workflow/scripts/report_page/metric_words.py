"""What each metric is and what it is read from, as the report's readers are told."""

from dataclasses import asdict, dataclass

from run_tables.metrics import Metric


@dataclass(frozen=True)
class MetricWords:
    """Definition of a metric, and its source: what is measured, and which program's output it is taken from.

    ``elsewhere`` has kinds of traffic (`method._traffic_kind`) that have another source, with that one, or None if they
    have no such metric; ``question`` is what it answers, where it is ours.
    """

    definition: str
    source: str
    elsewhere: tuple = ()
    question: str = ""


@dataclass(frozen=True)
class DefinedMetric(Metric):
    """A metric with its definition and the source that a study's traffic has for it."""

    definition: str = ""
    source: str = ""


# What isn't read as it is of a plain TCP connection of iperf3 (application_metrics.py, simulated_metrics.py).
_LOOKS = (
    "the kernel's TCP_INFO, the plain mean over all looks at the sockets and all subflows, however much each carried"
)
_OF_THE_HOST = "TcpRetransSegs of the sending host: all its connections, that of control too"
_GOODPUT_ELSEWHERE = (
    ("FTP", "size of the file over the time from wget's start to its end"),
    ("round trips", None),
    ("UDP", "iperf3's server, whole reporting intervals while its client was sending"),
    ("MPTCP", "the senders' kernels: data of the connection that were acknowledged (mptcpi_bytes_acked)"),
    ("ns-3", "the simulator's senders: what was acknowledged"),
)
_PUBLISHED_GOODPUT_ELSEWHERE = (
    *_GOODPUT_ELSEWHERE[:2],
    ("ns-3", "what the simulator's receivers got, over the time of each flow"),
)
_RTT_ELSEWHERE = (
    ("MPTCP", _LOOKS),
    ("FTP", _LOOKS),
    ("UDP", None),
    ("round trips", "qperf, the time of all exchanges over their number"),
    ("ns-3", "the simulator, mean over the RTTs of single segments"),
)
_AGAIN_ELSEWHERE = (
    ("MPTCP", f"{_OF_THE_HOST}; of each of several flows what its subflows had counted at the last look (TCP_INFO)"),
    ("FTP", _OF_THE_HOST),
    ("UDP", None),
    ("round trips", None),
    ("ns-3", "the simulator's senders"),
)

#: The words for each metric, by its slug.
WORDS = {
    "goodput": MetricWords(
        "Bytes that were delivered, acknowledged by the receivers, over the time that all flows of the run have in common, "
        "and summed over them. Start-up is included.",
        "the senders' kernels at two moments: TCP_INFO, bytes acknowledged, and segments acknowledged selectively",
        _GOODPUT_ELSEWHERE,
        question="How fast?",
    ),
    "rtt": MetricWords(
        "Mean round-trip time that the sender's TCP measured, averaged over all flows of "
        "the run: the path's delay and jitter, the time spent in queues, and that by which acknowledgements are late.",
        "iperf3, mean RTT of each stream (the kernel's TCP_INFO)",
        _RTT_ELSEWHERE,
        question="How long does a packet take?",
    ),
    "loss": MetricWords(
        "Packets dropped at the bottleneck, by the full queue and by the configured loss, "
        "over all packets offered to it. Counted where they are dropped, not inferred from "
        "retransmissions.",
        "counters of the queueing disciplines",
        question="What gets lost?",
    ),
    "retransmits": MetricWords(
        "Segments that TCP sent again, summed over the flows of the run. Not normalised: "
        "a faster CCA sends more packets, so it can lose more.",
        "iperf3, sender side (the kernel's TCP_INFO)",
        _AGAIN_ELSEWHERE,
        question="What is sent again?",
    ),
    # As the paper and its script TCP-ExBench define them.
    "published-throughput": MetricWords(
        "What the receiver got per second, averaged over the streams of the run, where our "
        "goodput is their sum: twelve streams that fill a link have a twelfth of it each.",
        "iperf3, receiver side",
        _PUBLISHED_GOODPUT_ELSEWHERE,
    ),
    "published-rtt": MetricWords(
        "Mean round-trip time of the first stream alone, whatever the others saw. The paper gives it in microseconds.",
        "iperf3, mean RTT of the first stream (the kernel's TCP_INFO)",
        _RTT_ELSEWHERE,
    ),
    "published-loss": MetricWords(
        "What the paper calls packet loss: segments sent again, over the bytes sent divided by "
        "the segment size. It counts what TCP took for lost, not what the network dropped.",
        "iperf3, sender side: retransmits / (bytes sent / MSS)",
        _AGAIN_ELSEWHERE,
    ),
    "published-retransmits": MetricWords(
        "Segments that TCP sent again, summed over the streams: as ours.",
        "iperf3, sender side (the kernel's TCP_INFO)",
        _AGAIN_ELSEWHERE,
    ),
}


def defined(metric: Metric, source: str) -> DefinedMetric:
    """Return a metric with its definition, and a source."""
    return DefinedMetric(**asdict(metric), definition=WORDS[metric.slug].definition, source=source)
