"""The metrics of a run: their labels, and how two values are compared.

The definitions and sources of the metrics are in `report_page/metric_words.py`, because only the report prints them.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """One metric of a run."""

    column: str  # column of ``tidy/runs.csv``
    slug: str  # name of the metric's figure and of its anchor in the report
    name: str
    unit: str  # unit, as written after a number
    reference: str | None = None  # column of ``tidy/runs.csv`` with the value that the scenario sets
    reference_name: str | None = None  # name of the reference value
    count: bool = False  # whether values are whole numbers
    #: How two values are compared: "ratio" (positive values, on a logarithmic scale, in percent), "points" (difference, in the metric's own
    #: unit) or "relative" (difference divided by the mean of both cells, in percent; for counts, which may be 0).
    scale: str = "ratio"
    #: Key of a difference between two values in a study's ``analysis.equivalence_margin`` and ``analysis.detect``.
    difference: str = ""
    worst: float | None = None  # worst possible value for a run; None if there is no worst value
    ours: str = ""  # for a metric in `PUBLISHED_METRICS`, the slug of the corresponding metric in `METRICS`

    @property
    def effect_unit(self) -> str:
        """The unit of a difference between two values: "%" or "points"."""
        return "points" if self.scale == "points" else "%"


METRICS = (
    Metric(
        "goodput_mbps", "goodput", "Goodput", "Mbit/s", "capacity_mbps", "capacity of the path",
        difference="goodput_percent", worst=0.0,
    ),
    Metric(
        "rtt_mean_ms", "rtt", "Round-trip time", "ms", "rtt_path_ms", "RTT of the empty path", difference="rtt_percent"
    ),
    Metric(
        "loss_percent", "loss", "Packet loss", "%", "loss_configured_percent", "configured loss",
        scale="points", difference="loss_points", worst=100.0,
    ),
    Metric(
        "retransmits", "retransmits", "Retransmissions", "segments",
        count=True, scale="relative", difference="retransmits_percent",
    ),
)  # fmt: skip

# The same four metrics as defined in the paper by Lima et al. ("Comparative
# Performance Analysis of TCP Congestion Control Algorithms over IPv4 and IPv6",
# figures 3 to 6, and its published script, TCP-ExBench).
PUBLISHED_METRICS = (
    Metric(
        "throughput_per_stream_mbps", "published-throughput", "Throughput per stream", "Mbit/s", worst=0.0, ours="goodput",
    ),
    Metric(
        "rtt_first_stream_ms", "published-rtt", "RTT of the first stream", "ms", "rtt_path_ms", "RTT of the empty path",
        ours="rtt",
    ),
    Metric(
        "published_loss_percent", "published-loss", "Retransmits per segment of data", "%", "loss_configured_percent",
        "configured loss", scale="points", ours="loss",
    ),
    Metric(
        "retransmits", "published-retransmits", "Retransmissions", "segments",
        count=True, scale="relative", ours="retransmits",
    ),
)  # fmt: skip
# A metric that is described and compared, but has no page section or hypothesis tests.
RETRANSMIT_SHARE = Metric(
    "retransmit_percent", "retransmit-share", "Retransmission share", "%", "loss_configured_percent", "configured loss",
    scale="points", worst=100.0,
)  # fmt: skip
# Metrics with descriptive statistics for each cell, without duplicates.
DESCRIBED_METRICS = (*METRICS, RETRANSMIT_SHARE, *PUBLISHED_METRICS[:3])


def metric_by_slug(slug) -> Metric:
    """Return the metric with a slug; raise a `KeyError` that lists all slugs if there is no such metric."""
    by_slug = {metric.slug: metric for metric in (*METRICS, *PUBLISHED_METRICS)}
    if slug not in by_slug:
        raise KeyError(f"no metric '{slug}'; there are {', '.join(by_slug)}")
    return by_slug[slug]


def differences(section) -> dict[str, float]:
    """Return the values of a study's ``analysis.equivalence_margin`` or ``analysis.detect``, by column of ``tidy/runs.csv``."""
    return {metric.column: section[metric.difference] for metric in METRICS}
