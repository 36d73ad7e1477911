"""The section on variance: how much of each metric's variance is due to factors, interactions and chance."""

from report_parts.cells_table import cells_table, shown_cell, shown_number, shown_text
from report_parts.data_tables import Cell, minus
from report_parts.hypothesis_cells import METRIC, NOTE
from report_parts.material import Finding
from run_tables.metrics import METRICS
from run_tables.run_keys import CELL
from topics.variance.tables import CHANCE, HIGHER, INTERACTION, JOINED
from wording.number_format import NONE, is_missing, number
from wording.sentence_words import listed

#: A sentence names only parts with at least this share in percent and an interval above 0, and at most this number of parts.
NAMED_FROM, NAMED = 5.0, 3


def _interval_cell(row):
    low, high = row["approximate_low_percent"], row["approximate_high_percent"]
    return Cell(NONE) if is_missing(low) else Cell(minus(f"{number(low, 2)} to {number(high, 2)}"), low)


SHOWN = (
    METRIC, shown_text("Part", "part", empty="none", header=True),
    shown_text("Kind", "kind", empty=NONE, filtered=True), shown_number("df", "df", 0),
    shown_number("Share, %", "share_percent", 2), shown_cell("Approximate interval", _interval_cell, "number"),
    shown_number("Cells", "cells", 0), shown_text("Values as", "taken_as", kind="short"), NOTE,
)  # fmt: skip


def section(material) -> dict:
    """Return the table of parts."""
    caption, first = "Parts of each metric's variance", {"Metric": METRICS[0].name}
    return {"parts": cells_table("variance-parts", caption, material.tables.variance, SHOWN, initial=first)}


def findings(material) -> list[Finding]:
    """Return a finding about the sources of variance of the first metric that varies."""
    variance, cells = material.tables.variance, len(material.tables.runs.drop_duplicates(CELL))
    for metric in METRICS:
        parts = variance[(variance["metric"] == metric.column) & variance["share_percent"].notna()]
        if len(parts):
            return [Finding("Variance", variance_sentence(parts, metric.name, cells), "variance")]
    return []


def variance_sentence(parts, name, cells) -> str:
    """Name the parts that are known to contribute to a metric's variance, and the share due to chance.

    A part whose interval contains 0 isn't named: in almost half of all studies with six replications and nothing but chance, the estimate for
    some part is at least `NAMED_FROM`.

    Parameters
    ----------
    parts : pandas.DataFrame
        The metric's rows of `VARIANCE`.
    name : str
        Name of the metric.
    cells : int
        Number of the study's cells, including those of scenarios that were left out.
    """
    taken_as, used = parts["taken_as"].iloc[0], int(parts["cells"].iloc[0])
    of = f"the variance of {name.lower()}{'' if taken_as == 'value' else f' (of its {taken_as})'}"
    over = "all cells and runs" if used == cells else f"the runs of {used:,} of {cells:,} cells"
    chance = parts[parts["kind"] == CHANCE]
    if chance.empty or parts["approximate_low_percent"].isna().all():
        return f"There are too few replications to show how much of {of} over {over} is due to chance, and how much to anything else."
    systematic = parts[parts["kind"] != CHANCE].sort_values("share_percent", ascending=False, kind="stable")
    is_known = (systematic["share_percent"] >= NAMED_FROM) & (systematic["approximate_low_percent"] > 0)
    words = [
        f"{_percent(row['share_percent'])} is explained by {_source(row)}"
        for row in systematic[is_known].head(NAMED).to_dict("records")
    ]
    words = (
        [words[0], *(text.replace(" is explained", "") for text in words[1:])]
        if words
        else [f"no part of at least {NAMED_FROM:g} % can be distinguished from chance"]
    )
    return f"Of {of} over {over}, {listed(words)}; {_percent(chance['share_percent'].sum())} is random variation between runs."


def _percent(share) -> str:
    if share >= 99.95:  # an estimate may exceed 100 if the estimate for another part is below 0
        return "all"
    return f"{number(max(share, 0), 1)} %" if share >= 0.1 else "less than 0.1 %"


def _source(row) -> str:
    if row["kind"] == HIGHER:
        return "interactions of three or more factors"
    together = " together" if row["kind"] == INTERACTION else ""
    return listed(row["part"].split(JOINED)) + together
