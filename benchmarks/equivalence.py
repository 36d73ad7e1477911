"""Use two one-sided tests (TOST) to decide whether two versions of the testbed yield equivalent results despite different bytes.

    .venv/bin/python benchmarks/equivalence.py OLD/results/ipv4-ipv6/tidy/runs.csv NEW/results/ipv4-ipv6/tidy/runs.csv [--least 16]

Both arguments are tables of runs from the same study. A pair consists of two runs with the same seed, and counts if both runs are valid.
Each cell needs at least ``--least`` pairs. Differences are in percent of the cell's mean over both versions (in percentage points for
loss). A cell is equivalent if the 90 % t interval for the cell's mean difference lies within the margin. A row for several cells shows the
cells' unweighted mean. The interval in this row is computed from the means of replications, because runs of the same replication use the
same seed.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "workflow" / "scripts"), str(ROOT / "workflow")]

from inference.equivalence import INSIDE, place, tost_interval
from inference.multiple_tests import adjusted
from inference.paired_tests import StudentMean, is_constant
from scale_calls import head, row

#: Metric -> margin in percent (in percentage points for loss).
MARGINS = {"goodput_mbps": 2.0, "rtt_mean_ms": 1.0, "retransmits": 5.0, "loss_percent": 0.02}
IN_POINTS = {"loss_percent"}
CELL = ["scenario", "cca", "ip_version"]
SIGNIFICANCE = 0.05
#: Maximum number of cells that are listed because they aren't shown to be equivalent; those with the widest intervals are listed.
PRINTED = 10


def pairs_of_runs(old, new, least) -> pd.DataFrame:
    """Return the pairs of valid runs from two tables, with the columns ``<metric>_old`` and ``<metric>_new``.

    Raises
    ------
    SystemExit
        If a cell has too few pairs, or if the tables don't list the same runs.
    """
    names = [*CELL, "replication"]
    tables = [pd.read_csv(path)[[*names, "seed", "valid", *MARGINS]] for path in (old, new)]
    both = tables[0].merge(tables[1], on=[*names, "seed"], suffixes=("_old", "_new"), validate="1:1")
    if not len(both) == len(tables[0]) == len(tables[1]):
        raise SystemExit(
            f"{old} and {new} don't have the same runs: {len(tables[0])} and {len(tables[1])}, {len(both)} in both"
        )
    print(f"{len(both)} pairs of runs; valid: {both['valid_old'].sum()} and {both['valid_new'].sum()}\n")
    valid = both[both["valid_old"] & both["valid_new"]]
    cells, pairs = both.groupby(CELL).ngroups, valid.groupby(CELL).size()
    if len(pairs) < cells or pairs.min() < least:
        fewest = pairs.min() if len(pairs) == cells else 0
        raise SystemExit(f"{least} pairs of valid runs are needed in each of {cells} cells; one has {fewest} (--least)")
    print(f"{cells} cells, {pairs.min()} to {pairs.max()} pairs in each\n")
    return valid


def differences(pairs, metric) -> pd.DataFrame:
    """Return the differences (new minus old) in pairs of runs, with one column per cell and one row per replication."""
    old, new = pairs[f"{metric}_old"], pairs[f"{metric}_new"]
    if metric in IN_POINTS:
        change = new - old
    else:
        means = ((old + new) / 2).groupby([pairs[name] for name in CELL]).transform("mean")
        change = (100 * (new - old) / means).where(means != 0, 0.0)
    return pairs.assign(difference=change).pivot(index="replication", columns=CELL, values="difference")


def compared(values) -> dict[str, float]:
    """Return the mean of differences, the 90 % interval for the mean, and the p-value of the hypothesis that the mean is 0.

    If all differences are equal, both bounds of the interval equal the mean.
    """
    values = values.dropna().to_numpy()
    mean = float(values.mean())
    if is_constant(values):
        return {"mean": mean, "low": mean, "high": mean, "p": float(mean == 0)}
    test = StudentMean(values)
    low, high = tost_interval(test, SIGNIFICANCE)
    return {"mean": mean, "low": low, "high": high, "p": test.p()}


def print_metric(differences_of_cells, metric) -> pd.DataFrame:
    """Print rows about a metric, for all cells together and for each CCA, and return a table with one row per cell."""
    margin, unit = MARGINS[metric], "points" if metric in IN_POINTS else "%"
    cells = pd.DataFrame({name: compared(differences_of_cells[name]) for name in differences_of_cells}).T
    cells["equivalent"] = [
        place((low, high), -margin, margin) == INSIDE for low, high in zip(cells["low"], cells["high"], strict=True)
    ]
    cells["differs"] = adjusted(cells["p"], "holm") < SIGNIFICANCE
    cells.index = cells.index.set_names(CELL)
    ccas = differences_of_cells.columns.get_level_values("cca")
    for name in ("all", *dict.fromkeys(ccas)):
        chosen = ccas == name if name != "all" else ccas.notna()
        mean, some = compared(differences_of_cells.loc[:, chosen].mean(axis=1)), cells[chosen]
        verdict = "equivalent" if place((mean["low"], mean["high"]), -margin, margin) == INSIDE else "not shown"
        row(
            f"{metric}, {margin} {unit}" if name == "all" else "", name, f"{mean['mean']:+.3f} ({mean['low']:+.3f} to {mean['high']:+.3f})",
            verdict, f"{some['equivalent'].sum()} of {len(some)}", some["differs"].sum(),
        )  # fmt: skip
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", help="runs.csv of one version")
    parser.add_argument("new", help="runs.csv of the other version")
    parser.add_argument("--least", type=int, default=16, help="smallest number of pairs per cell (16)")
    pairs = pairs_of_runs(**vars(parser.parse_args()))
    head(
        "metric, margin",
        "cells of",
        "mean difference (90 % interval)",
        "as a whole",
        "cells equivalent",
        "cells that differ (Holm)",
    )
    cells = {metric: print_metric(differences(pairs, metric), metric) for metric in MARGINS}
    print("\nCells not shown to be equivalent, the widest intervals first:\n")
    head("metric", *CELL, "mean difference (90 % interval)")
    for metric, of_metric in cells.items():
        wide = of_metric.assign(width=of_metric["high"] - of_metric["low"])[~of_metric["equivalent"]].sort_values(
            "width", ascending=False
        )
        for cell, one in wide.head(PRINTED).iterrows():
            row(metric, *cell, f"{one['mean']:+.3f} ({one['low']:+.3f} to {one['high']:+.3f})")


if __name__ == "__main__":
    main()
