"""The section on IPv6 against IPv4: cells with their verdicts, and tests over all cells."""

from report_parts.data_tables import Cell, Column, number_cell, p_cell, size
from report_parts.material import Finding
from report_parts.test_cells import ALIKE, DIFFERS, EFFECT_COLUMNS, METRIC_NAMES, OPEN, signed_cell, tests_table
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
        "cells": _ip_versions_table(tables.ip_versions, tables.scenarios),
        "legend": [
            {"verdict": name, "meaning": meaning, "style": _verdict_style(name)}
            for name, meaning in VERDICTS.items()
            if name in verdicts
        ],
        "overall": _overall_rows(tables.ip_overall),
        "methods": METHODS,
    }


def _verdict_style(verdict) -> str:
    """Return the look of a verdict on the IP versions."""
    if verdict.startswith(("differs", "constant difference")):
        return DIFFERS
    return ALIKE if verdict.startswith(("equivalent", "same")) else OPEN


def _ip_versions_table(table, scenarios) -> dict:
    """Return the table of IPv6 against IPv4, a row for each metric and cell."""
    columns = {
        Column("CCA", filtered=True): lambda row: row["cca"],
        Column("Verdict", filtered=True): lambda row: Cell(row["verdict"], style=_verdict_style(row["verdict"])),
        Column("Pairs (n)", "number"): lambda row: number_cell(row["pairs"], 0),
        Column("IPv4", "number"): lambda row: number_cell(row["mean_ipv4"]),
        Column("IPv6", "number"): lambda row: number_cell(row["mean_ipv6"]),
        **EFFECT_COLUMNS,
        Column("Rank-biserial", "number"): lambda row: signed_cell(row["rank_biserial"]),
        Column("Test", filtered=True): lambda row: row["test"] or "none",
        Column("p", "number"): lambda row: p_cell(row["p"]),
        Column("p, Holm", "number"): lambda row: p_cell(row["p_holm"]),
        Column("p, BH", "number"): lambda row: p_cell(row["p_bh"]),
        Column("p against MSS ratio, Holm", "number"): lambda row: p_cell(row["p_expected_holm"]),
        Column("Equivalent from", "number"): lambda row: _margin_cell(row, "smallest_margin"),
        Column("Detectable", "number"): lambda row: _margin_cell(row, "detectable"),
        Column("Pairs needed", "number"): lambda row: number_cell(row["pairs_needed"], 0),
    }
    return tests_table("ip-versions", "IPv6 against IPv4 in each cell", table, scenarios, columns)


def _margin_cell(row, column) -> Cell:
    """Return a cell with a size in either direction: "±1.4 %"."""
    if is_missing(row[column]):
        return Cell(NONE)
    text = size(row[column])
    sign = "" if text.startswith("<") else "±"
    return Cell(f"{sign}{text} {row['effect_unit']}", row[column])


def _overall_rows(overall) -> dict[str, list]:
    """Return the tests over the whole study side by side: methods (headings), rows and notes."""
    methods, notes = list(overall["method"].unique()), [note for note in overall["note"].unique() if note]
    rows = []
    for (metric, null), group in overall.groupby(["metric", "null"], sort=False):
        by_method = {row["method"]: _overall_cell(row, notes) for row in group.to_dict("records")}
        not_made = {"p": "not made", "detail": "", "mark": None}
        cells = [by_method.get(method, not_made) for method in methods]
        rows.append({"metric": METRIC_NAMES.get(metric, metric), "null": null, "cells": cells})
    return {"methods": methods, "rows": rows, "notes": notes}


def _overall_cell(row, notes):
    detail = f"{number(row['n_ipv4'], 0)} and {number(row['n_ipv6'], 0)} runs"
    if not is_missing(row["strata"]) and row["strata"] > 1:
        detail += f" in {number(row['strata'], 0)} strata"
    return {
        "p": "no test" if is_missing(row["p"]) else p_words(row["p"]),
        "detail": "; ".join(filter(None, [row["direction"], detail])),
        "mark": notes.index(row["note"]) + 1 if row["note"] else None,
    }


def findings(material) -> list[Finding]:
    """Return whether the IP version matters."""
    sentence = "No run is valid, so IPv4 and IPv6 can't be compared."
    if material.tables.runs["valid"].any():
        sentence = ip_version_sentence(material.tables, material.params["significance"])
    return [Finding("IP version", sentence, "ip-version")]
