"""The sections of the report's two pages, in order, and the selection of sections for a study.

``details.html`` contains the complete section of each topic. ``report.html`` contains a short section, with the findings and up to two
figures, for each topic that has findings or figures.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from report_parts.material import Finding
from topics.topic import Place, Topic

#: Place -> sections of the details page that don't belong to a topic, as (anchor, label in the navigation).
FRAME = {Place.METHOD: (("method", "Method"),), Place.APPENDIX: (("threats", "Threats"), ("provenance", "Provenance"))}
#: Sections of the short page that don't belong to a topic: `FINDINGS` follows the topics of `Place.FRONT` and precedes all other topics;
#: `CLOSING` comes last.
FINDINGS = ("findings", "Findings")
CLOSING = (
    ("validity", "Validity"), ("conditions", "Conditions"), ("method", "Method"), ("provenance", "Repeat it"),
)  # fmt: skip
#: Places whose topics have a short section.
SHORT_PLACES = (Place.FRONT, Place.QUESTION, Place.BACK)
#: Maximum number of figures in a short section.
MOST_FIGURES = 2


@dataclass(frozen=True)
class Section:
    """A section of a page.

    ``anchor`` is the section's identifier and ``name`` its label in the navigation. ``template`` is the path of the template's file,
    relative to the report's folder or to the topics' folder. ``question`` is the section's number among the questions that the report
    answers, and ``context`` contains the variables for a topic's template. If there is a ``heading`` (HTML), the page shows the heading and
    the ``findings`` before the content of the template. ``figures`` are the slugs of a short section's figures.
    """

    anchor: str
    name: str
    template: str
    question: int | None = None
    context: dict | None = None
    heading: str = ""
    findings: Sequence[Finding] = ()
    figures: Sequence[str] = ()


def section_context(topic: Topic, material) -> dict | None:
    """Return the template variables for a topic's section: the topic's ``TABLES``, and the result of its function ``section``.

    Returns None if there is nothing to show for the topic.
    """
    if not find_spec(f"topics.{topic.name}.section"):
        return {}
    part = import_module(f"topics.{topic.name}.section")
    tables = {name: table.of(material) for name, table in getattr(part, "TABLES", {}).items()}
    own = part.section(material) if hasattr(part, "section") else {}
    return None if own is None else tables | own


def section_findings(topic: Topic, material) -> list[Finding]:
    """Return the findings of a topic; empty if the topic has no findings."""
    if not find_spec(f"topics.{topic.name}.section"):
        return []
    part = import_module(f"topics.{topic.name}.section")
    return part.findings(material) if hasattr(part, "findings") else []


def opening_findings(outline, findings: Mapping[str, Sequence[Finding]]) -> list[Finding]:
    """Return the findings that open the report; the findings of leading topics come first.

    Only topics with ``opens`` contribute findings. If these topics have no findings, the findings of all topics are returned.
    """
    topics = sorted(outline.topics, key=lambda topic: topic not in outline.leading)
    opening = [finding for topic in topics if topic.opens for finding in findings[topic.name]]
    return opening or [finding for topic in topics for finding in findings[topic.name]]


def _framed(place):
    return [Section(anchor, name, f"sections/{anchor}.html.j2") for anchor, name in FRAME.get(place, ())]


def details_sections(
    topics: Iterable[Topic], contexts: Mapping[str, dict | None], findings: Mapping[str, Sequence[Finding]]
) -> list[Section]:
    """Return the sections of a study's details page, ordered by place; within a place, sections without a topic come first.

    Parameters
    ----------
    topics : iterable of Topic
        Topics of the study, in order.
    contexts : mapping
        Name of the topic -> variables for the topic's template. Topics that are missing or mapped to None are omitted.
    findings : mapping
        Name of the topic -> findings of the topic.
    """
    sections, questions = [], 0
    for place in Place:
        sections += _framed(place)
        for topic in topics:
            context = contexts.get(topic.name)
            if topic.place is not place or context is None:
                continue
            asks = place is Place.QUESTION
            questions += asks
            sections.append(_whole(topic, context, findings[topic.name], questions if asks else None))
    return sections


def _whole(topic, context, findings, question=None):
    template = f"{topic.name}/section.html.j2"
    return Section(topic.anchor, topic.navigation, template, question, context, topic.heading, findings)


def short_sections(
    topics: Iterable[Topic],
    contexts: Mapping[str, dict | None],
    findings: Mapping[str, Sequence[Finding]],
    figures: Mapping[str, Sequence[str]],
) -> list[Section]:
    """Return the sections of a study's short page, in order.

    A topic is omitted if it has no context, or if its section would show neither figures nor findings.

    Parameters
    ----------
    topics, contexts, findings
        Same as for `details_sections`.
    figures : mapping
        Name of the topic -> slugs of the figures in the topic's section (`short_figures`).
    """
    before, behind = [], []
    for topic in topics:
        context = contexts.get(topic.name)
        if topic.place not in SHORT_PLACES or context is None:
            continue
        part = before if topic.place is Place.FRONT else behind
        if topic.whole:
            part.append(_whole(topic, context, findings[topic.name]))
        elif figures[topic.name] or (findings[topic.name] and not topic.opens):
            shown = {"findings": findings[topic.name], "figures": figures[topic.name]}
            part.append(Section(topic.anchor, topic.navigation, "short/topic.html.j2", heading=topic.heading, **shown))
    closing = [Section(anchor, name, f"short/{anchor}.html.j2") for anchor, name in CLOSING]
    return [*before, Section(*FINDINGS, "sections/findings.html.j2"), *behind, *closing]


def short_figures(topic: Topic, design, figures: Mapping[str, dict], opening: str | None) -> list[str]:
    """Return the slugs of the figures that a topic shows on the short page, except the figure that opens the page.

    Parameters
    ----------
    topic : Topic
        Topic whose figures are selected.
    design : StudyDesign
        Design of the study.
    figures : mapping
        The study's figures by slug.
    opening : str, optional
        Slug of the figure that opens the page.
    """
    wanted = topic.brief(design) if callable(topic.brief) else topic.brief
    if wanted is None:
        wanted = topic.pictures or [figure.slug for figure in topic.figures_of(design)][:1]
    return [slug for slug in wanted if slug in figures and slug != opening][:MOST_FIGURES]
