"""Turn the run documents of a study into tidy tables, one document at a time."""
import csv
import hashlib
import json
import os
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from image_libraries import require_image_libraries

if "snakemake" in globals():
    require_image_libraries("pyarrow")

import pyarrow
import pyarrow.csv
import pyarrow.parquet
from run_tables import cpu_times, tidy_rows, time_series
from run_tables.run_documents import DocumentError, read_document
from script_log import keep_log
from study_files.study_runs import run_specification, runs

INTERVALS = pyarrow.schema(
    [
        *((name, pyarrow.string()) for name in ("scenario", "cca", "ip_version")),
        *((name, pyarrow.int32()) for name in ("replication", "flow")),
        *((name, pyarrow.float64()) for name in ("start_s", "end_s", "sent_mbps")),
        *((name, pyarrow.int64()) for name in ("retransmits", "cwnd_bytes")),
        *((name, pyarrow.float64()) for name in ("rtt_ms", "rttvar_ms")),
    ]
)
#: Rows that are held before they are written to the Parquet file.
BATCH_ROWS = 100_000
#: Of unusable documents so many are named in the message, all of them in a file.
NAMED = 5


class UnusableDocuments(ValueError):
    """Files among a study's run documents that can't be used: ``found``, a list of (path, cause), of ``count``."""

    def __init__(self, found, count):
        self.found, self.count = found, count
        super().__init__(f"{len(found)} of {count} run documents can't be used, the first: {': '.join(found[0])}")


def tidy(study, paths, output, workflow, made_by=None):
    """Write all tidy tables of a study.

    Parameters
    ----------
    study : dict
        The resolved study.
    paths : iterable of str
        The run documents in the order of `study_runs.runs`.
    output : mapping
        Name of a table to its path.
    workflow : dict
        What the provenance says of the workflow itself.
    made_by : dict, optional
        Testbed and image that the runs must have had (`run_documents.read_document`).

    Raises
    ------
    UnusableDocuments
        If files are not the documents of their runs; all were looked at, and the tables are of no use.
    """
    labels = {scenario["id"]: scenario["label"] for scenario in study["scenarios"]}
    queues, environments, unusable = {}, Counter(), []
    with ExitStack() as stack:
        tables = {
            name: csv_table(stack, output[name], columns)
            for name, columns in (
                ("runs", tidy_rows.RUN_COLUMNS),
                ("flows", tidy_rows.FLOW_COLUMNS),
                ("checks", tidy_rows.CHECK_COLUMNS),
                ("paths", tidy_rows.PATH_COLUMNS),
            )
        }
        parquet, sockets, queue, cpu = (
            stack.enter_context(pyarrow.parquet.ParquetWriter(output[name], schema))
            for name, schema in (
                ("intervals", INTERVALS), ("sockets", time_series.SOCKETS), ("queue", time_series.QUEUE), ("cpu", cpu_times.CPU),
            )
        )  # fmt: skip
        waiting = []
        for path, of_run in zip(paths, runs(study), strict=True):
            try:
                document = read_document(path, run_specification(study, *of_run), made_by)
            except DocumentError as error:
                # Not the exception itself: it holds on to the text of the document.
                unusable.append((error.path, error.cause))
                continue
            run, flows, intervals, checks = tidy_rows.rows_of_run(document, labels[of_run[0]], file_sha256(path))
            tables["runs"].writerow(run)
            tables["flows"].writerows(flows)
            tables["checks"].writerows(checks)
            tables["paths"].writerows(tidy_rows.rows_of_paths(document))
            queues[run["scenario"]] = run["queue_packets"]
            environments[json.dumps(flat(document["environment"]))] += 1
            write_series(document, flows, sockets, queue)
            if "cpu" in document:
                cpu.write_table(cpu_times.cpu_table(document, tidy_rows.factors(document)))
            waiting += intervals
            if len(waiting) >= BATCH_ROWS:
                parquet.write_table(pyarrow.Table.from_pylist(waiting, schema=INTERVALS))
                waiting.clear()
        parquet.write_table(pyarrow.Table.from_pylist(waiting, schema=INTERVALS))
    if unusable:
        raise UnusableDocuments(unusable, environments.total() + len(unusable))
    with ExitStack() as stack:
        scenarios = csv_table(stack, output["scenarios"], tidy_rows.SCENARIO_COLUMNS)
        scenarios.writerows(tidy_rows.scenario_row(s, queues.get(s["id"])) for s in study["scenarios"])
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(output["runs"]), output["runs_parquet"])
    provenance = {
        "study": study,
        "environments": [json.loads(text) | {"runs": count} for text, count in environments.most_common()],
        "workflow": workflow,
    }
    Path(output["provenance"]).write_text(json.dumps(provenance, indent=1, ensure_ascii=False) + "\n")


def write_series(document, flows, sockets, queue):
    """Write the time series of a run, if it has any, to the two Parquet files."""
    if "series" in document:
        keys = tidy_rows.factors(document)
        ccas = {flow["flow"]: flow["flow_cca"] for flow in flows}
        tables = list(time_series.socket_tables(document, keys, ccas))
        sockets.write_table(pyarrow.concat_tables(tables))
        queue.write_table(time_series.queue_table(document, keys))


def told(unusable, listed_in):
    """Return what a user is told of unusable documents: how many, the first, the rest, and what to do.

    Parameters
    ----------
    unusable : UnusableDocuments
    listed_in : pathlib.Path
        A file with a line for each: path, tab, cause.
    """
    return "\n".join(
        [
            f"{len(unusable.found)} of {unusable.count} run documents can't be used:",
            *(f"  {path}: {cause}" for path, cause in unusable.found[:NAMED]),
            *(["  ..."] if len(unusable.found) > NAMED else []),
            f"All are listed in {listed_in}. Delete just these, and the next call repeats their runs and no others:",
            f"  cut -f1 {listed_in} | xargs -d '\\n' rm -f --",
        ]
    )


def file_sha256(path):
    """Return a file's SHA-256 in hex digits."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def flat(environment):
    """Return a run's environment with the tools' versions, and what is known of a simulator, beside the rest."""
    tools = {f"{name}_version": version for name, version in sorted(environment["tools"].items())}
    simulator = {f"simulator_{name}": value for name, value in sorted(environment.get("simulator", {}).items())}
    return {key: value for key, value in environment.items() if key not in ("tools", "simulator")} | simulator | tools


def csv_table(stack, path, columns):
    """Open a CSV file for rows that are dicts; a key that is no column is an error."""
    stream = stack.enter_context(Path(path).open("w", newline="", encoding="utf-8"))
    table = csv.DictWriter(stream, columns, lineterminator="\n", extrasaction="raise")
    table.writeheader()
    return table


def workflow_provenance(snakemake_version, analysis_image):
    """Return what is known of the workflow: versions, and the checkout's commit, if any."""
    return {
        "analysis_image_digest": analysis_image,
        "snakemake": snakemake_version,
        "commit": os.environ.get("SAWTOOTH_COMMIT") or None,
        "commit_date": os.environ.get("SAWTOOTH_COMMIT_DATE") or None,
        "dirty": os.environ.get("SAWTOOTH_DIRTY") == "1",
    }


if "snakemake" in globals():
    keep_log(snakemake.log[0])  # noqa: F821
    unusable_list = Path(snakemake.log[0]).with_name("unusable-documents.txt")  # noqa: F821
    unusable_list.unlink(missing_ok=True)
    try:
        tidy(
            snakemake.params.study,  # noqa: F821
            snakemake.input.documents,  # noqa: F821
            snakemake.output,  # noqa: F821
            workflow_provenance(snakemake.params.snakemake_version, snakemake.params.image),  # noqa: F821
            snakemake.params.made_by,  # noqa: F821
        )
    except UnusableDocuments as error:
        unusable_list.write_text("".join(f"{path}\t{cause}\n" for path, cause in error.found))
        sys.exit(f"sawtooth: {told(error, unusable_list)}")
