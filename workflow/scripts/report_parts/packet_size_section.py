"""The section on sizes of messages: cells against exact calculation, what TCP sent, IP versions, environments, the kernel's own time."""

from number_format import count, is_missing, number, plain
from report_parts.packet_size_sentences import joined_by_tcp, sentences
from report_parts.report_data_tables import Cell, Column, data_table, number_cell, round_trip, shared_decimals, signed
from report_parts.sentence_words import cca_name, listed
from scenario_words import ip_words
from size_tables.size_columns import SIZE_CELLS, SIZE_DIFFERENCES
from size_tables.size_differences import ENVIRONMENT, IP_VERSION, PLATFORM, QUESTIONS
from size_tables.size_words import ENVIRONMENTS, TRAFFIC_NAMES, network_words
from wire_theory import CLOCK_STEP_US, CLOCK_STEPS, TOLERANCE_PERCENT, frame_bytes

TABLES = {"size_cells": SIZE_CELLS, "size_differences": SIZE_DIFFERENCES}
AGREES, DEVIATES, OPEN = "verdict alike", "verdict differs", "verdict open"


def section(material):
    """Return what the template needs, None if no scenario is of this kind."""
    cells, differences = material.tables.size_cells, material.tables.size_differences
    if cells.empty:
        return None
    platforms = list(cells["platform"].unique())
    return {
        "virtual": "uml" in platforms,
        "real": "host" in platforms,
        "tolerance": plain(TOLERANCE_PERCENT),
        "step_ns": plain(1000 * CLOCK_STEP_US),
        "steps": CLOCK_STEPS,
        "steps_measured": measured_steps(cells),
        "sizes": [f"{size:.0f}" for size in sorted(cells["message_bytes"].unique())],
        "has_server": bool((cells["background"] == "server").any()),
        "background": background_words(cells),
        "cells": cells_table(cells),
        "sent": sent_rows(cells),
        "joined": joined_by_tcp(cells),
        "uncalculated": bool((cells["mean"].notna() & cells["calculated"].isna() & calculable(cells)).any()),
        "impossible": impossible_rows(cells),
        "printed": printed_table(cells) if cells[["printed_mean", "printed_sd"]].notna().any(axis=None) else None,
        "remark": ((material.params.get("paper") or {}).get("cells") or {}).get("remark", ""),
        "ip_versions": differences_table(differences, IP_VERSION, "IPv6 against IPv4: same traffic, size, environment and seeds"),
        "environments": differences_table(differences, ENVIRONMENT, "Client-server against peer to peer: same traffic, size and IP version"),
        "kernel_throughput": kernel_throughput_table(differences),
        "kernel_trips": kernel_trips_table(differences),
    }


def findings(material):
    """Return the sentences that open the report."""
    return sentences(material.tables.size_cells, material.tables.size_differences)


def calculable(cells):
    """Return of which cells headers alone would say something, if no delay, loss or limit of the bitrate were set."""
    return (cells["metric"] == "goodput_mbps") | (cells["platform"] == "uml")


def background_words(cells):
    """Return what the server's other messages took of the cable: "0.31 to 0.4 Mbit/s"."""
    known = cells["background_mbps"].dropna()
    return f"{number(known.min(), 2)} to {number(known.max(), 2)} Mbit/s" if len(known) else ""


def measured_steps(cells):
    """Return how many steps of the clock round trips took longer than the cable needs: "UDP 1.53 (IPv4) and 0.52 (IPv6)"."""
    quiet, found = cells[(cells["background"] == "none") & (cells["metric"] == "rtt_mean_ms") & cells["excess"].notna()], []
    for protocol, rows in quiet.groupby("protocol", sort=False):
        steps = rows.groupby("ip_version", sort=False)["excess"].mean() / CLOCK_STEP_US
        found.append(f"{protocol.upper()} {listed([f'{number(value, 2)} ({ip_words(name)})' for name, value in steps.items()])}")
    return "; ".join(found)


#: What says where a row belongs.
PLACES = {
    "traffic": Column("Traffic", filtered=True),
    "background": Column("Environment", filtered=True),
    "ip_version": Column("IP", filtered=True),
    "cca": Column("CCA", filtered=True),
    "rate_mbps": Column("Rate, Mbit/s", "number"),
    "message_bytes": Column("Bytes", "number", header=True),
}


class Places:
    """A table's columns of these: CCA and rate only where there are several, and never what is compared."""

    def __init__(self, table, compared=""):
        alike = {name for name in ("cca", "rate_mbps") if table[name].nunique(dropna=False) < 2}
        self.names = [name for name in PLACES if name not in {compared, *alike}]

    def columns(self):
        """Return the columns."""
        return [PLACES[name] for name in self.names]

    def cells(self, row):
        """Return a row's cells of these columns."""
        words = {"traffic": TRAFFIC_NAMES.get, "background": ENVIRONMENTS.get, "ip_version": ip_words, "cca": cca_name}
        return [words[name](row[name]) if name in words else number_cell(row[name], 0) for name in self.names]


def cells_table(cells):
    """Return the table of all cells."""
    places = Places(cells)
    columns = [
        *places.columns(), Column("n", "number"), Column("Mean", "number"), Column("Interval", "number"),
        Column("SD", "number"),
        Column("Calculated", "number"), Column("Difference", "number"), Column("Allowed, µs", "number"), Column("Verdict", filtered=True),
    ]  # fmt: skip
    rows = []
    for row in cells.to_dict("records"):
        decimals = shown_decimals(row)
        half = None if is_missing(row["ci_low"]) else (row["ci_high"] - row["ci_low"]) / 2
        rows.append(
            [
                *places.cells(row), number_cell(row["n"], 0), number_cell(row["mean"], decimals, f" {row['unit']}"),
                interval_cell(half, decimals),
                number_cell(row["sd"], decimals), number_cell(row["calculated"], decimals),
                percent_cell(row["difference_percent"]), allowance_cell(row), verdict_cell(row),
            ]
        )  # fmt: skip
    return data_table("size-cells", "Every cell, measured and calculated", columns, rows)


def interval_cell(half, decimals):
    """Return a cell with how far an interval reaches to either side: "±0.011"."""
    return Cell("–") if half is None else Cell(f"±{number(half, decimals)}", round_trip(half))


def shown_decimals(row):
    """Return decimals that show differences of a hundredth of a percent."""
    return 3 if row["unit"] == "Mbit/s" else 2


def percent_cell(value):
    """Return a cell with a signed difference in percent."""
    return Cell("–") if is_missing(value) else Cell(f"{signed(value, 3)} %", round_trip(value))


def allowance_cell(row):
    """Return a cell with what a round trip may take longer."""
    return number_cell(row["allowance"], 2) if row["metric"] == "rtt_mean_ms" else Cell("–")


def verdict_cell(row):
    """Return whether a cell's mean is what was calculated."""
    if row["agrees"] not in ("True", "False"):
        return Cell("not calculated", style=OPEN)
    return Cell("agrees", style=AGREES) if row["agrees"] == "True" else Cell("deviates", style=DEVIATES)


def sent_rows(cells):
    """Return what TCP made of messages, peer to peer: a row for each size, with data of a packet by IP version."""
    networks = network_words(cells)
    rows, mine = [], cells[(cells["background"] == "none") & (cells["protocol"] == "tcp") & cells["packet_bytes"].notna()]
    for size in sorted(mine["message_bytes"].unique()):
        row = {"size": plain(size)}
        for traffic in ("tcp", "tcp-segments"):
            here = mine[(mine["message_bytes"] == size) & (mine["traffic"] == traffic)]
            parts = []
            for cell in here.to_dict("records"):
                words = networks.get((cell["cca"], cell["rate_mbps"])), ip_words(cell["ip_version"])
                parts.append(" ".join(filter(None, (*words, number(cell["packet_bytes"], 0)))))
            row[traffic] = ", ".join(parts) or "–"
        rows.append(row)
    return rows


def impossible_rows(cells):
    """Return printed throughputs of TCP that a packet for each message could not have: the cable would not hold them."""
    rows = []
    for row in cells[(cells["traffic"] == "tcp") & cells["printed_mean"].notna()].to_dict("records"):
        # Without TCP's option, and with what Ethernet takes of the cable: the least that a packet can be.
        smallest = frame_bytes(row["message_bytes"], "tcp", row["ip_version"], 24) - 12
        needed = row["printed_mean"] * smallest / row["message_bytes"]
        if needed > row["rate_mbps"]:
            rows.append(
                f"{plain(row['printed_mean'])} Mbit/s with {plain(row['message_bytes'])} bytes ({ip_words(row['ip_version'])}, "
                f"{ENVIRONMENTS[row['background']]}) would take {number(needed, 0)} Mbit/s of the cable"
            )
    # Of several CCAs each has the same printed value.
    return list(dict.fromkeys(rows))


def printed_table(cells):
    """Return means and standard deviations of this study beside those that a paper prints."""
    places = Places(cells)
    columns = [
        *places.columns(), Column("Unit", filtered=True), Column("Mean here", "number"),
        Column("Mean printed", "number"), Column("SD here", "number"), Column("SD printed", "number"),
    ]  # fmt: skip
    rows = []
    for row in cells[cells["traffic"] != "tcp-segments"].to_dict("records"):
        # The paper's unit of round trips.
        factor, unit = (1e-3, "ms") if row["unit"] == "µs" else (1.0, row["unit"])
        values = [None if is_missing(row[name]) else factor * row[name] for name in ("mean", "printed_mean", "sd", "printed_sd")]
        rows.append(
            [
                *places.cells(row), unit, number_cell(values[0]), printed_cell(values[1]), number_cell(values[2], 4),
                printed_cell(values[3]),
            ]
        )  # fmt: skip
    return data_table("size-printed", "Means and standard deviations, here and as printed", columns, rows)


def printed_cell(value):
    """Return a cell with as many digits as are printed."""
    return Cell("–") if value is None else Cell(plain(round(value, 9)), round_trip(value))


def differences_table(table, question, caption):
    """Return the table of one question; None without a row."""
    table = table[table["question"] == question]
    rows = table.to_dict("records")
    if not rows:
        return None
    places = Places(table, QUESTIONS[question][0])
    columns = [
        *places.columns(), Column("Unit", filtered=True),
        Column(side_name(question, rows[0]["first"]), "number"), Column(side_name(question, rows[0]["second"]), "number"), Column("Difference", "number"), Column("Interval", "short"),
        Column("In percent", "number"), Column("Calculated", "number"),
        *([Column("As printed", "number")] if any(not is_missing(row["printed_percent"]) for row in rows) else []),
    ]  # fmt: skip
    names = [column.heading for column in columns]
    found = []
    for row in rows:
        decimals = shared_decimals(row["difference"], row["ci_low"], row["ci_high"])
        ends = "–" if is_missing(row["ci_low"]) else f"{signed(row['ci_low'], decimals)} to {signed(row['ci_high'], decimals)}"
        cells = [
            *places.cells(row), row["unit"], number_cell(row["mean_first"]), number_cell(row["mean_second"]),
            signed_cell(row["difference"], decimals), ends, percent_cell(row["percent"]), percent_cell(row["expected_percent"]),
        ]  # fmt: skip
        if "As printed" in names:
            cells.append(percent_cell(row["printed_percent"]))
        found.append(cells)
    identifier = {IP_VERSION: "size-ip-versions", ENVIRONMENT: "size-environments"}[question]
    return data_table(identifier, f"{caption} ({pairs_words(table)})", columns, found)


def pairs_words(table):
    """Return how many pairs of cells have a difference: "49 pairs of cells, and 11 without a valid run on one side"."""
    known = int(table["percent"].notna().sum())
    missing = len(table) - known
    return f"{count(known, 'pair')} of cells{f', and {missing:,} without a valid run on one side' if missing else ''}"


def side_name(question, level):
    """Return what a side of a comparison is called."""
    if question == ENVIRONMENT:
        name = ENVIRONMENTS[level]
        return f"{name[0].upper()}{name[1:]}"
    return ip_words(level)


def signed_cell(value, decimals=None):
    """Return a cell with a signed difference."""
    return Cell("–") if is_missing(value) else Cell(signed(value, decimals), round_trip(value))


def kernel_throughput_table(table):
    """Return throughput under both clocks, and what a packet cost in CPU time; None without a row."""
    table = table[(table["question"] == PLATFORM) & (table["unit"] == "Mbit/s")]
    if table.empty:
        return None
    places = Places(table)
    columns = [
        *places.columns(), Column("Virtual clock, Mbit/s", "number"), Column("Real clock, Mbit/s", "number"),
        Column("Difference", "number"), Column("Interval", "short"),
        Column("In percent", "number"), Column("CPU time of a packet, µs", "number"),
    ]  # fmt: skip
    found = []
    for row in table.to_dict("records"):
        ends = "–" if is_missing(row["ci_low"]) else f"{signed(row['ci_low'], 3)} to {signed(row['ci_high'], 3)}"
        values = [number_cell(row["mean_first"], 3), number_cell(row["mean_second"], 3), signed_cell(row["difference"], 3), ends, percent_cell(row["percent"])]
        found.append([*places.cells(row), *values, number_cell(row["cpu_us"], 2)])
    caption = f"Throughput under the virtual and the real clock ({pairs_words(table)})"
    return data_table("size-kernel-throughput", caption, columns, found)


def kernel_trips_table(table):
    """Return what the cable and the kernel take of a round trip, and both together; None without a row."""
    table = table[(table["question"] == PLATFORM) & (table["unit"] != "Mbit/s")]
    if table.empty:
        return None
    places = Places(table)
    headings = ("Cable, µs", "Kernel, µs", "Together, µs", "Kernel's share")
    columns = [*places.columns(), *(Column(name, "number") for name in headings)]
    found = []
    for row in table.to_dict("records"):
        known = not is_missing(row["difference"])
        together = row["mean_first"] + row["mean_second"] if known else None
        share = Cell(f"{number(100 * row['mean_second'] / together, 1)} %", round_trip(100 * row["mean_second"] / together)) if known else Cell("–")
        values = (row["mean_first"], row["mean_second"], together)
        found.append([*places.cells(row), *(number_cell(value, 1) for value in values), share])
    return data_table("size-kernel-trips", "What a round trip takes: the cable by the virtual clock, the kernel by the real one", columns, found)
