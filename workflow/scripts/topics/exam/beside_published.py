"""Compare an exam's means with published statements."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from inference.cell_estimates import cell_estimate
from topics.exam.criteria import CRITERIA, MEASURES
from topics.exam.scorecard import cells_of
from topics.exam.tables import EXAM_PUBLISHED

#: Verdicts on a mean compared with a published statement.
AGREES, DIFFERS, NOT_SHOWN = "agrees", "differs", "not shown"


def beside_published(values, scenarios: Mapping[str, str], confidence=0.95) -> pd.DataFrame:
    """Return `EXAM_PUBLISHED`: published statements about CCAs that ran (examined or not), compared with our means.

    A mean *agrees* if its entire interval lies within the statement's bounds, and *differs* if no part of the interval does.
    In all other cases, and if there is only one run, agreement is *not shown*.

    Parameters
    ----------
    values : pandas.DataFrame
        `EXAM_VALUES`.
    scenarios : mapping
        Scenario identifier -> label, in the study's order.
    confidence : float
        Confidence level of the intervals.
    """
    of_cell = cells_of(values)
    rows = []
    for criterion in CRITERIA:
        for stated in criterion.published:
            for scenario in filter(stated.scenarios.__contains__, scenarios):
                of_runs = of_cell.get((scenario, stated.measure, stated.cca))
                if of_runs is not None and stated.minus:
                    other = of_cell.get((scenario, stated.measure, stated.minus))
                    of_runs = None if other is None else (of_runs - other).dropna()
                if of_runs is None or of_runs.empty:
                    continue
                known = cell_estimate(of_runs, confidence, None if stated.minus else 0)
                # A repeated measurement is judged by its value.
                exact = known.n > 1 and known.measurements == 1
                low, high = (known.mean, known.mean) if exact else (known.low, known.high)
                # "More than" another CCA excludes a difference of 0.
                above = low is not None and (stated.at_least < low if stated.minus else stated.at_least <= low)
                within = above and high <= stated.at_most
                beyond = low is not None and (high < stated.at_least or low > stated.at_most)
                rows.append({
                    "rfc_section": criterion.section, "criterion": criterion.words, "scenario": scenario,
                    "scenario_label": scenarios[scenario], "cca": stated.cca, "measure": stated.measure,
                    "unit": MEASURES[stated.measure].unit, "minus": stated.minus, "n": known.n, "value": known.mean, "low": known.low,
                    "high": known.high, "at_least": stated.at_least, "at_most": stated.at_most,
                    "verdict": AGREES if within else DIFFERS if beyond else NOT_SHOWN, "statement": stated.words,
                    "source": stated.source,
                })  # fmt: skip
    return pd.DataFrame(rows, columns=EXAM_PUBLISHED.names).replace([np.inf, -np.inf], np.nan)
