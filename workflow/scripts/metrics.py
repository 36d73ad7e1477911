"""The four metrics of a run: names, units, definitions, and what they are read from."""

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
    reference : str or None
        Column of ``tidy/runs.csv`` with the value that the scenario sets for it.
    reference_name : str or None
        That value in words.
    count : bool
        Whether values are whole numbers.
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
        count=True,
    ),
)


def metric_by_slug(slug):
    """Return the metric of a figure's name.

    Raises
    ------
    KeyError
        If there is none of that name; lists those there are.
    """
    for metric in METRICS:
        if metric.slug == slug:
            return metric
    raise KeyError(f"no metric '{slug}'; there are {', '.join(m.slug for m in METRICS)}")
