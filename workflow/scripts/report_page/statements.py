"""Sentences of the page that are true only of some studies, each with its precondition.

`Facts` has the features of a study's scenarios (`study_files.study_features`), its CCAs and IP versions, and values that sentences
name. A statement without a precondition declares `ALWAYS`, with the reason why it is true of every study.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from study_files.study_features import FEATURES


@dataclass(frozen=True)
class Facts:
    """The facts of a study that determine which sentences it gets.

    Attributes
    ----------
    scenarios : list of dict
        Resolved scenarios.
    values : mapping
        Values that sentences refer to, by name.
    """

    scenarios: list
    values: Mapping = field(default_factory=dict)

    def number_with(self, feature) -> int:
        """Return the number of scenarios that have a feature."""
        return sum(map(FEATURES[feature], self.scenarios))


@dataclass(frozen=True)
class Precondition:
    """Precondition of a sentence: a predicate of a study's `Facts`."""

    holds: Callable[[Facts], bool]
    words: str

    def __and__(self, other):
        return Precondition(lambda facts: self.holds(facts) and other.holds(facts), f"{self.words} and {other.words}")

    def __or__(self, other):
        return Precondition(lambda facts: self.holds(facts) or other.holds(facts), f"({self.words} or {other.words})")

    def __invert__(self):
        return Precondition(lambda facts: not self.holds(facts), f"not ({self.words})")


def some(feature) -> Precondition:
    """Require a feature in at least one scenario of the study."""
    return Precondition(lambda facts: facts.number_with(feature) > 0, f"some {feature}")


def every(feature) -> Precondition:
    """Require a feature in every scenario of the study."""
    return Precondition(lambda facts: facts.number_with(feature) == len(facts.scenarios), f"every {feature}")


def none(feature) -> Precondition:
    """Require that none of the study's scenarios has a feature."""
    return ~some(feature)


def mixed(feature) -> Precondition:
    """Require a feature in some scenarios of the study, but not in all."""
    return some(feature) & ~every(feature)


def known(value) -> Precondition:
    """Require that a value exists and is not 0, empty or False."""
    return Precondition(lambda facts: bool(facts.values[value]), f"known {value}")


#: Precondition of a sentence that is true of every study.
ALWAYS = Precondition(lambda facts: True, "always")


@dataclass(frozen=True)
class Statement:
    """A sentence, with names of `Facts.values` in braces, and its precondition."""

    text: str
    when: Precondition

    def said(self, facts) -> str:
        """Return the sentence filled with the facts of a study."""
        return self.text.format_map(facts.values)


def said(statements: Iterable[Statement], facts: Facts) -> str:
    """Return the sentences that are true of a study as one text."""
    return " ".join(statement.said(facts) for statement in statements if statement.when.holds(facts))
