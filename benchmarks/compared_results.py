"""Draw pairs of results with known true values, and compare the two results as `make compare` does.

The values of a run (goodput, round-trip time, loss and retransmits) deviate from the cell's true values by known amounts, in margins. Each
cell is a scenario with one CCA.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from run_tables.metrics import METRICS
from session.result_comparison import HIGHER_IS_BETTER, margins_of, rows_of_cell, table_of
from study_files.study import resolve

#: Name of the case in which runs selected at random are invalid.
GAPS = "30 % of runs missing"
#: Typical value of each metric, and resolution with which each metric is measured.
TYPICAL = {"goodput_mbps": 50.0, "rtt_mean_ms": 40.0, "loss_percent": 20.0, "retransmits": 100_000.0}
STEPS = {"goodput_mbps": 1e-3, "rtt_mean_ms": 1e-3, "loss_percent": 1e-4, "retransmits": 1.0}
MARGINS = margins_of(
    resolve(
        {"study": "known", "ccas": ["cubic"], "scenarios": [{"id": "s0", "link": {"rate_mbps": 100}}]}, "known.yaml"
    )
)
HEAD = {
    "criterion": "", "cca": "cubic", "ip_version": "ipv4", "paired": True, "first_verdict": "", "second_verdict": "", "note": "",
}  # fmt: skip
#: Deviations of a collapsed run and of a starved run from the cell's value, in margins.
COLLAPSED, STARVED = 8.0, 15.0


def _normal(rng, shape):
    return 0.4 * rng.standard_normal(shape)


def _wide(rng, shape):
    return 2 * rng.standard_normal(shape)


def _skewed(rng, shape):
    return rng.exponential(2, shape)


def _heavy_tails(rng, shape):
    return rng.standard_t(2, shape)


def _bimodal(rng, shape):
    return _normal(rng, shape) + 4 * rng.integers(0, 2, shape)


def _copies(rng, shape):
    return np.broadcast_to(rng.standard_normal((*shape[:-1], 1)), shape)


def _collapsing(share, by=COLLAPSED):
    return lambda rng, shape: _normal(rng, shape) + by * (rng.random(shape) < share)


#: Name -> function that draws the deviations of runs from their cells' values, as an array of a given shape whose last axis is the runs.
#: Deviations are in margins; positive values are worse.
DEVIATIONS: dict[str, Callable] = {
    "normal, sd 0.4 margins": _normal,
    "normal, sd 2 margins": _wide,
    "skewed (exponential, sd 2)": _skewed,
    "heavy tails (t, 2 df)": _heavy_tails,
    "bimodal, 4 margins apart": _bimodal,
    "5 % of runs collapse": _collapsing(0.05),
    "15 % of runs collapse": _collapsing(0.15),
    "30 % of runs collapse": _collapsing(0.3),
    "50 % of runs collapse": _collapsing(0.5),
    "starves with probability 1/2": _collapsing(0.5, STARVED),
    "copies of one draw, sd 1": _copies,
}


def table_of_two(deviations, missing=None, shared=1) -> pd.DataFrame:
    """Return the table of `make compare`, with the default margins, for two results with given deviations from the true values.

    Parameters
    ----------
    deviations : numpy.ndarray of float, shape (2, scenarios, metrics, n)
        Deviations in the first and second results, in margins. Positive values are worse.
    missing : numpy.ndarray of bool, shape (2, scenarios, n), optional
        Mask of runs that are invalid because of their sender.
    shared : int, optional
        Number of consecutive scenarios that share seeds.
    """
    missing = np.zeros(deviations[:, :, 0].shape, bool) if missing is None else missing
    rows = []
    for scenario, (away, gone) in enumerate(zip(deviations.swapaxes(0, 1), missing.swapaxes(0, 1), strict=True)):
        cell = {"valid": ~gone.T, "unknown": np.zeros_like(gone.T)} | keys(scenario // shared, away.shape[-1])
        for place, metric in enumerate(METRICS):
            values = _values(metric, away[:, place].T)
            cell[metric.column] = np.where(gone.T, np.nan, values)
            cell[f"{metric.column} step"] = np.full(values.shape, STEPS[metric.column])
        rows += rows_of_cell(HEAD | {"scenario": f"s{scenario}"}, cell, MARGINS)
    return table_of(rows)


def keys(scenario, n) -> dict[str, np.ndarray]:
    """Return the replications and seeds of n pairs of runs in the scenario with the given number; each has shape (n, 2)."""
    replications = np.repeat(np.arange(n)[:, None], 2, axis=1)
    return {"replication": replications, "seed": scenario * n + replications}


def _values(metric, away):
    if metric.scale == "points":
        return np.clip(TYPICAL[metric.column] + away * MARGINS[metric.column], 0, 100)
    direction = -1 if metric.column in HIGHER_IS_BETTER else 1
    return TYPICAL[metric.column] * (1 + MARGINS[metric.column] / 100) ** (direction * away)


def of_one_algorithm(rng, name, scenarios, n) -> pd.DataFrame:
    """Return the table of a comparison of an algorithm with itself.

    ``name`` is the key of `DEVIATIONS` for the distribution of runs, or `GAPS`.
    """
    shape = (2, scenarios, len(METRICS), n)
    if name == GAPS:
        return table_of_two(_normal(rng, shape), rng.random((2, scenarios, n)) < 0.3)
    return table_of_two(DEVIATIONS[name](rng, shape))
