"""Compare transfers over several paths with transfers over one path, and compute each path's share of the packets.

A transfer over n paths is expected to be n times as fast and to take an n-th of the time (Szilágyi and Bordán, 2020, equations 3.1 and
3.2). The runs of two scenarios are independent samples, so the interval for the ratio of their means is Welch's, computed on logarithms.
The maximum goodput that headers allow (the ceiling) is known exactly, so each measured ratio is listed with the ratio of the two ceilings.
"""

import pandas as pd

from inference.cell_estimates import cell_estimate
from run_tables.resolution import resolution_of
from run_tables.run_keys import CELL
from run_tables.tidy_tables import RUNS
from topics.multipath.equations import as_factors, equation_verdict, ratio
from topics.multipath.path_environments import environment_of, with_paths
from topics.multipath.tables import AGGREGATION, PATH_MEANS, PATH_SHARES, PLACE, RUN_MEANS
from wording.sentence_words import listed


def _place_of(scenario, ip_version):
    """Return a cell's columns `PLACE`; ``scenario`` is a row of the table from `with_paths`."""
    environment = environment_of(scenario | {"ip_version": ip_version})
    values = scenario | {"scenario_label": scenario["label"], "environment": environment}
    return {column.name: values[column.name] for column in PLACE}


def aggregation(runs, scenarios, confidence) -> pd.DataFrame:
    """Return `AGGREGATION`, given ``tidy/runs.csv`` and scenarios from `path_environments.with_paths`."""
    known = {row["scenario"]: row for row in scenarios.to_dict("records")}
    groups = {cell: group[group["valid"]] for cell, group in runs.groupby(CELL, sort=False)}
    return pd.DataFrame([_cell_row(cell, groups, known, confidence) for cell in groups], columns=AGGREGATION.names)


def _cell_row(cell, groups, scenarios, confidence):
    """Return the row of a cell; ``groups`` contains the valid runs of all cells."""
    scenario, valid = scenarios[cell[0]], groups[cell]
    row = dict(zip(CELL, cell, strict=True)) | _place_of(scenario, cell[2])
    row |= {"n": len(valid), "equation": "", "note": ""} | {name: valid[name].mean() for name in RUN_MEANS}
    if valid.empty:
        return row | {"note": "no valid run"}
    notes = {}
    for prefix, name in (("goodput", "goodput_mbps"), ("transfer", "transfer_s"), ("cpu_busy", "cpu_busy_percent")):
        bounds = RUNS[name].least, RUNS[name].most
        mean = cell_estimate(valid[name].dropna(), confidence, *bounds, resolution_of(valid, name))
        row[f"{prefix}_low"], row[f"{prefix}_high"] = mean.low, mean.high
        if mean.n > 1 and mean.note:
            notes.setdefault(mean.note, []).append(prefix.replace("cpu_busy", "CPU"))
    row["note"] = "; ".join(f"{listed(names)}: {note}" for note, names in notes.items())
    goodput, ceiling = valid["goodput_mbps"], valid["ideal_goodput_mbps"].mean()
    row |= {
        "goodput_sd_percent": 100 * goodput.std(ddof=1) / goodput.mean() if len(valid) > 1 else None,
        "ceiling_mbps": ceiling,
        "ceiling_percent": 100 * goodput.mean() / ceiling,
        "baseline": scenario["baseline"],
    }
    if scenario["by"] == "none":
        return row
    if not scenario["even"]:
        row |= _against_single_paths(
            valid, [groups.get((name, *cell[1:])) for name in scenario["baselines"]], confidence
        )
    base = groups.get((scenario["baseline"], *cell[1:]))
    if base is None:
        return row | {"note": "; ".join(filter(None, (scenario["baseline_note"], row["note"])))}
    if base.empty:
        return row | {"note": "; ".join(filter(None, ("no valid run over a single path to compare with", row["note"])))}
    row["ceiling_factor"] = ceiling / base["ideal_goodput_mbps"].mean()
    for prefix, name, above, below in (
        ("factor", "goodput_mbps", valid, base),
        ("time_factor", "transfer_s", base, valid),
    ):
        apart = ratio(above[name], below[name], [resolution_of(runs, name) for runs in (above, below)])
        if apart is not None:
            factor = as_factors(apart.effect, apart.interval(confidence))
            row |= dict(zip((prefix, f"{prefix}_low", f"{prefix}_high"), factor, strict=True))
            # For transfers, the ratio of times, which is computed last, decides. A comparison of two individual measurements is judged by
            # their resolution.
            row["equation"] = equation_verdict(*as_factors(apart.effect, apart.bounds(confidence)), scenario["paths"])
    return row


def _against_single_paths(valid, singles, confidence):
    """Return the columns that compare a cell of unequal paths with the best single path and with the sum over all single paths.

    ``singles`` contains one item per path: the valid runs over this path alone, or None if no scenario uses this path alone. The sum is
    calculated for each replication.
    """
    if any(runs is None or runs["goodput_mbps"].dropna().empty for runs in singles):
        return {}
    means = [runs["goodput_mbps"].mean() for runs in singles]
    best = means.index(max(means))
    by_replication = [runs.set_index("replication")["goodput_mbps"] for runs in singles]
    together = pd.concat(by_replication, axis=1, join="inner").sum(axis=1, skipna=False)
    apart_mbps = sum(resolution_of(runs, "goodput_mbps") or 0 for runs in singles)
    columns = {"best_path": best + 1, "best_mbps": means[best], "sum_mbps": sum(means)}
    for prefix, others, finely in (
        ("best_factor", singles[best]["goodput_mbps"], resolution_of(singles[best], "goodput_mbps")),
        ("sum_factor", together, apart_mbps),
    ):
        apart = ratio(valid["goodput_mbps"], others, [resolution_of(valid, "goodput_mbps"), finely])
        if apart is not None:
            ends = apart.interval(confidence)
            columns |= dict(
                zip((prefix, f"{prefix}_low", f"{prefix}_high"), as_factors(apart.effect, ends), strict=True)
            )
    return columns


def path_shares(paths, scenarios) -> pd.DataFrame:
    """Return `PATH_SHARES`, given ``tidy/paths.csv`` and scenarios from `path_environments.with_paths`.

    ``packets`` and ``bytes`` count everything that left the sender, from before the start of the traffic until all of the
    traffic had arrived. This period exceeds the traffic's duration by an unknown time, so no rate can be given.
    """
    known = {row["scenario"]: row for row in scenarios.to_dict("records")}
    rows = []
    for (*cell, path), group in paths[paths["valid"]].groupby([*CELL, "path"], sort=False):
        row = dict(zip(CELL, cell, strict=True)) | _place_of(known[cell[0]], cell[2])
        row |= {"path": int(path), "n": len(group)} | {name: group[name].mean() for name in PATH_MEANS}
        shares = group["share_percent"]
        rows.append(row | {"share_lowest": shares.min(), "share_highest": shares.max()})
    return pd.DataFrame(rows, columns=PATH_SHARES.names)


def compare_paths(runs, scenarios, paths, confidence) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `AGGREGATION` and `PATH_SHARES`."""
    scenarios = with_paths(scenarios)
    # In a dumbbell, the paths share the bottleneck (see the topic `subflows`).
    scenarios = scenarios[scenarios["topology"] == "cable"]
    runs = runs[runs["scenario"].isin(scenarios["scenario"])]
    return aggregation(runs, scenarios, confidence), path_shares(paths, scenarios)
