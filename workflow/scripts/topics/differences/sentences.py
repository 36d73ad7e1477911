"""Sentences about ranked differences, and about levels that are alike.

A *place* is where two levels are compared: a scenario in which two CCAs run, or a CCA that runs in two scenarios.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import pandas as pd

from topics.differences.measures import BY_COLUMN, RATIO
from topics.differences.ranking import Ranked, Side
from topics.differences.tables import ALIKE, BY_REPEATS, BY_SOME_SPREAD, BY_SPREAD, BY_T, LESS, MORE, OPEN
from wording.number_format import is_missing
from wording.sentence_words import between, cca_name, listed, p_words, short

#: A ratio of at least this value is reported as a factor ("times as large") instead of a percentage.
TIMES = 2.0
#: Largest number of measures for which a sentence gives an upper bound on a cost that isn't shown.
MOST_BOUNDS = 2
#: Largest number of further measures that are reported, and of groups of levels that are alike.
MOST_FURTHER, MOST_GROUPS = 2, 3
#: Largest number of places that are named.
MOST_PLACES = 2
#: If a CCA differs from more than this number of CCAs and these are all others in the study, they are called "all other CCAs".
MOST_OTHERS = 2
#: Comparative -> word that is used with a factor, such as "long" in "3.1 times as long".
AS = {"higher": "high", "longer": "long"}


@dataclass(frozen=True)
class Told:
    """The tables of a study's differences, the confidence level of the intervals in these tables, and the study's CCAs."""

    differences: pd.DataFrame
    comparisons: pd.DataFrame
    confidence: float
    ccas: Collection[str]

    def places(self, side: Side) -> pd.DataFrame:
        """Return the rows of `DIFFERENCES` on which a comparison is based."""
        row, table = side.row, self.differences
        keys = ["factor", "level_a", "level_b", "measure"]
        return table[(table[keys] == [row[key] for key in keys]).all(axis=1)]

    def sentence(self, finding: Ranked) -> str:
        """Return a finding in words: the levels that differ, the places, the size, the cost and the certainty."""
        subject = f"With {_level(finding.first[0].subject, finding.factor)}"
        parts = [f"{subject} {self._measure_words(finding.first, whole=True)}.", self._example(finding.first)]
        better = finding.first[0].is_better
        further = _one_a_question(finding)[:MOST_FURTHER]
        for opening, same in (("Also", True), ("The price:" if better else "In return", False)):
            groups = [group for group in further if (group[0].is_better == better) is same]
            if groups:
                parts.append(f"{opening} {listed([self._measure_words(group) for group in groups])}.")
        if finding.factor == "cca" and better and not further:
            parts.append(self._no_price(finding))
        parts.append(self._sure(finding.first))
        return " ".join(filter(None, parts))

    def _measure_words(self, group, whole=False) -> str:
        """Describe the difference in one measure: "the mean RTT is 21.7 % shorter (in slow: 49.1 against 62.7 ms)".

        If ``whole``, name the other levels and the places instead of giving an example: "... shorter than with Reno in 1 of 2 scenarios".
        """
        side = group[0]
        others = f" than with {self._others(group)}" if whole else ""
        size = _size_words([end for one in group for end in _ends(one)], side)
        than = others.replace(" than with", " as with", 1) if " times as " in size else others
        where = self._where(group) if whole or self._holds(group)[0] < self._holds(group)[1] else ""
        example = "" if whole else f" ({self._largest(group, named=False)[0]})"
        return f"{side.measure.named} is {size}{than}{where}{example}"

    def _others(self, group) -> str:
        """Return the levels from which a subject differs: "Reno and CUBIC", "all other CCAs"."""
        factor = group[0].row["factor"]
        # A CCA without a valid run is compared with no other CCA.
        if factor == "cca" and MOST_OTHERS < len(group) == len({*self.ccas}) - 1:
            return "all other CCAs"
        names = [_level(one.other, factor) for one in group]
        if not self._holds(group)[0]:  # each level differs in some place, but there is no place in which all of them do
            names = [f"{name} ({self._places_words(one)})" for name, one in zip(names, group, strict=True)]
        return listed(names)

    def _places_words(self, side) -> str:
        """Name the places in which a group's differences are shown: "in slow and fast", "in 3 of 5 scenarios", "with BBR"."""
        rows, by_scenario = self.places(side), side.row["factor"] == "cca"
        own = rows[rows["verdict"] == side.row["verdict"]]
        column, before, nouns = ("scenario", "in", "scenarios") if by_scenario else ("cca", "with", "CCAs")
        names = [
            _scenario(row) if by_scenario else cca_name(row["cca"])
            for row in own.drop_duplicates(column).to_dict("records")
        ]
        if len(names) > MOST_PLACES:
            return f"{before} {len(names)} of {rows[column].nunique()} {nouns}"
        return f"{before} {listed(names)}"

    def _holds(self, group) -> tuple[int, int, int]:
        """Return three counts: places with a difference in the group's direction, all places, and places with the opposite difference.

        A place counts as one with a difference if the subject differs there from all levels of the group in the same direction.
        """
        says = {MORE: 1, LESS: -1}
        of_places: dict[tuple, list[int]] = {}
        for side in group:
            wanted = says[side.row["verdict"]]
            for row in self.places(side).to_dict("records"):
                own = row["scenario"] if side.subject == side.row["level_a"] else row["other_scenario"]
                place = (own,) if side.row["factor"] == "cca" else (own, row["cca"])
                of_places.setdefault(place, []).append(wanted * says.get(row["verdict"], 0))
        # A place in which any of the levels is missing doesn't count.
        found = [says_of for says_of in of_places.values() if len(says_of) == max(map(len, of_places.values()))]
        return sum(min(one) == 1 for one in found), len(found), sum(max(one) == -1 for one in found)

    def _noun(self, group) -> tuple[str, str]:
        """Return the noun for the places of a comparison, in the singular and in the plural."""
        if group[0].row["factor"] == "cca":
            return "scenario", "scenarios"
        if self.places(group[0])["scenario"].nunique() == 1:
            return "CCA", "CCAs"
        return "combination of CCA and scenario", "combinations of CCA and scenario"

    def _where(self, group) -> str:
        holds, places, opposite = self._holds(group)
        noun = self._noun(group)
        if places == 1:
            return ""
        if not holds:  # the places have already been named with the levels
            return ""
        which = ("both" if places == 2 else f"all {places}") if holds == places else f"{holds} of {places}"
        other = _comparative(group[0], reverse=True)
        return f" {'in' if noun[0] != 'CCA' else 'with'} {which} {noun[1]}" + (
            f", {other} in {opposite}" if opposite else ""
        )

    def _example(self, group) -> str:
        """Return a sentence that gives the largest difference: where it occurs, both values, n, and the interval.

        The interval is in the unit in which the difference is reported: a ratio if the difference is given as a factor.
        """
        place, row, side = self._largest(group, named=True)
        certainty = f"n = {int(row['n'])}"
        if not is_missing(row["difference_low"]):
            ends, what, unit = _interval(row, side), "difference", side.measure.effect_unit
            if " times as " in _size_words([end for one in group for end in _ends(one)], group[0]):
                ends, what, unit = [1 + end / 100 for end in ends], "ratio", ""
            certainty += f", {100 * self.confidence:g} % interval of the {what} {short(ends[0])} to {short(ends[1])} {unit}".rstrip()
        return f"{place[0].upper()}{place[1:]} ({certainty})."

    def _largest(self, group, named) -> tuple[str, dict, Side]:
        """Find the place with the largest difference; return its description, its row and the side.

        The description contains both values: "most in slow, compared with Reno: 49.1 against 62.7 ms".
        """
        rows = [
            (abs(row["difference"]), number, row)
            for number, side in enumerate(group)
            for row in self.places(side).to_dict("records")
            if row["verdict"] == side.row["verdict"]
        ]
        _, number, row = max(rows, key=lambda one: one[:2])
        side = group[number]
        values = [row["value"], row["other_value"]]
        if side.subject != row["level_a"]:
            values.reverse()
        most = "most " * (named and len(rows) > 1)
        where = []
        if row["factor"] == "scenario":
            where.append(f"{most}with {cca_name(row['cca'])}")
        elif self.differences["scenario"].nunique() > 1:
            where.append(f"{most}in {_scenario(row)}")
        if named and len(group) > 1:
            where.append(f"compared with {_level(side.other, row['factor'])}")
        unit = f" {side.measure.unit}" if side.measure.unit else ""
        values_words = f"{short(values[0])} against {short(values[1])}{unit}"
        return f"{', '.join(where)}{': ' if where else ''}{values_words}", row, side

    def _no_price(self, finding) -> str:
        """Report the largest differences between pairs of runs in the measures that the finding doesn't mention.

        The sentence is empty if the levels differ in any of these measures. If the subject is worse than only some of the levels, another
        finding reports these differences from the point of view of those levels.
        """
        keys = {side.key[1] for side in finding.first}
        said = {group[0].measure.asks for group in (finding.first, *finding.further)}
        table = self.comparisons[self.comparisons["factor"] == finding.factor]
        rows = table[[frozenset(pair) in keys for pair in zip(table["level_a"], table["level_b"], strict=True)]]
        rows = rows[[BY_COLUMN[column].asks not in said for column in rows["measure"]]]
        if rows.empty or rows["verdict"].isin((MORE, LESS)).any():
            return ""
        bounds = listed(_bounds(rows)[:MOST_BOUNDS])
        if (rows["verdict"] == ALIKE).all():
            return f"It has no price in the measures compared: pairs of runs differ by at most {bounds}."
        return f"Whether it has a price is open: pairs of runs differ by up to {bounds}."

    def _sure(self, group) -> str:
        """Report the evidence that the differences in a finding's main measure aren't due to chance, for each kind of evidence."""
        kinds: dict[str, list[Side]] = {}
        for side in group:
            evidence = side.row["evidence"]
            kinds.setdefault(evidence if evidence in (BY_REPEATS, BY_SPREAD, BY_SOME_SPREAD) else "", []).append(side)
        ordered = sorted(kinds.items(), key=lambda one: len(one[1]))
        parts = [self._evidence_words(kind, sides) for kind, sides in ordered]
        if len(parts) > 1:
            levels = [listed([_level(side.other, side.row["factor"]) for side in sides]) for _, sides in ordered]
            if len(ordered[-1][1]) > 1:
                levels[-1] = "the others"
            parts = [f"with {level}, {part}" for level, part in zip(levels, parts, strict=True)]
            parts[0] = f"compared {parts[0]}"
        words = "; ".join(parts)
        return f"{words[0].upper()}{words[1:]}."

    def _evidence_words(self, kind, sides) -> str:
        if kind == BY_REPEATS:
            return "each value is one measurement, repeated with the same result, so there is nothing to test"
        if kind in (BY_SPREAD, BY_SOME_SPREAD):
            where = "" if kind == BY_SPREAD else f"in some {self._noun(sides)[1]} "
            return f"too few runs differ for a test, but {where}the difference is at least three times any difference between runs of one cell"
        worst = max(side.row["t_p_holm" if side.row["evidence"] == BY_T else "p_holm"] for side in sides)
        by_t = "Student's t" if sides[0].row["factor"] == "cca" else "Welch's t"
        tests = listed([by_t if one == BY_T else one for one in dict.fromkeys(side.row["evidence"] for side in sides)])
        return f"by {tests}, corrected for all comparisons, {p_words(worst)}"


def alike_sentence(comparisons: pd.DataFrame) -> str:
    """Name the CCAs that are alike in every measure, and the largest difference between pairs of runs; empty if there are no such CCAs."""
    table = comparisons[comparisons["factor"] == "cca"]
    groups = sorted(_alike_levels(table), key=len, reverse=True)[:MOST_GROUPS]
    if not groups:
        return ""
    rows = pd.concat([table[table["level_a"].isin(levels) & table["level_b"].isin(levels)] for levels in groups])
    names = "; ".join(listed([cca_name(level) for level in levels]) for levels in groups)
    return f"{names} are alike in all compared measures: pairs of runs differ by at most {listed(_bounds(rows)[:MOST_BOUNDS])}."


def _bounds(rows) -> list[str]:
    """Return, for one measure per question, the largest difference between pairs of runs in the given rows of `COMPARISONS`."""
    first: dict[str, str] = {}
    for column, of_measure in rows.groupby("measure", sort=False):
        measure = BY_COLUMN[column]
        first.setdefault(measure.asks, f"{_amount(of_measure['bound'].max(), measure)} in {measure.name}")
    return list(first.values())


def _alike_levels(table) -> list[list[str]]:
    """Return groups of at least two levels that are all pairwise alike; each level is in at most one group."""
    alike = {
        pair for pair, rows in table.groupby(["level_a", "level_b"], sort=False) if (rows["verdict"] == ALIKE).all()
    }
    levels = list(dict.fromkeys([*table["level_a"], *table["level_b"]]))
    groups: list[list[str]] = []
    for level in levels:
        for group in groups:
            if all((one, level) in alike or (level, one) in alike for one in group):
                group.append(level)
                break
        else:
            groups.append([level])
    return [group for group in groups if len(group) > 1]


def open_sentence(comparisons: pd.DataFrame) -> str:
    """Name the CCAs between which a difference is neither shown nor ruled out, and the largest difference between pairs of runs."""
    rows = comparisons[(comparisons["factor"] == "cca") & (comparisons["verdict"] == OPEN)]
    if rows.empty:
        return ""
    names = listed([cca_name(level) for level in dict.fromkeys([*rows["level_a"], *rows["level_b"]])])
    return f"No difference between {names} is shown, but not all are ruled out: pairs of runs differ by up to {listed(_bounds(rows))}."


def undecided_sentence(comparisons: pd.DataFrame, own: Collection[str]) -> str:
    """Name the CCAs among ``own`` that the other findings don't mention, because none of their differences is shown, and some are open.

    Empty if there are no such CCAs. The sentence gives the largest difference between pairs of runs.
    """
    table = comparisons[comparisons["factor"] == "cca"]
    shown = table[table["verdict"].isin((MORE, LESS))]
    silent = [cca for cca in own if not shown[["level_a", "level_b"]].isin([cca]).to_numpy().any()]
    rows = table[(table["verdict"] == OPEN) & table[["level_a", "level_b"]].isin(silent).any(axis=1)]
    if rows.empty:
        return ""
    names = [cca_name(cca) for cca in silent if rows[["level_a", "level_b"]].isin([cca]).to_numpy().any()]
    return f"No difference between {listed(names)} and other CCAs is shown, but not all are ruled out: pairs of runs differ by up to {listed(_bounds(rows))}."


def _one_a_question(finding) -> list[tuple[Side, ...]]:
    """Return the groups of a finding's further measures: one for each question that the finding's first measure doesn't answer."""
    first = {finding.first[0].measure.asks: finding.first}
    for group in finding.further:
        first.setdefault(group[0].measure.asks, group)
    return list(first.values())[1:]


def _scenario(row) -> str:
    return f"scenario {row['scenario_label']}" if row["scenario_label"].isdigit() else row["scenario_label"]


def _level(level, factor) -> str:
    return cca_name(level) if factor == "cca" else level


def _comparative(side, reverse=False) -> str:
    return side.measure.words[(side.direction > 0) != reverse]


def _flipped(percent) -> float:
    """Return the difference in percent from the other side's point of view."""
    return 100 * (1 / (1 + percent / 100) - 1)


def _seen(difference, side) -> float:
    """Return a row's difference from the point of view of the side's subject."""
    if side.subject == side.row["level_a"]:
        return difference
    return _flipped(difference) if side.measure.scale == RATIO else -difference


def _ends(side) -> list[float]:
    """Return the smallest and the largest absolute difference among the places with the comparison's verdict."""
    sign = 1 if side.row["verdict"] == MORE else -1
    return [abs(_seen(sign * side.row[end], side)) for end in ("least", "most")]


def _interval(row, side) -> list[float]:
    """Return the lower and the upper end of a place's interval; values in the direction of the difference are positive."""
    ends = [side.direction * _seen(row[end], side) for end in ("difference_low", "difference_high")]
    return sorted(ends)


def _size_words(sizes: Iterable[float], side: Side) -> str:
    """Describe the size of a difference: "21.7 to 35 % shorter", "3.1 to 9 times as long", "13.6 ms shorter"."""
    sizes = list(sizes)
    if side.measure.scale == RATIO and side.direction > 0 and 1 + max(sizes) / 100 >= TIMES:
        return f"{between([1 + size / 100 for size in sizes])} times as {AS[_comparative(side)]}"
    unit = f" {side.measure.effect_unit}" if side.measure.effect_unit else ""
    return f"{between(sizes)}{unit} {_comparative(side)}"


def _amount(value, measure) -> str:
    return f"{short(value)} {measure.effect_unit}".rstrip()
