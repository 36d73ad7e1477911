"""Rank a study's differences in the order in which they are reported.

Each difference is reported once, beginning with the largest difference in units of its margin.

A finding names a subject, which is a level of a factor, and the levels from which the subject differs in the same direction in one measure.
The next finding is the one with the largest sum of differences that haven't been reported yet. A finding also lists the subject's
differences from these levels in other measures (the cost). So if one of five CCAs differs from the four others, a single finding compares
it with all four.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from topics.differences.measures import BY_COLUMN, Measure
from topics.differences.tables import LESS, MORE

#: Weight of CCAs that the study defines itself: they come first unless other CCAs' differences weigh more than this many times as much.
OF_OWN = 10.0
#: Weight of differences between scenarios: among differences of similar size, those between CCAs come first.
OF_SCENARIOS = 0.5
#: Size in margins above which a larger difference counts no more. Sizes are weighted by their logarithm, because a difference that is ten
#: times as large isn't ten times as important.
MOST_MARGINS = 100.0
#: A finding also reports a further measure if the subject differs in it from more than this share of the finding's levels.
MOST_OF = 0.5


@dataclass(frozen=True)
class Side:
    """A row of `COMPARISONS` from the point of view of one of its two levels, the subject."""

    subject: str
    other: str
    measure: Measure
    direction: int  # 1 if the subject's value is larger, -1 if smaller
    row: Mapping  # row of `COMPARISONS`
    weight: float

    @property
    def key(self) -> tuple:
        """Key of the difference, which is the same for both sides."""
        return self.row["factor"], frozenset((self.subject, self.other)), self.measure.column

    @property
    def is_better(self) -> bool:
        """Whether the subject's value is the better one."""
        return self.direction == self.measure.better


@dataclass(frozen=True)
class Ranked:
    """A finding: a subject's differences from some levels in one measure, and from the same levels in other measures."""

    first: tuple[Side, ...]
    further: tuple[tuple[Side, ...], ...] = ()

    @property
    def factor(self) -> str:
        """Factor whose levels are compared."""
        return self.first[0].row["factor"]


def sides_of(comparisons: pd.DataFrame, own: Collection[str] = ()) -> list[Side]:
    """Return both sides of each comparison with the verdict `MORE` or `LESS`.

    ``own`` are the CCAs that the study defines itself.
    """
    sides = []
    for row in comparisons.to_dict("records"):
        if row["verdict"] not in (MORE, LESS):
            continue
        measure, sign = BY_COLUMN[row["measure"]], 1 if row["verdict"] == MORE else -1
        size = min(np.sqrt(row["least"] * row["most"]) / row["margin"], MOST_MARGINS)
        weight = np.log2(1 + size) * row[row["verdict"]] / row["places"]
        weight *= OF_SCENARIOS if row["factor"] == "scenario" else 1
        for subject, other, direction in (
            (row["level_a"], row["level_b"], sign),
            (row["level_b"], row["level_a"], -sign),
        ):
            factor = OF_OWN if subject in own else 1
            sides.append(Side(subject, other, measure, direction, row, weight * factor))
    return sides


def ranked(comparisons: pd.DataFrame, own: Collection[str] = ()) -> Iterator[Ranked]:
    """Yield the findings of a table `COMPARISONS`, the most important first."""
    sides, said = sides_of(comparisons, own), set()
    while left := [side for side in sides if side.key not in said]:
        first = max(_by_subject(left), key=lambda group: _worth(group, own))
        others = {side.other for side in first}
        of_subject = [
            side for side in left if side.subject == first[0].subject and side.row["factor"] == first[0].row["factor"]
        ]
        further = [
            group
            for group in _by_subject([side for side in of_subject if side.other in others])
            if group[0].measure != first[0].measure and len(group) > MOST_OF * len(first)
        ]
        further.sort(key=lambda group: _worth(group, own), reverse=True)
        finding = Ranked(first, _one_direction(further))
        said |= {side.key for group in (finding.first, *finding.further) for side in group}
        yield finding


def _by_subject(sides) -> list[tuple[Side, ...]]:
    """Group the sides by factor, subject, measure and direction."""
    groups: dict[tuple, list[Side]] = {}
    for side in sides:
        groups.setdefault((side.row["factor"], side.subject, side.measure.column, side.direction), []).append(side)
    return [tuple(group) for group in groups.values()]


def _one_direction(groups) -> tuple[tuple[Side, ...], ...]:
    """Return the first group of each measure."""
    first = {}
    for group in groups:
        first.setdefault(group[0].measure.column, group)
    return tuple(first.values())


def _worth(group, own) -> tuple:
    """Return a sort key for a group of sides: by total weight; in a tie, the study's own CCAs come first, then the better side."""
    return round(sum(side.weight for side in group), 9), group[0].subject in own, group[0].is_better
