"""The effect of the IP version: IPv6 compared with IPv4 in each cell, and over all cells."""

from run_tables.metrics import METRICS, differences
from topics.ip_version.tables import IP_OVERALL, IP_VERSION_TESTS
from topics.packet_size.topic import compares_sizes_alone
from topics.topic import Analysis, Plot, Topic


def _figures(design):
    margins = differences(design.study["analysis"]["equivalence_margin"])
    for metric in METRICS:
        yield Plot(
            f"ip-difference-{metric.slug}",
            "plot_ip_difference",
            ("runs", "scenarios", "ip_versions"),
            title=metric.name,
            shows="difference, interval, margin",
            params={
                "metric": metric.slug,
                "metric_name": metric.name,
                "effect_unit": metric.effect_unit,
                "margin": margins[metric.column],
            },
            caption="ip-difference",
            category="IP versions compared",
        )


def _margins(design):
    margins = design.study["analysis"]["equivalence_margin"]
    return {"margins": differences(margins), "header_margin": margins["header_percent"]}


TOPIC = Topic(
    "ip_version",
    "IP version",
    order=200,
    heading="Does the IP version make a difference?",
    applies=lambda design: design.ip_versions_compared and not compares_sizes_alone(design),
    analyses=(
        Analysis(
            "compare_ip_versions",
            ("runs",),
            (IP_VERSION_TESTS,),
            ("confidence", "significance", "power"),
            params=lambda design: _margins(design) | {"detect": differences(design.study["analysis"]["detect"])},
        ),
        Analysis("compare_overall", ("runs",), (IP_OVERALL,), ("confidence", "significance"), params=_margins),
    ),
    figures=_figures,
)
