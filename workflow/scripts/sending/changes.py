"""The changes that a series causes, judged by the rules of `make compare` in the regression study, and by the exam's rules in exams."""

from pathlib import Path

import numpy as np
import pandas as pd

from run_tables.metrics import METRICS
from run_tables.reading import read_table
from run_tables.tidy_tables import TIDY_TABLES
from sending.studies import base_name, patched_name
from session.compare_results import read_results
from session.result_comparison import (
    ALL_SCENARIOS,
    Margin,
    margins_of,
    matched_cells,
    rows_of_cell,
    rows_of_values,
    table_of,
    values_of_runs,
)
from topics.exam.tables import PRIMARY

#: Completion times of short flows: column of ``tidy/groups.csv`` -> name.
COMPLETIONS = {"completion_p50_ms": "Completion time, median", "completion_p95_ms": "Completion time, 95th percentile"}
#: Columns that identify a run.
OF_RUN = ["scenario", "cca", "ip_version", "replication"]
#: Measures that are compared: column -> name.
MEASURES = {metric.column: metric.name for metric in METRICS} | COMPLETIONS
#: The margin for differences in completion time, in percent.
COMPLETION_MARGIN_PERCENT = 10


def regression_changes(folder, question) -> pd.DataFrame:
    """Return the changes from the base to the patched kernel in the regression study, with the columns of `make compare`.

    The two runs of a CCA in the same replication, one on the base and one on the patched kernel, form a pair. P-values are corrected for
    testing all rows of the study.
    """
    results = read_results(folder)
    groups = _completions(folder, results.study)
    rows, unmeasured = [], set()
    for cca in question.touched.ccas:
        sides = [results.runs[results.runs["cca"] == name] for name in (base_name(question, cca), patched_name(cca))]
        tables = [values_of_runs(side).join(_of_runs(side, groups)) for side in sides]
        for head, cell in matched_cells(*tables, cca):
            rows += rows_of_cell(head, cell, margins_of(results.study))
            rows += _completion_rows(head, cell)
            unmeasured |= {(*_place(head), name) for column, name in MEASURES.items() if np.isnan(cell[column]).all()}
    # Measures without values on either kernel are omitted.
    return table_of([row for row in rows if (*_place(row.head), row.head["measure"]) not in unmeasured])


def _place(head):
    return head["scenario"], head["cca"], head["ip_version"]


def _completions(folder, study):
    """Return the completion times of the web flows in each run; empty if there are no flow groups in the study."""
    if not any(scenario["groups"] for scenario in study["scenarios"]):
        keys = pd.MultiIndex.from_tuples([], names=OF_RUN)
        return pd.DataFrame(columns=[*COMPLETIONS], index=keys, dtype=float)
    declared = {table.name: table for table in TIDY_TABLES}["groups"]
    groups = read_table(Path(folder, "tidy/groups.csv"), declared)
    return groups[groups["application"] == "web"].set_index(OF_RUN)[[*COMPLETIONS]].astype(float)


def _of_runs(runs, groups):
    """Return the completion times of the given runs, with the same index; NaN for invalid runs and for runs without web flows."""
    keys = pd.MultiIndex.from_frame(runs[OF_RUN])
    found = groups.reindex(keys).set_index(runs.index)
    return found.where(runs["valid"].astype(bool))


def _completion_rows(head, cell):
    margin = Margin(COMPLETION_MARGIN_PERCENT, "ratio")
    for column, name in COMPLETIONS.items():
        yield from rows_of_values(head | {"measure": name, "unit": "ms", "effect_unit": "%"}, cell, cell[column], margin, False)  # fmt: skip


def exam_changes(folder) -> pd.DataFrame:
    """Return the rows of an exam's scorecard that decide its outcome (role `PRIMARY`); ``folder`` is the exam's results folder."""
    card = read_results(folder).scorecard
    return card[card["role"] == PRIMARY].reset_index(drop=True)


def of_change(table, *changes) -> list[dict]:
    """Return the rows of a comparison with one of the given verdicts; rows about individual scenarios come first."""
    rows = table[table["change"].isin(changes)].to_dict("records")
    return sorted(rows, key=lambda row: row["scenario"] == ALL_SCENARIOS)
