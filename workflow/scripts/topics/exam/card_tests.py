"""The scorecard's statistical tests. They are based on counts of outcomes, so they are exact for any distribution of the values.

Two tests can show the verdict *worse*. The sign test can show that most runs on such paths are worse than each standard CCA by more than
the margin: k of n runs correspond to k heads in n tosses. The other test can show that the CCA collapses too often: its share of far worse
runs must exceed `RARE` and the standard CCAs' share of far worse runs over all cases, and if similar standard CCAs collapse too, the CCA
must also be far worse in more runs than each of them. Both must be shown, so a collapse of a standard CCA never makes the
verdict *worse* more likely. The sign test uses `SHARE_OF_MOST` of a row's significance level, and the other test uses the rest.

Runs with the same seed form a *draw*: runs over IPv4 and IPv6, and runs of cases that share seeds (`seeds_of`). They have the same path, so
they may all collapse together, and only draws are independent. The probabilities are therefore computed as if all runs of a draw had the
same outcome (`inference.counts_of_draws`).

The tests of all rows are corrected together (Holm, 1979). Interim looks share the total probability of error: the first look spends nearly
all of it, and each later look spends half of the remainder (alpha spending: Lan and DeMets, 1983, Biometrika 70(3)). Runs may therefore be
added any number of times.
"""

import math
from typing import NamedTuple

from inference.counts_of_draws import Numbers, at_least, at_most, scaled, sign_tail, total
from topics.exam.outcomes import Outcomes

#: If the CCA's share of far worse runs exceeds this value, a collapse counts as shown.
RARE = 0.05
#: Share of a row's significance level that the sign test uses, and share of the total probability of error that the first look spends.
SHARE_OF_MOST, FIRST_LOOK = 0.96, 0.96
#: Largest number of runs that the report recommends for closing a row.
MOST_RUNS = 400


def level_of_look(significance, look) -> float:
    """Return the joint significance level of all rows at a look; looks are numbered from 0.

    >>> [round(level_of_look(0.05, look), 5) for look in range(3)]
    [0.048, 0.001, 0.0005]
    """
    first = significance * FIRST_LOOK
    return first if look == 0 else (significance - first) / 2**look


class Counts(NamedTuple):
    """How many of a row's runs have each outcome, and how the runs are grouped into draws."""

    worse: int
    better: int
    far_worse: int
    standards_far: int
    draws: Numbers
    leads: Numbers

    @classmethod
    def of(cls, row: Outcomes) -> "Counts":
        """Return the counts of a row's runs."""
        return cls(row.worse, row.better, row.far_worse, row.standards_far, row.draws, row.leads)

    @property
    def n(self) -> int:
        """Number of runs."""
        return total(self.draws)

    def of_more(self, n) -> "Counts":
        """Return the counts for about n runs, with the same share of each outcome."""
        draws = scaled(self.draws, n / self.n)
        runs = total(draws)
        return Counts(*(round(count / self.n * runs) for count in self[:4]), draws, scaled(self.leads, n / self.n))


def p_worse(row: Outcomes, is_absolute, rare=RARE) -> float:
    """Return the p-value of a row's verdict *worse*; 1 if there are no runs or the runs repeat one measurement.

    ``rare`` is the share of far worse runs above which collapses count as shown.
    """
    if row.n == 0 or row.measurements < row.n:
        return 1.0
    return _p_of_counts(Counts.of(row), is_absolute, rare)


def _p_of_counts(counts, is_absolute, rare):
    rarely = p_collapses(counts, rare)
    if is_absolute:
        return rarely
    return min(1.0, at_least(counts.worse, counts.draws, 0.5) / SHARE_OF_MOST, rarely / (1 - SHARE_OF_MOST))


def p_collapses(counts: Counts, rare=RARE) -> float:
    """Return the p-value of the statement that the CCA collapses too often.

    The CCA collapses too often if its share of far worse runs exceeds `rare`, and the similar standard CCAs collapse less often: the worst
    of them is far worse in ``counts.standards_far`` runs. The second condition is tested by the signs of the draws' leads. The result is
    the larger of the two tests' p-values, which is valid for the statement that both conditions hold (intersection-union test: Berger,
    1982, Technometrics 24(4)).

    >>> counts = [Counts(0, 0, 6, of_standard, ((1, 20),), ((1, 6), (-1, of_standard))) for of_standard in range(4)]
    >>> [round(p_collapses(each), 4) for each in counts]
    [0.0003, 0.0625, 0.1445, 0.2539]
    """
    above_allowed = at_least(counts.far_worse, counts.draws, rare)
    if not counts.standards_far:
        return above_allowed
    return max(above_allowed, sign_tail(counts.leads))


def p_better(row: Outcomes) -> float:
    """Return the p-value of a row's verdict *better*: most runs are better than each standard CCA by more than the margin."""
    if row.n == 0 or row.measurements < row.n or row.failed:
        return 1.0
    return at_least(row.better, row.draws, 0.5)


def fewest_for_most(draws: Numbers, level) -> int | None:
    """Return how many runs must be worse to show that most runs on such paths are worse; None if there are too few runs.

    ``level`` is the level of the test.

    >>> fewest_for_most(((1, 16),), 0.048 / 22), fewest_for_most(((1, 8),), 0.048 / 22)
    (14, None)
    """
    n = total(draws)
    shown = (count for count in range(n // 2, n + 1) if at_least(count, draws, 0.5) / SHARE_OF_MOST <= level)
    return next(shown, None)


def runs_needed(row: Outcomes, level, worse_share, is_absolute, rare=RARE) -> int | None:
    """Return the number of runs that would decide a row; None if `MOST_RUNS` would not be enough.

    The row's shares of outcomes are assumed to stay the same, and missing runs stay missing. More copies of one measurement decide nothing.

    ``level`` is the level of one row at the next look; ``rare`` is the same as in `p_worse`.
    """
    if row.measurements < max(row.n, 1):
        return None
    now = Counts.of(row)
    for n in range(row.n + 1, MOST_RUNS + 1):
        more = now.of_more(n)
        if _p_of_counts(more, is_absolute, rare) <= level:
            return more.n
        if row.missing:
            continue
        if not row.failed and at_least(more.better, more.draws, 0.5) <= level:
            return more.n
        is_bounded = at_most(math.ceil(now.worse / now.n * more.n), more.draws, worse_share) <= level / row.comparisons
        if is_bounded and more.far_worse <= more.standards_far and not row.failed_alone:
            return more.n
    return None
