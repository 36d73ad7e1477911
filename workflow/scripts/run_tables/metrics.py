"""The metrics of a run, ours and the paper's: names, units, definitions, and what they are read from."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """One metric of a run.

    Attributes
    ----------
    column : str
        Column of ``tidy/runs.csv``.
    slug : str
        Name of its figure and its anchor in the report.
    name, unit : str
        As shown to readers; `unit` fits behind a number.
    definition, source : str
        What is measured, and which program's output it is taken from.
    elsewhere : tuple of (str, str or None)
        Kinds of traffic (`report_method.traffic_kind`) that have another source, with that one; None if they have no
        such metric.
    reference : str or None
        Column of ``tidy/runs.csv`` with the value that the scenario sets for it.
    reference_name : str or None
        That value in words.
    count : bool
        Whether values are whole numbers.
    scale : str
        How two values are compared: "ratio" (positive values, on a logarithmic scale, in percent),
        "points" (difference, in the metric's own unit) or "relative" (difference over the mean of
        both cells, in percent; for counts, which may be 0).
    """

    column: str
    slug: str
    name: str
    unit: str
    definition: str
    source: str
    reference: str | None = None
    reference_name: str | None = None
    count: bool = False
    scale: str = "ratio"
    elsewhere: tuple = ()

    @property
    def effect_unit(self):
        """Unit of a difference between two values: "%" or "points"."""
        return "points" if self.scale == "points" else "%"


# What isn't read as it is of a plain TCP connection of iperf3 (application_metrics.py, simulated_metrics.py).
_LOOKS = (
    "the kernel's TCP_INFO, the plain mean over all looks at the sockets and all subflows, however much each carried"
)
_OF_THE_HOST = "TcpRetransSegs of the sending host: all its connections, that of control too"
_GOODPUT_ELSEWHERE = (
    ("FTP", "size of the file over the time from wget's start to its end"),
    ("round trips", None),
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

METRICS = (
    Metric(
        column="goodput_mbps",
        slug="goodput",
        name="Goodput",
        unit="Mbit/s",
        definition=(
            "Bytes that the receiving application got, over the time of the transfer, "
            "summed over the flows of the run. Start-up is included."
        ),
        source="iperf3, receiver side",
        elsewhere=_GOODPUT_ELSEWHERE,
        reference="rate_mbps",
        reference_name="link rate",
    ),
    Metric(
        column="rtt_mean_ms",
        slug="rtt",
        name="Round-trip time",
        unit="ms",
        definition=(
            "Mean round-trip time that the sender's TCP measured, averaged over all flows of "
            "the run: the path's delay and the time spent in queues."
        ),
        source="iperf3, mean RTT of each stream (the kernel's TCP_INFO)",
        elsewhere=_RTT_ELSEWHERE,
        reference="rtt_path_ms",
        reference_name="RTT of the empty path",
    ),
    Metric(
        column="loss_percent",
        slug="loss",
        name="Packet loss",
        unit="%",
        definition=(
            "Packets dropped at the bottleneck, by the full queue and by the configured loss, "
            "over all packets offered to it. Counted where they are dropped, not inferred from "
            "retransmissions."
        ),
        source="counters of the queueing disciplines",
        reference="loss_configured_percent",
        reference_name="configured loss",
        scale="points",
    ),
    Metric(
        column="retransmits",
        slug="retransmits",
        name="Retransmissions",
        unit="segments",
        definition=(
            "Segments that TCP sent again, summed over the flows of the run. Not normalised: "
            "a faster CCA sends more packets, so it can lose more."
        ),
        source="iperf3, sender side (the kernel's TCP_INFO)",
        elsewhere=_AGAIN_ELSEWHERE,
        count=True,
        scale="relative",
    ),
)

# The same four questions with the definitions of the paper whose study this is (Lima et al.,
# "Comparative Performance Analysis of TCP Congestion Control Algorithms over IPv4 and IPv6",
# figures 3 to 6, and the script it publishes, TCP-ExBench).
PUBLISHED_METRICS = (
    Metric(
        column="throughput_per_stream_mbps",
        slug="published-throughput",
        name="Throughput per stream",
        unit="Mbit/s",
        definition=(
            "What the receiver got per second, averaged over the streams of the run, where our "
            "goodput is their sum: twelve streams that fill a link have a twelfth of it each."
        ),
        source="iperf3, receiver side",
        elsewhere=_GOODPUT_ELSEWHERE,
    ),
    Metric(
        column="rtt_first_stream_ms",
        slug="published-rtt",
        name="RTT of the first stream",
        unit="ms",
        definition=(
            "Mean round-trip time of the first stream alone, whatever the others saw. "
            "The paper gives it in microseconds."
        ),
        source="iperf3, mean RTT of the first stream (the kernel's TCP_INFO)",
        elsewhere=_RTT_ELSEWHERE,
        reference="rtt_path_ms",
        reference_name="RTT of the empty path",
    ),
    Metric(
        column="retransmit_percent",
        slug="published-loss",
        name="Retransmission share",
        unit="%",
        definition=(
            "What the paper calls packet loss: segments sent again, over the bytes sent divided by "
            "the segment size. It counts what TCP took for lost, not what the network dropped."
        ),
        source="iperf3, sender side: retransmits / (bytes sent / MSS)",
        elsewhere=_AGAIN_ELSEWHERE,
        reference="loss_configured_percent",
        reference_name="configured loss",
        scale="points",
    ),
    Metric(
        column="retransmits",
        slug="published-retransmits",
        name="Retransmissions",
        unit="segments",
        definition="Segments that TCP sent again, summed over the streams: as ours.",
        source="iperf3, sender side (the kernel's TCP_INFO)",
        elsewhere=_AGAIN_ELSEWHERE,
        count=True,
        scale="relative",
    ),
)
# Every metric once: what is described in each cell.
DESCRIBED_METRICS = (*METRICS, *PUBLISHED_METRICS[:3])


def metric_by_slug(slug):
    """Return the metric of a figure's name.

    Raises
    ------
    KeyError
        If there is none of that name; lists those there are.
    """
    known = (*METRICS, *PUBLISHED_METRICS)
    for metric in known:
        if metric.slug == slug:
            return metric
    raise KeyError(f"no metric '{slug}'; there are {', '.join(metric.slug for metric in known)}")
