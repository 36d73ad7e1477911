"""Verdicts for the rows of a comparison (*worse*, *better*, *like* and so on), from counts of pairs.

A row contains one sign per pair of runs. The p-values of all rows are corrected jointly: the test exchanges the two sides of entire
replications (`inference.exchanged_pairs`), or of all pairs with the same seeds. Pairs with the same seeds aren't independent, so shares of
pairs are tested as if all these pairs had the same outcome (`inference.counts_of_draws`).
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from inference.counts_of_draws import Numbers, at_least, numbers, scaled, share_at_most, sign_tail, total
from inference.exchanged_pairs import corrected_p

SIGNIFICANCE = 0.05
WORSE, BETTER, TOO_VARIABLE, NOT_ENOUGH = "worse", "better", "too variable", "not enough"
NOT_MEASURED, LIKE, SAME = "not measured", "like", "the same"
#: Verdicts, in the order of the table.
CHANGES = (WORSE, BETTER, TOO_VARIABLE, NOT_ENOUGH, NOT_MEASURED, LIKE, SAME)
#: Maximum number of units (see `Pair`) tried in the search for the number of pairs that a row needs.
MOST_UNITS = 200


class Pair(NamedTuple):
    """A pair of runs."""

    replication: Hashable  # the unit whose two sides are exchanged, in all rows at once
    seeds: Hashable  # seeds of both runs; pairs with the same seeds, in any scenarios, aren't independent


class Counts(NamedTuple):
    """Counts of pairs: worse by more than the margin, better by more than the margin, and all pairs; and how pairs are grouped into units."""

    worse: int
    better: int
    pairs: int
    draws: Numbers  # number of pairs of each unit
    leads: Numbers  # sum of signs of each unit, for units in which it isn't 0

    def of_more(self, units) -> "Counts":
        """Return the counts scaled to a different number of units, with the same shares of worse and better pairs."""
        factor = units / sum(number for _, number in self.draws)
        draws = scaled(self.draws, factor)
        pairs = total(draws)
        worse, better = (round(count * pairs / self.pairs) for count in (self.worse, self.better))
        return Counts(worse, better, pairs, draws, scaled(self.leads, factor))

    def p(self) -> float:
        """Return the uncorrected p-value of the two-sided sign test."""
        away = self.leads if self.worse >= self.better else tuple((-lead, number) for lead, number in self.leads)
        return min(1.0, 2 * sign_tail(away))


@dataclass(frozen=True)
class Row:
    """A row of the table before it is judged, with one sign per pair."""

    head: dict  # columns that are known before the row is judged
    pairs: Sequence[Pair]
    signs: Sequence[float]  # one per pair: 1 worse, -1 better, 0 neither
    of_most: bool  # whether the row makes a statement about most pairs, not about a count of runs

    def counts(self) -> Counts:
        """Return the counts of worse pairs, better pairs and all pairs."""
        signs = np.asarray(self.signs, dtype=float)
        sizes, leads = Counter(pair.replication for pair in self.pairs), Counter()
        for pair, sign in zip(self.pairs, signs, strict=True):
            leads[pair.replication] += int(sign)
        grouped = numbers(sizes.values()), numbers(lead for lead in leads.values() if lead)
        return Counts(int((signs > 0).sum()), int((signs < 0).sum()), len(signs), *grouped)

    def is_shown(self, counts, p_corrected) -> bool:
        """Return whether a row with these counts is worse or better.

        The corrected p-value must be significant. If the row makes a statement about most pairs, significantly more than half of the pairs
        must also agree.
        """
        if p_corrected > SIGNIFICANCE:
            return False
        return not self.of_most or at_least(max(counts.worse, counts.better), counts.draws, 0.5) <= SIGNIFICANCE

    def is_like(self, counts) -> bool:
        """Return whether a row with these counts is *like*: significantly more than half of the pairs are within the margin."""
        within = counts.pairs - counts.worse - counts.better
        return bool(self.of_most and at_least(within, counts.draws, 0.5) <= SIGNIFICANCE)


def judged(rows, share) -> Iterator[dict]:
    """Yield the columns of each row, including its verdict.

    The p-values are corrected for testing all rows, and divided by ``share``, the table's share of the significance level.
    """
    for row, of_all in zip(rows, corrected_p(_sign_matrix(rows)), strict=True):
        counts, p_corrected = row.counts(), min(1.0, of_all / share)
        columns = {"change": _verdict(row, counts, p_corrected)} | row.head
        columns |= {"n": counts.pairs, "pairs_worse": counts.worse, "pairs_better": counts.better}
        if counts.worse or counts.better:
            columns |= {"p": counts.p(), "p_corrected": p_corrected}
        words = ""
        if columns["change"] == NOT_ENOUGH and counts.pairs > 1:
            columns["n_needed"] = _pairs_needed(row, counts, p_corrected, share)
        elif columns["change"] == LIKE:
            apart = share_at_most(counts.worse + counts.better, counts.draws, SIGNIFICANCE)
            words = f"up to {100 * apart:.0f} % of pairs may differ by more than the margin"
        yield columns | {"note": "; ".join(filter(None, [columns["note"], words]))}


def _sign_matrix(rows):
    """Return the sums of signs of all rows, shape (rows, units); a unit is the ``replication`` of a `Pair`."""
    units = {pair.replication: None for row in rows for pair in row.pairs}
    places = {unit: place for place, unit in enumerate(units)}
    matrix = np.zeros((len(rows), len(units)))
    for row, signs in zip(rows, matrix, strict=True):
        for pair, sign in zip(row.pairs, row.signs, strict=True):
            signs[places[pair.replication]] += sign
    return matrix


def _verdict(row, counts, p_corrected):
    if not counts.pairs:
        return NOT_MEASURED
    if row.is_shown(counts, p_corrected):
        return WORSE if counts.worse > counts.better else BETTER
    if row.is_like(counts):
        return LIKE
    return TOO_VARIABLE if counts.worse and counts.better else NOT_ENOUGH


def _pairs_needed(row, counts, p_corrected, share):
    """Return the approximate number of pairs at which the row would be *worse*, *better* or *like*.

    The shares of worse and better pairs are assumed to stay the same. None is returned if `MOST_UNITS` units aren't enough.
    """
    factor = max(1 / share, p_corrected / counts.p())
    for units in range(sum(number for _, number in counts.draws) + 1, MOST_UNITS + 1):
        more = counts.of_more(units)
        if row.is_shown(more, factor * more.p()) or row.is_like(more):
            return more.pairs
    return None
