"""Values of exams with known truth, and the scorecards made of them."""

import numpy as np
import pandas as pd

from topics.exam.scorecard import scorecard
from topics.exam.tables import EXAM_VALUES

RUNS = 20
CASE = "6.3-x"


def wave(centre, height=1.0, runs=RUNS):
    """Return distinct values around a centre."""
    return centre + height * np.sin(np.arange(runs))


def values(cells):
    """Return `EXAM_VALUES` of (scenario, measure, cca) -> values, one for each run; runs without one have NaN."""
    rows = []
    for (scenario, measure, cca), of_cell in cells.items():
        for number, value in enumerate(of_cell):
            rows.append((scenario, cca, ("ipv4", "ipv6")[number % 2], number + 1, measure, "", float(value)))
    return pd.DataFrame(rows, columns=EXAM_VALUES.names).dropna(subset="value")


def of(measure, own, reno, cubic, scenario=CASE):
    """Return cells of three CCAs."""
    return {(scenario, measure, cca): value for cca, value in (("mine", own), ("reno", reno), ("cubic", cubic))}


def row_of(cells, exam, scenario=CASE, measure="utilisation_percent", runs=None):
    """Return a row of a card."""
    card = scorecard(values(cells), {scenario: scenario}, exam, runs=runs)
    return card[(card["scenario"] == scenario) & (card["measure"] == measure)].iloc[0]


def utilisation(own, exam, **options):
    """Return the row of a CCA beside Reno with 80 % and CUBIC with 90 %; the margin is 5 points."""
    return row_of(of("utilisation_percent", own, wave(80), wave(90)), exam, **options)


def mixed(usual, other, count):
    """Return values of which the given number are different ones."""
    return np.where(np.arange(RUNS) < count, wave(other), wave(usual))


def runs_of(cells, failed=(), by="crash", cca="mine"):
    """Return the part of ``tidy/runs.csv`` that is read; ``failed``: numbers of a CCA's runs that a cause excludes."""
    table = values({key: np.nan_to_num(of_cell) for key, of_cell in cells.items()}).drop(
        columns=["measure", "other", "value"]
    )
    lost = (table["cca"] == cca) & table["replication"].isin(failed)
    seed = 6 + table["replication"] + 10_000 * table.groupby("scenario").ngroup()
    return table.assign(
        valid=~lost, excluded_by=np.where(lost, by, ""), invalid_because=np.where(lost, "kernel panic in tcp_mine", ""), seed=seed,
    )  # fmt: skip
