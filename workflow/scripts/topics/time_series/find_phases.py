"""Find the phases of congestion control in each flow's samples, and the share of time that the flows spend in each phase."""

import pandas as pd

from run_tables.estimated_cells import estimated_cells
from run_tables.run_keys import CELL, RUN
from topics.time_series.phases import ALL_PHASES, COLUMNS, phase_table
from topics.time_series.tables import PHASE_SHARES
from topics.time_series.window_series import valid_series


def phase_time(phases) -> pd.DataFrame:
    """Return the share of time that the flows of each CCA spend in each phase of a run, and the number of spells per flow.

    ``phases`` are `PHASES`. The columns are `RUN`, flow_cca, phase, share_percent (of the total time of the CCA's flows) and spells. Each
    run has a row for every phase that occurs in any flow of the CCA in the study.
    """
    run = [*RUN, "flow_cca"]
    spent = phases.assign(seconds=phases["end_s"] - phases["begin_s"]).astype({"phase": str, "flow_cca": str})
    seen = spent.groupby("flow_cca")["phase"].agg(set)
    whole = spent.groupby(run, sort=False, observed=True).agg(seconds=("seconds", "sum"), flows=("flow", "nunique"))
    grouped = spent.groupby([*run, "phase"], sort=False, observed=True)["seconds"]
    seconds, spells = grouped.sum().to_dict(), grouped.size().to_dict()
    rows = []
    for key, total, flows in whole.itertuples(name=None):
        for cell in ((*key, name) for name in ALL_PHASES if name in seen[key[-1]]):
            share = 100 * seconds.get(cell, 0.0) / total if total else None
            rows.append([*cell, share, spells.get(cell, 0) / flows])
    return pd.DataFrame(rows, columns=[*run, "phase", "share_percent", "spells"])


def _phase_shares(times, labels, looks, confidence):
    """Return `PHASE_SHARES`; ``times`` is the result of `phase_time`.

    ``labels`` maps scenario -> label; ``looks`` maps scenario -> number of samples per flow.
    """
    runs, keys = times.assign(valid=True), (*CELL, "flow_cca", "phase")
    steps = {"share_percent": 100 / times["scenario"].map(looks)}
    of_scenario = labels.to_frame("scenario_label")
    return estimated_cells(
        PHASE_SHARES, runs, confidence, keys, of_scenario, lambda _, valid: {"runs": len(valid)}, steps
    )


def find_phases(runs, sockets, confidence) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `PHASES` and `PHASE_SHARES`."""
    tables, looks = [], {}
    for series in valid_series(sockets, COLUMNS, runs):
        tables.append(phase_table(series))
        looks.setdefault(series["scenario"].iloc[0], series.groupby("flow").size().min())
    phases = pd.concat(tables, ignore_index=True) if tables else phase_table(pd.DataFrame())
    labels = runs.groupby("scenario")["scenario_label"].first()
    shares = _phase_shares(phase_time(phases), labels, looks, confidence)
    return phases, shares
