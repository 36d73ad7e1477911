"""Decompose each metric's variance into parts due to conditions, CCA, IP version, interactions of these factors, seed and run."""

import numpy as np
import pandas as pd

from inference.mean_interval import repeats_one_measurement
from inference.variance_components import HIGHER as REST
from inference.variance_components import RUN, SEED, decompose
from run_tables.metrics import METRICS
from run_tables.resolution import resolution_of
from run_tables.run_keys import CELL
from study_files.study_design import cca_word
from topics.variance.crossed_factors import SCENARIO, crossed_conditions
from topics.variance.tables import CHANCE, FACTOR, HIGHER, INTERACTION, JOINED, VARIANCE
from wording.number_format import count

LOGARITHM, ROOT, VALUE = "logarithm", "square root", "value"
IP_VERSION = "IP version"


def taken(values: pd.Series, metric) -> tuple[pd.Series, str]:
    """Return a metric's values on the scale on which they are compared, and the name of this scale.

    Metrics that are compared as ratios are transformed to logarithms, unless a value is 0. Counts may be 0, and their standard deviation
    grows with the mean, so they are transformed to square roots (Bartlett, 1936, JRSS Supplement 3(1)). Other values are not transformed.
    """
    if metric.scale == "ratio" and (values > 0).all():
        return np.log(values), LOGARITHM
    return (np.sqrt(values), ROOT) if metric.count else (values, VALUE)


def decompose_metric(runs, scenarios, metric, confidence) -> list[dict]:
    """Return the rows of `VARIANCE` for a metric.

    Parameters
    ----------
    metric : metrics.Metric
    confidence : float
        Confidence level of the intervals.
    """
    ccas, ip_versions = runs["cca"].unique(), runs["ip_version"].unique()
    there = runs[runs["valid"] & runs[metric.column].notna()]
    values, taken_as = taken(there[metric.column], metric)
    there, cells = there.assign(value=values), len(ccas) * len(ip_versions)
    filled = there.drop_duplicates(CELL)["scenario"].value_counts()
    whole = scenarios[scenarios["scenario"].isin(filled.index[filled == cells])]
    same = {"metric": metric.column, "taken_as": taken_as}
    notes, left_out = [], len(scenarios) - len(whole)
    if left_out:
        notes.append(f"{count(left_out, 'scenario')} left out: a cell has no value")
    if len(whole) * cells < 2:
        return [same | {"note": "; ".join(["fewer than two cells to compare", *notes])}]
    used = there[there["scenario"].isin(whole["scenario"])]
    if repeats_one_measurement(used[metric.column], resolution_of(used, metric.column)):
        how = "" if used[metric.column].nunique() == 1 else " within the resolution of the measurement"
        return [same | {"note": "; ".join([f"all values are equal{how}", *notes])}]
    conditions = crossed_conditions(whole)
    if conditions is None:
        conditions = pd.DataFrame({SCENARIO: range(len(whole))}, index=whole["scenario"])
        if len(whole) > 1:
            notes.append("scenarios aren't a full factorial design, so the scenario is a single factor")
    order = conditions.rename_axis(None).sort_values(list(conditions.columns)).index
    wide = there.pivot(index=CELL, columns="replication", values="value")
    wide = wide.reindex(pd.MultiIndex.from_product([order, ccas, ip_versions]))
    names = [*conditions.columns, "mix" if cca_word(ccas) == "mix" else "CCA", IP_VERSION]
    levels = [*conditions.nunique(), len(ccas), len(ip_versions)]
    parts = decompose(wide.to_numpy(float), conditions.shape[1], levels, names, confidence)
    fewest = int(wide.notna().sum(axis=1).min())
    if wide.notna().sum(axis=1).nunique() > 1:
        notes.append("cells have different numbers of runs; each cell counts once")
    if parts[-1].name != (RUN,):
        notes.append("a scenario has no replications, so chance is part of the rest")
    elif parts[0].low is None:
        notes.append("too few replications for an interval")
    shared = same | {"cells": len(wide), "replications": fewest, "note": "; ".join(notes)}
    return [shared | _row(part) for part in parts]


def _row(part) -> dict:
    """Return the columns of `VARIANCE` for one part of the variance."""
    kind = {(SEED,): CHANCE, (RUN,): CHANCE, (REST,): HIGHER}.get(
        part.name, FACTOR if len(part.name) == 1 else INTERACTION
    )
    shares = {"share_percent": part.share, "approximate_low_percent": part.low, "approximate_high_percent": part.high}
    return {
        "part": JOINED.join(part.name), "kind": kind, "df": part.df, "squares": part.squares, "variance": part.variance,
        **{name: None if share is None else 100 * share for name, share in shares.items()},
    }  # fmt: skip


def decompose_variance(runs, scenarios, confidence) -> pd.DataFrame:
    """Return `VARIANCE`, the decomposition of every metric's variance."""
    rows = [row for metric in METRICS for row in decompose_metric(runs, scenarios, metric, confidence)]
    table = pd.DataFrame(rows).reindex(columns=VARIANCE.names)
    return table.astype(dict.fromkeys(("df", "cells", "replications"), "Int64"))
