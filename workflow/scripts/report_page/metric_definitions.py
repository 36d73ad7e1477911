"""Definitions and sources of a study's metrics, alongside the paper's definitions."""

from report_page.metric_words import PROGRAMS, STREAMS, WORDS, DefinedMetric, defined
from report_page.statements import some
from run_tables.metrics import METRICS, PUBLISHED_METRICS
from study_files.study_design import is_simulator
from topics.published.topic import FIRST_FIGURE
from wording.sentence_words import listed

ROUND_TRIP = DefinedMetric(
    column="rtt_mean_ms",
    slug="rtt",
    name="Round-trip time",
    unit="µs",
    definition="Round-trip time of one message: the total time of all exchanges in a run, divided by the number of exchanges. Only one message is in transit at a time.",
    source="qperf, tcp_lat and udp_lat, both directions",
)


def _traffic_kind(scenario):
    """Return the kind of a scenario's traffic, on which the sources of metrics depend; `application` is "iperf3" by default."""
    if is_simulator(scenario["platform"]):
        return "ns-3"
    application = scenario.get("application") or "iperf3"
    if application != "iperf3":
        return "FTP" if application == "ftp" else "round trips"
    if scenario.get("protocol") == "udp":
        return "UDP"
    if scenario.get("processes") == "per-side":
        return STREAMS
    return "MPTCP" if scenario.get("multipath") == "mptcp" else "TCP"


def _kinds(scenarios, facts):
    """Return the kinds of traffic under test in ``tidy/scenarios.csv``; TCP isn't included if all CCAs are programs."""
    kinds = list(dict.fromkeys(map(_traffic_kind, scenarios.to_dict("records"))))
    if not facts.values["programs_tested"]:
        return kinds
    programs = [kind for protocol, kind in PROGRAMS.items() if facts.values[f"{protocol}_programs_tested"]]
    return [kind for kind in kinds if facts.values["kernel_tested"] or kind != "TCP"] + programs


def with_sources(metric, scenarios, facts) -> DefinedMetric:
    """Return a metric with the definition and the source that apply to a study; ``scenarios`` is ``tidy/scenarios.csv``.

    If the source depends on the kind of traffic, all sources are listed, each with its kinds of traffic. If the metric doesn't exist for
    any of these kinds, the source is "none".
    """
    words, kinds = WORDS[metric.slug], {}
    for kind in _kinds(scenarios, facts):
        kinds.setdefault(dict(words.elsewhere).get(kind, words.source), []).append(kind)
    kinds.pop(None, None)
    if len(kinds) < 2:
        return defined(metric, next(iter(kinds), "none"), facts)
    return defined(metric, ". ".join(f"{listed(names)}: {source}" for source, names in kinds.items()), facts)


def definitions(scenarios, facts, by_size=False) -> list[dict]:
    """Return one row per question: the report's metric, the paper's metric, and the number of the paper's figure.

    ``by_size`` is for studies of message sizes, whose metrics are throughput and the round-trip time of individual messages.
    """
    if by_size:
        shown = (
            (some("bulk"), "How fast?", with_sources(METRICS[0], scenarios, facts)),
            (some("round trips"), "How long does a message take?", ROUND_TRIP),
        )
        return [
            {"question": question, "ours": metric, "published": None, "figure": None}
            for when, question, metric in shown
            if when.holds(facts)
        ]
    figures = {metric.ours: (number_of, metric) for number_of, metric in enumerate(PUBLISHED_METRICS, FIRST_FIGURE)}
    rows = []
    for metric in METRICS:
        figure, published = figures.get(metric.slug, (None, None))
        row = {
            "question": WORDS[metric.slug].question,
            "ours": with_sources(metric, scenarios, facts),
            "figure": figure,
        }
        rows.append(row | {"published": published and with_sources(published, scenarios, facts)})
    return rows
