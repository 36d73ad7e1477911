"""Run documents drawn at random, for any run of a study: everything that tidying reads, with plausible numbers."""

import gzip
import json
import zlib
from dataclasses import dataclass

import numpy as np

from drawn_run import Run
from testbed.machine.failure import document_of


@dataclass(frozen=True)
class Cell:
    """Properties that the runs of a cell share.

    Attributes
    ----------
    used : float
        The flows' share of the largest possible goodput.
    filled : float
        Mean share of the queue that is full.
    lost : float
        Share of packets that the full queue drops.
    spread : float
        Standard deviation of a run's factor; 0 makes replications alike, as under a virtual clock.
    invalid : float
        Probability that a run fails a check.
    silent : float
        Probability that nothing arrives in a run.
    starved : bool
        Whether the last flow of several gets nothing.
    blind : float
        Probability that a run's flows have no time in common, so that it has no goodput.
    """

    used: float
    filled: float
    lost: float
    spread: float
    invalid: float
    silent: float
    starved: bool
    blind: float


def drawn_cell(rng, invalid):
    """Draw a cell; ``invalid`` is the study's share of invalid runs, which a cell may exceed."""
    lost, spread = rng.choice([0, 1e-4, 5e-3]), rng.choice([0, 0.02, 0.2])
    silent = rng.choice([0, 0, 0, 0, 0.1, 1], p=[0.2, 0.2, 0.2, 0.2, 0.15, 0.05])
    return Cell(
        rng.uniform(0.05, 1),
        rng.uniform(),
        lost,
        spread,
        rng.choice([invalid, 0, 1], p=[0.8, 0.15, 0.05]),
        silent,
        rng.random() < 0.1,
        rng.choice([0, 0.2, 1], p=[0.85, 0.1, 0.05]),
    )


def write_documents(study, folder, specification_of, runs, seed, invalid, failing):
    """Write the documents of a study's runs, and return their paths in the order of the runs.

    Parameters
    ----------
    study : dict
        The resolved study.
    specification_of, runs : callable
        `study.run_specification` and `study.runs`.
    seed : int
        Seed of everything that is drawn.
    invalid : float
        Share of invalid runs.
    failing : float
        Share of runs that fail, or have no document.
    """
    paths = []
    for scenario, cca, ip_version, replication in runs(study):
        place = zlib.crc32(f"{scenario}/{cca}/{ip_version}".encode())
        cell = drawn_cell(np.random.default_rng([seed, place]), invalid)
        rng = np.random.default_rng([seed, place, replication])
        specification = specification_of(study, scenario, cca, ip_version, replication)
        path = folder / scenario / cca / ip_version / f"{replication}.json.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        document = Run(specification, cell, rng).document()
        fate = np.random.default_rng([seed, place, replication, 1]).random()
        if fate < failing / 2:
            continue
        if fate < failing:
            document = document_of(specification, document["environment"], "traffic", "TrafficError: it did not end")
        path.write_bytes(gzip.compress(json.dumps(document, default=_plain).encode(), 1))
        paths.append(str(path))
    return paths


def _plain(value):
    return value.item()
