"""How often the tests call a difference where there is none, and equivalence where there is none.

The data sets are drawn without a difference between the two (or k) conditions, so pairs could be
exchanged and contrasts are symmetric, however skewed the values are. The test is the one that is
really made, the choice by Shapiro-Wilk included. Where the signed-rank test takes part, the numbers
of pairs are such that it can reach a level near 0.05.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from inference import block_tests, equivalence, paired_contrasts, paired_tests
from inference.multiple_tests import adjusted_within

pytestmark = pytest.mark.filterwarnings("error")

DATA_SETS = 1000
SIGNIFICANCE = 0.05
# Distribution of goodput, scale of the contrasts, pairs.
CELLS = [
    ("normal", "ratio", 4),
    ("normal", "ratio", 10),
    ("lognormal", "points", 20),
    ("exponential", "relative", 10),
    ("exponential", "ratio", 20),
    ("collapses", "ratio", 20),
]


def goodput(rng, kind, shape):
    """Draw goodputs in Mbit/s of one condition: symmetric, skewed, and with rare collapses."""
    if kind == "normal":
        return 100 * (1 + 0.03 * rng.standard_normal(shape))
    if kind == "lognormal":
        return 100 * np.exp(0.5 * rng.standard_normal(shape))
    if kind == "exponential":
        return 1 + 100 * rng.exponential(size=shape)
    if kind == "collapses":
        return 100 * (1 + 0.02 * rng.standard_normal(shape)) * np.where(rng.random(shape) < 0.1, 0.3, 1.0)
    raise KeyError(kind)


def p_values(kind, scale, pairs, data_sets=DATA_SETS, seed=1):
    """Return p of each of the data sets of one cell; 1 where no test is made."""
    rng = np.random.default_rng(seed)
    p = []
    for _ in range(data_sets):
        # What a replication's seed does to both of its runs.
        common = np.exp(0.2 * rng.standard_normal(pairs))
        a, b = goodput(rng, kind, (2, pairs)) * common
        result = paired_tests.paired_test(paired_contrasts.contrasts(a, b, scale), SIGNIFICANCE)
        p.append(1.0 if result.p is None else result.p)
    return np.array(p)


@pytest.mark.parametrize("kind, scale, pairs", CELLS)
def test_false_alarms_of_the_paired_test(kind, scale, pairs):
    share = np.mean(p_values(kind, scale, pairs) < SIGNIFICANCE)
    assert 0.03 <= share <= 0.07


@pytest.mark.parametrize("blocks, ccas", [(4, 6), (10, 3), (20, 6)])
def test_false_alarms_of_friedmans_test(blocks, ccas):
    rng = np.random.default_rng(blocks)
    shared = rng.exponential(size=(DATA_SETS, blocks, 1))
    values = rng.exponential(size=(DATA_SETS, blocks, ccas)) + shared
    share = np.mean([block_tests.friedman_test(study)[1] < SIGNIFICANCE for study in values])
    assert 0.03 <= share <= 0.07


def test_false_alarms_of_the_kruskal_wallis_test():
    values = np.random.default_rng(6).exponential(size=(DATA_SETS, 6, 10))
    share = np.mean([block_tests.kruskal_wallis_test(list(study))[1] < SIGNIFICANCE for study in values])
    assert 0.03 <= share <= 0.07


def test_family_of_cells_after_holm():
    # 1,000 studies of twelve cells: distributions and numbers of pairs as exclusions leave them.
    kinds = [
        ("normal", "ratio", 4), ("exponential", "relative", 10), ("lognormal", "points", 20), ("collapses", "ratio", 7),
    ]  # fmt: skip
    cells = [p_values(*kinds[number % 4], seed=100 + number) for number in range(12)]
    table = pd.DataFrame({"study": np.tile(np.arange(DATA_SETS), 12), "p": np.concatenate(cells)})
    uncorrected = table.groupby("study")["p"].min() < SIGNIFICANCE
    assert uncorrected.mean() > 0.3  # what Holm's correction is for
    table["p_holm"] = adjusted_within(table, ["study"], "p", "holm")
    alarms = table.groupby("study")["p_holm"].min() < SIGNIFICANCE
    assert len(alarms) == DATA_SETS
    assert alarms.mean() < 0.05


@pytest.mark.parametrize("kind, pairs", [("t", 4), ("t", 20), ("rank", 20)])
@pytest.mark.parametrize("side", [-1, 1])
def test_false_equivalence_at_the_margin(kind, pairs, side):
    # The true effect is the margin, on either side: just not equivalent. There the test's level is
    # 0.05 exactly, so the count may exceed 0.05 by chance, but not by more than chance.
    margin = 5.0
    low, high = equivalence.bounds(margin, "ratio")
    rng = np.random.default_rng(10 * pairs + side)
    noise = 0.02 * rng.standard_normal((DATA_SETS, pairs))
    contrasts = noise + (low if side < 0 else high)
    false = sum(equivalence.tost(row, kind, low, high) < SIGNIFICANCE for row in contrasts)
    assert stats.binomtest(false, DATA_SETS, SIGNIFICANCE, alternative="greater").pvalue > 0.05
    assert false / DATA_SETS > 0.02  # a test that never finds equivalence would prove nothing
