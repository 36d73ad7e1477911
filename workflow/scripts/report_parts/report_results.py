"""Tables of the tests, as the page shows them: each row with its numbers, n and note."""

from number_format import NONE, is_missing, number, p_value, plain
from report_parts.report_data_tables import (
    Cell,
    Column,
    data_table,
    effect_cells,
    number_cell,
    p_cell,
    shared_decimals,
    signed,
    size,
)  # fmt: skip
from run_tables.metrics import METRICS
from scenario_words import ip_words

METRIC_NAMES = {metric.column: metric.name for metric in METRICS}
# What each verdict looks like; the style sheet adds a sign, so that colour isn't needed to tell.
DIFFERS, ALIKE, OPEN = "verdict differs", "verdict alike", "verdict open"


class Scenarios:
    """Cells that name a scenario: sorted in the study's order, shown by label."""

    def __init__(self, scenarios):
        self.places = {name: place for place, name in enumerate(scenarios["scenario"])}

    def cell(self, row):
        """Return the cell of a row with scenario and scenario_label."""
        return Cell(row["scenario_label"], self.places.get(row["scenario"], len(self.places)))


def metric_cell(row):
    """Return a cell with the metric's name and unit, sorted in the report's order."""
    names = list(METRIC_NAMES)
    place = names.index(row["metric"]) if row["metric"] in names else len(names)
    return Cell(METRIC_NAMES.get(row["metric"], row["metric"]), place)


def mean_cells(row, *columns):
    """Return cells with means of one metric, which share their decimals."""
    return [number_cell(row[column]) for column in columns]


def first_metric(table):
    """Return which metric a table shows at first."""
    return {"Metric": METRICS[0].name} if table["metric"].nunique() > 1 else {}


def place_words(ip_versions):
    """Return where the CCAs of a column's rows meet: "scenario and IP version", or "scenario" if it has one IP version."""
    return "scenario and IP version" if ip_versions.nunique() > 1 else "scenario"


def cca_tests_table(ccas, scenarios):
    """Return the table of tests over all CCAs, a row for each metric, scenario and IP version."""
    columns = [
        Column("Metric", filtered=True),
        Column("Scenario", filtered=True, header=True),
        Column("IP", filtered=True),
        Column("CCAs", "number"),
        Column("Blocks (n)", "number"),
        Column("Test", filtered=True),
        Column("Statistic", "number"),
        Column("p", "number"),
        Column("p, Holm", "number"),
        Column("Kendall's W", "number"),
        Column("Note", "note"),
    ]
    places = Scenarios(scenarios)
    rows = [
        [
            metric_cell(row),
            places.cell(row),
            ip_words(row["ip_version"]),
            number_cell(row["ccas"], 0),
            number_cell(row["blocks"], 0),
            row["test"] or "none",
            number_cell(row["statistic"]),
            p_cell(row["p"]),
            p_cell(row["p_holm"]),
            number_cell(row["kendall_w"], 2),
            row["note"],
        ]
        for row in ccas.to_dict("records")
    ]
    caption = f"Do the CCAs differ? One test over all of them in each {place_words(ccas['ip_version'])}"
    return data_table("cca-tests", caption, columns, rows, first_metric(ccas))


def cca_pairs_table(pairs, scenarios, significance):
    """Return the table of CCA pairs, a row for each metric, scenario, IP version and pair."""
    columns = [
        Column("Metric", filtered=True),
        Column("Scenario", filtered=True, header=True),
        Column("IP", filtered=True),
        Column("CCA", filtered=True),
        Column("Against", filtered=True),
        Column("Pairs (n)", "number"),
        Column("Mean", "number"),
        Column("Other's mean", "number"),
        Column("Difference", "number"),
        Column("Interval", "number"),
        Column("Hodges-Lehmann", "number"),
        Column("Cliff's delta", "number"),
        Column("Test", filtered=True),
        Column("p, Holm", "number"),
        Column("Differs", filtered=True),
        Column("Note", "note"),
    ]
    places, rows = Scenarios(scenarios), []
    for row in pairs.to_dict("records"):
        difference, interval = effect_cells(row)
        rows.append(
            [
                metric_cell(row),
                places.cell(row),
                ip_words(row["ip_version"]),
                row["cca_a"],
                row["cca_b"],
                number_cell(row["pairs"], 0),
                *mean_cells(row, "mean_a", "mean_b"),
                difference,
                interval,
                estimate_cell(row),
                Cell(signed(row["cliffs_delta"], 2), row["cliffs_delta"])
                if not is_missing(row["cliffs_delta"])
                else Cell(NONE),
                row["test"] or "none",
                p_cell(row["p_holm"]),
                yes_no(row["p_holm"], significance),
                row["note"],
            ]
        )
    caption = f"Pairs of CCAs: the first against the other, in each {place_words(pairs['ip_version'])}"
    return data_table("cca-pairs", caption, columns, rows, first_metric(pairs))


def estimate_cell(row):
    """Return a cell with the Hodges-Lehmann estimate and its interval."""
    if is_missing(row["hl"]):
        return Cell(NONE)
    decimals = shared_decimals(row["hl"], row["hl_low"], row["hl_high"])
    text = signed(row["hl"], decimals)
    if not is_missing(row["hl_low"]) and not is_missing(row["hl_high"]):
        text += f" ({signed(row['hl_low'], decimals)} to {signed(row['hl_high'], decimals)})"
    return Cell(text, row["hl"])


def yes_no(p, significance):
    """Return whether a test found a difference, as a cell."""
    if is_missing(p):
        return Cell("not tested", style=OPEN)
    return Cell("yes", style=DIFFERS) if p < significance else Cell("not shown", style=OPEN)


def verdict_style(verdict):
    """Return the look of a verdict on the IP versions."""
    if verdict.startswith(("differs", "constant difference")):
        return DIFFERS
    return ALIKE if verdict.startswith(("equivalent", "same")) else OPEN


def ip_versions_table(table, scenarios):
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


def margin_cell(row, column):
    """Return a cell with a size in either direction: "±1.4 %"."""
    if is_missing(row[column]):
        return Cell(NONE)
    text = size(row[column])
    sign = "" if text.startswith("<") else "±"
    return Cell(f"{sign}{text} {row['effect_unit']}", row[column])


def overall_rows(overall):
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
                    "p": "no test" if is_missing(row["p"]) else _p_words(row["p"]),
                    "detail": "; ".join(filter(None, [row["direction"], detail])),
                    "mark": notes.index(row["note"]) + 1 if row["note"] else None,
                }
            )
        rows.append({"metric": METRIC_NAMES.get(metric, metric), "null": null, "cells": cells})
    return {"methods": methods, "rows": rows, "notes": notes}


def _p_words(value):
    text = p_value(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def printed_tables(tables, paper):
    """Return what a paper prints in its tables 3 and 5, to stand beside this study's rows.

    Parameters
    ----------
    tables : namespace
        ``pooled`` and ``pooled_tests``.
    paper : dict or None
        A claims file's ``paper``.

    Returns
    -------
    dict or None
        pooled, tests: a dict of texts for each row of these tables, None for a row of which nothing
        is printed, None for the whole if there is no other; pooled_remark, tests_remark. None if
        the paper's values aren't given.
    """
    printed = (paper or {}).get("tables")
    if not printed:
        return None
    runs = number(printed["runs_per_ip_version"], 0)
    table_3, table_5 = printed.get("table_3", {}), printed.get("table_5", {})
    pooled = [
        _printed_row(table_3.get(row["metric"], {}).get(row["ip_version"]), runs)
        for row in tables.pooled.to_dict("records")
    ]
    tests = [
        _printed_row(table_5.get(row["metric"]), f"{runs} and {runs}")
        for row in tables.pooled_tests.to_dict("records")
    ]
    return {
        "pooled": pooled if any(pooled) else None,
        "tests": tests if any(tests) else None,
        "pooled_remark": table_3.get("remark", ""),
        "tests_remark": table_5.get("remark", ""),
    }


def _printed_row(values, runs):
    # As many digits as the paper has, not as many as our own numbers are shown with.
    return values and {"n": runs} | {
        key: value if isinstance(value, str) else plain(value) for key, value in values.items()
    }
