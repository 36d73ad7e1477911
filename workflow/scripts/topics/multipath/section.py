"""The section on several paths: what they give together, what each carries, what reordering does, and what it costs."""

from report_parts.data_tables import Cell, Column, data_table, minus, number_cell
from report_parts.material import Finding
from topics.multipath.equations import EQUATION_MARGIN_PERCENT, FAILS, HOLDS, OPEN
from topics.multipath.sentences import (
    aggregation_words,
    baseline_words,
    cpu_words,
    header_percent_words,
    recovery_words,
    same_words,
    transfer_words,
    uneven_words,
)
from topics.multipath.topic import drawn_ccas, has_cpu, has_transfers
from wording.number_format import is_missing, number
from wording.scenario_series import platform_name
from wording.sentence_words import cca_name

VERDICTS = (
    (HOLDS, f"The whole interval lies within {EQUATION_MARGIN_PERCENT} % of the number of paths."),
    (FAILS, f"The whole interval lies farther from it than {EQUATION_MARGIN_PERCENT} %."),
    (OPEN, "The interval reaches both sides, or there is none: it takes two valid runs of each."),
)
ANCHOR = "multipath"
#: Columns of the table on reordering.
COUNTS = (
    "reordering_events", "recoveries", "recoveries_undone", "retransmits", "spurious_retransmits", "cwnd_packets",
)  # fmt: skip


def section(material) -> dict:
    """Return what the template needs."""
    table, design, figures = material.tables.aggregation, material.design, material.figures
    joined = table[table["by"] != "none"]
    platforms = list(dict.fromkeys(table["platform"]))
    return {
        "most": int(joined["paths"].max()),
        "has_gre": bool((joined["by"] == "gre").any()),
        "distributions": set(joined.loc[joined["by"] == "gre", "distribution"]),
        "has_mptcp": bool((joined["by"] == "mptcp").any()),
        "rates": [figures[f"transfer-rate-{cca}"] for cca in drawn_ccas(design)] if has_transfers(design) else [],
        "cpu_times": [figures[f"cpu-time-{cca}"] for cca in drawn_ccas(design)] if has_cpu(design) else [],
        "table": cells_table(table, platforms),
        "equations": equations_table(joined, platforms),
        "verdicts": VERDICTS,
        "shares": shares_table(material.tables.path_shares),
        "reordering": reordering_table(table, platforms),
        "uneven_words": uneven_words(joined),
        "recovery_words": recovery_words(joined),
        "same_words": same_words(table),
        "baseline_words": baseline_words(joined),
        "header_percent": header_percent_words(joined),
        "cpu": cpu_table(table, platforms) if has_cpu(design) else None,
        "margin": EQUATION_MARGIN_PERCENT,
    }


def first_columns(platforms) -> list[Column]:
    """Return the columns that say which cell a row is."""
    return [
        Column("Scenario", header=True, filtered=True),
        Column("Environment", filtered=True),
        Column("CCA", filtered=True),
        *([Column("Platform", filtered=True)] if len(platforms) > 1 else []),
    ]


def first_cells(row, platforms) -> list[str]:
    """Return the cells of `first_columns`."""
    platform = [platform_name(row["platform"])] if len(platforms) > 1 else []
    return [row["scenario_label"], row["environment"], cca_name(row["cca"]), *platform]


def range_cell(low, high, decimals) -> Cell:
    """Return a cell with an interval."""
    if is_missing(low) or is_missing(high):
        return Cell("–")
    return Cell(minus(f"{number(low, decimals)} to {number(high, decimals)}"), float(low))


def cells_table(table, platforms) -> dict:
    """Return the table of goodput in all cells, and of the time that a file took where one was transferred."""
    files = table["transfer_s"].notna().any()
    columns = [
        *first_columns(platforms), Column("Paths", "number"), Column("n", "number"), Column("Goodput, Mbit/s", "number"),
        Column("Interval", "short"), Column("SD, %", "number"), Column("Ceiling, Mbit/s", "number"), Column("% of it", "number"),
        Column("Times a single path", "number"), Column("Ceilings' ratio", "number"),
        *([Column("Transfer, s", "number"), Column("Its interval", "short")] if files else []),
    ]  # fmt: skip
    rows = [
        [
            *first_cells(row, platforms), number_cell(row["paths"], 0), number_cell(row["n"], 0), number_cell(row["goodput_mbps"], 2),
            range_cell(row["goodput_low"], row["goodput_high"], 2), number_cell(row["goodput_sd_percent"], 3),
            number_cell(row["ceiling_mbps"], 2), number_cell(row["ceiling_percent"], 2), number_cell(row["factor"], 3),
            number_cell(row["ceiling_factor"], 3), *(transfer_cells(row) if files else []),
        ]
        for row in table.to_dict("records")
    ]  # fmt: skip
    return data_table("multipath-cells", "Goodput by environment, CCA and number of paths", columns, rows)


def transfer_cells(row) -> list[Cell]:
    """Return the cells with the time of a file's transfer and its interval."""
    return [number_cell(row["transfer_s"], 3), range_cell(row["transfer_low"], row["transfer_high"], 3)]


def equations_table(joined, platforms) -> dict:
    """Return the table of the paper's equations 3.1 (time of a file transfer) and 3.2 (rate)."""
    columns = [
        *first_columns(platforms), Column("Paths", "number"), Column("What", filtered=True), Column("Ratio", "number"),
        Column("Interval", "short"), Column("Ceilings' ratio", "number"), Column("Verdict", filtered=True),
    ]  # fmt: skip
    rows = []
    for row in joined[joined["paths"] > 1].to_dict("records"):
        name = "time" if row["application"] == "ftp" else ""
        value, low, high = (row[f"{name}_factor{end}" if name else f"factor{end}"] for end in ("", "_low", "_high"))
        rows.append(
            [
                *first_cells(row, platforms), number_cell(row["paths"], 0), "T(1) / T(n)" if name else "V(n) / V(1)",
                number_cell(value, 3), range_cell(low, high, 3), number_cell(row["ceiling_factor"], 3), row["equation"] or "–",
            ]
        )  # fmt: skip
    return data_table("multipath-equations", "Time of a transfer and rate, over those of a single path", columns, rows)


def shares_table(shares) -> dict | None:
    """Return the table of what each path carried over most paths, over all CCAs; None if nothing was."""
    joined = shares[(shares["by"] != "none") & (shares["application"] == "iperf3")]
    joined = joined[joined["paths"] == joined["paths"].max()]
    if joined.empty:
        return None
    columns = [
        Column("Scenario", header=True, filtered=True), Column("Environment", filtered=True), Column("Path", "number"),
        Column("CCAs", "number"), Column("Share, %", "number"), Column("Range", "short"), Column("On the wire, MB", "number"),
        Column("Queue drops", "number"), Column("Subflow's RTT, ms", "number"),
    ]  # fmt: skip
    rows = [
        [
            group["scenario_label"].iloc[0], environment, number_cell(path, 0), number_cell(len(group), 0),
            number_cell(group["share_percent"].mean(), 3), range_cell(group["share_lowest"].min(), group["share_highest"].max(), 3),
            number_cell(group["bytes"].mean() / 1e6, 2), number_cell(group["queue_drops"].mean(), 1), number_cell(group["subflow_rtt_ms"].mean(), 2),
        ]
        for (_, environment, path), group in joined.groupby(["scenario", "environment", "path"], sort=False)
    ]  # fmt: skip
    return data_table(
        "multipath-shares", "What each path carried: means over CCAs, range over their replications", columns, rows
    )


def reordering_table(table, platforms) -> dict:
    """Return the table of segments out of order over most paths: what the receivers saw, and what the senders made of it."""
    most = table.loc[table["by"] != "none", "paths"].max()
    columns = [
        *first_columns(platforms), Column("Goodput, Mbit/s", "number"), Column("Out of order, % of packets", "number"),
        Column("At MPTCP, % of packets", "number"), Column("Noticed", "number"), Column("Recoveries", "number"),
        Column("Undone", "number"), Column("Sent again", "number"), Column("Reported as needless", "number"),
        Column("cwnd, packets", "number"),
    ]  # fmt: skip
    rows = []
    for row in table[(table["paths"] == most) & (table["application"] == "iperf3")].to_dict("records"):
        per_packet = [
            Cell("–")
            if is_missing(row[name]) or not row["packets_sent"]
            else number_cell(100 * row[name] / row["packets_sent"], 2)
            for name in ("out_of_order_segments", "out_of_order_mptcp")
        ]
        counts = [number_cell(row[name], 1) for name in COUNTS]
        rows.append([*first_cells(row, platforms), number_cell(row["goodput_mbps"], 2), *per_packet, *counts])
    return data_table("multipath-reordering", "Segments out of order, means of a run", columns, rows)


def cpu_table(table, platforms) -> dict:
    """Return the table of CPU time where it was measured."""
    columns = [
        *first_columns(platforms), Column("Paths", "number"), Column("n", "number"), Column("Goodput, Mbit/s", "number"),
        Column("Busy, % of the cores", "number"), Column("Interval", "short"), Column("CPU s a GB", "number"),
    ]  # fmt: skip
    rows = [
        [
            *first_cells(row, platforms), number_cell(row["paths"], 0), number_cell(row["n"], 0), number_cell(row["goodput_mbps"], 2),
            number_cell(row["cpu_busy_percent"], 1), range_cell(row["cpu_busy_low"], row["cpu_busy_high"], 1),
            number_cell(row["cpu_seconds_per_gbyte"], 2),
        ]
        for row in table[table["platform"] == "host"].to_dict("records")
    ]  # fmt: skip
    return data_table("multipath-cpu", "CPU time by environment, CCA and number of paths", columns, rows)


def findings(material) -> list[Finding]:
    """Return what the study has to say on aggregation, on file transfers, on reordering and on CPU time."""
    table = material.tables.aggregation
    joined = table[(table["by"] != "none") & table["goodput_mbps"].notna()]
    if joined.empty:
        return [Finding("Paths", "No run over joined paths is valid, so nothing can be said about them.", ANCHOR)]
    even = joined[joined["even"] & (joined["paths"] == joined["paths"].max())]
    sentences = [aggregation_words(even), transfer_words(even), uneven_words(joined), cpu_words(table)]
    return [Finding("Paths", sentence, ANCHOR) for sentence in sentences if sentence]
