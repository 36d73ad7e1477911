"""What of one results folder is better or worse in another: cells by metric, or the rows of two scorecards.

Runs of the same seed are pairs; where there are none, independent samples, and of a scorecard's row without runs its
interval. p is corrected over the table (Holm).
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from inference.independent_comparison import difference
from inference.multiple_tests import adjusted
from inference.paired_comparison import Family, compare
from inference.student_t import chance_below, quantile
from inference.welch import difference_variance
from run_tables.metrics import METRICS
from run_tables.resolution import resolution_of

CONFIDENCE, SIGNIFICANCE = 0.95, 0.05
BETTER, WORSE, SAME, NOTHING_SHOWN = "better", "worse", "the same", "no difference shown"
#: In the order of the table.
CHANGES = (WORSE, BETTER, NOTHING_SHOWN, SAME)
COLUMNS = (
    "change", "criterion", "scenario", "cca", "ip_version", "measure", "unit", "better_is", "first", "second", "effect", "low",
    "high", "effect_unit", "n", "paired", "p", "p_holm", "first_verdict", "second_verdict", "note",
)  # fmt: skip
#: Metrics of which more is better; of the others less is.
HIGHER_IS_BETTER = ("goodput_mbps",)
#: What tells rows of a scorecard apart.
SCORE_KEYS = ["rfc_section", "criterion", "scenario", "measure"]
#: Verdicts of absolute criteria, and of those that no run can answer.
PASSED, FAILED, NOT_EVALUATED = "passed", "failed", "not evaluated"


@dataclass(frozen=True)
class Results:
    """A results folder as far as it is compared."""

    folder: str
    study: dict  # resolved
    runs: pd.DataFrame
    scorecard: pd.DataFrame | None = None
    exam_values: pd.DataFrame | None = None

    @property
    def examined(self) -> str | None:
        """The CCA that an exam examines."""
        return (self.study.get("exam") or {}).get("cca")


def problem_of(first, second) -> str | None:
    """Return why two results can't be compared, in a sentence, or None."""
    if bool(first.examined) != bool(second.examined) or (first.scorecard is None) != (second.scorecard is None):
        exam, other = (first, second) if first.scorecard is not None or first.examined else (second, first)
        return f"{exam.folder} is an exam, and {other.folder} is none; allowed are two of a kind."
    scenarios = [{one["id"]: one for one in each.study["scenarios"]} for each in (first, second)]
    for here, there, one, other in ((0, 1, first, second), (1, 0, second, first)):
        if only := [name for name in scenarios[here] if name not in scenarios[there]]:
            return f"scenario {only[0]} is in {one.folder} and not in {other.folder}; only results of the same conditions can be compared."
    apart = ("ccas", "id", "label")
    for name, scenario in scenarios[0].items():
        if place := _first_difference(scenario, scenarios[1][name], f"scenarios[{name}]", apart):
            return _differs(place, first, second)
    exams = [
        {"exam": {key: value for key, value in (each.study.get("exam") or {}).items() if key != "cca"}}
        for each in (first, second)
    ]
    if place := _first_difference(*exams, "", ()):
        return _differs(place, first, second)
    for name in ("runs", "scorecard"):
        tables = [getattr(each, name) for each in (first, second)]
        if tables[0] is not None and (odd := sorted(set(tables[0].columns) ^ set(tables[1].columns))):
            return f"{name}.csv has {odd[0]} in only one of {first.folder} and {second.folder}: they were made by different versions; run one of them again."
    for each in (first, second):
        if each.scorecard is not None and each.scorecard.duplicated(SCORE_KEYS).any():
            return f"{each.folder}/analysis/scorecard.csv has two rows of one criterion, scenario and measure, which can't be told apart."
    if not pairs_of_ccas(first, second):
        return f"{first.folder} and {second.folder} have no CCA in common, nor each one of its own; {', '.join(first.study['ccas'])} and {', '.join(second.study['ccas'])} can't be matched."
    return None


def _differs(place, first, second):
    path, ours, theirs = place
    return f"{path} is {ours} in {first.folder} and {theirs} in {second.folder}; only results of the same conditions can be compared."


def _first_difference(ours, theirs, path, apart):
    """Return the path of the first difference of two values and both, or None."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in dict.fromkeys([*ours, *theirs]):
            if key not in apart:
                where = f"{path}.{key}" if path else key
                if deeper := _first_difference(ours.get(key), theirs.get(key), where, apart):
                    return deeper
        return None
    return None if ours == theirs else (path, ours, theirs)


def pairs_of_ccas(first, second) -> list[tuple[str, str]]:
    """Return which CCA of the one is held against which of the other: the examined ones, or those of one name and each other's odd one."""
    if first.examined and second.examined:
        return [(first.examined, second.examined)]
    ccas = [each.study["ccas"] for each in (first, second)]
    only = [[cca for cca in here if cca not in there] for here, there in (ccas, ccas[::-1])]
    odd = [(only[0][0], only[1][0])] if len(only[0]) == len(only[1]) == 1 else []
    return [*odd, *((cca, cca) for cca in ccas[0] if cca in ccas[1])]


def compared(first, second) -> pd.DataFrame:
    """Return the table of what changed from the first results to the second: `COLUMNS`, in the order of `CHANGES`."""
    if first.scorecard is not None:
        rows = list(_score_rows(first, second))
    else:
        tasks = list(_cells(first, second))
        rows = [_cell_row(*task, len(tasks)) for task in tasks]
    table = pd.DataFrame(rows).reindex(columns=list(COLUMNS))
    table["p_holm"] = adjusted(pd.to_numeric(table["p"]), "holm")
    shown = table["p"].notna()
    table.loc[shown & (table["p_holm"] >= SIGNIFICANCE), "change"] = NOTHING_SHOWN
    order = table["change"].map(CHANGES.index)
    return table.iloc[np.lexsort((table["p"].fillna(-1), order))].reset_index(drop=True)


def _cells(first, second):
    """Yield metric, CCAs, scenario, IP version and the valid runs of both, of each cell that both have."""
    for ours, theirs in pairs_of_ccas(first, second):
        for scenario in first.runs["scenario"].unique():
            for ip_version in first.runs["ip_version"].unique():
                cells = [
                    each.runs[
                        (each.runs["scenario"] == scenario)
                        & (each.runs["cca"] == cca)
                        & (each.runs["ip_version"] == ip_version)
                    ]
                    for each, cca in ((first, ours), (second, theirs))
                ]
                if all(map(len, cells)):
                    for metric in METRICS:
                        yield metric, ours, theirs, scenario, ip_version, *(cell[cell["valid"]] for cell in cells)


def _cell_row(metric, ours, theirs, scenario, ip_version, first, second, tests):
    higher = metric.column in HIGHER_IS_BETTER
    row = {
        "criterion": "", "scenario": scenario, "cca": ours if ours == theirs else f"{ours}, {theirs}", "ip_version": ip_version,
        "measure": metric.name, "unit": metric.unit, "better_is": "higher" if higher else "lower", "effect_unit": metric.effect_unit,
        "first_verdict": "", "second_verdict": "",
    }  # fmt: skip
    resolution = tuple(resolution_of(cell, metric.column) if len(cell) else 0.0 for cell in (second, first))
    keys = ["replication", "seed"]
    both = (
        first[[*keys, metric.column]].merge(second[[*keys, metric.column]], on=keys, suffixes=("", "_second")).dropna()
    )
    if len(both):
        values = both[f"{metric.column}_second"].to_numpy(float), both[metric.column].to_numpy(float)
        return row | _of_pairs(*values, metric.scale, metric.effect_unit, resolution, tests, higher)
    values = [cell[metric.column].dropna().to_numpy(float) for cell in (second, first)]
    return row | _of_samples(*values, metric, resolution, higher)


def _of_pairs(second, first, scale, unit, resolution, tests, higher):
    result = compare(second, first, scale, unit, Family(CONFIDENCE, SIGNIFICANCE, tests), resolution)
    row = {
        "first": result.mean_b, "second": result.mean_a, "effect": result.effect, "low": result.ci_low, "high": result.ci_high,
        "n": result.pairs, "paired": True, "p": result.tested()["p"], "note": "; ".join(result.notes),
    }  # fmt: skip
    apart = abs(result.mean_a - result.mean_b)
    if np.array_equal(second, first) or (result.test is None and apart <= sum(resolution)):
        return row | {"change": SAME}
    known = result.test is not None or result.one_value
    return row | {"change": _direction(result.effect, higher) if known else NOTHING_SHOWN}


def _of_samples(second, first, metric, resolution, higher):
    row = {"n": min(len(first), len(second)), "paired": False, "p": None, "change": NOTHING_SHOWN}
    if not row["n"]:
        return row | {"note": "a cell has no valid run with a value"}
    change = difference(second, first, metric.scale, resolution)
    row |= {"first": float(first.mean()), "second": float(second.mean()), "effect": change.effect, "note": change.note}
    if change.error:
        row["low"], row["high"] = change.interval(CONFIDENCE)
        row["p"] = min(1.0, 2 * change.p_beyond(0.0, 0.0))
        row["change"] = _direction(change.effect, higher)
    elif change.exact:
        apart = abs(float(second.mean() - first.mean()))
        row["change"] = SAME if apart <= sum(resolution) else _direction(change.effect, higher)
    return row | {"note": "; ".join(filter(None, [change.note, "other seeds: not in pairs"]))}


def _direction(effect, higher):
    if not effect:
        return SAME
    return BETTER if (effect > 0) == higher else WORSE


def _score_rows(first, second):
    """Yield a row of the table for each row that both scorecards have."""
    both = first.scorecard.merge(second.scorecard, on=SCORE_KEYS, suffixes=("", "_second"), how="inner")
    both = both[(both["verdict"] != NOT_EVALUATED) | (both["verdict_second"] != NOT_EVALUATED)]
    tests = len(both)
    for score in both.to_dict("records"):
        verdicts = {"first_verdict": score["verdict"], "second_verdict": score["verdict_second"]}
        row = {
            "criterion": f"{score['rfc_section']} {score['criterion']}", "scenario": score["scenario"], "ip_version": "",
            "cca": " , ".join(dict.fromkeys([first.examined, second.examined])).replace(" ,", ","),
            "measure": score["measure"], "unit": score["unit"], "better_is": score["better"], "effect_unit": score["unit"],
            "change": NOTHING_SHOWN, "note": "", "p": None, **verdicts,
        }  # fmt: skip
        if math.isnan(score["value"]) or math.isnan(score["value_second"]):
            same = score["verdict"] == score["verdict_second"]
            yield row | {"change": SAME if same else NOTHING_SHOWN, "note": score["reason"] or score["reason_second"]}
            continue
        higher = score["better"] == "higher"
        pairs = _paired_values(first, second, score)
        if pairs is not None:
            row |= _of_pairs(*pairs, "points", score["unit"], (0.0, 0.0), tests, higher)
        else:
            row |= _of_intervals(score, higher)
        if {score["verdict"], score["verdict_second"]} == {PASSED, FAILED}:
            # An absolute limit was crossed: that is no question of chance between the two.
            row |= {"change": WORSE if score["verdict_second"] == FAILED else BETTER, "p": None}
            row["note"] = "; ".join(filter(None, [row["note"], "crossed the limit"]))
        yield row


def _paired_values(first, second, score):
    """Return the values of both exams' runs of the same seed, the second's first; None if the runs aren't those of the row."""
    of_exams = []
    for each, value in ((second, score["value_second"]), (first, score["value"])):
        if each.exam_values is None:
            return None
        table = each.exam_values
        chosen = table[
            (table["scenario"] == score["scenario"])
            & (table["cca"] == each.examined)
            & (table["measure"] == score["measure"])
        ]
        keys = ["ip_version", "replication"]
        if (
            chosen.empty
            or chosen.duplicated(keys).any()
            or not math.isclose(chosen["value"].mean(), value, rel_tol=1e-5, abs_tol=1e-9)
        ):
            return None
        seeds = each.runs[each.runs["cca"] == each.examined][["scenario", *keys, "seed"]]
        of_exams.append(chosen.merge(seeds, on=["scenario", *keys])[[*keys, "seed", "value"]])
    both = of_exams[0].merge(of_exams[1], on=["ip_version", "replication", "seed"], suffixes=("", "_first")).dropna()
    return None if both.empty else (both["value"].to_numpy(float), both["value_first"].to_numpy(float))


def _of_intervals(score, higher):
    """Compare two means by their t intervals: the standard error is the half width over the quantile (Welch)."""
    effect = score["value_second"] - score["value"]
    row = {
        "first": score["value"], "second": score["value_second"], "effect": effect, "paired": False,
        "n": min(score["n"], score["n_second"]), "note": "by the scorecards' intervals",
    }  # fmt: skip
    variances, sizes = [], []
    for suffix in ("", "_second"):
        low, high, n = (score[f"{name}{suffix}"] for name in ("low", "high", "n"))
        if math.isnan(low) or math.isnan(high) or not n > 1:
            return row | {"change": SAME if effect == 0 else NOTHING_SHOWN, "note": "a value has no interval"}
        error = (high - low) / 2 / float(quantile((1 + CONFIDENCE) / 2, n - 1))
        variances.append(error**2 * n)
        sizes.append(n)
    variance, df = difference_variance(variances, sizes)
    if variance == 0:
        return row | {"change": _direction(effect, higher)}
    error = math.sqrt(variance)
    half = float(quantile((1 + CONFIDENCE) / 2, df)) * error
    p = float(2 * chance_below(-abs(effect) / error, df))
    return row | {"low": effect - half, "high": effect + half, "p": p, "change": _direction(effect, higher)}
