"""Rates at which `make compare` reports an algorithm as worse or better than itself, and at which it detects a real regression.

The compared results come from `compared_results.py`. They consist of six scenarios, one CCA and four metrics.
"""

import math
from collections.abc import Iterator

from compared_results import COLLAPSED, DEVIATIONS, GAPS, HEAD, keys, of_one_algorithm, table_of_two
from rates import ALARMS, Rate
from run_tables.metrics import METRICS
from session.change_verdicts import BETTER, NOT_ENOUGH, WORSE
from session.result_comparison import ALL_SCENARIOS, rows_of_score, table_of

SCENARIOS = 6
NORMAL = "normal, sd 0.4 margins"
#: Cells in which goodput became worse. `PLACES` maps them to the scenario of the row that should report the change.
ONE_CELL, EVERYWHERE = "in one cell", "in all cells"
#: A row with a limit, from the scorecards of two exams that are compared.
LIMITED = {
    "rfc_section": "5.1.1", "criterion": "no starvation", "measure": "starved_s", "unit": "s", "better": "lower", "limit": 5.0,
    "margin": math.nan, "verdict": "passed", "verdict_second": "failed",
}  # fmt: skip
PLACES = {ONE_CELL: "s0", EVERYWHERE: ALL_SCENARIOS}


def _differs(table):
    return bool(table["change"].isin([WORSE, BETTER]).any())


def compare_alarms(rng, samples, n, name) -> list[Rate]:
    """Estimate the rate of comparisons of an algorithm with itself that report any change.

    ``name`` is a key of `DEVIATIONS`, or `GAPS`.
    """
    tables = (of_one_algorithm(rng, name, SCENARIOS, n) for _ in range(samples))
    alarms = sum(map(_differs, tables))
    return [Rate("self-comparisons that show a change", name, n, alarms, samples, ALARMS)]


def seed_alarms(rng, samples, n, shared) -> list[Rate]:
    """Estimate the rate of false differences if 30 % of seeds make all their runs collapse, and ``shared`` scenarios share seeds.

    The two results have different seeds.
    """
    alarms = 0
    for _ in range(samples):
        collapses = (rng.random((2, SCENARIOS // shared, n)) < 0.3).repeat(shared, axis=1)
        deviations = DEVIATIONS[NORMAL](rng, (2, SCENARIOS, len(METRICS), n)) + COLLAPSED * collapses[:, :, None]
        alarms += _differs(table_of_two(deviations, shared=shared))
    case = f"30 % of seeds collapse, {shared} scenarios share seeds"
    return [Rate("self-comparisons that show a change", case, n, alarms, samples, ALARMS)]


def _changed(rng, n, shift, where, after):
    """Return a comparison in which goodput is worse by ``shift`` margins in the second results.

    ``after``, a key of `DEVIATIONS`, is the distribution of goodput in the second results.
    """
    deviations = DEVIATIONS[NORMAL](rng, (2, SCENARIOS, len(METRICS), n))
    cells = slice(None) if where == EVERYWHERE else slice(1)
    shape = deviations[1, cells, 0].shape
    deviations[1, cells, 0] = DEVIATIONS[after](rng, shape) + shift
    return table_of_two(deviations)


def shift_rates(rng, samples, n, shift, where, bound) -> list[Rate]:
    """Estimate the rates of the verdicts *worse* and *not enough* (with the number of pairs needed); goodput is ``shift`` margins worse."""
    found = needed = 0
    for _ in range(samples):
        table = _changed(rng, n, shift, where, NORMAL)
        row = table[(table["measure"] == METRICS[0].name) & (table["scenario"] == PLACES[where])].iloc[0]
        found += row["change"] == WORSE
        needed += row["change"] == NOT_ENOUGH and row["n_needed"] > n
    case = f"{shift:g} margins worse {where}"
    return [
        Rate("called worse", case, n, found, samples, bound),
        Rate("not enough, with the number of pairs needed", case, n, needed, samples, (0, 1)),
    ]


def limit_alarms(rng, samples, n) -> list[Rate]:
    """Estimate the rate of false differences between two exams of the same algorithm, half of whose runs are beyond a limit.

    If the majority of runs decided a verdict, the second verdict would be worse than the first in 23 % of rows at n = 6, and therefore at
    least once in 40 % of comparisons with two rows.
    """
    alarms = 0
    for _ in range(samples):
        rows = []
        for scenario in range(SCENARIOS):
            beyond = 10.0 * rng.integers(0, 2, (n, 2)) + rng.random((n, 2))
            cell = {"starved_s": beyond} | keys(scenario, n)
            rows += rows_of_score(HEAD | {"scenario": f"s{scenario}"}, LIMITED, cell)
        alarms += _differs(table_of(rows))
    return [
        Rate(
            "pairs of exams of one algorithm that differ",
            "limits, starves with probability 1/2",
            n,
            alarms,
            samples,
            ALARMS,
        )
    ]


def collapse_power(rng, samples, n, after) -> list[Rate]:
    """Estimate the rate of comparisons that report any row as worse, if runs collapse in all scenarios of the second results.

    ``after``, a key of `DEVIATIONS`, is the distribution with collapses.
    """
    tables = (_changed(rng, n, 0, EVERYWHERE, after) for _ in range(samples))
    found = sum(bool((table["change"] == WORSE).any()) for table in tables)
    return [Rate("called worse, if runs now collapse", after, n, found, samples, (0, 1))]


def rates(rng, samples) -> Iterator[Rate]:
    """Yield the error rates and powers that this module simulates, with a quarter of the samples, because the simulations are slow."""
    samples = max(1, samples // 4)
    for name in (*DEVIATIONS, GAPS):
        for n in (3, 4, 6, 8, 12):
            yield from compare_alarms(rng, samples, n, name)
    for n in (3, 4, 6, 8, 12):
        yield from limit_alarms(rng, samples, n)
        for shared in (3, SCENARIOS):
            yield from seed_alarms(rng, samples, n, shared)
    for n in (4, 6, 8, 12):
        for where in PLACES:
            for shift, bound in ((0.5, ALARMS), (1.0, ALARMS), (2.0, (0.0, 1.0))):
                yield from shift_rates(rng, samples, n, shift, where, bound)
        for after in ("15 % of runs collapse", "30 % of runs collapse", "starves with probability 1/2"):
            yield from collapse_power(rng, samples, n, after)
