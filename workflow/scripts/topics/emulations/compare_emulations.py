"""Compare runs over each implementation of a nominal path with runs over the first implementation of that path."""

import pandas as pd

from inference.independent_comparison import difference
from run_tables.estimated_cells import estimated_cells
from run_tables.resolution import resolution_of, resolutions
from run_tables.run_keys import CELL
from topics.emulations.tables import EMULATION_CELLS, MEASURES, RATIOS


def compare_emulations(runs, scenarios, settings, confidence) -> pd.DataFrame:
    """Return `EMULATION_CELLS`: one row per cell, in the order of ``runs``.

    ``settings`` is the result of `topic.settings`.
    """
    firsts = {}
    for name in scenarios["scenario"]:
        if name in settings:
            firsts.setdefault(settings[name]["setting"], name)
    ours = runs[runs["scenario"].isin(settings)]
    cells = {key: rows[rows["valid"]] for key, rows in ours.groupby(list(CELL), sort=False)}

    def against_first(row, _):
        first = firsts[settings[row["scenario"]]["setting"]]
        valid, others = (cells.get((name, row["cca"], row["ip_version"])) for name in (row["scenario"], first))
        columns = {"compared_with": first}
        if first != row["scenario"] and others is not None:
            for measure, name in RATIOS.items():
                columns |= _ratio(name, valid, others, measure, confidence)
        return columns

    labels = scenarios.set_index("scenario")["label"]
    about = {name: {"scenario_label": labels[name], **one} for name, one in settings.items()}
    steps = {column.name: resolutions(ours, column.name) for column in MEASURES}
    columns = [*CELL, "valid", *(column.name for column in MEASURES)]
    of_scenario = pd.DataFrame.from_dict(about, orient="index")
    return estimated_cells(
        EMULATION_CELLS, ours[columns], confidence, of_scenario=of_scenario, also=against_first, steps=steps
    )


def _ratio(name, valid, others, measure, confidence):
    """Return the columns for a measure's difference from the first implementation, in percent; empty if the ratio is undefined."""
    first, second = (rows[measure].dropna() for rows in (valid, others))
    if first.empty or second.empty or (first <= 0).any() or (second <= 0).any():
        return {}
    apart = difference(first, second, "ratio", [resolution_of(rows, measure) for rows in (valid, others)])
    low, high = apart.interval(confidence) or (None, None)
    return {name: apart.effect, f"{name}_low": low, f"{name}_high": high}
