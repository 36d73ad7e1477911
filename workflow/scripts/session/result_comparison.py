"""Differences between two results folders: cells by metric, or the rows of two scorecards.

Runs of the same replication form a pair, and have the same seed if possible. A pair is worse or better only if the difference exceeds the
margin of the study or the exam. Three kinds of rows are tested, without assumptions about the distribution of values:

- most pairs: *worse* if significantly more pairs are worse than better, and significantly more than half of all pairs are worse (sign tests);
- rare events: whether more runs are far worse than the rest of the cell (by `FAR` margins), are beyond an exam's limit, or are
  invalid; runs that were not executed, or that the instrument excluded, say nothing about an algorithm, and are left out;
- both kinds over all scenarios together, to find rare events and changes that a few replications can't show in a single cell.

The p-values of all rows are corrected jointly: the test exchanges the two sides of entire replications (`inference.exchanged_pairs`). If an
algorithm is compared with itself, at most 5 % of comparisons show a difference, for any distribution. Replications that repeat one
measurement count as one pair.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from inference.exchanged_pairs import median_interval
from inference.mean_interval import repeats_one_measurement
from inference.paired_contrasts import contrasts, to_effect, usable_scale
from run_tables.exclusions import ABSENT
from run_tables.metrics import METRICS, differences
from run_tables.resolution import resolutions
from session.change_verdicts import CHANGES, SAME, Pair, Row, judged
from session.comparable_results import SCORE_KEYS, pairs_of_ccas
from testbed.checks.check import INSTRUMENT
from wording.number_format import count

CONFIDENCE = 0.95
#: Share of the significance level for rows about individual cells; the rest is for rows over all scenarios. With a much smaller share, six
#: pairs couldn't be significant.
OF_CELLS = 0.65
COLUMNS = (
    "change", "criterion", "scenario", "cca", "ip_version", "measure", "unit", "better_is", "margin", "first", "second", "effect",
    "low", "high", "effect_unit", "n", "pairs_worse", "pairs_better", "paired", "p", "p_corrected", "n_needed", "first_verdict",
    "second_verdict", "note",
)  # fmt: skip
#: Metrics for which higher values are better; for all other metrics, lower values are better.
HIGHER_IS_BETTER = ("goodput_mbps",)
ALL_SCENARIOS = "all scenarios"
#: Columns shared by all rows of a measure.
OF_MEASURE = ("cca", "measure", "unit", "better_is", "margin", "effect_unit", "paired")
#: Columns by which runs are matched, and the column that shows whether a run counts.
KEYS = ["scenario", "ip_version", "replication", "seed", "valid"]
#: End of the note about a cell's runs that form no pair.
NO_PARTNER = "no partner"
#: Suffix of columns from the second results.
SECOND = "_second"
#: A run counts as far worse if it is worse than the median of its cell's better half by more than this number of margins.
FAR = 4


@dataclass(frozen=True)
class Margin:
    """Margin beyond which two values differ, on the metric's scale."""

    size: float  # in the effect's unit: percent or points
    scale: str = "points"  # "ratio", "relative" (percent of the mean of both) or "points"
    resolution: float = 0.0  # values closer than this don't differ

    def exceeded(self, a, b, times=1) -> np.ndarray:
        """Return a mask that is True where a exceeds b by more than ``times`` margins, and False where a value is missing."""
        share = self.size / 100
        if self.scale == "points":
            return a - b > max(times * self.size, self.resolution)
        factor = (2 + share) / (2 - share) if self.scale == "relative" else 1 + share
        return (a > b * factor**times) & (a - b > self.resolution)


def compared(first, second) -> pd.DataFrame:
    """Return the table of changes from the first results to the second results, with `COLUMNS`, in the order of `CHANGES`."""
    return table_of(list(_score_rows(first, second) if first.scorecard is not None else _cell_rows(first, second)))


def table_of(rows) -> pd.DataFrame:
    """Judge the given rows together with the rows over all scenarios, and return all of them as a table."""
    over_all = list(_over_scenarios(rows))
    share = OF_CELLS if over_all else 1.0
    table = pd.DataFrame([*judged(over_all, 1 - share), *judged(rows, share)]).reindex(columns=list(COLUMNS))
    order = table["change"].map(CHANGES.index)
    return table.iloc[np.lexsort((table["p"].fillna(1), order))].reset_index(drop=True)


def margins_of(study) -> dict[str, float]:
    """Return the study's margins, by column of ``tidy/runs.csv``."""
    return differences(study["analysis"]["equivalence_margin"])


def _cell_rows(first, second) -> Iterator[Row]:
    """Yield the rows for each cell that both studies contain."""
    margins = margins_of(first.study)
    for ours, theirs in pairs_of_ccas(first, second):
        tables = [values_of_runs(each.runs[each.runs["cca"] == cca]) for each, cca in ((first, ours), (second, theirs))]
        for head, cell in matched_cells(*tables, ours if ours == theirs else f"{ours}, {theirs}"):
            yield from rows_of_cell(head, cell, margins)


def rows_of_cell(head, cell, margins) -> Iterator[Row]:
    """Yield the rows for a cell that two studies share.

    Parameters
    ----------
    head : dict
        Columns shared by all rows: scenario, cca, ip_version, paired and so on.
    cell : dict
        Column -> first and second values, shape (n, 2), with one row per replication. The columns are each metric, each metric's
        resolution (``<metric> step``), ``valid``, ``unknown`` (see `_keys_of`), ``seed`` and ``replication``.
    margins : dict
        Column of a metric -> margin in the unit of the metric's effects.
    """
    yield from _invalid_runs(head, cell)
    steps = {metric.column: np.nanmax(cell[f"{metric.column} step"], axis=0, initial=0) for metric in METRICS}
    # One metric isn't enough, because its values can be equal by chance.
    copied = all(_repeat(cell[column], of_sides) for column, of_sides in steps.items())
    for metric in METRICS:
        margin = Margin(margins[metric.column], metric.scale, float(steps[metric.column].max()))
        named = {"measure": metric.name, "unit": metric.unit, "effect_unit": metric.effect_unit}
        higher = metric.column in HIGHER_IS_BETTER
        yield from rows_of_values(head | named, cell, cell[metric.column], margin, higher, copied)


def _repeat(sides, steps):
    """Return whether, on each side, the known values repeat one measurement with the side's resolution."""
    known = sides[~np.isnan(sides).any(axis=1)]
    return all(repeats_one_measurement(side, step) for side, step in zip(known.T, steps, strict=True) if len(side))


def values_of_runs(runs) -> pd.DataFrame:
    """Return the keys of all runs, with the metrics and resolutions of the valid runs."""
    values = {metric.column: runs[metric.column].astype(float) for metric in METRICS}
    steps = {f"{metric.column} step": resolutions(runs, metric.column) for metric in METRICS}
    return _keys_of(runs).join(pd.DataFrame(values | steps).where(runs["valid"]))


def _keys_of(runs):
    """Return the columns `KEYS`, and ``unknown``: whether a run was not executed or was excluded by the instrument."""
    return runs[KEYS].assign(unknown=runs["excluded_by"].isin([ABSENT, INSTRUMENT]))


def matched_cells(first, second, cca) -> Iterator[tuple[dict, dict[str, np.ndarray]]]:
    """Yield two dicts for each cell in both tables: the cell's common columns, and column -> first and second values, shape (n, 2).

    Runs of the same replication form a pair if they have the same seed. If the seeds differ in all replications of a cell, seeds are
    ignored.
    The column ``note`` of a cell gives the number of runs without a partner.
    """
    place = ["scenario", "ip_version"]
    both = first.merge(second, on=[*place, "replication"], suffixes=("", SECOND))
    same = both["seed"] == both[f"seed{SECOND}"]
    both = both[same == same.groupby([both[name] for name in place]).transform("any")].reset_index(drop=True)
    sides = {
        column: both[[column, f"{column}{SECOND}"]].to_numpy(float) for column in first if f"{column}{SECOND}" in both
    }
    sides["replication"] = both[["replication"] * 2].to_numpy()
    runs = pd.concat([first, second]).groupby(place).size()
    for (scenario, ip_version), rows in both.groupby(place, sort=False).indices.items():
        cell = {column: values[rows] for column, values in sides.items()}
        total = int(runs[scenario, ip_version])
        alone = total - 2 * len(rows)
        head = {
            "criterion": "", "scenario": scenario, "cca": cca, "ip_version": ip_version,
            "paired": bool((cell["seed"][:, 0] == cell["seed"][:, 1]).all()), "first_verdict": "", "second_verdict": "",
            "note": f"{alone} of {count(total, 'run')} {'has' if alone == 1 else 'have'} {NO_PARTNER}" if alone else "",
        }  # fmt: skip
        yield head, cell


def _pairs(cell, which):
    """Return a `Pair` for each pair of runs in a cell that the mask ``which`` selects."""
    seeds = map(tuple, cell["seed"][which].tolist())
    return [Pair(*each) for each in zip(cell["replication"][which, 0].tolist(), seeds, strict=True)]


def _noted(head, *notes):
    """Return a row's columns with further notes; empty notes are left out."""
    return head | {"note": "; ".join(filter(None, [head["note"], *notes]))}


def _invalid_runs(head, cell):
    """Yield the row that counts invalid runs, if there are any; pairs with an unknown run are omitted and counted in the note."""
    known = ~cell["unknown"].astype(bool).any(axis=1)
    invalid = ~cell["valid"].astype(bool)[known]
    head = head | {"measure": "Invalid runs"}
    if not known.all():
        head = _noted(head, f"{count(int((~known).sum()), 'pair')} left out: not run, or excluded by the instrument")
    yield from _count_row(head, invalid, _pairs(cell, known), always=not known.all())


def rows_of_values(head, cell, sides, margin, higher, copied=None) -> Iterator[Row]:
    """Yield the row about most pairs of values and, if any runs are far worse, the row that counts such runs.

    ``sides`` (numpy.ndarray of float, shape (n, 2)) contains the first and second values; values of invalid runs are missing. ``copied``
    states whether each side's runs repeat one measurement; by default, this is found out from the values.
    """
    head = head | {"better_is": "higher" if higher else "lower", "margin": margin.size}
    complete = ~np.isnan(sides).any(axis=1)
    if not complete.any():
        yield Row(_noted(head, "no pair of valid runs has a value"), (), (), True)
        return
    far = _far_worse(sides, margin, higher)[complete]
    sides, pairs, notes = sides[complete], _pairs(cell, complete), []
    if not complete.all():
        notes.append(f"{count(int((~complete).sum()), 'pair')} without a value")
    if copies := _repeat(sides, (margin.resolution,) * 2) if copied is None else copied:
        notes.append(f"{len(sides)} pairs repeat one measurement, and count as one")
        sides, pairs = sides[:1], pairs[:1]
    first, second = sides.T
    signs = margin.exceeded(first, second) * 1.0 - margin.exceeded(second, first)
    row = _noted(head, *notes) | _effect_columns(first, second, margin.scale)
    if np.abs(second - first).max() <= margin.resolution:
        row["change"] = SAME
    yield Row(row, pairs, signs if higher else -signs, True)
    if not copies:
        yield from _count_row(head | {"measure": f"{head['measure']}: far worse"}, far, pairs)


def _effect_columns(first, second, scale):
    """Return the medians of both sides, and the median of the pairs' differences with its interval."""
    row = {"first": float(np.median(first)), "second": float(np.median(second))}
    used = usable_scale(second, first, scale)
    if used == scale:
        effects = np.array([to_effect(float(one), used) for one in contrasts(second, first, used)])
    else:
        # Ratios of values that may be 0, because percent of the mean of both sides would be another measure.
        with np.errstate(divide="ignore", invalid="ignore"):
            effects = np.where(first == second, 0.0, 100 * (second / first - 1))
    for name, value in zip(
        ("effect", "low", "high"), (np.median(effects), *(median_interval(effects, CONFIDENCE) or ())), strict=False
    ):
        row[name] = float(value) if np.isfinite(value) else np.nan
    return row


def _far_worse(values, margin, higher):
    """Return a mask of the values that are worse than a typical value by more than `FAR` margins.

    The typical value is the median of the better half of all values on both sides.
    """
    ordered = np.sort(values[~np.isnan(values)])
    half = ordered[len(ordered) // 2 :] if higher else ordered[: (len(ordered) + 1) // 2]
    typical = np.full(values.shape, np.median(half))
    return margin.exceeded(typical, values, FAR) if higher else margin.exceeded(values, typical, FAR)


def _count_row(head, events, pairs, always=False):
    """Yield the row that counts runs with a bad event, if there are any or if ``always`` is set; ``events`` is a mask, shape (n, 2)."""
    first, second = events.sum(axis=0)
    if first or second or always:
        row = head | {
            "unit": "runs", "better_is": "lower", "margin": None, "effect_unit": "runs", "first": first, "second": second,
            "effect": int(second) - int(first),
        }  # fmt: skip
        same = {"change": SAME} if len(events) and (events[:, 0] == events[:, 1]).all() else {}
        yield Row(row | same, pairs, events[:, 1] * 1.0 - events[:, 0], False)


def _over_scenarios(rows) -> Iterator[Row]:
    """Yield one row per measure and CCA over all scenarios, if there are several scenarios.

    Pairs with the same seeds, over both IP versions and in scenarios that share seeds, are exchanged together.
    """
    groups: dict[tuple, dict] = {}
    for row in rows:
        if len(row.signs):
            cell = row.head["scenario"], row.head["ip_version"]
            groups.setdefault((row.head["cca"], row.head["measure"]), {})[cell] = row
    for group in groups.values():
        if len({scenario for scenario, _ in group}) > 1:
            row = next(iter(group.values()))
            kept = {key: value for key, value in row.head.items() if key in OF_MEASURE}
            if all(each.head.get("change") == SAME for each in group.values()):
                kept["change"] = SAME
            kept |= dict.fromkeys(("criterion", "ip_version", "first_verdict", "second_verdict"), "")
            kept |= {"scenario": ALL_SCENARIOS, "note": f"in {count(len(group), 'cell')}"}
            pairs = [Pair(pair.seeds, pair.seeds) for each in group.values() for pair in each.pairs]
            yield Row(kept, pairs, np.concatenate([each.signs for each in group.values()]), row.of_most)


def _score_rows(first, second) -> Iterator[Row]:
    """Yield the comparison rows of two exams for each scenario and IP version.

    Only scorecard rows that are in both exams are compared.
    """
    both = first.scorecard.merge(second.scorecard, on=score_keys(first.scorecard), suffixes=("", SECOND))
    both = both[both["measure"] != ""]
    scores = dict(list(both.groupby("scenario")))
    tables = [_values_of_exam(each, list(dict.fromkeys(both["measure"]))) for each in (first, second)]
    for head, cell in matched_cells(*tables, ", ".join(dict.fromkeys([first.examined, second.examined]))):
        yield from _invalid_runs(head, cell)
        for score in scores[head["scenario"]].to_dict("records") if head["scenario"] in scores else ():
            if score.get("ip_version", head["ip_version"]) == head["ip_version"]:
                yield from rows_of_score(head, score, cell)


def rows_of_score(head, score, cell) -> Iterator[Row]:
    """Yield the comparison's rows for one row of the scorecards.

    If the scorecard row has a margin, values are compared with this margin; otherwise, runs beyond the limit are counted.

    ``score`` is a dict of the first scorecard's columns and the second scorecard's ``verdict_second``; ``cell`` is the same as for
    `rows_of_cell`, with the row's measure as a column.
    """
    head = head | {
        "criterion": f"{score['rfc_section']} {score['criterion']}", "measure": score["measure"], "unit": score["unit"],
        "effect_unit": score["unit"], "first_verdict": score["verdict"], "second_verdict": score[f"verdict{SECOND}"],
    }  # fmt: skip
    sides, higher, limit = cell[score["measure"]], score["better"] == "higher", score["limit"]
    if not math.isnan(score["margin"]):
        yield from rows_of_values(head, cell, sides, Margin(score["margin"]), higher)
    elif math.isnan(limit):
        yield Row(_noted(head, "the exam has no margin for this measure"), (), (), True)
    else:
        known = ~np.isnan(sides).any(axis=1)
        beyond = sides < limit if higher else sides > limit
        head["measure"] += f": beyond {limit:g}"
        yield from _count_row(head, beyond[known], _pairs(cell, known))


def score_keys(scorecard) -> list[str]:
    """Return the columns that identify a row of a scorecard."""
    return [*SCORE_KEYS, *(["ip_version"] if "ip_version" in scorecard else [])]


def _values_of_exam(results, measures):
    """Return the runs of the examined CCA, with one column of values per measure."""
    runs, values = (table[table["cca"] == results.examined] for table in (results.runs, results.exam_values))
    wide = values.pivot_table("value", ["scenario", "ip_version", "replication"], "measure").reindex(columns=measures)
    return _keys_of(runs).merge(wide.reset_index(), how="left", on=["scenario", "ip_version", "replication"])
