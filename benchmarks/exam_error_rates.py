"""How often a scorecard is wrong, and how often it finds a harm, on values whose truth is known.

Each card has `ROWS` rows that decide and the row on all of them; of each row the runs of a CCA, of Reno and of CUBIC are drawn
in pairs, in margins. The truth of a verdict is that of its words: whether more than half of all runs of the row's distribution are worse than
each standard CCA by more than the margin (or fall more often than they may), and for *like* whether the share that is
worse is larger than what the card says that it can be. It is counted in `TRUTH` runs of the same distribution.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from topics.exam.card_tests import RARE
from topics.exam.criteria import MEASURES
from topics.exam.judge import LIKE, PRIMARY, WORSE, judge, rare_row
from topics.exam.outcomes import FAR, PAIR, relative_outcomes

ROWS, RUNS, TRUTH = 21, 16, 20_000
CCAS, SIGNIFICANCE = ("mine", "reno", "cubic"), 0.05
#: Of every row less is better, and the margin is one.
MEASURE = MEASURES["queueing_p95_ms"]
EXAM = {"cca": CCAS[0], "standards": CCAS[1:], "limits": {"worse_share": 0.45}, "looks": []}
#: What of a row's pairs varies by itself: median standard deviation in margins, and how that differs between rows (of its logarithm). The
#: quartiles of 27 cells of real exams were 0.06, 0.15 and 0.48.
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


def _falling(which, share, margins) -> Draw:
    """Return a distribution in which runs of some of the CCAs fall, with a chance, by so many margins."""

    def draw(rng, shape, spread):
        values = _normal(rng, shape, spread)
        for cca in which:
            values[cca] += margins * (rng.random(shape) < share)
        return values

    return draw


#: Name -> what is drawn: values of the CCA and the standards, shape (3, *shape), of which more is worse.
DISTRIBUTIONS: dict[str, Draw] = {
    "normal": _normal,
    "heavy tails (t, 3 df)": _heavy,
    "skewed (exponential of normal)": _skewed,
    "bimodal": _bimodal,
    **{f"the CCA falls in {share:.0%} of runs": _falling((0,), share, 10) for share in (0.05, 0.1, 0.2, 0.3)},
    **{f"the standards fall in {share:.0%} of runs": _falling((1, 2), share, 10) for share in (0.05, 0.15, 0.3)},
    "all fall in 15% of runs": _falling((0, 1, 2), 0.15, 10),
}


def spreads(rng) -> np.ndarray:
    """Return the spread of each row, in margins."""
    return SPREAD * np.exp(SPREAD_OF_ROWS * rng.standard_normal(ROWS))


def card(rng, draw, harms, of_rows, runs=RUNS, lost=0.0) -> list[dict]:
    """Return the rows of a card of drawn values, that on all cases first, with their verdicts.

    Parameters
    ----------
    draw : callable
        Of `DISTRIBUTIONS`.
    harms, of_rows : array_like of float, shape (rows,)
        By how much the CCA is worse in each row, and the spread, in margins.
    lost : float
        Share of the CCA's runs without a value.
    """
    rows = []
    pairs = pd.MultiIndex.from_tuples([(("ipv4", "ipv6")[number % 2], number) for number in range(1, runs + 1)], names=PAIR)
    for place, (harm, spread) in enumerate(zip(harms, of_rows, strict=True)):
        own, *standards = draw(rng, (runs,), spread)
        own = np.where(rng.random(runs) < lost, np.nan, own + harm)
        cells = {cca: pd.Series(values, pairs).dropna() for cca, values in zip(CCAS, (own, *standards), strict=True)}
        outcomes = relative_outcomes(MEASURE, cells, CCAS[0], CCAS[1:], 1.0, pairs, pairs[:0])
        rows.append({"role": PRIMARY, "margin": 1.0, "outcomes": outcomes, "scenario": str(place), "scenario_label": str(place)})
    rows.insert(0, rare_row(rows, EXAM, dict.fromkeys(map(str, range(len(rows))), (pairs, pairs[:0]))))
    judge(rows, EXAM, SIGNIFICANCE)
    return rows


def shares(rng, draw, harm, spread) -> tuple[float, float, float]:
    """Return which share of a row's runs is truly worse by the margin, and far worse, and of which a standard is far worse."""
    own, *standards = draw(rng, (TRUTH,), spread) + np.array([harm, 0, 0])[:, None]
    far = max((one > np.maximum(own, other) + FAR).mean() for one, other in (standards, standards[::-1]))
    worse = min((own > standard + 1).mean() for standard in standards)
    return worse, (own > np.maximum(*standards) + FAR).mean(), far


def is_worse(of_row) -> bool:
    """Tell whether a row's verdict *worse* is true as it is worded."""
    worse, far, standards_far = of_row
    return worse > 0.5 or far > (standards_far if standards_far > 0.001 else RARE)


def at_boundary(rng, draw, spread) -> float:
    """Return the harm at which just half of a row's runs are worse by the margin."""
    own, *standards = draw(rng, (TRUTH,), spread)
    return 1 - min(float(np.median(own - standard)) for standard in standards)


def false_rates(distribution, cards, seed, lost=0.0) -> dict[str, float]:
    """Return the shares of cards with a false *worse*, at the boundary and without harm, and of those with a false *like*."""
    rng, draw = np.random.default_rng(seed), DISTRIBUTIONS[distribution]
    counts = dict.fromkeys(("worse, at the boundary", "worse, no harm", "like, harm of half of the runs or none"), 0)
    for _ in range(cards):
        of_rows = spreads(rng)
        for name, harms in (
            ("worse, at the boundary", [at_boundary(rng, draw, spread) for spread in of_rows]),
            ("worse, no harm", [0.0] * ROWS),
        ):
            made = card(rng, draw, harms, of_rows, lost=lost)
            truth = [shares(rng, draw, *row) for row in zip(harms, of_rows, strict=True)]
            # The first row is on all cases: it is true where any row's runs fall more often than the standards'.
            any_far = sum(far for _, far, _ in truth) > sum(max(standards, 0) for *_, standards in truth) + 1e-3 * ROWS
            true = [any_far, *map(is_worse, truth)]
            at_half = 0.002 if name == "worse, at the boundary" else 0
            verdicts = [row["verdict"] for row in made]
            true = [one or (place and truth[place - 1][0] > 0.5 + at_half) for place, one in enumerate(true)]
            counts[name] += any(verdict == WORSE and not one for verdict, one in zip(verdicts, true, strict=True))
            most = [row["worse_share_at_most"] for row in made][1:]
            counts["like, harm of half of the runs or none"] += any(
                verdict == LIKE and share > limit for verdict, (share, *_), limit in zip(verdicts[1:], truth, most, strict=True)
            )
    return {name: count / cards / (2 if name.startswith("like") else 1) for name, count in counts.items()}


def power(cards, seed, harms=(1.5, 2.0, 3.0), runs=RUNS) -> dict[float, float]:
    """Return how often a row that is worse by so many margins is found, where a tenth of the rows are and spreads are normal."""
    rng, found = np.random.default_rng(seed), {}
    for harm in harms:
        hits = []
        for _ in range(cards):
            harmed = np.zeros(ROWS)
            harmed[: max(ROWS // 10, 1)] = harm
            made = card(rng, _normal, harmed, spreads(rng), runs)
            hits += [row["verdict"] == WORSE for row in made[1 : 1 + int((harmed > 0).sum())]]
        found[harm] = float(np.mean(hits))
    return found


def table_rows(cards=400, seed=9743) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the printed table: distribution, shares of cards with a false *worse* and a false *like*."""
    for name in DISTRIBUTIONS:
        yield (name, *(f"{100 * rate:.1f} %" for rate in false_rates(name, cards, seed).values()))
    yield ("normal, 10% of the runs missing", *(f"{100 * rate:.1f} %" for rate in false_rates("normal", cards, seed, 0.1).values()))
