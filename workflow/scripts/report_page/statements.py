"""Sentences on the page that are true only of some studies; each has a precondition.

`Facts` contains a study's scenarios, from which their features (`study_files.study_features`) follow, and the values that sentences contain
or depend on. A statement that is true of every study has the precondition `ALWAYS`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from study_files.study_features import FEATURES


@dataclass(frozen=True)
class Facts:
    """The facts that determine which sentences are true of a study.

    Attributes
    ----------
    scenarios : list of dict
        Resolved scenarios.
    values : mapping
        Values that sentences contain or depend on, by name.
    """

    scenarios: list
    values: Mapping = field(default_factory=dict)

    def number_with(self, feature) -> int:
        """Return the number of scenarios that have a feature."""
        return sum(map(FEATURES[feature], self.scenarios))


@dataclass(frozen=True)
class Precondition:
    """A precondition of a sentence: a predicate on a study's `Facts`."""

    holds: Callable[[Facts], bool]
    words: str

    def __and__(self, other):
        return Precondition(lambda facts: self.holds(facts) and other.holds(facts), f"{self.words} and {other.words}")

    def __or__(self, other):
        return Precondition(lambda facts: self.holds(facts) or other.holds(facts), f"({self.words} or {other.words})")

    def __invert__(self):
        return Precondition(lambda facts: not self.holds(facts), f"not ({self.words})")


def some(feature) -> Precondition:
    """Return the precondition that at least one scenario of the study has a feature."""
    return Precondition(lambda facts: facts.number_with(feature) > 0, f"some {feature}")


def every(feature) -> Precondition:
    """Return the precondition that every scenario of the study has a feature."""
    return Precondition(lambda facts: facts.number_with(feature) == len(facts.scenarios), f"every {feature}")


def none(feature) -> Precondition:
    """Return the precondition that no scenario of the study has a feature."""
    return ~some(feature)


def mixed(feature) -> Precondition:
    """Return the precondition that some, but not all, scenarios of the study have a feature."""
    return some(feature) & ~every(feature)


def known(value) -> Precondition:
    """Return the precondition that a value of the study's `Facts` is not None, 0, empty or False."""
    return Precondition(lambda facts: bool(facts.values[value]), f"known {value}")


#: Precondition of sentences that are true of every study.
ALWAYS = Precondition(lambda facts: True, "always")


@dataclass(frozen=True)
class Statement:
    """A sentence and its precondition; names in braces stand for entries of `Facts.values`."""

    text: str
    when: Precondition

    def said(self, facts) -> str:
        """Return the sentence with the values of a study filled in."""
        return self.text.format_map(facts.values)


def said(statements: Iterable[Statement], facts: Facts) -> str:
    """Return the sentences that are true of a study as one text."""
    return " ".join(statement.said(facts) for statement in statements if statement.when.holds(facts))
