"""The section on several paths: total goodput, each path's share, the effect of reordering, and CPU cost."""

import math

from report_parts.cells_table import CCA, SCENARIO, N, cells_table, shown_cell, shown_interval, shown_number, shown_text
from report_parts.data_tables import interval_cell, number_cell
from report_parts.material import Finding
from study_files.study_features import FEATURES
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
    unlike_paths_words,
)
from topics.multipath.topic import drawn_ccas, has_cpu, has_transfers
from topics.topic import slug_of
from wording.number_format import NONE
from wording.scenario_words import platform_name

VERDICTS = (
    (HOLDS, f"The whole interval lies within {EQUATION_MARGIN_PERCENT} % of the number of paths."),
    (FAILS, f"No part of the interval lies within {EQUATION_MARGIN_PERCENT} % of the number of paths."),
    (
        OPEN,
        f"Only a part of the interval lies within {EQUATION_MARGIN_PERCENT} % of the number of paths, or there is no interval.",
    ),
)
ANCHOR = "multipath"


def _percent_of_packets(heading, name):
    """Return a column that shows a count as a percentage of the packets sent."""
    return shown_cell(
        heading, lambda row: number_cell(100 * row[name] / (row["packets_sent"] or math.nan), 2), "number"
    )


ENVIRONMENT = shown_text("Environment", "environment", filtered=True)
#: First columns of the tables that list cells.
PLACE = (SCENARIO, ENVIRONMENT, CCA, shown_text("Platform", "platform", platform_name, filtered=True))
PATHS, GOODPUT = shown_number("Paths", "paths", 0), shown_number("Goodput, Mbit/s", "goodput_mbps", 2)
CEILINGS = shown_number("Ratio of ceilings", "ceiling_factor", 3)
CELLS = (
    PATHS, N, GOODPUT, shown_interval("Interval", "goodput", 2), shown_number("SD, %", "goodput_sd_percent", 3),
    shown_number("Ceiling, Mbit/s", "ceiling_mbps", 2), shown_number("% of the ceiling", "ceiling_percent", 2),
    shown_number("Multiple of a single path", "factor", 3), CEILINGS,
)  # fmt: skip
TRANSFERS = (shown_number("Transfer, s", "transfer_s", 3), shown_interval("Transfer's interval", "transfer", 3))
EQUATIONS = (
    PATHS, shown_text("What", "what", filtered=True), shown_number("Ratio", "factor", 3),
    shown_interval("Interval", "factor", 3), CEILINGS, shown_text("Verdict", "equation", empty=NONE, filtered=True),
)  # fmt: skip
REORDERING = (
    GOODPUT, _percent_of_packets("Out of order, % of packets", "out_of_order_segments"),
    _percent_of_packets("At MPTCP, % of packets", "out_of_order_mptcp"),
    shown_number("Reordering detected", "reordering_events", 1), shown_number("Recoveries", "recoveries", 1),
    shown_number("Recoveries undone", "recoveries_undone", 1), shown_number("Retransmitted", "retransmits", 1),
    shown_number("Retransmitted needlessly", "spurious_retransmits", 1), shown_number("cwnd, packets", "cwnd_packets", 1),
)  # fmt: skip
CPU = (
    PATHS, N, GOODPUT, shown_number("Busy, % of the cores", "cpu_busy_percent", 1),
    shown_interval("Interval", "cpu_busy", 1), shown_number("CPU s per GB", "cpu_seconds_per_gbyte", 2),
)  # fmt: skip
UNLIKE = (
    GOODPUT, shown_number("Best single path", "best_path", 0), shown_number("Best path's goodput, Mbit/s", "best_mbps", 2),
    shown_number("Multiple of the best", "best_factor", 3), shown_interval("Interval", "best_factor", 3),
    shown_number("Sum of single paths, Mbit/s", "sum_mbps", 2), shown_number("Multiple of the sum", "sum_factor", 3),
    shown_interval("Interval", "sum_factor", 3),
)  # fmt: skip
SHARES = (
    SCENARIO, ENVIRONMENT, shown_number("Path", "path", 0), shown_number("CCAs", "ccas", 0),
    shown_number("Share, %", "share_percent", 3),
    shown_cell("Range", lambda row: interval_cell(row["share_lowest"], row["share_highest"], 3), "short"),
    shown_number("On the wire, MB", "mbytes", 2), shown_number("Queue drops", "queue_drops", 1),
    shown_number("Subflow's RTT, ms", "subflow_rtt_ms", 2),
)  # fmt: skip


def section(material) -> dict:
    """Return the template's variables."""
    table, design, figures = material.tables.aggregation, material.design, material.figures
    joined = table[table["by"] != "none"]
    compared = joined[joined["best_factor"].notna()]
    iperf3_over_most = (table["paths"] == joined["paths"].max()) & (table["application"] == "iperf3")
    host = table[table["platform"] == "host"]
    without = () if table["platform"].nunique() > 1 else ("platform",)

    def table_of(name, caption, rows, shown):
        return cells_table(f"multipath-{name}", caption, rows, (*PLACE, *shown), without=without)

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
            "equations", "Time and rate of a transfer relative to a single path", _equations_of(joined), EQUATIONS
        ),
        "verdicts": VERDICTS,
        "shares": _shares_table(material.tables.path_shares),
        "reordering": table_of(
            "reordering", "Segments out of order: means per run", table[iperf3_over_most], REORDERING
        ),
        "unlike": table_of(
            "unlike", "Paths that differ: compared with the best single path and with the sum", compared, UNLIKE
        )
        if len(compared)
        else None,
        "uneven_words": uneven_words(joined),
        "recovery_words": recovery_words(joined),
        "same_words": same_words(table, {one["id"] for one in design.scenarios if FEATURES["random loss"](one)}),
        "baseline_words": baseline_words(joined),
        "header_percent": header_percent_words(joined),
        "cpu": table_of("cpu", "CPU time by environment, CCA and number of paths", host, CPU)
        if has_cpu(design)
        else None,
        "margin": EQUATION_MARGIN_PERCENT,
    }


def _equations_of(joined):
    """Return the multipath cells, with `factor` as the ratio that one of the paper's equations predicts.

    For file transfers this is the ratio of times (equation 3.1), for other traffic the ratio of goodputs (equation 3.2).
    """
    several = joined[joined["paths"] > 1]
    files = several["application"] == "ftp"
    ratios = {
        name: several[f"time_{name}"].where(files, several[name]) for name in ("factor", "factor_low", "factor_high")
    }
    return several.assign(what=files.map({True: "T(1) / T(n)", False: "V(n) / V(1)"}), **ratios)


def _shares_table(shares):
    """Return the table of path shares, averaged over CCAs, for the largest number of paths; None if there are no data."""
    joined = shares[(shares["by"] != "none") & (shares["application"] == "iperf3")]
    joined = joined[joined["paths"] == joined["paths"].max()]
    if joined.empty:
        return None
    rows = [
        {
            "scenario_label": group["scenario_label"].iloc[0],
            "environment": environment,
            "path": path,
            "ccas": len(group),
            "share_percent": group["share_percent"].mean(),
            "share_lowest": group["share_lowest"].min(),
            "share_highest": group["share_highest"].max(),
            "mbytes": group["bytes"].mean() / 1e6,
            "queue_drops": group["queue_drops"].mean(),
            "subflow_rtt_ms": group["subflow_rtt_ms"].mean(),
        }
        for (_, environment, path), group in joined.groupby(["scenario", "environment", "path"], sort=False)
    ]
    caption = "Traffic on each path: means over CCAs, and ranges over CCAs and replications"
    return cells_table("multipath-shares", caption, rows, SHARES)


def findings(material) -> list[Finding]:
    """Return the study's findings about aggregation, file transfers, unequal paths and CPU time."""
    table = material.tables.aggregation
    joined = table[(table["by"] != "none") & table["goodput_mbps"].notna()]
    if joined.empty:
        valid = table.loc[table["by"] != "none", "n"].any()
        why = "No valid run over aggregated paths has a goodput" if valid else "No run over aggregated paths is valid"
        return [Finding("Paths", f"{why}, so there are no results for these paths.", ANCHOR)]
    even = joined[joined["even"] & (joined["paths"] == joined["paths"].max())]
    sentences = [
        aggregation_words(even),
        transfer_words(even),
        unlike_paths_words(joined),
        uneven_words(joined),
        cpu_words(table),
    ]
    return [Finding("Paths", sentence, ANCHOR) for sentence in sentences if sentence]
