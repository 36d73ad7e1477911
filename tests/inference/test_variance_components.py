"""Components of a variance against statsmodels' sums of squares, against known components, and without noise by hand."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from inference.variance_components import HIGHER, RUN, SEED, decompose

NAMES, LEVELS = ("delay", "loss", "cca", "ip"), (3, 2, 6, 2)
#: Standard deviations of what runs of a scenario and replication share, and of the rest.
SEED_SD, RUN_SD = 0.3, 0.5


def of_names(parts):
    return {part.name: part for part in parts}


def truth():
    """Return the true means of cells, shape LEVELS, and each part's true variance."""
    rng = np.random.default_rng(5)
    delay, loss, cca = (rng.normal(size=number) for number in (3, 2, 6))
    delay, loss, cca = delay - delay.mean(), 0.7 * (loss - loss.mean()), cca - cca.mean()
    both = 0.5 * rng.normal(size=(2, 6))
    both -= both.mean(axis=0)
    both -= both.mean(axis=1, keepdims=True)
    means = delay[:, None, None, None] + loss[:, None, None] + cca[:, None] + both[:, :, None]
    parts = {("delay",): delay, ("loss",): loss, ("cca",): cca, ("loss", "cca"): both}
    variances = {name: float((effect**2).mean()) for name, effect in parts.items()}
    return np.broadcast_to(means, LEVELS), variances | {(SEED,): SEED_SD**2, (RUN,): RUN_SD**2}


def drawn(rng, replications, means, excluded=0.0):
    """Return values of shape (cells, replications): six scenarios, whose runs of a replication share a seed."""
    seeds = SEED_SD * rng.normal(size=(6, 1, replications))
    values = means.reshape(6, 12, 1) + seeds + RUN_SD * rng.normal(size=(6, 12, replications))
    values[rng.random(values.shape) < excluded] = np.nan
    return values.reshape(72, replications)


@pytest.fixture(scope="module")
def balanced():
    """Three factors without shared seeds: values, and the same as a table for statsmodels."""
    rng, levels = np.random.default_rng(3), (2, 3, 2)
    values = rng.normal(size=(12, 4)) + rng.normal(size=(12, 1))
    rows = [
        {"a": a, "b": b, "c": c, "y": y}
        for (a, b, c), cell in zip(product(*map(range, levels)), values, strict=True)
        for y in cell
    ]
    return values, levels, pd.DataFrame(rows)


@pytest.mark.parametrize("kind", [2, 3])
def test_sums_of_squares_are_those_of_statsmodels(balanced, kind):
    values, levels, table = balanced
    expected = anova_lm(ols("y ~ C(a, Sum) * C(b, Sum) * C(c, Sum)", table).fit(), typ=kind)
    components = of_names(decompose(values, 3, levels, "abc", 0.95))
    for name, part in components.items():
        if part.squares is not None:
            row = "C(a, Sum):C(b, Sum):C(c, Sum)" if name == (HIGHER,) else ":".join(f"C({one}, Sum)" for one in name)
            assert 4 * part.squares == pytest.approx(expected.loc[row, "sum_sq"], rel=1e-9)
            assert part.df == expected.loc[row, "df"]


def test_without_seeds_in_common_shares_are_omega_squared(balanced):
    """(SS - df MSE) / (SS of all + MSE): Hays, Statistics (1963), section 12.18; Olejnik and Algina (2003), equation 7."""
    values, levels, table = balanced
    rows = anova_lm(ols("y ~ C(a) * C(b) * C(c)", table).fit(), typ=2)
    error = rows.loc["Residual", "sum_sq"] / rows.loc["Residual", "df"]
    components = of_names(decompose(values, 3, levels, "abc", 0.95))
    for name, row in ((("a",), "C(a)"), (("b", "c"), "C(b):C(c)"), ((HIGHER,), "C(a):C(b):C(c)")):
        omega = (rows.loc[row, "sum_sq"] - rows.loc[row, "df"] * error) / (rows["sum_sq"].sum() + error)
        assert components[name].share == pytest.approx(omega, rel=1e-9)
    assert components[RUN,].variance == pytest.approx(error, rel=1e-9)
    assert (SEED,) not in components


def test_without_noise_by_hand():
    # Means 1, 3, 5, 11: effects +-3 and +-2, interaction +-1.
    values = np.repeat([[1.0], [3.0], [5.0], [11.0]], 3, axis=1)
    components = of_names(decompose(values, 1, (2, 2), ("row", "column"), 0.95))
    assert {name: part.variance for name, part in components.items()} == pytest.approx(
        {("row",): 9, ("column",): 4, ("row", "column"): 1, (SEED,): 0, (RUN,): 0}
    )
    assert components["row",].share == pytest.approx(9 / 14) == components["row",].low == components["row",].high
    assert components["row",].squares == pytest.approx(36)


def test_excluded_runs_leave_the_parts_orthogonal():
    values = drawn(np.random.default_rng(4), 5, truth()[0], excluded=0.1)
    parts = decompose(values, 2, LEVELS, NAMES, 0.95)
    means = np.nanmean(values, axis=1)
    assert sum(part.squares or 0 for part in parts) == pytest.approx(((means - means.mean()) ** 2).sum())
    assert sum(part.df or 0 for part in parts) == 71
    assert sum(part.share for part in parts) == pytest.approx(1)


@pytest.mark.slow
def test_estimates_have_no_bias_and_intervals_hold_what_was_put_in():
    rng, (means, variances) = np.random.default_rng(6), truth()
    total, studies, held, sums = sum(variances.values()), 150, {}, {}
    for _ in range(studies):
        for part in decompose(drawn(rng, 4, means, excluded=0.02), 2, LEVELS, NAMES, 0.95):
            true = variances.get(part.name, 0.0)
            sums.setdefault(part.name, []).append(part.variance - true)
            held[part.name] = held.get(part.name, 0) + (part.low <= true / total <= part.high)
    for name, errors in sums.items():
        assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(studies), name
    # 90 to 100 % as the table says, and three standard errors of so many studies.
    assert min(held.values()) / studies > 0.90 - 3 * np.sqrt(0.9 * 0.1 / studies)
    assert np.mean([held[name] for name in variances]) / studies > 0.93 - 3 * np.sqrt(0.93 * 0.07 / studies / 6)


@pytest.mark.slow
def test_seeds_in_common_are_not_taken_for_conditions():
    """Errors based on independent runs would attribute a twelfth of the seeds' variance to delay and loss."""
    rng, estimates, naive = np.random.default_rng(7), [], []
    for _ in range(150):
        values = drawn(rng, 3, np.zeros(LEVELS))
        parts = of_names(decompose(values, 2, LEVELS, NAMES, 0.95))
        between = [parts["delay",], parts["loss",], parts["delay", "loss"]]
        error = np.var(values, axis=1, ddof=1).mean() / 3
        estimates.append(sum(part.variance for part in between))
        naive.append(sum(part.squares - part.df * error for part in between) / 72)
    error = np.std(estimates) / np.sqrt(150)
    assert abs(np.mean(estimates)) < 4 * error < np.mean(naive)


def test_one_replication_has_no_chance_of_its_own():
    parts = decompose(drawn(np.random.default_rng(8), 1, truth()[0]), 2, LEVELS, NAMES, 0.95)
    assert not {part.name for part in parts} & {(SEED,), (RUN,)}
    assert all(part.low is None for part in parts)
    assert sum(part.share for part in parts) == pytest.approx(1)


def test_a_cell_without_value_is_refused():
    with pytest.raises(ValueError, match="some without a value"):
        decompose(np.array([[1.0, 2.0], [np.nan, np.nan]]), 0, (2,), ("a",), 0.95)
