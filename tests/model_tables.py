"""Synthetic studies and their fitted models, in the form in which the tables are read."""

import re
from types import SimpleNamespace

import numpy as np

import tidy_tables
from rule_files import carry_out
from run_tables.reading import read_table
from topics.theory import fit_models
from topics.theory.tables import MODELS, REGRESSIONS


def fit(study, folder, unlike=None, programs=()):
    """Return models and regressions in the form in which they are read."""
    tidy = tidy_tables.write_tidy(study, folder)
    outputs = SimpleNamespace(models=folder / "models.csv", regressions=folder / "regressions.csv")
    inputs = SimpleNamespace(runs=tidy / "runs.csv", scenarios=tidy / "scenarios.csv")
    carry_out(
        fit_models.__name__, inputs, outputs, SimpleNamespace(confidence=0.95, unlike=unlike or {}, programs=programs)
    )
    for path in (outputs.models, outputs.regressions):
        assert not re.search(r"(?i)(^|,)(nan|-?inf)(,|$)", path.read_text(), re.MULTILINE)
    return read_table(outputs.models, MODELS), read_table(outputs.regressions, REGRESSIONS)


def synthetic(delays_ms=(10, 50, 100), losses_percent=(1, 0), flows=(1,), rate_mbps=1000, **changes):
    scenarios = tidy_tables.grid(delays_ms, losses_percent, flows, rate_mbps)
    options = {"ccas": ["reno", "cubic", "bbr"], "replications": 5, "seed": 3} | changes
    return tidy_tables.synthetic_study(scenarios, **options)


def pick(table, **values):
    return table[np.logical_and.reduce([table[name] == value for name, value in values.items()])]
