"""Cells of a study of message sizes: measured, calculated, and as printed in a paper."""

import math
import re

import pandas as pd
from describe_cells import mean_interval
from run_tables.tidy_columns import CELL
from size_tables.size_columns import CELL_COLUMNS
from size_tables.size_words import traffic_name
from wire_theory import agrees, clock_allowance_us, goodput_mbps, round_trip_us

#: Traffic -> its metric, and the unit of that here. A round trip is too short for milliseconds.
TRAFFIC = {
    "tcp": ("goodput_mbps", "Mbit/s"),
    "tcp-segments": ("goodput_mbps", "Mbit/s"),
    "udp": ("goodput_mbps", "Mbit/s"),
    "tcp-rtt": ("rtt_mean_ms", "µs"),
    "udp-rtt": ("rtt_mean_ms", "µs"),
}
#: From the tables' unit to that shown.
FACTORS = {"goodput_mbps": 1.0, "rtt_mean_ms": 1e3}
#: Columns of tidy/runs.csv that the tables' reader leaves as text.
NUMBERS = ("message_bytes", "background_mbps", "background_back_mbps", "cpu_seconds_per_gbyte")
#: Where one of these is set, headers alone don't say what a run has (columns of tidy/scenarios.csv).
NOT_OF_HEADERS = (
    "bitrate_mbps", "jitter_forward_ms", "jitter_reverse_ms", "loss_forward_percent", "loss_reverse_percent",
)  # fmt: skip
#: From which a scenario's traffic follows.
OF_TRAFFIC = ("topology", "multipath", "flows", "application", "protocol", "segment_bytes")
#: What failed, in runs.csv's `invalid_because`: "cpu_saturation: core 0 ..., expected ...; clock: ...".
FAILED_CHECK = re.compile(r"(?:^|; )([a-z_0-9]+): ")


def traffic_of(scenario):
    """Return which traffic a row of ``tidy/scenarios.csv`` has, a key of `TRAFFIC`; None if it is not of this kind."""
    return traffic_name(*(scenario[name] for name in OF_TRAFFIC))


def runs_by_size(runs, scenarios):
    """Return the runs of the sizes' scenarios with what is calculated for each.

    Returns
    -------
    pandas.DataFrame
        Columns of runs, as numbers those of `NUMBERS`, and ``traffic``, ``measured`` and ``calculated`` (in
        the unit of `TRAFFIC`), ``cpu_us``: CPU time of both hosts for each packet, where it was read.
    """
    rows = scenarios.set_index("scenario")
    kinds = {row["scenario"]: traffic_of(row) for row in scenarios.to_dict("records")}
    known = runs[runs["scenario"].map(kinds).notna()].copy()
    known["traffic"] = known["scenario"].map(kinds)
    for name in NUMBERS:
        known[name] = pd.to_numeric(known[name]) if name in known else math.nan
    for name in ("frame_overhead_bytes", "serialisation", *NOT_OF_HEADERS):
        known[name] = known["scenario"].map(rows[name])
    known["frame_overhead_bytes"] = pd.to_numeric(known["frame_overhead_bytes"])
    records = known.to_dict("records")
    known["measured"] = [FACTORS[TRAFFIC[row["traffic"]][0]] * row[TRAFFIC[row["traffic"]][0]] for row in records]
    known["calculated"] = [calculated(row) for row in records]
    # s for 10**9 bytes x bytes of a packet -> us for a packet.
    known["cpu_us"] = [1e-3 * row["cpu_seconds_per_gbyte"] * payload_bytes(row) for row in records]
    return known


def payload_bytes(row):
    """Return the data of a full packet in bytes."""
    return row["message_bytes"] if row["protocol"] == "udp" else row["mss_bytes"]


def calculated(row):
    """Return what headers alone make of a run; nan where that says nothing of it.

    TCP that may fill its segments does: what it sends of a full cable follows from its own segment size, not from
    the message's. Where the wire takes no time (`serialisation: never`, or a real clock) a round trip has none.
    Of a path with delay, jitter or loss, and of a limited bitrate, headers don't tell what comes of them.
    """
    if row["rtt_path_ms"] or any(row[name] and not math.isnan(row[name]) for name in NOT_OF_HEADERS):
        return math.nan
    protocol, rate = row["protocol"], row["rate_mbps"]
    if row["traffic"].endswith("-rtt"):
        if row["serialisation"] == "never" or row["platform"] != "uml":
            return math.nan
        return round_trip_us(rate, row["message_bytes"], protocol, row["ip_version"], row["frame_overhead_bytes"])
    background = 0.0 if math.isnan(row["background_mbps"]) else row["background_mbps"]
    return goodput_mbps(rate, payload_bytes(row), protocol, row["ip_version"], row["frame_overhead_bytes"], background)


def size_cells(runs, packets, confidence, printed=None):
    """Return a row for each cell.

    Parameters
    ----------
    runs : pandas.DataFrame
        As `runs_by_size` gives it.
    packets : pandas.Series
        Index of `runs` -> data of each packet in bytes, where the run tells.
    confidence : float
    printed : dict, optional
        A claims file's ``paper.cells``.
    """
    values = printed_values(printed)
    rows = []
    for cell, group in runs.assign(packet=packets).groupby(CELL, sort=False):
        valid, first = group[group["valid"]], group.iloc[0]
        metric, unit = TRAFFIC[first["traffic"]]
        row = dict.fromkeys(CELL_COLUMNS) | dict(zip(CELL, cell, strict=True))
        row |= {name: first[name] for name in ("scenario_label", "platform", "background", "traffic", "protocol", "message_bytes", "rate_mbps")}
        row |= {"metric": metric, "unit": unit, "runs": len(group), **spread(valid["measured"].dropna(), confidence)}
        row |= {"failed_checks": failed_checks(group[~group["valid"]])}
        row |= {"packet_bytes": valid["packet"].mean()} | {name: valid[name].mean() for name in ("background_mbps", "background_back_mbps", "cpu_us")}
        row |= held_against(row, valid["calculated"].mean())
        key = (metric, row["protocol"], row["background"], row["ip_version"], row["message_bytes"])
        if row["traffic"] != "tcp-segments" and key in values:
            row |= {f"printed_{name}": value for name, value in values[key].items()}
        rows.append(row)
    return pd.DataFrame(rows, columns=CELL_COLUMNS)


def failed_checks(invalid):
    """Return the names of the checks that invalid runs failed: "cpu_saturation clock"."""
    return " ".join(dict.fromkeys(name for why in invalid["invalid_because"] for name in FAILED_CHECK.findall(why)))


def spread(known, confidence):
    """Return n, mean, its interval and the standard deviation of a cell's values."""
    row = {"n": len(known), "mean": known.mean() if len(known) else None}
    if len(known) >= 2:
        row |= {"sd": known.std(ddof=1)}
        equal = known.min() == known.max()
        row |= dict(zip(("ci_low", "ci_high"), (known.iloc[0],) * 2 if equal else mean_interval(known, confidence)[1:], strict=True))
    return row


def held_against(row, expected):
    """Return what a cell's mean is against the calculation, and whether it agrees.

    A round trip has the clock's steps on top, and of a server's other messages at most their share of the cable.
    """
    if row["mean"] is None or math.isnan(expected):
        return {"calculated": None}
    allowance = 0.0
    if row["traffic"].endswith("-rtt"):
        busy = sum(row[name] for name in ("background_mbps", "background_back_mbps") if not math.isnan(row[name])) / row["rate_mbps"]
        allowance = clock_allowance_us(row["protocol"]) + expected * (1 / (1 - busy) - 1)
    return {
        "calculated": expected,
        "excess": row["mean"] - expected,
        "difference_percent": 100 * (row["mean"] / expected - 1),
        "allowance": allowance,
        "agrees": agrees(row["mean"], expected, allowance),
    }


def printed_values(printed):
    """Return (metric, protocol, background, IP version, size) -> what a paper prints: ``mean`` and ``sd``, in our units."""
    found = {}
    for entry in (printed or {}).get("values", ()):
        for place, size in enumerate(printed["message_bytes"]):
            key = (entry["quantity"], entry["protocol"], entry["background"], entry["ip_version"], size)
            values = {name: entry[name][place] for name in ("mean", "sd") if name in entry}
            found[key] = {name: FACTORS[entry["quantity"]] * value for name, value in values.items() if value is not None}
    return found


def data_of_packets(runs, flows):
    """Return the mean data of a packet of each run in bytes: what was sent over the packets that the bottleneck passed.

    The few without data (a connection's first ones, iperf3's own) count too; a server's answers don't, as far as they are known.
    nan for runs without a goodput.
    """
    sent = flows.groupby([*CELL, "replication"])["bytes_sent"].sum(min_count=1)
    keys = pd.MultiIndex.from_frame(runs[[*CELL, "replication"]])
    plain = runs["background"] == "none"
    return pd.Series(sent.reindex(keys).to_numpy(float) / runs["packets_sent"].to_numpy(float), runs.index).where(plain)
