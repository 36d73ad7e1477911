"""Time series of a run document as columns of the tidy tables ``sockets.parquet`` and ``queue.parquet``."""

from collections.abc import Iterator

import pyarrow

from experiment.run_document import specification_of
from experiment.timeline import Timeline
from run_tables.parquet import schema_of
from run_tables.path_changes import leaving_ms
from run_tables.series_tables import QUEUE, SOCKETS

SOCKETS_SCHEMA, QUEUE_SCHEMA = schema_of(SOCKETS), schema_of(QUEUE)


def socket_tables(document, keys, flow_ccas) -> Iterator[pyarrow.Table]:
    """Yield a table of `SOCKETS` for each flow or MPTCP subflow with time series.

    ``keys`` are the run's factors, ``flow_ccas`` maps each flow to its CCA.
    """
    for series in document.get("series", {}).get("sockets", ()):
        rows = len(series["time_s"])
        path = None if series.get("subflow") is None else series["subflow"] + 1
        constant = keys | {"flow": series["flow"], "flow_cca": flow_ccas[series["flow"]], "path": path}
        yield _table(SOCKETS_SCHEMA, constant, series, rows)


def queue_table(document, keys) -> pyarrow.Table:
    """Return a table of `QUEUE` with the time series of all bottlenecks in a run; empty without time series.

    ``delay_ms`` is the time that the queued data take to drain at the bottleneck's current and later rates; None if the rate isn't limited.
    """
    recorded = document.get("series", {})
    queues = recorded.get("queues") or [recorded.get("queue", {"time_s": []})]
    bottlenecks, tables = specification_of(document).bottlenecks, []
    for number, (series, bottleneck) in enumerate(zip(queues, bottlenecks, strict=False), 1):
        # A trace continues after the end of the traffic, so queued data drain as if the traffic had continued.
        timeline = Timeline(bottleneck.scenario["link"], 2 * bottleneck.traffic.duration_s)
        delays = leaving_ms(timeline, series["time_s"], series.get("bytes", ()))
        columns = series | {"delay_ms": delays}
        tables.append(_table(QUEUE_SCHEMA, keys | {"bottleneck": number}, columns, len(series["time_s"])))
    return pyarrow.concat_tables(tables)


def _table(schema, constant, series, rows):
    columns = [
        pyarrow.array(series[field.name], field.type)
        if field.name in series and field.name not in constant
        else pyarrow.repeat(pyarrow.scalar(constant.get(field.name), field.type), rows)
        for field in schema
    ]
    return pyarrow.Table.from_arrays(columns, schema=schema)
