"""The metrics of a run, ours and the paper's: what they are called, and how two values of them are compared.

Their definitions and sources, which only the report prints, are in `report_page/metric_words.py`.
"""

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
    difference : str
        Key of a difference between two values in a study's ``analysis.equivalence_margin`` and ``analysis.detect``.
    ours : str
        Of a paper's metric the slug of ours that asks the same.
    """

    column: str
    slug: str
    name: str
    unit: str
    reference: str | None = None
    reference_name: str | None = None
    count: bool = False
    scale: str = "ratio"
    difference: str = ""
    ours: str = ""

    @property
    def effect_unit(self) -> str:
        """Unit of a difference between two values: "%" or "points"."""
        return "points" if self.scale == "points" else "%"


METRICS = (
    Metric(
        column="goodput_mbps",
        slug="goodput",
        difference="goodput_percent",
        name="Goodput",
        unit="Mbit/s",
        reference="rate_mbps",
        reference_name="link rate",
    ),
    Metric(
        column="rtt_mean_ms",
        slug="rtt",
        difference="rtt_percent",
        name="Round-trip time",
        unit="ms",
        reference="rtt_path_ms",
        reference_name="RTT of the empty path",
    ),
    Metric(
        column="loss_percent",
        slug="loss",
        difference="loss_points",
        name="Packet loss",
        unit="%",
        reference="loss_configured_percent",
        reference_name="configured loss",
        scale="points",
    ),
    Metric(
        column="retransmits",
        slug="retransmits",
        difference="retransmits_percent",
        name="Retransmissions",
        unit="segments",
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
        ours="goodput",
        name="Throughput per stream",
        unit="Mbit/s",
    ),
    Metric(
        column="rtt_first_stream_ms",
        slug="published-rtt",
        ours="rtt",
        name="RTT of the first stream",
        unit="ms",
        reference="rtt_path_ms",
        reference_name="RTT of the empty path",
    ),
    Metric(
        column="retransmit_percent",
        slug="published-loss",
        ours="loss",
        name="Retransmission share",
        unit="%",
        reference="loss_configured_percent",
        reference_name="configured loss",
        scale="points",
    ),
    Metric(
        column="retransmits",
        slug="published-retransmits",
        ours="retransmits",
        name="Retransmissions",
        unit="segments",
        count=True,
        scale="relative",
    ),
)
# Every metric once: what is described in each cell.
DESCRIBED_METRICS = (*METRICS, *PUBLISHED_METRICS[:3])


def metric_by_slug(slug) -> Metric:
    """Return the metric of a figure's name.

    Raises
    ------
    KeyError
        If there is none of that name; lists those there are.
    """
    by_slug = {metric.slug: metric for metric in (*METRICS, *PUBLISHED_METRICS)}
    if slug not in by_slug:
        raise KeyError(f"no metric '{slug}'; there are {', '.join(by_slug)}")
    return by_slug[slug]


def differences(section) -> dict[str, float]:
    """Return the differences of a study's ``analysis.equivalence_margin`` or ``.detect`` by column of ``tidy/runs.csv``."""
    return {metric.column: section[metric.difference] for metric in METRICS}
