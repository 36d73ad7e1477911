"""Rates at which tests across all cells of a study report a false direction, for copied cells and for correlated cells."""

import itertools
from collections.abc import Iterator

from known_truth import constant_cells, correlated_cells
from paired_rates import p_of
from rates import ALARMS, ANY, CELLS, SIGNIFICANCE, Rate


def copied_alarms(rng, samples, n, scenarios) -> list[Rate]:
    """Estimate the rate of false directions if the n contrasts in a scenario are equal, with a random sign; they count as one value."""
    # The number of copies doesn't matter, because the mean of equal values is the value itself.
    alarms = sum(p_of(values) < SIGNIFICANCE for values in constant_cells(rng, samples, scenarios))
    return [Rate("false direction over all cells", f"{scenarios} constant cells", n, alarms, samples, ALARMS)]


def correlated_alarms(rng, samples, correlation, scenarios=12, ccas=6) -> list[Rate]:
    """Estimate the rates of false directions for cells that are correlated within scenarios.

    One rate is for the test across scenarios, and the other for a test across cells, which Sawtooth doesn't use.
    """
    drawn = correlated_cells(rng, samples, scenarios, ccas, correlation)
    by_scenario = sum(p_of(values.mean(axis=1)) < SIGNIFICANCE for values in drawn)
    by_cell = sum(p_of(values.ravel()) < SIGNIFICANCE for values in drawn)
    case = f"{scenarios} x {ccas} cells, correlation {correlation:g}"
    return [
        Rate("false direction by scenario", case, scenarios, by_scenario, samples, ALARMS),
        Rate("false direction by cell (test not used)", case, CELLS, by_cell, samples, ANY),
    ]


def rates(rng, samples) -> Iterator[Rate]:
    """Yield the error rates that this module simulates; slow simulations use fewer samples."""
    few = max(1, samples // 4)
    for n, scenarios in itertools.product((1, 100), (6, 12)):
        yield from copied_alarms(rng, samples, n, scenarios)
    for correlation in (0.0, 0.1, 0.3, 0.5):
        yield from correlated_alarms(rng, few, correlation)
