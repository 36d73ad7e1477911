"""The report's sections in their order, and which of them a study has."""

from dataclasses import dataclass

#: Where the sections of the topics stand.
TOPICS_HERE = None
# Anchor, words of the navigation, whether it is one of the numbered questions.
SECTIONS = (
    ("findings", "Findings", False),
    ("method", "Method", False),
    ("validity", "Validity", False),
    TOPICS_HERE,
    ("speed", "Speed", True),
    ("ccas", "CCAs", True),
    ("ip-version", "IP version", True),
    ("delay-and-loss", "Delay, loss", True),
    ("theory", "Theory", True),
    ("published", "As published", False),
    ("claims", "Claims", False),
    ("threats", "Threats", False),
    ("provenance", "Provenance", False),
    ("statistics", "Statistics", False),
)


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes
    ----------
    anchor, name : str
        Its identifier, and what the navigation calls it.
    question : int or None
        Its number among the questions that the report answers.
    context : dict or None
        What a topic's template needs.
    """

    anchor: str
    name: str
    question: int | None = None
    context: dict | None = None

    @property
    def template(self):
        """Its file, seen from the page's template."""
        return f"sections/{self.anchor.replace('-', '_')}.html.j2"


def report_sections(topics, contexts, absent):
    """Return the sections of a study's report, in order.

    Parameters
    ----------
    topics : iterable of Topic
    contexts : dict of str to dict or None
        By the topic's name; a topic without a context is left out.
    absent : set of str
        Anchors of those above that the study has nothing for.

    Returns
    -------
    list of Section
    """
    found, questions = [], 0
    for entry in SECTIONS:
        if entry is TOPICS_HERE:
            parts = [
                (topic.anchor, topic.navigation, True, contexts[topic.name])
                for topic in topics
                if contexts[topic.name] is not None
            ]
        else:
            parts = [] if entry[0] in absent else [(*entry, None)]
        for anchor, name, asks, context in parts:
            questions += asks
            found.append(Section(anchor, name, questions if asks else None, context))
    return found
