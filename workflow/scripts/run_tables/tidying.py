"""Make the tidy tables of a study from its run documents, one document at a time."""

import csv
import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pyarrow
import pyarrow.parquet

from experiment.run_document import specification_of
from run_tables import cpu_times, group_metrics, tidy_rows, time_series
from run_tables.conditions_at_centre import queue_at_centre
from run_tables.group_tables import GROUPS, SHORT_FLOWS
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
#: Number of rows kept in memory before they are written to the Parquet file.
BATCH_ROWS = 100_000


def tidy(study, paths, output, workflow, made_by=None) -> None:
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
    """
    of_study = {scenario["id"]: scenario for scenario in study["scenarios"]}
    rule = SteadyRule(**study["steady_state"])
    there = {run_of(path): path for path in paths}
    queues, environments = {}, Counter()
    with ExitStack() as stack:
        tables = {
            table.name: _csv_table(stack, output[table.name], table.names)
            for table in (RUNS, FLOWS, CHECKS, PATHS, BOTTLENECKS)
        }
        parquet, sockets, queue, cpu = (
            stack.enter_context(pyarrow.parquet.ParquetWriter(output[table.name], schema_of(table)))
            for table in (INTERVALS, SOCKETS, QUEUE, CPU)
        )
        waiting = []
        changes = (
            _csv_table(stack, output["changes"], CHANGES.names) if any(map(is_changing, of_study.values())) else None
        )
        if has_grouped_runs(study):
            groups = _csv_table(stack, output[GROUPS.name], GROUPS.names)
            short_flows = stack.enter_context(
                pyarrow.parquet.ParquetWriter(output[SHORT_FLOWS.name], schema_of(SHORT_FLOWS))
            )

        def rows_of(of_run):
            path, specification = there.get(of_run), run_specification(study, *of_run)
            document = read_document(path, specification, made_by) if path else missing_document(specification)
            document = with_program_deliveries(document)
            label, digest = of_study[of_run[0]]["label"], path and file_sha256(path)
            return path, document, tidy_rows.rows_of_run(document, label, digest, rule)

        if study["controls"] != "none":
            controls = _csv_table(stack, output["controls"], CONTROLS.names)
            controls.writerows(rows_of(of_run)[2][0] for of_run in control_runs(study))
        for of_run in runs(study, replications_of(study, there)):
            path, document, (run, flows, intervals, checks) = rows_of(of_run)
            tables["runs"].writerow(run)
            tables["flows"].writerows(flows)
            tables["checks"].writerows(checks)
            tables["paths"].writerows(tidy_rows.rows_of_paths(document))
            tables["bottlenecks"].writerows(tidy_rows.rows_of_bottlenecks(document))
            if path:
                environments[json.dumps(_flat(document["environment"]))] += 1
            if "failure" in document:
                continue
            queues.setdefault(run["scenario"], {})[queue_at_centre(of_study[of_run[0]], run)] = None
            keys = tidy_rows.factors(document)
            if specification_of(document).groups:
                of_groups, objects = group_metrics.groups_of_run(document, keys)
                groups.writerows(of_groups)
                short_flows.write_table(objects)
            if "series" in document:
                ccas = {flow["flow"]: flow["flow_cca"] for flow in flows}
                if of_flows := list(time_series.socket_tables(document, keys, ccas)):
                    sockets.write_table(pyarrow.concat_tables(of_flows))
                queue.write_table(time_series.queue_table(document, keys))
            if changes:
                changes.writerows(change_rows(document, keys))
            if "cpu" in document:
                cpu.write_table(cpu_times.cpu_table(document, keys))
            waiting += intervals
            if len(waiting) >= BATCH_ROWS:
                parquet.write_table(pyarrow.Table.from_pylist(waiting, schema=INTERVALS_SCHEMA))
                waiting.clear()
        parquet.write_table(pyarrow.Table.from_pylist(waiting, schema=INTERVALS_SCHEMA))
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
