"""Check whether two results folders can be compared, and choose the pairs of CCAs to compare."""

from dataclasses import dataclass

import pandas as pd

from wording.number_format import count

#: Columns that identify a row of a scorecard.
SCORE_KEYS = ["rfc_section", "criterion", "scenario", "measure"]
#: Keys of a scenario and of an exam that aren't conditions: names, texts, and replication counts. If the counts differ, the additional
#: replications form no pairs.
NO_CONDITIONS = ("ccas", "id", "label", "replications")
NO_CONDITIONS_OF_EXAM = ("cca", "looks", "explanation", "inapplicable", "population")
#: Maximum number of cells to name if they are in only one of the folders.
MOST_CELLS = 3


@dataclass(frozen=True)
class Results:
    """The parts of a results folder that are used in a comparison."""

    folder: str
    study: dict  # the resolved study
    runs: pd.DataFrame
    scorecard: pd.DataFrame | None = None
    exam_values: pd.DataFrame | None = None

    @property
    def examined(self) -> str | None:
        """The CCA that the exam examines; None if the study isn't an exam."""
        return (self.study.get("exam") or {}).get("cca")


def problem_of(first, second) -> str | None:
    """Return a sentence with the reason why two results can't be compared, or None."""
    if bool(first.examined) != bool(second.examined) or (first.scorecard is None) != (second.scorecard is None):
        exam, other = (first, second) if first.scorecard is not None or first.examined else (second, first)
        return f"{exam.folder} is an exam, and {other.folder} is not; compare two exams, or two results of studies."
    scenarios = [{one["id"]: one for one in each.study["scenarios"]} for each in (first, second)]
    for here, there, one, other in ((0, 1, first, second), (1, 0, second, first)):
        if only := [name for name in scenarios[here] if name not in scenarios[there]]:
            return f"scenario {only[0]} is in {one.folder} and not in {other.folder}; only results of the same conditions can be compared."
    for name, scenario in scenarios[0].items():
        if place := _first_difference(scenario, scenarios[1][name], f"scenarios[{name}]", NO_CONDITIONS):
            return _differs(place, first, second)
    exams = [each.study.get("exam") or {} for each in (first, second)]
    if place := _first_difference(*exams, "exam", NO_CONDITIONS_OF_EXAM):
        return _differs(place, first, second)
    for name in ("runs", "scorecard"):
        tables = [getattr(each, name) for each in (first, second)]
        if tables[0] is not None and (odd := sorted(set(tables[0].columns) ^ set(tables[1].columns))):
            return f"only one of {first.folder} and {second.folder} has the column {odd[0]} in {name}.csv: the two were made by different versions of Sawtooth; run one of the studies again."
    for each in (first, second):
        if each.scorecard is not None and each.scorecard.duplicated(SCORE_KEYS).any():
            return f"{each.folder}/analysis/scorecard.csv has two rows for the same criterion, scenario and measure, which can't be told apart."
    if not pairs_of_ccas(first, second):
        return f"{first.folder} and {second.folder} have no CCA in common, and don't have exactly one CCA each; {', '.join(first.study['ccas'])} and {', '.join(second.study['ccas'])} can't be matched."
    if not set.intersection(*_cells(first, second)):
        return f"{first.folder} and {second.folder} have no scenario, CCA and IP version in common; allowed: results with at least one cell in common."
    return None


def _differs(place, first, second):
    path, ours, theirs = place
    return f"{path} is {ours} in {first.folder} and {theirs} in {second.folder}; only results of the same conditions can be compared."


def _first_difference(ours, theirs, path, apart):
    """Return the first path at which two values differ, and the two values there; None if they are equal, ignoring the keys ``apart``."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in dict.fromkeys([*ours, *theirs]):
            if key not in apart:
                where = f"{path}.{key}" if path else key
                if deeper := _first_difference(ours.get(key), theirs.get(key), where, apart):
                    return deeper
        return None
    return None if ours == theirs else (path, ours, theirs)


def pairs_of_ccas(first, second) -> list[tuple[str, str]]:
    """Return the pairs of CCAs to compare.

    For exams, the pair consists of the two examined CCAs. Otherwise, CCAs with the same name are paired; if each side then has
    exactly one CCA left, these two are paired as well.
    """
    if first.examined and second.examined:
        return [(first.examined, second.examined)]
    ccas = [each.study["ccas"] for each in (first, second)]
    only = [[cca for cca in here if cca not in there] for here, there in (ccas, ccas[::-1])]
    odd = [(only[0][0], only[1][0])] if len(only[0]) == len(only[1]) == 1 else []
    return [*odd, *((cca, cca) for cca in ccas[0] if cca in ccas[1])]


def _cells(first, second) -> list[set[tuple[str, str, str]]]:
    """For each folder, return the cells whose CCA is compared, as (scenario, the CCA's name in the first folder, IP version)."""
    pairs, cells = pairs_of_ccas(first, second), []
    for side, each in enumerate((first, second)):
        names = {pair[side]: pair[0] for pair in pairs}
        runs = each.runs[each.runs["cca"].isin(names)]
        cells.append(set(zip(runs["scenario"], runs["cca"].map(names), runs["ip_version"], strict=True)))
    return cells


def only_in_one(first, second) -> list[tuple[str, list[str]]]:
    """Return each folder with the names of the CCAs, IP versions and cells that the other folder lacks.

    A folder is left out if the other folder lacks nothing. For an exam, only the examined CCA is considered. A cell is listed only if its
    CCA and its IP version are in both folders.
    """
    pairs, cells, found = pairs_of_ccas(first, second), _cells(first, second), []
    for side, each in enumerate((first, second)):
        here, there = cells[side], cells[1 - side]
        compared, versions = {pair[side] for pair in pairs}, {cell[2] for cell in there}
        names = [] if each.examined else [cca for cca in each.study["ccas"] if cca not in compared]
        names += sorted({cell[2] for cell in here} - versions)
        cells_of_one = sorted(cell for cell in here - there if cell[2] in versions)
        names += [" ".join(cell) for cell in cells_of_one[:MOST_CELLS]]
        if len(cells_of_one) > MOST_CELLS:
            names.append(count(len(cells_of_one) - MOST_CELLS, "more cell"))
        if names:
            found.append((each.folder, names))
    return found
