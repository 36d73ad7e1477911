"""Describe how the flows in a run share the link.

Each statistic of the flows' goodputs (mean, standard deviation, total, Jain's index) yields one value per run. Intervals are computed from
these values over the replications, not over flows, because the flows in a run share one link and so aren't independent.
"""

import math

import pandas as pd

from inference.cell_estimates import cell_estimate
from run_tables.conditions_at_centre import runs_at_centre
from run_tables.resolution import resolution_of
from run_tables.run_keys import CELL, RUN
from tcp_models.fairness_index import jain_index
from topics.buffers.compared_flows import at_centre
from topics.buffers.kato_table import STARVED_SHARE
from topics.buffers.tables import FLOW_GOODPUT, FLOW_GOODPUT_CELLS, STATISTICS
from wording.number_format import is_missing
from wording.scenario_series import with_series


def describe_run(goodputs_mbps, capacity_mbps) -> dict:
    """Describe the goodput of a run's flows.

    Returns a dict with flows (the number of flows), fair_share_mbps and the statistics in `tables.STATISTICS`. Percentages are left out if
    the capacity is None. If any flow's goodput is missing, the dict contains only the number of flows. Jain's index is None if no flow
    delivered any data.

    Parameters
    ----------
    goodputs_mbps : array_like of float, shape (flows,)
    capacity_mbps : float or None
        Capacity of the path. The fair share is the capacity divided by the number of flows; if the capacity is None, it is the flows' mean
        goodput.
    """
    values = pd.Series(goodputs_mbps, dtype=float)
    if values.isna().any():
        return {"flows": len(values)}
    total = values.sum()
    fair = (total if is_missing(capacity_mbps) else capacity_mbps) / len(values)
    q1, median, q3 = values.quantile([0.25, 0.5, 0.75])
    row = {
        "mean_mbps": values.mean(), "sd_mbps": values.std(ddof=1), "min_mbps": values.min(), "q1_mbps": q1,
        "median_mbps": median, "q3_mbps": q3, "max_mbps": values.max(), "total_mbps": total,
    }  # fmt: skip
    if not is_missing(capacity_mbps):
        row |= {f"{name}_percent": 100 * row[f"{name}_mbps"] / capacity_mbps for name in ("mean", "sd", "total")}
    row["jain_index"] = jain_index(values) if total else None
    row["starved"] = int((values < STARVED_SHARE * fair).sum())
    return {"flows": len(values), "fair_share_mbps": fair, **row}


def describe_runs(runs, flows, scenarios) -> pd.DataFrame:
    """Return `FLOW_GOODPUT`: one row per valid run with long flows, in the order of `runs`.

    Raises `ValueError` if ``flows`` has no row of such a run.
    """
    places = _places_of(runs, scenarios)
    runs, flows, _ = at_centre(runs, flows, scenarios)
    goodputs = {run: group["goodput_mbps"] for run, group in flows.groupby(RUN)}
    rows = []
    for run in runs[runs["valid"] & (runs["flows_under_test"] > 0)].to_dict("records"):
        key = tuple(run[name] for name in RUN)
        if key not in goodputs:
            raise ValueError(f"flows.csv has no flow of the valid run {'/'.join(map(str, key))}")
        described = describe_run(goodputs[key], run["capacity_mbps"])
        rows.append({**{name: run[name] for name in RUN}, **places[run["scenario"]], **described})
    return pd.DataFrame(rows, columns=FLOW_GOODPUT.names)


def _places_of(runs, scenarios):
    """Return each scenario's label, platform, conditions, buffer, and the buffer's size as a percentage of the BDP."""
    table, runs = with_series(scenarios), runs_at_centre(runs, scenarios)
    queues = runs.groupby("scenario", sort=False)["queue_bdp"].first()
    return {
        row["scenario"]: {
            "scenario_label": row["label"], "platform": row["platform"], "conditions": row["conditions"],
            "buffer": row["buffer"], "bdp_percent": 100 * queues[row["scenario"]],
        }
        for row in table.to_dict("records")
    }  # fmt: skip


def describe_replications(runs, described, scenarios, confidence) -> pd.DataFrame:
    """Return `FLOW_GOODPUT_CELLS`; `described` is the result of `describe_runs`.

    In the rows of a cell without a valid run, n is 0 and the note gives the reason.
    """
    places, rows = _places_of(runs, scenarios), []
    for cell, group in runs.groupby(CELL, sort=False):
        valid = described[(described[CELL] == list(cell)).all(axis=1)]
        place = {**dict(zip(CELL, cell, strict=True)), **places[cell[0]]}
        for statistic in STATISTICS:
            resolution = _resolution(statistic.name, group[group["valid"]])
            row = over_replications(statistic, valid, len(group), confidence, resolution)
            rows.append({**place, "statistic": statistic.name, "unit": statistic.unit, **row})
    return pd.DataFrame(rows, columns=FLOW_GOODPUT_CELLS.names)


def _resolution(statistic, runs):
    """Return the resolution of a statistic in the statistic's unit, or 0 if the resolution is unknown."""
    if statistic in ("jain_index", "starved"):
        return resolution_of(runs, "jain_index") if statistic == "jain_index" else 1.0
    name, _, unit = statistic.rpartition("_")
    # The error of a total is the sum of all flows' errors. If each flow is off by at most r, a standard deviation is off by at most
    # r sqrt(n / (n - 1)), which is at most r sqrt(2), and any other statistic by at most r.
    size = resolution_of(runs, "goodput_mbps" if name == "total" else "throughput_per_stream_mbps")
    size *= math.sqrt(2) if name == "sd" else 1.0
    return 100 * size / float(runs["capacity_mbps"].max()) if unit == "percent" and len(runs) else size


def over_replications(statistic, described, total, confidence, resolution=0.0) -> dict:
    """Describe a statistic over the valid runs of a cell: n, mean, interval, range and a note.

    ``statistic`` is one of `STATISTICS`. ``described`` is the result of `describe_runs` for the cell. ``total`` is the number of all runs
    in the cell, valid or not.
    """
    values = described[statistic.name].dropna().astype(float)
    if values.empty:
        return {"n": 0, "note": "no value in any valid run" if len(described) else f"no valid run among {total}"}
    flows = float(described["flows"].max())
    # Jain's index is at least 1/n. The number of starved flows is at most n.
    least = 1 / flows if statistic.name == "jain_index" else statistic.least
    most = flows if statistic.name == "starved" else statistic.most
    mean = cell_estimate(values, confidence, least, most, resolution)
    return {
        "n": mean.n, "mean": mean.mean, "lowest": values.min(), "highest": values.max(), "note": mean.note,
        "ci_low": mean.low, "ci_high": mean.high,
    }  # fmt: skip


def describe_flows(runs, scenarios, flows, confidence) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `FLOW_GOODPUT` and `FLOW_GOODPUT_CELLS`."""
    described = describe_runs(runs, flows, scenarios)
    return described, describe_replications(runs, described, scenarios, confidence)
