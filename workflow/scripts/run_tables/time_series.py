"""Time series of a run document as columns of the tidy tables ``sockets.parquet`` and ``queue.parquet``."""
import pyarrow

FACTORS = ("scenario", "cca", "ip_version", "replication")
#: Whole numbers, and numbers, of a flow's series; their meaning is in workflow/schemas/run.schema.json.
COUNTS = (
    "cwnd_packets", "ssthresh_packets", "unacked_packets", "sacked_packets", "lost_packets", "retransmits",
    "bytes_sent", "bytes_acked", "bytes_retransmitted",
)  # fmt: skip
NUMBERS = (
    "rtt_ms", "rttvar_ms", "rtt_min_ms", "rto_ms", "pacing_mbps", "delivery_mbps",
    "bbr_bw_mbps", "bbr_rtt_min_ms", "bbr_pacing_gain", "bbr_cwnd_gain", "vegas_rtt_ms", "vegas_rtt_min_ms",
)  # fmt: skip
_FACTOR_FIELDS = [*((name, pyarrow.string()) for name in FACTORS[:3]), (FACTORS[3], pyarrow.int32())]
SOCKETS = pyarrow.schema(
    [
        *_FACTOR_FIELDS,
        ("flow", pyarrow.int32()),
        ("flow_cca", pyarrow.string()),
        # Of MPTCP the path of the subflow, from 1.
        ("path", pyarrow.int32()),
        ("time_s", pyarrow.float64()),
        ("state", pyarrow.string()),
        *((name, pyarrow.float64()) for name in (*COUNTS, *NUMBERS)),
    ]
)
QUEUE = pyarrow.schema(
    [
        *_FACTOR_FIELDS,
        ("time_s", pyarrow.float64()),
        *((name, pyarrow.int64()) for name in ("packets", "bytes", "drops")),
        ("delay_ms", pyarrow.float64()),
    ]
)


def socket_tables(document, keys, flow_ccas):
    """Yield a table of `SOCKETS` for each flow, of MPTCP for each subflow, of a run that has time series.

    Parameters
    ----------
    document : dict
    keys : dict
        The run's factors (`FACTORS`).
    flow_ccas : dict
        Flow -> its CCA.
    """
    for series in document.get("series", {}).get("sockets", ()):
        rows = len(series["time_s"])
        path = None if series.get("subflow") is None else series["subflow"] + 1
        constant = keys | {"flow": series["flow"], "flow_cca": flow_ccas[series["flow"]], "path": path}
        yield _table(SOCKETS, constant, series, rows)


def queue_table(document, keys):
    """Return a table of `QUEUE` with the run's time series, of no rows if it has none.

    ``delay_ms`` is the time that what waits takes to leave at the bottleneck's rate; None without a rate.
    """
    series = document.get("series", {}).get("queue", {"time_s": []})
    rate_mbps = document["specification"]["scenario"]["link"]["rate_mbps"]
    delays = [count * 8 / rate_mbps / 1e3 if rate_mbps else None for count in series.get("bytes", ())]
    return _table(QUEUE, keys, series | {"delay_ms": delays}, len(series["time_s"]))


def _table(schema, constant, series, rows):
    columns = [
        pyarrow.array([constant[field.name]] * rows if field.name in constant else series.get(field.name, [None] * rows), field.type)
        for field in schema
    ]
    return pyarrow.Table.from_arrays(columns, schema=schema)
