"""What a figure of cells shows: its data as a table, and each panel in a sentence."""

import pandas as pd

from run_tables.tidy_tables import CELL
from wording.number_format import is_missing, number
from wording.scenario_words import conditions, heading, ip_words


def figure_data(runs, descriptive, metric) -> pd.DataFrame:
    """Collect what the figure shows: a row for each dot and each mean.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``tidy/runs.csv``; only valid runs that have a value are shown.
    descriptive : pandas.DataFrame
        ``analysis/descriptive.csv``.
    metric : Metric

    Returns
    -------
    pandas.DataFrame
        scenario, scenario_label, cca, ip_version, mark ("replication" or "mean"), replication
        (of a dot), the metric's column, ci_low, ci_high, n and note (of a mean).
    """
    labels = [*CELL, "scenario_label"]
    dots = runs[runs["valid"] & runs[metric.column].notna()]
    dots = dots[[*labels, "replication", metric.column]].assign(mark="replication")
    means = descriptive[descriptive["metric"] == metric.column]
    means = means.rename(columns={"mean": metric.column}).assign(mark="mean")
    columns = [
        "scenario", "scenario_label", "cca", "ip_version", "mark", "replication", metric.column,
        "ci_low", "ci_high", "n", "note",
    ]  # fmt: skip
    data = dots.astype({"replication": object}).reindex(columns=columns).astype(object)
    return _stacked(data, means.reindex(columns=columns).astype(object))


def _stacked(dots, means):
    # By columns, since concatenating empty ones is about to change its meaning in pandas.
    columns = {name: [*dots[name], *means[name]] for name in dots.columns}
    whole = [None if is_missing(n) else int(n) for n in columns["n"]]
    return pd.DataFrame({**columns, "n": whole}, dtype=object)


def describe_panel(cells, scenario, metric) -> str:
    """Return in a sentence what a panel shows: the mean of each cell."""
    means = cells[cells["mark"] == "mean"]
    parts = []
    for cca, group in means.groupby("cca", sort=False):
        values = ", ".join(
            f"{ip_words(row['ip_version'])} "
            + ("none" if is_missing(row[metric.column]) else number(float(row[metric.column])))
            for row in group.to_dict("records")
        )
        parts.append(f"{cca}: {values}")
    return f"{metric.name} in {heading(scenario)} ({conditions(scenario)}). Means in {metric.unit}: {'; '.join(parts)}."
