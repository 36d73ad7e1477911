"""The report's sections in their order, and which of them a study has."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from topics.topic import Place, Topic

#: Sections that belong to no topic, by where they stand: anchor and words of the navigation.
FRAME = {
    Place.QUESTION: (("findings", "Findings"),),
    Place.METHOD: (("method", "Method"),),
    Place.APPENDIX: (("threats", "Threats"), ("provenance", "Provenance")),
}


@dataclass(frozen=True)
class Section:
    """A section of the page: its identifier, what the navigation calls it, and its template's file.

    That is seen from the report's folder or from that of the topics. ``question`` is its number among the questions
    that the report answers, ``context`` what a topic's template needs. With a ``heading``, as HTML, the page frames it.
    """

    anchor: str
    name: str
    template: str
    question: int | None = None
    context: dict | None = None
    heading: str = ""


def section_context(topic: Topic, material) -> dict | None:
    """Return what the template of a topic's section needs: its declared tables, and what its own function adds.

    None: the study has nothing to show of it.
    """
    if not find_spec(f"topics.{topic.name}.section"):
        return {}
    part = import_module(f"topics.{topic.name}.section")
    tables = {name: table.of(material) for name, table in getattr(part, "TABLES", {}).items()}
    own = part.section(material) if hasattr(part, "section") else {}
    return None if own is None else tables | own


def section_findings(topic: Topic, material) -> list:
    """Return the findings of a topic, if it states any."""
    if not find_spec(f"topics.{topic.name}.section"):
        return []
    part = import_module(f"topics.{topic.name}.section")
    return part.findings(material) if hasattr(part, "findings") else []


def report_sections(topics: Iterable[Topic], contexts: Mapping[str, dict | None]) -> list[Section]:
    """Return the sections of a study's report, in order: by place, the frame's own before those of topics.

    A topic without a context, by its name, is left out.
    """
    sections, questions = [], 0
    for place in Place:
        sections += [Section(anchor, name, f"sections/{anchor}.html.j2") for anchor, name in FRAME.get(place, ())]
        for topic in topics:
            context = contexts.get(topic.name)
            if topic.place is not place or context is None:
                continue
            asks = place is Place.QUESTION
            questions += asks
            place_in_page = topic.anchor, topic.navigation, f"{topic.name}/section.html.j2", questions if asks else None
            sections.append(Section(*place_in_page, context, topic.heading))
    return sections
