"""The section that compares IPv6 with IPv4: cells with their verdicts, and tests over all cells."""

from report_parts.cells_table import CCA_KEY, shown_cell, shown_number, shown_p, shown_signed, shown_text
from report_parts.data_tables import Cell, effect_cells, size
from report_parts.hypothesis_cells import ALIKE, DIFFERS, EFFECT, ESTIMATE, METRIC_NAMES, OPEN, TEST, tests_table
from report_parts.material import Finding
from run_tables.metrics import METRICS
from topics.cells.page_tables import PAIRS
from topics.ip_version.sentences import ip_version_sentence
from topics.ip_version.tables import BY_SCENARIO, METHODS
from topics.ip_version.verdicts import APART, VERDICTS, WITH_APART
from wording.number_format import NONE, count, is_missing, number, plain
from wording.sentence_words import cca_name, p_words


def section(material) -> dict:
    """Return the tables that compare IPv6 with IPv4, and the meaning of each verdict."""
    tables, caption = material.tables, "IPv6 compared with IPv4 in each cell"
    return {
        "cells": tests_table("ip-versions", caption, tables.ip_versions, tables.scenarios, SHOWN),
        "legend": _legend(tables.ip_versions["verdict"].unique()),
        "repeated": _repeated_words(tables.ip_versions),
        "header_margin": plain(material.params["analysis"]["equivalence_margin"]["header_percent"]),
        "overall": _overall_rows(tables.ip_overall),
        "methods": METHODS,
    }


def _legend(verdicts) -> list[dict]:
    """Return a table's legend: the meaning and style of each verdict that occurs in the table."""
    plain_verdicts = {name.removesuffix(WITH_APART) for name in verdicts}
    rows = [
        {"verdict": name, "meaning": meaning, "style": _verdict_style(name)}
        for name, meaning in VERDICTS.items()
        if name in plain_verdicts
    ]
    if plain_verdicts != set(verdicts):
        rows.append({"verdict": f"...{WITH_APART}", "meaning": APART, "style": OPEN})
    return rows


def _repeated_words(table) -> str:
    """Report in how many cells some pairs are outliers, the header explains the difference, or all pairs have the same values.

    The result is "" if there are no pairs in any cell.
    """
    cells = table[(table["metric"] == METRICS[0].column) & (table["pairs"] > 0)]
    if cells.empty:
        return ""
    several = cells[cells["pairs"] > 1]
    copies = int((several["n"] == 1).sum())
    apart = int((cells["apart_pairs"] > 0).sum())
    possible, pairs = cells["apart_possible_percent"].min(), number(cells["pairs"].max(), 0)
    text = (
        f"{f'{apart:,} of {len(cells):,} cells' if apart else 'No cell'} {'has' if apart <= 1 else 'have'} pairs whose difference in "
        f"goodput is an outlier; with {pairs} pairs, a share of outliers of up to {number(possible, 0)} % can't be ruled out."
    )
    if (cells["as_expected"] != "").any():
        shown, denied = (int((cells["as_expected"] == answer).sum()) for answer in ("yes", "no"))
        text += f" The header is shown to explain the difference in {count(shown, 'cell')}, and shown not to explain it in {denied:,}."
    if copies:
        text += f" In {count(copies, 'cell')}, all pairs have the same goodputs within the measurement's resolution, so they count as one pair."
    return text


def _verdict_style(verdict) -> str:
    """Return the style of a verdict on the IP versions."""
    if verdict.startswith(("differs", "one measurement, beyond")):
        return DIFFERS
    return ALIKE if verdict in ("equivalent", "one measurement, same", "one measurement, within the margin") else OPEN


def _margin_cell(row, column) -> Cell:
    """Return a cell with the size of a difference in either direction: "±1.4 %"."""
    if is_missing(row[column]):
        return Cell(NONE)
    text = size(row[column])
    sign = "" if text.startswith("<") else "±"
    return Cell(f"{sign}{text} {row['effect_unit']}", row[column])


def _apart_cell(row) -> Cell:
    """Return a cell that says how many IPv4 runs and IPv6 runs are outliers: "0 and 2 of 10"."""
    if is_missing(row["apart_ipv4"]):
        return Cell(NONE)
    counts = f"{number(row['apart_ipv4'], 0)} and {number(row['apart_ipv6'], 0)} of {number(row['pairs'], 0)}"
    return Cell(counts, row["apart_pairs"])


def _needed_cell(row) -> Cell:
    """Return a cell with the number of pairs that are needed and the range of this number: "34 (6 to 420)"."""
    if is_missing(row["pairs_needed"]) and is_missing(row["pairs_needed_low"]):
        return Cell(NONE)
    texts = {
        name: "> 10,000" if is_missing(row[name]) else number(row[name], 0)
        for name in ("pairs_needed", "pairs_needed_low", "pairs_needed_high")
    }
    text = f"{texts['pairs_needed']} ({texts['pairs_needed_low']} to {texts['pairs_needed_high']})"
    return Cell(text, None if is_missing(row["pairs_needed"]) else row["pairs_needed"])


SHOWN = (
    CCA_KEY,
    shown_cell("Verdict", lambda row: Cell(row["verdict"], style=_verdict_style(row["verdict"])), filtered=True), PAIRS,
    shown_cell("Outliers", _apart_cell, "number"), shown_number("IPv4", "mean_ipv4"),
    shown_number("IPv6", "mean_ipv6"), *EFFECT, ESTIMATE, shown_signed("Rank-biserial", "rank_biserial", 2), TEST,
    shown_p("p", "p"), shown_p("p, Holm", "p_holm"), shown_p("p, BH", "p_bh"),
    shown_text("Header's effect", "as_expected", empty=NONE, filtered=True),
    shown_cell("Equivalent from", lambda row: _margin_cell(row, "smallest_margin"), "number"),
    shown_cell("Detectable", lambda row: _margin_cell(row, "detectable"), "number"),
    shown_cell("Pairs needed", _needed_cell, "number"),
)  # fmt: skip


def _overall_rows(overall) -> dict[str, list]:
    """Return the table of tests over the entire study: methods (the headings), rows and notes."""
    methods, notes = list(overall["method"].unique()), [note for note in overall["note"].unique() if note]
    rows = []
    for (metric, cca, null), group in overall.groupby(["metric", "cca", "null"], sort=False):
        by_method = {row["method"]: _overall_cell(row, notes) for row in group.to_dict("records")}
        not_made = {"p": "not made", "detail": "", "mark": None}
        cells = [by_method.get(method, not_made) for method in methods]
        name = METRIC_NAMES.get(metric, metric)
        rows.append({"metric": f"{name}, {cca_name(cca)}" if cca else name, "null": null, "cells": cells})
    return {"methods": methods, "rows": rows, "notes": notes}


def _overall_cell(row, notes):
    detail = f"{number(row['n_ipv4'], 0)} and {number(row['n_ipv6'], 0)} runs"
    effect = ""
    p = row["p"]
    if row["method"] == BY_SCENARIO:
        detail, p = count(int(row["scenarios"]), "scenario"), row["p_holm"]
        if not is_missing(row["ci_low"]):
            low, high = effect_cells(row)
            effect = f"{low.text} ({high.text}), {row['within']} ±{plain(row['margin'])} {row['effect_unit']}"
    return {
        "p": "no test" if is_missing(p) else p_words(p),
        "detail": "; ".join(filter(None, [row["direction"], effect, detail])),
        "mark": notes.index(row["note"]) + 1 if row["note"] else None,
    }


def findings(material) -> list[Finding]:
    """Return a finding about the effect of the IP version."""
    sentence = "No run is valid, so IPv4 and IPv6 can't be compared."
    if material.tables.runs["valid"].any():
        sentence = ip_version_sentence(material.tables, material.params["significance"])
    return [Finding("IP version", sentence, "ip-version")]
