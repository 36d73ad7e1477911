"""The section on sizes of messages: cells against the calculation, what TCP sent, cells against each other."""

import pandas as pd

from report_parts.data_tables import Cell, Column, data_table, number_cell, round_trip, shared_decimals, signed
from report_parts.material import Finding, ReportMaterial
from report_parts.test_cells import ALIKE, DIFFERS, OPEN
from tcp_models.wire_theory import CLOCK_STEP_US, CLOCK_STEPS, TOLERANCE_PERCENT, frame_bytes
from testbed.specification import TCP_TIMESTAMP_OPTION_BYTES
from topics.packet_size.sentences import messages_joined, sentences
from topics.packet_size.size_words import ENVIRONMENT, ENVIRONMENTS, IP_VERSION, PLATFORM, network_words
from topics.packet_size.topic import VALUES
from topics.packet_size.traffic import ROUND_TRIP, THROUGHPUT, TRAFFIC
from wording.number_format import NONE, count, is_missing, number, plain
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed

#: Of a frame on Ethernet besides what Linux counts: checksum 4, preamble 8, gap 12 (IEEE 802.3).
ETHERNET_BESIDES_BYTES = 24


def section(material: ReportMaterial) -> dict | None:
    """Return what the template needs, None if no scenario is of this kind."""
    cells, differences = material.tables.size_cells, material.tables.size_differences
    if cells.empty:
        return None
    platforms = list(cells["platform"].unique())
    return {
        "figures": list(VALUES),
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
        "joined": messages_joined(cells),
        "uncalculated": bool((cells["mean"].notna() & cells["calculated"].isna() & calculable(cells)).any()),
        "impossible": impossible_prints(cells),
        "printed": printed_table(cells) if cells[["printed_mean", "printed_sd"]].notna().any(axis=None) else None,
        "remark": ((material.params.get("paper") or {}).get("cells") or {}).get("remark", ""),
        "ip_versions": ip_versions_table(differences),
        "environments": environments_table(differences),
        "kernel_throughput": kernel_throughput_table(differences),
        "kernel_trips": kernel_trips_table(differences),
    }


def findings(material: ReportMaterial) -> list[Finding]:
    """Return the sentences that open the report."""
    return sentences(material.tables.size_cells, material.tables.size_differences)


def calculable(cells) -> pd.Series:
    """Return of which cells headers alone would say something, if no delay, loss or limit of the bitrate were set."""
    return (cells["metric"] == THROUGHPUT.metric) | (cells["platform"] == "uml")


def background_words(cells) -> str:
    """Return what the server's other messages took of the cable: "0.31 to 0.4 Mbit/s"."""
    taken = cells["background_mbps"].dropna()
    return f"{number(taken.min(), 2)} to {number(taken.max(), 2)} Mbit/s" if len(taken) else ""


def measured_steps(cells) -> str:
    """Return how many steps of the clock round trips took longer than the cable: "UDP 1.53 (IPv4) and 0.52 (IPv6)"."""
    trips = cells[(cells["background"] == "none") & (cells["metric"] == ROUND_TRIP.metric) & cells["excess"].notna()]
    parts = []
    for protocol, rows in trips.groupby("protocol", sort=False):
        steps = rows.groupby("ip_version", sort=False)["excess"].mean() / CLOCK_STEP_US
        means = [f"{number(mean, 2)} ({ip_words(ip_version)})" for ip_version, mean in steps.items()]
        parts.append(f"{protocol.upper()} {listed(means)}")
    return "; ".join(parts)


class Places:
    """The first columns of a table, which say where a row belongs: CCA and rate only where there are several.

    Parameters
    ----------
    table : pandas.DataFrame
    compared : str, optional
        The column of what is compared, which is no place.
    """

    COLUMNS = {
        "traffic": Column("Traffic", filtered=True),
        "background": Column("Environment", filtered=True),
        "ip_version": Column("IP", filtered=True),
        "cca": Column("CCA", filtered=True),
        "rate_mbps": Column("Rate, Mbit/s", "number"),
        "message_bytes": Column("Bytes", "number", header=True),
    }
    WORDS = {
        "traffic": lambda traffic: TRAFFIC[traffic].name,
        "background": ENVIRONMENTS.get,
        "ip_version": ip_words,
        "cca": cca_name,
    }

    def __init__(self, table, compared=""):
        alike = {name for name in ("cca", "rate_mbps") if table[name].nunique(dropna=False) < 2}
        self.names = [name for name in self.COLUMNS if name not in {compared, *alike}]

    def columns(self) -> list[Column]:
        """Return the columns."""
        return [self.COLUMNS[name] for name in self.names]

    def cells(self, row) -> list:
        """Return a row's cells of these columns."""
        return [self.WORDS[name](row[name]) if name in self.WORDS else number_cell(row[name], 0) for name in self.names]


def cells_table(cells) -> dict:
    """Return the table of all cells."""
    places = Places(cells)
    columns = [
        *places.columns(), Column("n", "number"), Column("Mean", "number"), Column("Interval", "number"),
        Column("SD", "number"), Column("Calculated", "number"), Column("Difference", "number"),
        Column("Allowed, µs", "number"), Column("Verdict", filtered=True),
    ]  # fmt: skip
    rows = []
    for row in cells.to_dict("records"):
        # They show differences of a hundredth of a percent.
        decimals = 3 if row["unit"] == THROUGHPUT.unit else 2
        rows.append(
            [
                *places.cells(row), number_cell(row["n"], 0), number_cell(row["mean"], decimals, f" {row['unit']}"),
                half_width_cell(row, decimals), number_cell(row["sd"], decimals),
                number_cell(row["calculated"], decimals), percent_cell(row["difference_percent"]),
                number_cell(row["allowance"] if row["metric"] == ROUND_TRIP.metric else None, 2), verdict_cell(row),
            ]
        )  # fmt: skip
    return data_table("size-cells", "Every cell, measured and calculated", columns, rows)


def half_width_cell(row, decimals) -> Cell:
    """Return a cell with how far an interval reaches to either side: "±0.011"."""
    if is_missing(row["ci_low"]):
        return Cell(NONE)
    half = (row["ci_high"] - row["ci_low"]) / 2
    return Cell(f"±{number(half, decimals)}", round_trip(half))


def ends_words(row, decimals) -> str:
    """Return the ends of a difference's interval: "−1.31 to −1.29"."""
    if is_missing(row["ci_low"]):
        return NONE
    return f"{signed(row['ci_low'], decimals)} to {signed(row['ci_high'], decimals)}"


def signed_cell(value, decimals=None, unit="") -> Cell:
    """Return a cell with a signed difference."""
    return Cell(NONE) if is_missing(value) else Cell(f"{signed(value, decimals)}{unit}", round_trip(value))


def percent_cell(value) -> Cell:
    """Return a cell with a signed difference in percent."""
    return signed_cell(value, 3, " %")


def verdict_cell(row) -> Cell:
    """Return whether a cell's mean is what was calculated."""
    verdicts = {"True": Cell("agrees", style=ALIKE), "False": Cell("deviates", style=DIFFERS)}
    return verdicts.get(row["agrees"], Cell("not calculated", style=OPEN))


def sent_rows(cells) -> list[dict]:
    """Return what TCP made of messages, peer to peer: a row for each size, with data of a packet by IP version."""
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


def impossible_prints(cells) -> list[str]:
    """Return printed throughputs of TCP that a packet for each message could not have: the cable would not hold them.

    A packet is the least that it can be: without TCP's option, and with what Ethernet takes of the cable.
    """
    prints = []
    for row in cells[(cells["traffic"] == "tcp") & cells["printed_mean"].notna()].to_dict("records"):
        mean, size, ip_version = row["printed_mean"], row["message_bytes"], row["ip_version"]
        packet = frame_bytes(size, "tcp", ip_version, ETHERNET_BESIDES_BYTES) - TCP_TIMESTAMP_OPTION_BYTES
        needed = mean * packet / size
        if needed > row["rate_mbps"]:
            prints.append(
                f"{plain(mean)} Mbit/s with {plain(size)} bytes ({ip_words(ip_version)}, "
                f"{ENVIRONMENTS[row['background']]}) would take {number(needed, 0)} Mbit/s of the cable"
            )
    # Of several CCAs each has the same printed value.
    return list(dict.fromkeys(prints))


def printed_table(cells) -> dict:
    """Return means and standard deviations of this study beside those that a paper prints."""
    places = Places(cells)
    columns = [
        *places.columns(), Column("Unit", filtered=True), Column("Mean here", "number"),
        Column("Mean printed", "number"), Column("SD here", "number"), Column("SD printed", "number"),
    ]  # fmt: skip
    rows = []
    for row in cells[cells["traffic"] != "tcp-segments"].to_dict("records"):
        # The paper's unit of round trips.
        factor, unit = (1e-3, "ms") if row["unit"] == ROUND_TRIP.unit else (1.0, row["unit"])
        mean, printed_mean, sd, printed_sd = (
            None if is_missing(row[name]) else factor * row[name]
            for name in ("mean", "printed_mean", "sd", "printed_sd")
        )
        rows.append(
            [
                *places.cells(row), unit, number_cell(mean), printed_cell(printed_mean), number_cell(sd, 4),
                printed_cell(printed_sd),
            ]
        )  # fmt: skip
    return data_table("size-printed", "Means and standard deviations, here and as printed", columns, rows)


def printed_cell(value) -> Cell:
    """Return a cell with as many digits as are printed."""
    return Cell(NONE) if value is None else Cell(plain(round(value, 9)), round_trip(value))


def ip_versions_table(differences) -> dict | None:
    """Return the table of IPv6 against IPv4; None without a row."""
    rows = differences[differences["question"] == IP_VERSION]
    caption = "IPv6 against IPv4: same traffic, size, environment and seeds"
    return differences_table("size-ip-versions", caption, rows, "ip_version", ip_words)


def environments_table(differences) -> dict | None:
    """Return the table of client-server against peer to peer; None without a row."""
    rows = differences[differences["question"] == ENVIRONMENT]
    caption = "Client-server against peer to peer: same traffic, size and IP version"
    names = {side: name.capitalize() for side, name in ENVIRONMENTS.items()}
    return differences_table("size-environments", caption, rows, "background", names.get)


def differences_table(identifier, caption, table, compared, side_words) -> dict | None:
    """Return the table of one question; None without a row.

    Parameters
    ----------
    compared : str
        The column that differs.
    side_words : callable
        From what it has on a side to what readers call that.
    """
    if table.empty:
        return None
    places, printed = Places(table, compared), table["printed_percent"].notna().any()
    first, second = (side_words(table[side].iloc[0]) for side in ("first", "second"))
    columns = [
        *places.columns(), Column("Unit", filtered=True), Column(first, "number"), Column(second, "number"),
        Column("Difference", "number"), Column("Interval", "short"), Column("In percent", "number"),
        Column("Calculated", "number"), *([Column("As printed", "number")] if printed else []),
    ]  # fmt: skip
    rows = []
    for row in table.to_dict("records"):
        decimals = shared_decimals(row["difference"], row["ci_low"], row["ci_high"])
        rows.append(
            [
                *places.cells(row), row["unit"], number_cell(row["mean_first"]), number_cell(row["mean_second"]),
                signed_cell(row["difference"], decimals), ends_words(row, decimals), percent_cell(row["percent"]),
                percent_cell(row["expected_percent"]), *([percent_cell(row["printed_percent"])] if printed else []),
            ]
        )  # fmt: skip
    return data_table(identifier, f"{caption} ({pairs_words(table)})", columns, rows)


def pairs_words(table) -> str:
    """Return how many pairs of cells have a difference: "49 pairs of cells, and 11 without a valid run on one side"."""
    known = int(table["percent"].notna().sum())
    missing = len(table) - known
    return f"{count(known, 'pair')} of cells{f', and {missing:,} without a valid run on one side' if missing else ''}"


def kernel_throughput_table(differences) -> dict | None:
    """Return throughput under both clocks, and what a packet cost in CPU time; None without a row."""
    table = differences[(differences["question"] == PLATFORM) & (differences["unit"] == THROUGHPUT.unit)]
    if table.empty:
        return None
    places = Places(table)
    columns = [
        *places.columns(), Column("Virtual clock, Mbit/s", "number"), Column("Real clock, Mbit/s", "number"),
        Column("Difference", "number"), Column("Interval", "short"),
        Column("In percent", "number"), Column("CPU time of a packet, µs", "number"),
    ]  # fmt: skip
    rows = [
        [
            *places.cells(row), number_cell(row["mean_first"], 3), number_cell(row["mean_second"], 3),
            signed_cell(row["difference"], 3), ends_words(row, 3),
            percent_cell(row["percent"]), number_cell(row["cpu_us"], 2),
        ]
        for row in table.to_dict("records")
    ]  # fmt: skip
    caption = f"Throughput under the virtual and the real clock ({pairs_words(table)})"
    return data_table("size-kernel-throughput", caption, columns, rows)


def kernel_trips_table(differences) -> dict | None:
    """Return what the cable and the kernel take of a round trip, and both together; None without a row."""
    table = differences[(differences["question"] == PLATFORM) & (differences["unit"] == ROUND_TRIP.unit)]
    if table.empty:
        return None
    places = Places(table)
    headings = ("Cable, µs", "Kernel, µs", "Together, µs", "Kernel's share")
    columns = [*places.columns(), *(Column(name, "number") for name in headings)]
    rows = []
    for row in table.to_dict("records"):
        known = not is_missing(row["difference"])
        together = row["mean_first"] + row["mean_second"] if known else None
        share = 100 * row["mean_second"] / together if known else None
        times = (row["mean_first"], row["mean_second"], together)
        rows.append([*places.cells(row), *(number_cell(time, 1) for time in times), number_cell(share, 1, " %")])
    caption = "What a round trip takes: the cable by the virtual clock, the kernel by the real one"
    return data_table("size-kernel-trips", caption, columns, rows)
