"""The section on several paths: what they give together, what each carries, what reordering does, and what it costs."""

import math
from functools import partial
from operator import itemgetter

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
from topics.topic import slug_of
from wording.number_format import NONE, is_missing, number
from wording.scenario_series import platform_name
from wording.sentence_words import cca_name

VERDICTS = (
    (HOLDS, f"The whole interval lies within {EQUATION_MARGIN_PERCENT} % of the number of paths."),
    (FAILS, f"The whole interval lies farther from it than {EQUATION_MARGIN_PERCENT} %."),
    (OPEN, "The interval reaches both sides, or there is none: it takes two valid runs of each."),
)
ANCHOR = "multipath"


def section(material) -> dict:
    """Return what the template needs."""
    table, design, figures = material.tables.aggregation, material.design, material.figures
    joined = table[table["by"] != "none"]
    iperf3_over_most = (table["paths"] == joined["paths"].max()) & (table["application"] == "iperf3")
    host = table[table["platform"] == "host"]
    table_of = partial(_table, has_platforms=table["platform"].nunique() > 1)
    return {
        "most": int(joined["paths"].max()),
        "has_gre": bool((joined["by"] == "gre").any()),
        "distributions": set(joined.loc[joined["by"] == "gre", "distribution"]),
        "has_mptcp": bool((joined["by"] == "mptcp").any()),
        "rates": [figures[f"transfer-rate-{slug_of(cca)}"] for cca in drawn_ccas(design)]
        if has_transfers(design)
        else [],
        "cpu_times": [figures[f"cpu-time-{slug_of(cca)}"] for cca in drawn_ccas(design)] if has_cpu(design) else [],
        "table": table_of(
            "cells",
            "Goodput by environment, CCA and number of paths",
            table,
            CELLS + (TRANSFERS if table["transfer_s"].notna().any() else ()),
        ),
        "equations": table_of(
            "equations", "Time of a transfer and rate, over those of a single path", _equations_of(joined), EQUATIONS
        ),
        "verdicts": VERDICTS,
        "shares": _shares_table(material.tables.path_shares),
        "reordering": table_of(
            "reordering", "Segments out of order, means of a run", table[iperf3_over_most], REORDERING
        ),
        "uneven_words": uneven_words(joined),
        "recovery_words": recovery_words(joined),
        "same_words": same_words(table),
        "baseline_words": baseline_words(joined),
        "header_percent": header_percent_words(joined),
        "cpu": table_of("cpu", "CPU time by environment, CCA and number of paths", host, CPU)
        if has_cpu(design)
        else None,
        "margin": EQUATION_MARGIN_PERCENT,
    }


def _number(heading, name, decimals):
    """Return a column of numbers, and from a row to its cell."""
    return Column(heading, "number"), lambda row: number_cell(row[name], decimals)


def _range(heading, low, high, decimals):
    """Return a column of intervals, and from a row to its cell."""
    return Column(heading, "short"), lambda row: _range_cell(row[low], row[high], decimals)


def _range_cell(low, high, decimals):
    if is_missing(low) or is_missing(high):
        return Cell(NONE)
    return Cell(minus(f"{number(low, decimals)} to {number(high, decimals)}"), float(low))


def _percent_of_packets(heading, name):
    """Return a column of counts in percent of the packets that were sent, and from a row to its cell."""
    return Column(heading, "number"), lambda row: number_cell(100 * row[name] / (row["packets_sent"] or math.nan), 2)


PATHS, RUNS, GOODPUT = _number("Paths", "paths", 0), _number("n", "n", 0), _number("Goodput, Mbit/s", "goodput_mbps", 2)
CEILINGS = _number("Ceilings' ratio", "ceiling_factor", 3)
CELLS = (
    PATHS, RUNS, GOODPUT, _range("Interval", "goodput_low", "goodput_high", 2), _number("SD, %", "goodput_sd_percent", 3),
    _number("Ceiling, Mbit/s", "ceiling_mbps", 2), _number("% of it", "ceiling_percent", 2),
    _number("Times a single path", "factor", 3), CEILINGS,
)  # fmt: skip
TRANSFERS = (_number("Transfer, s", "transfer_s", 3), _range("Its interval", "transfer_low", "transfer_high", 3))
EQUATIONS = (
    PATHS, (Column("What", filtered=True), itemgetter("what")), _number("Ratio", "factor", 3),
    _range("Interval", "factor_low", "factor_high", 3), CEILINGS,
    (Column("Verdict", filtered=True), lambda row: row["equation"] or NONE),
)  # fmt: skip
REORDERING = (
    GOODPUT, _percent_of_packets("Out of order, % of packets", "out_of_order_segments"),
    _percent_of_packets("At MPTCP, % of packets", "out_of_order_mptcp"), _number("Noticed", "reordering_events", 1),
    _number("Recoveries", "recoveries", 1), _number("Undone", "recoveries_undone", 1), _number("Sent again", "retransmits", 1),
    _number("Reported as needless", "spurious_retransmits", 1), _number("cwnd, packets", "cwnd_packets", 1),
)  # fmt: skip
CPU = (
    PATHS, RUNS, GOODPUT, _number("Busy, % of the cores", "cpu_busy_percent", 1),
    _range("Interval", "cpu_busy_low", "cpu_busy_high", 1), _number("CPU s a GB", "cpu_seconds_per_gbyte", 2),
)  # fmt: skip


def _table(name, caption, rows, columns, has_platforms=False):
    """Return a table of cells of the aggregation; ``columns`` are pairs of a column and from a row to its cell."""
    platform = (Column("Platform", filtered=True), lambda row: platform_name(row["platform"]))
    columns = [
        (Column("Scenario", header=True, filtered=True), itemgetter("scenario_label")),
        (Column("Environment", filtered=True), itemgetter("environment")),
        (Column("CCA", filtered=True), lambda row: cca_name(row["cca"])),
        *([platform] if has_platforms else []),
        *columns,
    ]
    cells = [[cell(row) for _, cell in columns] for row in rows.to_dict("records")]
    return data_table(f"multipath-{name}", caption, [column for column, _ in columns], cells)


def _equations_of(joined):
    """Return the cells of the paper's equations 3.1 (time of a file transfer, put in the place of the factor) and 3.2."""
    several = joined[joined["paths"] > 1]
    files = several["application"] == "ftp"
    ratios = {
        name: several[f"time_{name}"].where(files, several[name]) for name in ("factor", "factor_low", "factor_high")
    }
    return several.assign(what=files.map({True: "T(1) / T(n)", False: "V(n) / V(1)"}), **ratios)


def _shares_table(shares):
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
            number_cell(group["share_percent"].mean(), 3), _range_cell(group["share_lowest"].min(), group["share_highest"].max(), 3),
            number_cell(group["bytes"].mean() / 1e6, 2), number_cell(group["queue_drops"].mean(), 1), number_cell(group["subflow_rtt_ms"].mean(), 2),
        ]
        for (_, environment, path), group in joined.groupby(["scenario", "environment", "path"], sort=False)
    ]  # fmt: skip
    return data_table(
        "multipath-shares", "What each path carried: means over CCAs, range over their replications", columns, rows
    )


def findings(material) -> list[Finding]:
    """Return what the study has to say on aggregation, on file transfers, on reordering and on CPU time."""
    table = material.tables.aggregation
    joined = table[(table["by"] != "none") & table["goodput_mbps"].notna()]
    if joined.empty:
        valid = table.loc[table["by"] != "none", "n"].any()
        why = "No valid run over joined paths has a goodput" if valid else "No run over joined paths is valid"
        return [Finding("Paths", f"{why}, so nothing can be said about them.", ANCHOR)]
    even = joined[joined["even"] & (joined["paths"] == joined["paths"].max())]
    sentences = [aggregation_words(even), transfer_words(even), uneven_words(joined), cpu_words(table)]
    return [Finding("Paths", sentence, ANCHOR) for sentence in sentences if sentence]
