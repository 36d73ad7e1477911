"""Rates at which a scorecard is wrong, and at which it detects harm, on data with known true values.

Each card consists of `ROWS` primary rows and the row about all cases. For each row, paired runs of a CCA, of Reno and of CUBIC are drawn,
with values in margins. A verdict is true if its statement holds for the distribution:

- *worse*: more than half of all runs are worse than every standard CCA by more than the margin, or runs collapse more often than allowed
  and more often than those of the standard CCAs;
- *like*: the share of worse runs doesn't exceed the bound on the card.

The true shares are counted in `TRUTH` runs from the same distribution.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy import stats

from rates import Rate
from topics.exam.card_tests import RARE
from topics.exam.criteria import MEASURES
from topics.exam.judge import set_verdicts
from topics.exam.outcomes import FAR, PAIR, Outcomes, relative_outcomes
from topics.exam.scorecard import rare_row
from topics.exam.tables import LIKE, OPEN_VERDICTS, PRIMARY, WORSE

ROWS, RUNS, TRUTH = 29, 20, 100_000
#: Accuracy of counted shares of collapses: a share that exceeds a bound by less than this doesn't count as above the bound.
COUNTED = 0.002
#: Number of replications in the full exam. `RUNS` is the number in the short exam.
WHOLE = 26
#: Numbers of replications of the short exam, and after `MORE=20` for the first and for the second time.
LOOKS = (RUNS, RUNS + 20, RUNS + 40)
CCAS, SIGNIFICANCE = ("mine", "reno", "cubic"), 0.05
#: Measure used in all rows. Lower values are better, and the margin is 1.
MEASURE = MEASURES["queueing_p95_ms"]
EXAM = {"cca": CCAS[0], "standards": CCAS[1:], "limits": {"worse_share": 0.3}}
#: Median of the lognormal distribution of the rows' standard deviations (of paired differences, in margins), and standard deviation of its
#: logarithm. In 27 cells of real exams, the quartiles of the rows' standard deviations were 0.06, 0.15 and 0.48.
SPREAD, SPREAD_OF_ROWS = 0.4, 0.86

Draw = Callable[[np.random.Generator, tuple[int, ...], float], np.ndarray]


def _normal(rng, shape, spread):
    return spread * rng.standard_normal((3, *shape)) / np.sqrt(2)


def _heavy(rng, shape, spread):
    return spread * rng.standard_t(3, (3, *shape)) / np.sqrt(6)


def _skewed(rng, shape, spread):
    return spread * (np.exp(rng.standard_normal((3, *shape))) - np.exp(0.5)) / 2.16


def _bimodal(rng, shape, spread):
    return _normal(rng, shape, spread / 4) + 3 * spread * rng.integers(0, 2, (3, *shape))


def _falling(shares, margins) -> Draw:
    """Return a distribution in which runs of some CCAs collapse.

    Parameters
    ----------
    shares : mapping
        Index of each CCA whose runs collapse -> probability that a run collapses.
    margins : float
        Amount by which a collapsed run is worse, in margins.
    """

    def draw(rng, shape, spread):
        values = _normal(rng, shape, spread)
        for cca, share in shares.items():
            values[cca] += margins * (rng.random(shape) < share)
        return values

    return draw


def _apart(rng, shape, spread):
    """Draw values in which each standard CCA is better than the CCA in its own 28 % of runs, which no smaller bound may exclude."""
    values, place = _normal(rng, shape, spread / 20), rng.random(shape)
    values[1] -= 2 * (place < 0.28)
    values[2] -= 2 * (place > 0.72)
    return values


def _elsewhere(rng, shape, spread):
    """Draw values in which the CCA falls on 40 % of the paths and Reno on 45 %, but never both, and CUBIC never."""
    values, path = _normal(rng, shape, spread), rng.random(shape)
    values[0] += 20 * (path < 0.4)
    values[1] += 20 * (path > 0.55)
    return values


def in_rows(draw, number=0, other=None) -> list[Draw]:
    """Return each row's function: `other` for the first `number` rows, and `draw` for the rest."""
    return [other] * number + [draw] * (ROWS - number)


#: Name -> function that draws values of the CCA and of two standard CCAs, as an array of shape (3, *shape). Higher values are worse.
DISTRIBUTIONS: dict[str, Draw] = {
    "normal": _normal,
    "heavy tails (t, 3 df)": _heavy,
    "skewed (exponential of normal)": _skewed,
    "bimodal": _bimodal,
    **{f"the CCA falls in {share:.0%} of runs": _falling({0: share}, 10) for share in (0.05, 0.1, 0.2, 0.3)},
    **{f"the standards fall in {share:.0%} of runs": _falling({1: share, 2: share}, 10) for share in (0.05, 0.15, 0.3)},
    **{f"the CCA and Reno fall in {share:.0%} of runs": _falling({0: share, 1: share}, 10) for share in (0.1, 0.3)},
    "each standard is better in other 28% of runs": _apart,
    "all fall in 15% of runs": _falling(dict.fromkeys(range(3), 0.15), 10),
    "the CCA falls in 4% of runs, and the standards in 0.2%": _falling({0: 0.04, 1: 0.002, 2: 0.002}, 10),
}  # fmt: skip


#: Cards whose open rows get more replications (`LOOKS`): name -> each row's function, and whether the rows are at the boundary.
EXTENDED = {
    "no harm": (in_rows(_normal), False),
    "at the boundary": (in_rows(_normal), True),
    "the CCA falls in 4% of runs": (in_rows(_falling({0: 0.04}, 10)), False),
    "all fall in 15% of runs": (in_rows(_falling(dict.fromkeys(range(3), 0.15), 10)), False),
    "the CCA falls in 20% of runs in 4 cases": (in_rows(_normal, 4, _falling({0: 0.2}, 10)), False),
}


def spreads() -> np.ndarray:
    """Return the standard deviation of each row in margins: equally spaced quantiles of a lognormal distribution."""
    return SPREAD * np.exp(SPREAD_OF_ROWS * stats.norm.ppf((np.arange(ROWS) + 0.5) / ROWS))


def card(rng, draws, harms, of_rows, runs=RUNS, looks=(), **how) -> list[dict]:
    """Draw values and return the rows of a card with their verdicts, starting with the row about all cases.

    Parameters
    ----------
    runs : int
        Number of replications.
    looks : sequence of int
        Numbers of replications at earlier looks. Only the rows that are open at a look get more replications.
    rng, draws, harms, of_rows, **how
        The same as in `drawn_outcomes`.
    """
    drawn = drawn_outcomes(rng, draws, harms, of_rows, runs, **how)
    numbers, still = np.zeros(ROWS, int), np.full(ROWS, True)
    for look, replications in enumerate([*looks, runs]):
        numbers[still] = replications
        rows = judged([outcomes.until(number) for outcomes, number in zip(drawn, numbers, strict=True)], looks[:look])
        still = [row["verdict"] in OPEN_VERDICTS for row in rows[1:]]
    return rows


def judged(drawn, looks=()) -> list[dict]:
    """Return the rows of a card with the given outcomes and their verdicts, starting with the row about all cases."""
    exam = EXAM | {"looks": list(looks)}
    rows = [
        {"role": PRIMARY, "margin": 1.0, "outcomes": outcomes, "scenario": str(place), "scenario_label": str(place)}
        for place, outcomes in enumerate(drawn)
    ]
    of_scenarios = {row["scenario"]: (row["outcomes"].planned, row["outcomes"].failures) for row in rows}
    rows.insert(0, rare_row(rows, exam, of_scenarios))
    set_verdicts(rows, exam, SIGNIFICANCE)
    return rows


def drawn_outcomes(rng, draws, harms, of_rows, runs, lost=0.0, shared=1, of_seed=0.0) -> list[Outcomes]:
    """Draw values and return the outcomes of each row's runs.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    draws : sequence of callable
        Each row's function, as in `DISTRIBUTIONS`.
    harms : array_like of float, shape (rows,)
        Amount by which the CCA is worse in each row, in margins.
    of_rows : array_like of float, shape (rows,)
        Standard deviation of each row, in margins.
    runs : int
        Number of replications.
    lost : float
        Share of each CCA's runs without a value.
    shared : int
        Number of consecutive rows whose scenarios share seeds.
    of_seed : float
        Share of the seeds with which all runs of the CCA collapse.
    """
    made = []
    seeds = np.arange(ROWS * runs).reshape(ROWS, runs)[np.arange(ROWS) // shared]
    collapses = (rng.random(seeds.size) < of_seed)[seeds]
    pairs = pd.MultiIndex.from_tuples(
        [(("ipv4", "ipv6")[number % 2], number) for number in range(1, runs + 1)], names=PAIR
    )
    for place, (draw, harm, spread) in enumerate(zip(draws, harms, of_rows, strict=True)):
        own, *standards = draw(rng, (runs,), spread)
        own = own + harm + 10 * collapses[place]
        known = np.where(rng.random((len(CCAS), runs)) < lost, np.nan, [own, *standards])
        cells = {cca: pd.Series(values, pairs).dropna() for cca, values in zip(CCAS, known, strict=True)}
        of_pairs = {"seeds": pd.Series(seeds[place], pairs)}
        made.append(relative_outcomes(MEASURE, cells, CCAS[0], CCAS[1:], 1.0, pairs, {}, **of_pairs))
    return made


def shares(rng, draw, harm, spread) -> tuple[float, float, float]:
    """Return three true shares of the runs in a scorecard row.

    These are the shares of runs in which the CCA is worse by more than the margin, the CCA is far worse, and a standard CCA is far worse.
    """
    own, *standards = draw(rng, (TRUTH,), spread) + np.array([harm, 0, 0])[:, None]
    far = max((one > np.maximum(own, other) + FAR).mean() for one, other in (standards, standards[::-1]))
    worse = min((own > standard + 1).mean() for standard in standards)
    return worse, (own > np.maximum(*standards) + FAR).mean(), far


def is_worse(of_row) -> bool:
    """Return whether the verdict *worse* is true for a row with the given `shares`."""
    worse, far, standards_far = of_row
    return worse > 0.5 or far > max(standards_far, RARE) + COUNTED


def at_boundary(rng, draw, spread) -> float:
    """Return the harm, in margins, at which the CCA is worse by the margin in half of the runs in a scorecard row."""
    own, *standards = draw(rng, (TRUTH,), spread)
    return 1 - min(float(np.median(own - standard)) for standard in standards)


def false_cards(rng, draws, cards, at_the_boundary=False, **how) -> tuple[int, int]:
    """Return the number of cards with a false *worse*, and the number of cards with a false *like*.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    draws : sequence of callable
        Each row's function, as in `DISTRIBUTIONS`.
    cards : int
        Number of cards to draw.
    at_the_boundary : bool
        If true, exactly half of the runs in each row are worse. Otherwise, the CCA behaves like Reno and CUBIC, except for collapses.
    **how
        Other parameters of `card`.
    """
    of_rows, worse, like = spreads(), 0, 0
    of_draws = list(zip(draws, of_rows, strict=True))
    harms = [at_boundary(rng, *of_draw) if at_the_boundary else 0.0 for of_draw in of_draws]
    truth = [shares(rng, draw, harm, spread) for harm, (draw, spread) in zip(harms, of_draws, strict=True)]
    # The row about all cases has the same number of runs of each case.
    falls_more = is_worse((0.0, *np.mean([(far, standards) for _, far, standards in truth], axis=0)))
    # The share of worse runs at the boundary is counted with an accuracy of 0.01.
    true = [is_worse((share - 0.01 * at_the_boundary, *rest)) for share, *rest in truth]
    for _ in range(cards):
        on_all, *made = card(rng, draws, harms, of_rows, **how)
        found = [row["verdict"] == WORSE and not one for row, one in zip(made, true, strict=True)]
        worse += any(found) or (on_all["verdict"] == WORSE and not falls_more)
        like += any(
            row["verdict"] == LIKE and share > row["worse_share_at_most"]
            for row, (share, *_) in zip(made, truth, strict=True)
        )
    return worse, like


def false_cards_of_seeds(rng, cards, shared) -> int:
    """Return the number of cards with a false *worse* if 4 % of seeds make all runs of the CCA collapse; see `card` for ``shared``."""
    none = np.zeros(ROWS)
    drawn = (card(rng, in_rows(_normal), none, spreads(), shared=shared, of_seed=0.04) for _ in range(cards))
    return sum(any(row["verdict"] == WORSE for row in rows) for rows in drawn)


def false_cards_elsewhere(rng, cards, rows, runs) -> int:
    """Return the number of cards with a false *worse* if the CCA falls less often than Reno, on other paths, in some rows (`_elsewhere`)."""
    none, draws = np.zeros(ROWS), in_rows(_normal, rows, _elsewhere)
    drawn = (card(rng, draws, none, rng.permutation(spreads()), runs) for _ in range(cards))
    return sum(any(row["verdict"] == WORSE for row in of_card) for of_card in drawn)


def found_harms(rng, cards, harm, runs=RUNS, looks=()) -> tuple[int, int]:
    """Return the number of harmed rows with the verdict *worse*, and the number of all harmed rows."""
    harmed = np.zeros(ROWS)
    harmed[: ROWS // 10] = harm
    drawn = (card(rng, in_rows(_normal), harmed, rng.permutation(spreads()), runs, looks) for _ in range(cards))
    made = [of_card[1 : 1 + ROWS // 10] for of_card in drawn]
    return sum(row["verdict"] == WORSE for rows in made for row in rows), cards * (ROWS // 10)


def rates(rng, samples) -> Iterator[Rate]:
    """Yield the error rates and powers that this module simulates; the number of cards is a quarter of ``samples`` or, with several looks, a tenth."""
    cards = max(1, samples // 4)
    for name in DISTRIBUTIONS:
        for at_the_boundary in (False, True):
            place = "at the boundary" if at_the_boundary else "no harm"
            worse, like = false_cards(rng, in_rows(DISTRIBUTIONS[name]), cards, at_the_boundary)
            yield Rate("cards with a false worse", f"{name}; {place}", RUNS, worse, cards, (0, SIGNIFICANCE))
            yield Rate("cards with a false like", f"{name}; {place}", RUNS, like, cards, (0, SIGNIFICANCE))
    worse, like = false_cards(rng, in_rows(_normal), cards, at_the_boundary=True, lost=0.1)
    yield Rate("cards with a false worse", "a tenth of the runs missing", RUNS, worse, cards, (0, SIGNIFICANCE))
    yield Rate("cards with a false like", "a tenth of the runs missing", RUNS, like, cards, (0, SIGNIFICANCE))
    few = max(1, samples // 10)
    for name, (draws, at_the_boundary) in EXTENDED.items():
        worse, like = false_cards(rng, draws, few, at_the_boundary, runs=LOOKS[-1], looks=LOOKS[:-1])
        case = f"{name}; MORE=20 twice"
        yield Rate("cards with a false worse", case, LOOKS[-1], worse, few, (0, SIGNIFICANCE))
        yield Rate("cards with a false like", case, LOOKS[-1], like, few, (0, SIGNIFICANCE))
    for shared in (1, 3, 7, ROWS):
        worse = false_cards_of_seeds(rng, cards, shared)
        case = f"the CCA falls with 4% of seeds; {shared} cases share seeds"
        yield Rate("cards with a false worse", case, RUNS, worse, cards, (0, SIGNIFICANCE))
    for rows in (1, 3):
        for runs in (RUNS, WHOLE):
            worse = false_cards_elsewhere(rng, cards, rows, runs)
            case = f"the CCA falls on 40% of paths, Reno on other 45%; in {rows} of {ROWS} cases"
            yield Rate("cards with a false worse", case, runs, worse, cards, (0, SIGNIFICANCE))
    for runs in (RUNS, WHOLE):
        for harm, least in ((1.5, 0), (2, 0.85), (3, 0.95)):
            found = found_harms(rng, cards, harm, runs)
            yield Rate("harms found", f"{harm:g} margins", runs, *found, (least, 1))
    for harm in (1.5, 2):
        found = found_harms(rng, few, harm, LOOKS[-1], LOOKS[:-1])
        yield Rate("harms found", f"{harm:g} margins; MORE=20 twice", LOOKS[-1], *found, (0.85, 1))
