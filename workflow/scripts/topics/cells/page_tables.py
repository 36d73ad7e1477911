"""Build a page's tables for one metric: the means by cell, and all statistics by cell."""

from report_parts.cells_table import shown_cell
from report_parts.data_tables import Cell
from study_files.study_design import cca_word
from wording.number_format import NONE, decimals_for, interval_words, is_missing, number, p_value
from wording.scenario_words import conditions, heading, ip_words

# Number of numeric columns that fit on a printed page.
MAX_VALUE_COLUMNS = 12


def mean_tables(descriptive, scenarios, metric) -> list[dict]:
    """Return compact tables of one metric's means, split so that each fits on a page.

    The rows are the levels of the factor (scenario or CCA) that has more of them. Each level of the other factor takes up one column per IP
    version.

    Each table is a dict of groups (column headings), ip_versions, row_name and rows (heading, detail, cells).
    """
    table = descriptive[descriptive["metric"] == metric.column]
    mean = {(row["scenario"], row["cca"], row["ip_version"]): row["mean"] for row in table.to_dict("records")}
    records = scenarios.to_dict("records")
    as_scenarios = [(row["scenario"], heading(row), conditions(row)) for row in records]
    as_ccas = [(cca, cca, "") for cca in table["cca"].unique()]
    ip_versions = list(table["ip_version"].unique())
    scenarios_down = len(as_scenarios) >= len(as_ccas)
    down, across = (as_scenarios, as_ccas) if scenarios_down else (as_ccas, as_scenarios)
    name_of_ccas = "Mix" if cca_word(table["cca"].unique()) == "mix" else "CCA"
    step = max(1, MAX_VALUE_COLUMNS // len(ip_versions))
    tables = []
    for part in (across[start : start + step] for start in range(0, len(across), step)):
        rows = []
        for row_key, name, detail in down:
            keys = [(row_key, key) if scenarios_down else (key, row_key) for key, *_ in part]
            cells = [number(mean.get((*key, ip))) for key in keys for ip in ip_versions]
            rows.append({"heading": name, "detail": detail, "cells": cells})
        groups, words = [name for _, name, _ in part], [ip_words(ip) for ip in ip_versions]
        row_name = "Scenario" if scenarios_down else name_of_ccas
        tables.append({"row_name": row_name, "groups": groups, "ip_versions": words, "rows": rows})
    return tables


def descriptive_groups(descriptive, scenarios, metric) -> tuple[list[dict], list[str]]:
    """Return all statistics of one metric, grouped by scenario, and the notes about them.

    A group is a dict of heading, conditions and rows (cca, ip, n, mean, worst, interval, median, sd, range, w, p, mark). A mark is the
    number of a note, counted from 1.
    """
    table = descriptive[descriptive["metric"] == metric.column]
    notes = [note for note in dict.fromkeys(table["note"]) if note]
    groups = []
    for scenario in scenarios.to_dict("records"):
        cells = table[table["scenario"] == scenario["scenario"]].to_dict("records")
        rows = [_statistics(cell, metric, notes) for cell in cells]
        groups.append({"heading": heading(scenario), "conditions": conditions(scenario), "rows": rows})
    return groups, notes


def n_words(values, worth) -> str:
    """Return the number of values in words: "4", or "1 (4 copies)" if the values repeat one measurement (``worth`` is 1)."""
    return f"1 ({number(values, 0)} copies)" if values > 1 and worth == 1 else number(values, 0)


PAIRS = shown_cell("Pairs (n)", lambda row: Cell(n_words(row["pairs"], row["n"]), row["pairs"]), "number")


def _statistics(row, metric, notes):
    decimals = 0 if metric.count else decimals_for(row["mean"])
    low, high = number(row["min"], decimals), number(row["max"], decimals)
    return {
        "cca": row["cca"],
        "ip": ip_words(row["ip_version"]),
        "n": n_words(row["n"], row["measurements"]) + (f" of {row['runs']}" if 0 < row["n"] < row["runs"] else ""),
        "worst": number(row["mean_worst"]),
        "mean": number(row["mean"]),
        "interval": interval_words(row["ci_low"], row["ci_high"], row["mean"]),
        "median": number(row["median"]),
        "sd": number(row["sd"]),
        "range": NONE if is_missing(row["min"]) else f"{low} to {high}",
        "w": number(row["shapiro_w"], 3),
        "p": p_value(row["shapiro_p"]),
        "mark": notes.index(row["note"]) + 1 if row["note"] else None,
    }
