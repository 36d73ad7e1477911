"""Sentences of the page that are true of some studies only: each stands beside what it presumes of a study.

`Facts` has what a study's scenarios have (`study_files.study_features`), its CCAs and IP versions, and values that sentences name.
A statement without a precondition says so by `ALWAYS`, and why it is true of every study.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from study_files.study_features import FEATURES


@dataclass(frozen=True)
class Facts:
    """What is known of a study where its sentences are chosen.

    Attributes
    ----------
    scenarios : list of dict
        As resolved.
    values : mapping
        What sentences name, by name.
    """

    scenarios: list
    values: Mapping = field(default_factory=dict)

    def number_with(self, feature) -> int:
        """Return how many scenarios have a feature."""
        return sum(map(FEATURES[feature], self.scenarios))


@dataclass(frozen=True)
class Precondition:
    """What a sentence presumes of a study: a predicate of its `Facts`."""

    holds: Callable[[Facts], bool]
    words: str

    def __and__(self, other):
        return Precondition(lambda facts: self.holds(facts) and other.holds(facts), f"{self.words} and {other.words}")

    def __or__(self, other):
        return Precondition(lambda facts: self.holds(facts) or other.holds(facts), f"({self.words} or {other.words})")

    def __invert__(self):
        return Precondition(lambda facts: not self.holds(facts), f"not ({self.words})")


def some(feature) -> Precondition:
    """Return that a scenario or more of the study has a feature."""
    return Precondition(lambda facts: facts.number_with(feature) > 0, f"some {feature}")


def every(feature) -> Precondition:
    """Return that all scenarios of the study have a feature."""
    return Precondition(lambda facts: facts.number_with(feature) == len(facts.scenarios), f"every {feature}")


def none(feature) -> Precondition:
    """Return that no scenario of the study has a feature."""
    return ~some(feature)


def mixed(feature) -> Precondition:
    """Return that some scenarios have a feature, and some don't."""
    return some(feature) & ~every(feature)


def known(value) -> Precondition:
    """Return that a value is there, and not 0, empty or False."""
    return Precondition(lambda facts: bool(facts.values[value]), f"known {value}")


#: Of a sentence that is true of every study.
ALWAYS = Precondition(lambda facts: True, "always")


@dataclass(frozen=True)
class Statement:
    """A sentence, with names of `Facts.values` in braces, and what it presumes."""

    text: str
    when: Precondition

    def said(self, facts) -> str:
        """Return the sentence of a study."""
        return self.text.format_map(facts.values)


def said(statements: Iterable[Statement], facts: Facts) -> str:
    """Return those of some sentences that are true of a study, as one text."""
    return " ".join(statement.said(facts) for statement in statements if statement.when.holds(facts))
