"""The section on IPv6 against IPv4: cells with their verdicts, and tests over all cells."""

from report_parts.data_tables import Cell, Column, data_table, effect_cells, number_cell, p_cell, signed, size
from report_parts.material import Finding
from report_parts.test_cells import (
    ALIKE,
    DIFFERS,
    METRIC_NAMES,
    OPEN,
    Scenarios,
    estimate_cell,
    first_metric,
    mean_cells,
    metric_cell,
)
from topics.ip_version.sentences import ip_version_sentence
from topics.ip_version.tables import METHODS
from topics.ip_version.verdicts import VERDICTS
from wording.number_format import NONE, is_missing, number
from wording.sentence_words import p_words


def section(material) -> dict:
    """Return the tables of IPv6 against IPv4, with what each verdict means."""
    tables = material.tables
    verdicts = set(tables.ip_versions["verdict"])
    return {
        "cells": ip_versions_table(tables.ip_versions, tables.scenarios),
        "legend": [
            {"verdict": name, "meaning": meaning, "style": verdict_style(name)}
            for name, meaning in VERDICTS.items()
            if name in verdicts
        ],
        "overall": overall_rows(tables.ip_overall),
        "methods": METHODS,
    }


def verdict_style(verdict) -> str:
    """Return the look of a verdict on the IP versions."""
    if verdict.startswith(("differs", "constant difference")):
        return DIFFERS
    return ALIKE if verdict.startswith(("equivalent", "same")) else OPEN


def ip_versions_table(table, scenarios) -> dict:
    """Return the table of IPv6 against IPv4, a row for each metric and cell."""
    columns = [
        Column("Metric", filtered=True),
        Column("Scenario", filtered=True, header=True),
        Column("CCA", filtered=True),
        Column("Verdict", filtered=True),
        Column("Pairs (n)", "number"),
        Column("IPv4", "number"),
        Column("IPv6", "number"),
        Column("Difference", "number"),
        Column("Interval", "number"),
        Column("Hodges-Lehmann", "number"),
        Column("Rank-biserial", "number"),
        Column("Test", filtered=True),
        Column("p", "number"),
        Column("p, Holm", "number"),
        Column("p, BH", "number"),
        Column("p against MSS ratio, Holm", "number"),
        Column("Equivalent from", "number"),
        Column("Detectable", "number"),
        Column("Pairs needed", "number"),
        Column("Note", "note"),
    ]
    places, rows = Scenarios(scenarios), []
    for row in table.to_dict("records"):
        difference, interval = effect_cells(row)
        rank = row["rank_biserial"]
        rows.append(
            [
                metric_cell(row),
                places.cell(row),
                row["cca"],
                Cell(row["verdict"], style=verdict_style(row["verdict"])),
                number_cell(row["pairs"], 0),
                *mean_cells(row, "mean_ipv4", "mean_ipv6"),
                difference,
                interval,
                estimate_cell(row),
                Cell(NONE) if is_missing(rank) else Cell(signed(rank, 2), rank),
                row["test"] or "none",
                p_cell(row["p"]),
                p_cell(row["p_holm"]),
                p_cell(row["p_bh"]),
                p_cell(row["p_expected_holm"]),
                margin_cell(row, "smallest_margin"),
                margin_cell(row, "detectable"),
                number_cell(row["pairs_needed"], 0),
                row["note"],
            ]
        )
    caption = "IPv6 against IPv4 in each cell"
    return data_table("ip-versions", caption, columns, rows, first_metric(table))


def margin_cell(row, column) -> Cell:
    """Return a cell with a size in either direction: "±1.4 %"."""
    if is_missing(row[column]):
        return Cell(NONE)
    text = size(row[column])
    sign = "" if text.startswith("<") else "±"
    return Cell(f"{sign}{text} {row['effect_unit']}", row[column])


def overall_rows(overall) -> dict[str, list]:
    """Return the tests over the whole study side by side.

    Returns
    -------
    dict
        methods (column headings), rows (metric, null, cells with p and direction), notes.
    """
    methods = list(dict.fromkeys(overall["method"]))
    rows, notes = [], []
    for (metric, null), group in overall.groupby(["metric", "null"], sort=False):
        by_method = {row["method"]: row for row in group.to_dict("records")}
        cells = []
        for method in methods:
            row = by_method.get(method)
            if row is None:
                cells.append({"p": "not made", "detail": "", "mark": None})
                continue
            if row["note"] and row["note"] not in notes:
                notes.append(row["note"])
            detail = f"{number(row['n_ipv4'], 0)} and {number(row['n_ipv6'], 0)} runs"
            if not is_missing(row["strata"]) and row["strata"] > 1:
                detail += f" in {number(row['strata'], 0)} strata"
            cells.append(
                {
                    "p": "no test" if is_missing(row["p"]) else p_words(row["p"]),
                    "detail": "; ".join(filter(None, [row["direction"], detail])),
                    "mark": notes.index(row["note"]) + 1 if row["note"] else None,
                }
            )
        rows.append({"metric": METRIC_NAMES.get(metric, metric), "null": null, "cells": cells})
    return {"methods": methods, "rows": rows, "notes": notes}


def findings(material) -> list[Finding]:
    """Return whether the IP version matters."""
    if not material.tables.runs["valid"].any():
        return [Finding("IP version", "No run is valid, so IPv4 and IPv6 can't be compared.", "ip-version")]
    return [Finding("IP version", ip_version_sentence(material.tables, material.params["significance"]), "ip-version")]
