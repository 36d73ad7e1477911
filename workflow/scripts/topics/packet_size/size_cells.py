"""The cells in a study of message sizes: the measured value, the value calculated from headers, and a paper's printed value."""

import math
import re

import pandas as pd

from inference.cell_estimates import cell_estimate
from run_tables.resolution import resolutions
from run_tables.run_keys import CELL, RUN
from tcp_models.wire_theory import agrees, clock_allowance_us, goodput_mbps, round_trip_us
from topics.packet_size.tables import SIZE_CELLS
from topics.packet_size.traffic import QUANTITIES, TRAFFIC, is_round_trip, traffic_of
from wording.check_words import CHECK_WORDS

#: Columns of tidy/scenarios.csv that determine a scenario's traffic.
OF_TRAFFIC = ("topology", "multipath", "flows", "application", "protocol", "segment_bytes")
#: Columns of tidy/scenarios.csv which, if set, prevent a calculation from headers alone.
NOT_OF_HEADERS = (
    "bitrate_mbps", "jitter_forward_ms", "jitter_reverse_ms", "loss_forward_percent", "loss_reverse_percent",
)  # fmt: skip
#: Further columns of a run's scenario that the calculation needs.
OF_CALCULATION = ("frame_overhead_bytes", "serialisation", *NOT_OF_HEADERS)
#: Name of a failed check in the column `invalid_because` of runs.csv: "cpu_saturation: core 0 ..., expected ...; clock: ...". Other words
#: that precede a colon, such as a host's name, belong to a check's text.
FAILED_CHECK = re.compile(rf"(?:^|; )({'|'.join(CHECK_WORDS)}): ")


def runs_by_size(runs, scenarios) -> pd.DataFrame:
    """Return the rows of ``tidy/runs.csv`` whose scenarios are compared by size, with additional columns.

    The new columns are ``traffic`` (a key of `TRAFFIC`), ``measured``, ``calculated`` and ``resolution`` (in the unit of the
    traffic's quantity), and ``cpu_us`` (CPU time of both hosts per full packet; nan if it wasn't measured).
    """
    traffic = {row["scenario"]: traffic_of(*(row[name] for name in OF_TRAFFIC)) for row in scenarios.to_dict("records")}
    table = runs.assign(traffic=runs["scenario"].map(traffic)).dropna(subset=["traffic"])
    table = table.join(scenarios.set_index("scenario")[[*OF_CALCULATION]], on="scenario")
    records = table.to_dict("records")
    return table.assign(
        measured=[kind.factor * row[kind.metric] for row in records for kind in [TRAFFIC[row["traffic"]].quantity]],
        calculated=[_calculated(row) for row in records],
        resolution=_resolutions(table),
        # s per 10**9 bytes x bytes per packet -> us per packet.
        cpu_us=[1e-3 * row["cpu_seconds_per_gbyte"] * _payload_bytes(row) for row in records],
    )


def _resolutions(runs):
    """Return the resolution of each run's value, in the unit of the run's quantity."""
    quantities = runs["traffic"].map(lambda name: TRAFFIC[name].quantity)
    by_metric = {
        quantity.metric: quantity.factor * resolutions(runs, quantity.metric) for quantity in quantities.unique()
    }
    return [by_metric[quantity.metric].at[index] for index, quantity in quantities.items()]


def _payload_bytes(row):
    """Return the size of a full packet's data in bytes."""
    return row["message_bytes"] if row["protocol"] == "udp" else row["mss_bytes"]


def _calculated(row):
    """Calculate a run's value from the headers alone; nan if this is impossible.

    TCP fills its segments if it can, so on a saturated cable the result depends on TCP's segment size and not on the message size. A round
    trip can't be calculated if transmission takes no time (`serialisation: never`, or a real clock). No value can be calculated for a path
    with delay, jitter or loss, or for a limited bitrate.
    """
    if any(row[name] > 0 for name in ("rtt_path_ms", *NOT_OF_HEADERS)):
        return math.nan
    protocol, ip_version = row["protocol"], row["ip_version"]
    rate, overhead = row["rate_mbps"], row["frame_overhead_bytes"]
    if is_round_trip(row["traffic"]):
        if row["serialisation"] == "never" or row["platform"] != "uml":
            return math.nan
        return round_trip_us(rate, row["message_bytes"], protocol, ip_version, overhead)
    background = 0.0 if math.isnan(row["background_mbps"]) else row["background_mbps"]
    return goodput_mbps(rate, _payload_bytes(row), protocol, ip_version, overhead, background)


def data_of_packets(runs, flows) -> pd.Series:
    """Return each run's mean data per packet in bytes: the bytes sent divided by the packets offered to the bottleneck.

    For TCP, the bytes sent are the bytes that arrived plus a full segment for each retransmit; iperf3's own count includes bytes that TCP didn't send. The few packets without test data (those of the TCP handshake and of iperf3's control connection) are counted too. The value is nan for
    runs without a goodput, and for runs with a server, because the server's responses are counted as packets.
    """
    of_runs = flows.groupby(RUN)[["bytes_sent", "bytes_received", "retransmits"]].sum(min_count=1)
    counted = of_runs.reindex(pd.MultiIndex.from_frame(runs[RUN])).set_axis(runs.index)
    through_tcp = counted["bytes_received"] + counted["retransmits"].fillna(0) * runs["mss_bytes"]
    sent = through_tcp.where(runs["protocol"] == "tcp", counted["bytes_sent"])
    return (sent / runs["packets_sent"]).where(runs["background"] == "none")


def size_cells(runs, packets, confidence, printed=None) -> pd.DataFrame:
    """Return one row of `SIZE_CELLS` per cell of the runs.

    Parameters
    ----------
    runs, packets
        Results of `runs_by_size` and `data_of_packets`.
    confidence : float
    printed : dict, optional
        ``paper.cells`` of a claims file.
    """
    values = _printed_values(printed)
    groups = runs.assign(packet_bytes=packets).groupby(CELL, sort=False)
    rows = [_cell_row(group, confidence, values) for _, group in groups]
    return pd.DataFrame(rows, columns=SIZE_CELLS.names)


def _cell_row(runs, confidence, printed):
    valid, first = runs[runs["valid"]], runs.iloc[0]
    quantity, failed = TRAFFIC[first["traffic"]].quantity, runs.loc[~runs["valid"], "invalid_because"]
    same = (*CELL, "scenario_label", "platform", "background", "traffic", "protocol", "rate_mbps")
    row = {name: first[name] for name in same} | {"message_bytes": int(first["message_bytes"])}
    row |= {"metric": quantity.metric, "unit": quantity.unit, "runs": len(runs)}
    row["failed_checks"] = " ".join(dict.fromkeys(name for why in failed for name in FAILED_CHECK.findall(why)))
    row |= _spread(valid.dropna(subset="measured"), confidence)
    row |= {name: valid[name].mean() for name in ("packet_bytes", "background_mbps", "background_back_mbps", "cpu_us")}
    row |= _held_against(row, valid["calculated"].mean())
    # In the paper, TCP chose its segment size.
    if row["traffic"] != "tcp-segments":
        key = ("metric", "protocol", "background", "ip_version", "message_bytes")
        row |= printed.get(tuple(row[name] for name in key), {})
    return row


def _spread(runs, confidence):
    """Return the columns n, measurements, outliers, mean, ci_low and ci_high; also sd if there are at least two values."""
    values = runs["measured"].to_numpy(float)
    resolution = runs["resolution"].max() if len(runs) else 0.0
    mean = cell_estimate(values, confidence, 0, None, resolution)
    row = {"n": mean.n, "measurements": mean.measurements, "outliers": mean.apart}
    row |= {"mean": mean.mean, "ci_low": mean.low, "ci_high": mean.high}
    return row | ({"sd": values.std(ddof=1)} if len(values) >= 2 else {})


def _held_against(row, expected):
    """Return the columns that compare a cell's mean with the calculated value; empty if either of the two is missing.

    A round trip may exceed the calculated value by the steps of the guest's clock. If the server's other messages use a share b of the
    cable's capacity, a round trip may also take up to 1 / (1 - b) times as long as calculated.
    """
    if row["mean"] is None or math.isnan(expected):
        return {}
    allowance = 0.0
    if is_round_trip(row["traffic"]):
        server = (row["background_mbps"], row["background_back_mbps"])
        busy = sum(mbps for mbps in server if not math.isnan(mbps)) / row["rate_mbps"]
        allowance = clock_allowance_us(row["protocol"]) + expected * (1 / (1 - busy) - 1)
    return {
        "calculated": expected,
        "excess": row["mean"] - expected,
        "difference_percent": 100 * (row["mean"] / expected - 1),
        "allowance": allowance,
        "agrees": agrees(row["mean"], expected, allowance),
    }


def _printed_values(printed):
    """Return a paper's printed values as columns in the units of `SIZE_CELLS`.

    The keys are (metric, protocol, background, IP version, size).
    """
    factors = {quantity.metric: quantity.factor for quantity in QUANTITIES}
    values = {}
    for entry in (printed or {}).get("values", ()):
        for place, size in enumerate(printed["message_bytes"]):
            key = (entry["quantity"], entry["protocol"], entry["background"], entry["ip_version"], size)
            values[key] = {
                f"printed_{name}": factors[entry["quantity"]] * entry[name][place]
                for name in ("mean", "sd")
                if name in entry and entry[name][place] is not None
            }
    return values
