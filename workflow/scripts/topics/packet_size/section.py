"""The section on message sizes: cells compared with the calculation and with each other, and the sizes of TCP packets."""

from experiment.packet_sizes import TCP_TIMESTAMP_OPTION_BYTES
from report_parts.cells_table import CCA, IP_KEY, N, cells_table, shown_cell, shown_number, shown_text
from report_parts.data_tables import Cell, number_cell, round_trip, shared_decimals, signed
from report_parts.hypothesis_cells import ALIKE, DIFFERS, OPEN
from report_parts.material import Finding, ReportMaterial
from tcp_models.wire_theory import CLOCK_STEP_US, CLOCK_STEPS, TOLERANCE_PERCENT, frame_bytes
from topics.packet_size.sentences import messages_joined, sentences
from topics.packet_size.topic import VALUES
from topics.packet_size.traffic import (
    ENVIRONMENT,
    ENVIRONMENTS,
    IP_VERSION,
    PLATFORM,
    ROUND_TRIP,
    THROUGHPUT,
    TRAFFIC,
    network_words,
)
from wording.number_format import NONE, count, is_missing, number, plain
from wording.scenario_words import ip_words
from wording.sentence_words import listed


def section(material: ReportMaterial) -> dict | None:
    """Return the template's variables; None if no scenario compares message sizes."""
    cells, differences = material.tables.size_cells, material.tables.size_differences
    if cells.empty:
        return None
    platforms = set(cells["platform"])
    of_platforms = differences[differences["question"] == PLATFORM]
    throughput, trips = (of_platforms[of_platforms["unit"] == quantity.unit] for quantity in (THROUGHPUT, ROUND_TRIP))
    has_printed = cells[["printed_mean", "printed_sd"]].notna().any(axis=None)
    return {
        "figures": list(VALUES),
        "virtual": "uml" in platforms,
        "real": "host" in platforms,
        "tolerance": plain(TOLERANCE_PERCENT),
        "step_ns": plain(1000 * CLOCK_STEP_US),
        "steps": CLOCK_STEPS,
        "steps_measured": _measured_steps(cells),
        "sizes": [f"{size:.0f}" for size in sorted(cells["message_bytes"].unique())],
        "has_server": bool((cells["background"] == "server").any()),
        "background": _background_words(cells),
        "cells": _table("size-cells", "Every cell, measured and calculated", cells, CELLS),
        "sent": _sent_rows(cells),
        "joined": messages_joined(cells),
        "uncalculated": bool((cells["mean"].notna() & cells["calculated"].isna() & _calculable(cells)).any()),
        "impossible": _impossible_prints(cells),
        "printed": _table(
            "size-printed",
            "Means and standard deviations, here and as printed",
            _in_papers_units(cells[(cells["traffic"] != "tcp-segments") & has_printed]),
            PRINTED,
        ),
        "remark": ((material.params.get("paper") or {}).get("cells") or {}).get("remark", ""),
        "ip_versions": _differences_table(
            "size-ip-versions",
            "IPv6 against IPv4: same traffic, size, environment and seeds",
            differences[differences["question"] == IP_VERSION],
            "ip_version",
            ip_words,
        ),
        "environments": _differences_table(
            "size-environments",
            "Client-server against peer to peer: same traffic, size and IP version",
            differences[differences["question"] == ENVIRONMENT],
            "background",
            lambda background: ENVIRONMENTS[background].capitalize(),
        ),
        "kernel_throughput": _table(
            "size-kernel-throughput",
            f"Throughput under the virtual and the real clock ({pairs_words(throughput)})",
            throughput,
            KERNEL_THROUGHPUT,
        ),
        "kernel_trips": _table(
            "size-kernel-trips",
            "Duration of a round trip: on the cable (virtual clock) and in the kernel (real clock)",
            trips.assign(together=trips["mean_first"] + trips["mean_second"]),
            KERNEL_TRIPS,
        ),
    }


def findings(material: ReportMaterial) -> list[Finding]:
    """Return the findings at the top of the report."""
    margin = material.params["analysis"]["equivalence_margin"]["header_percent"]
    return sentences(material.tables.size_cells, material.tables.size_differences, margin)


def _calculable(cells):
    """Return a mask of the cells whose metric can be calculated from headers: throughputs, and round trips in the guest."""
    return (cells["metric"] == THROUGHPUT.metric) | (cells["platform"] == "uml")


def _background_words(cells):
    """Return the range of the rates at which the server responds: "0.31 to 0.4 Mbit/s"; "" if there is no server."""
    taken = cells["background_mbps"].dropna()
    return f"{number(taken.min(), 2)} to {number(taken.max(), 2)} Mbit/s" if len(taken) else ""


def _measured_steps(cells):
    """Return the mean number of clock steps by which round trips exceed the calculated time: "UDP 1.53 (IPv4) and 0.52 (IPv6)"."""
    trips = cells[(cells["background"] == "none") & (cells["metric"] == ROUND_TRIP.metric) & cells["excess"].notna()]
    parts = []
    for protocol, rows in trips.groupby("protocol", sort=False):
        steps = rows.groupby("ip_version", sort=False)["excess"].mean() / CLOCK_STEP_US
        means = [f"{number(mean, 2)} ({ip_words(ip_version)})" for ip_version, mean in steps.items()]
        parts.append(f"{protocol.upper()} {listed(means)}")
    return "; ".join(parts)


def _percent(heading, name):
    """Return a column of signed differences in percent."""
    return shown_cell(heading, lambda row: _signed_cell(row[name], 3, " %"), "number")


def _decimals(row):
    """Return the number of decimals for a cell's mean."""
    return 3 if row["unit"] == THROUGHPUT.unit else 2


def _half_width_cell(row):
    """Return a cell with the half-width of an interval: "±0.011"."""
    half = (row["ci_high"] - row["ci_low"]) / 2
    return Cell(NONE) if is_missing(half) else Cell(f"±{number(half, _decimals(row))}", round_trip(half))


def _ends_words(row, decimals):
    """Return the ends of a difference's interval: "−1.31 to −1.29"."""
    if is_missing(row["ci_low"]):
        return NONE
    return f"{signed(row['ci_low'], decimals)} to {signed(row['ci_high'], decimals)}"


def _signed_cell(value, decimals, unit=""):
    return Cell(NONE) if is_missing(value) else Cell(f"{signed(value, decimals)}{unit}", round_trip(value))


def _printed(heading, name):
    """Return a column of the values that the paper prints, with the paper's number of digits."""

    def cell(row):
        return Cell(NONE) if is_missing(row[name]) else Cell(plain(round(row[name], 9)), round_trip(row[name]))

    return shown_cell(heading, cell, "number")


def _allowance_cell(row):
    return number_cell(row["allowance"] if row["metric"] == ROUND_TRIP.metric else None, 2)


def _verdict_cell(row):
    return VERDICTS.get(row["agrees"], Cell("not calculated", style=OPEN))


def _kernel_share_cell(row):
    return number_cell(100 * row["mean_second"] / row["together"], 1, " %")


VERDICTS = {"True": Cell("agrees", style=ALIKE), "False": Cell("deviates", style=DIFFERS)}
UNIT = shown_text("Unit", "unit", filtered=True)
#: Columns that identify a row.
PLACE = (
    shown_text("Traffic", "traffic", lambda name: TRAFFIC[name].name, filtered=True),
    shown_text("Environment", "background", ENVIRONMENTS.__getitem__, filtered=True), IP_KEY, CCA,
    shown_number("Rate, Mbit/s", "rate_mbps", 0), shown_number("Bytes", "message_bytes", 0, header=True),
)  # fmt: skip
CELLS = (
    N, shown_cell("Mean", lambda row: number_cell(row["mean"], _decimals(row), f" {row['unit']}"), "number"),
    shown_cell("Interval", _half_width_cell, "number"),
    shown_cell("SD", lambda row: number_cell(row["sd"], _decimals(row)), "number"),
    shown_cell("Calculated", lambda row: number_cell(row["calculated"], _decimals(row)), "number"),
    _percent("Difference", "difference_percent"), shown_cell("Allowed, µs", _allowance_cell, "number"),
    shown_cell("Verdict", _verdict_cell, filtered=True),
)  # fmt: skip
PRINTED = (
    UNIT, shown_number("Mean here", "mean"), _printed("Mean printed", "printed_mean"), shown_number("SD here", "sd", 4),
    _printed("SD printed", "printed_sd"),
)  # fmt: skip
KERNEL_THROUGHPUT = (
    shown_number("Virtual clock, Mbit/s", "mean_first", 3), shown_number("Real clock, Mbit/s", "mean_second", 3),
    shown_cell("Difference", lambda row: _signed_cell(row["difference"], 3), "number"),
    shown_cell("Interval", lambda row: _ends_words(row, 3), "short"), _percent("In percent", "percent"),
    shown_number("CPU time per packet, µs", "cpu_us", 2),
)  # fmt: skip
KERNEL_TRIPS = (
    shown_number("Cable, µs", "mean_first", 1),
    shown_number("Kernel, µs", "mean_second", 1),
    shown_number("Together, µs", "together", 1),
    shown_cell("Kernel's share", _kernel_share_cell, "number"),
)


def _table(identifier, caption, table, shown, compared=""):
    """Return a page table that begins with the columns `PLACE`; None if there are no rows.

    The column ``compared``, in which the two sides differ, is omitted. The CCA and the rate are omitted if they are the same in all rows.
    """
    if table.empty:
        return None
    without = {compared, *(name for name in ("cca", "rate_mbps") if table[name].nunique(dropna=False) < 2)}
    place = [one for one in PLACE if not without.intersection(one.reads)]
    return cells_table(identifier, caption, table, (*place, *shown))


def _in_papers_units(cells):
    """Return the cells with values converted to the paper's units: ms for round trips."""
    of_trips, names = cells["unit"] == ROUND_TRIP.unit, ["mean", "sd", "printed_mean", "printed_sd"]
    values = cells[names].mul(of_trips.map({True: 1e-3, False: 1.0}), axis=0)
    return cells.assign(**values, unit=cells["unit"].mask(of_trips, "ms"))


def _sent_rows(cells):
    """Return the table rows on data per TCP packet in peer-to-peer cells: one row per message size, with one value per IP version."""
    networks = network_words(cells)
    tcp = cells[(cells["background"] == "none") & (cells["protocol"] == "tcp") & cells["packet_bytes"].notna()]
    rows = []
    for size in sorted(tcp["message_bytes"].unique()):
        row = {"size": plain(size)}
        for traffic in ("tcp", "tcp-segments"):
            parts = []
            for cell in tcp[(tcp["message_bytes"] == size) & (tcp["traffic"] == traffic)].to_dict("records"):
                words = networks.get((cell["cca"], cell["rate_mbps"])), ip_words(cell["ip_version"])
                parts.append(" ".join(filter(None, (*words, number(cell["packet_bytes"], 0)))))
            row[traffic] = ", ".join(parts) or NONE
        rows.append(row)
    return rows


def _impossible_prints(cells):
    """Describe the printed TCP throughputs that would exceed the cable's rate if each message were sent in a separate packet.

    The smallest possible packet is assumed: it carries no TCP option, and Ethernet adds the 24 bytes on the cable that Linux
    doesn't count (checksum 4, preamble 8, gap 12; IEEE 802.3).
    """
    prints = []
    for row in cells[(cells["traffic"] == "tcp") & cells["printed_mean"].notna()].to_dict("records"):
        mean, size, ip_version = row["printed_mean"], row["message_bytes"], row["ip_version"]
        packet = frame_bytes(size, "tcp", ip_version, 24) - TCP_TIMESTAMP_OPTION_BYTES
        needed = mean * packet / size
        if needed > row["rate_mbps"]:
            prints.append(
                f"{plain(mean)} Mbit/s with {plain(size)} bytes ({ip_words(ip_version)}, "
                f"{ENVIRONMENTS[row['background']]}) would take {number(needed, 0)} Mbit/s of the cable"
            )
    # Each printed value occurs once for every CCA.
    return list(dict.fromkeys(prints))


def _differences_table(identifier, caption, table, compared, side_words):
    """Return the table for one question; None if there are no rows.

    The two sides differ in the column ``compared``; ``side_words`` converts a value of this column into the name of a side.
    """
    if table.empty:
        return None
    first, second = (side_words(table[side].iloc[0]) for side in ("first", "second"))

    def decimals(row):
        return shared_decimals(row["difference"], row["ci_low"], row["ci_high"])

    shown = [
        UNIT,
        shown_number(first, "mean_first"),
        shown_number(second, "mean_second"),
        shown_cell("Difference", lambda row: _signed_cell(row["difference"], decimals(row)), "number"),
        shown_cell("Interval", lambda row: _ends_words(row, decimals(row)), "short"),
        _percent("In percent", "percent"),
        _percent("Calculated", "expected_percent"),
        *([_percent("As printed", "printed_percent")] if table["printed_percent"].notna().any() else []),
    ]
    return _table(identifier, f"{caption} ({pairs_words(table)})", table, shown, compared)


def pairs_words(table) -> str:
    """Return the number of pairs of cells in words, such as "49 pairs of cells, and 11 without a valid run on one side"."""
    known = int(table["percent"].notna().sum())
    missing = len(table) - known
    return f"{count(known, 'pair')} of cells{f', and {missing:,} without a valid run on one side' if missing else ''}"
