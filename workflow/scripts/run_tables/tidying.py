"""Make the tidy tables of a study from its run documents, one document at a time."""

import csv
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow
import pyarrow.parquet

from experiment.run_document import specification_of
from run_tables import cpu_times, group_metrics, tidy_rows, time_series
from run_tables.conditions_at_centre import queue_at_centre
from run_tables.group_tables import GROUPS, SHORT_FLOWS
from run_tables.in_parallel import in_order
from run_tables.parquet import read_typed, schema_of
from run_tables.path_changes import change_rows
from run_tables.path_tables import BOTTLENECKS, PATHS
from run_tables.program_deliveries import with_program_deliveries
from run_tables.run_documents import file_sha256, missing_document, read_document, run_of
from run_tables.scenario_table import SCENARIOS
from run_tables.series_tables import CHANGES, CPU, INTERVALS, QUEUE, SOCKETS
from run_tables.steady_state import SteadyRule
from run_tables.tidy_tables import CHECKS, CONTROLS, FLOWS, RUNS
from study_files.program_ccas import has_grouped_runs
from study_files.study_design import is_changing
from study_files.study_replications import replications_of
from study_files.study_runs import control_runs, run_specification, runs

INTERVALS_SCHEMA = schema_of(INTERVALS)
#: Number of rows of intervals kept in memory before they are written to the Parquet file.
BATCH_ROWS = 100_000


@dataclass(frozen=True)
class RunParts:
    """The parts of the tidy tables that come from one run; a part is None or empty if the run has no such data."""

    run: dict
    flows: list[dict]
    checks: list[dict]
    paths: list[dict]
    bottlenecks: list[dict]
    environment: str | None  # as JSON; None without a document
    intervals: pyarrow.Table | None = None
    queue_at_centre: float | None = None
    groups: Sequence[dict] = ()
    short_flows: pyarrow.Table | None = None
    sockets: pyarrow.Table | None = None
    queue: pyarrow.Table | None = None
    changes: Sequence[dict] = ()
    cpu: pyarrow.Table | None = None


class Documents:
    """Reader of a study's run documents; the parameters are the same as those of `tidy`."""

    def __init__(self, study, paths, made_by):
        self._study, self._made_by = study, made_by
        self._scenarios = {scenario["id"]: scenario for scenario in study["scenarios"]}
        self._rule, self.paths = SteadyRule(**study["steady_state"]), {run_of(path): path for path in paths}
        self._has_changes = any(map(is_changing, study["scenarios"]))

    def rows_of(self, of_run) -> tuple[dict, tuple]:
        """Return a run's document and its rows (`tidy_rows.rows_of_run`)."""
        path, specification = self.paths.get(of_run), run_specification(self._study, *of_run)
        document = read_document(path, specification, self._made_by) if path else missing_document(specification)
        document, label = with_program_deliveries(document), self._scenarios[of_run[0]]["label"]
        return document, tidy_rows.rows_of_run(document, label, path and file_sha256(path), self._rule)

    def parts_of(self, of_run) -> RunParts:
        """Return the parts of the tables that come from a run."""
        document, (run, flows, intervals, checks) = self.rows_of(of_run)
        parts = {
            "run": run, "flows": flows, "checks": checks, "paths": tidy_rows.rows_of_paths(document),
            "bottlenecks": tidy_rows.rows_of_bottlenecks(document),
            "environment": json.dumps(_flat(document["environment"])) if of_run in self.paths else None,
        }  # fmt: skip
        if "failure" in document:
            return RunParts(**parts)
        keys = tidy_rows.factors(document)
        parts["intervals"] = pyarrow.Table.from_pylist(intervals, schema=INTERVALS_SCHEMA)
        parts["queue_at_centre"] = queue_at_centre(self._scenarios[of_run[0]], run)
        if specification_of(document).groups:
            parts["groups"], parts["short_flows"] = group_metrics.groups_of_run(document, keys)
        if "series" in document:
            ccas = {flow["flow"]: flow["flow_cca"] for flow in flows}
            of_flows = list(time_series.socket_tables(document, keys, ccas))
            parts["sockets"] = pyarrow.concat_tables(of_flows) if of_flows else None
            parts["queue"] = time_series.queue_table(document, keys)
        if self._has_changes:
            parts["changes"] = list(change_rows(document, keys))
        if "cpu" in document:
            parts["cpu"] = cpu_times.cpu_table(document, keys)
        return RunParts(**parts)


def tidy(study, paths, output, workflow, made_by=None, processes=1) -> None:
    """Write all tidy tables of a resolved study.

    Raises `DocumentError` if a file isn't the document of its run; the tables are then unusable. `check_documents` finds all such files.

    Parameters
    ----------
    paths : iterable of str
        Paths of the existing run documents. If the study has interim looks, the paths determine the number of replications.
    output : mapping
        Name of a table -> path of its file.
    workflow : dict
        Entry for the workflow in the provenance.
    made_by : dict, optional
        See `run_documents.read_document`.
    processes : int
        Number of processes that read documents. The tables don't depend on it.
    """
    documents, queues, environments = Documents(study, paths, made_by), {}, Counter()
    wanted = runs(study, replications_of(study, documents.paths))
    with ExitStack() as stack:
        rows = {
            table.name: _csv_table(stack, output[table.name], table.names)
            for table in (RUNS, FLOWS, CHECKS, PATHS, BOTTLENECKS)
        }
        tables = {
            table.name: stack.enter_context(pyarrow.parquet.ParquetWriter(output[table.name], schema_of(table)))
            for table in (INTERVALS, SOCKETS, QUEUE, CPU)
        }
        if any(map(is_changing, study["scenarios"])):
            rows[CHANGES.name] = _csv_table(stack, output[CHANGES.name], CHANGES.names)
        if has_grouped_runs(study):
            rows[GROUPS.name] = _csv_table(stack, output[GROUPS.name], GROUPS.names)
            tables[SHORT_FLOWS.name] = stack.enter_context(
                pyarrow.parquet.ParquetWriter(output[SHORT_FLOWS.name], schema_of(SHORT_FLOWS))
            )
        if study["controls"] != "none":
            controls = _csv_table(stack, output["controls"], CONTROLS.names)
            controls.writerows(documents.rows_of(of_run)[1][0] for of_run in control_runs(study))
        waiting = []
        for parts in in_order(documents.parts_of, wanted, processes):
            rows[RUNS.name].writerow(parts.run)
            for table in (FLOWS, CHECKS, PATHS, BOTTLENECKS, GROUPS, CHANGES):
                if made := getattr(parts, table.name):
                    rows[table.name].writerows(made)
            for table in (SHORT_FLOWS, SOCKETS, QUEUE, CPU):
                if (made := getattr(parts, table.name)) is not None:
                    tables[table.name].write_table(made)
            if parts.environment:
                environments[parts.environment] += 1
            if parts.intervals is not None:
                queues.setdefault(parts.run["scenario"], {})[parts.queue_at_centre] = None
                waiting.append(parts.intervals)
            if sum(map(len, waiting)) >= BATCH_ROWS:
                _write_intervals(tables[INTERVALS.name], waiting)
        _write_intervals(tables[INTERVALS.name], waiting)
    with ExitStack() as stack:
        scenarios = _csv_table(stack, output["scenarios"], SCENARIOS.names)
        scenarios.writerows(tidy_rows.rows_of_scenarios(study["scenarios"], queues))
    pyarrow.parquet.write_table(read_typed(output["runs"], RUNS), output["runs_parquet"])
    provenance = {
        "study": study,
        "environments": [json.loads(text) | {"runs": count} for text, count in environments.most_common()],
        "workflow": workflow,
    }
    Path(output["provenance"]).write_text(json.dumps(provenance, indent=1, ensure_ascii=False) + "\n")


def _write_intervals(writer, waiting):
    """Write the tables of intervals that are ``waiting``, and empty the list."""
    writer.write_table(pyarrow.concat_tables([INTERVALS_SCHEMA.empty_table(), *waiting]).combine_chunks())
    waiting.clear()


def _flat(environment):
    """Return a run's environment as a flat dict, in which tool versions and the properties of a simulator are ordinary entries."""
    tools = {f"{name}_version": version for name, version in sorted(environment["tools"].items())}
    simulator = {f"simulator_{name}": value for name, value in sorted(environment.get("simulator", {}).items())}
    return {key: value for key, value in environment.items() if key not in ("tools", "simulator")} | simulator | tools


def _csv_table(stack, path, columns):
    """Open a CSV file to which rows are written as dicts; a key that isn't a column is an error."""
    stream = stack.enter_context(Path(path).open("w", newline="", encoding="utf-8"))
    table = csv.DictWriter(stream, columns, lineterminator="\n", extrasaction="raise")
    table.writeheader()
    return table
