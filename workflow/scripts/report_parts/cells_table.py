"""Tables on the page, made from declared lists of columns.

A section declares its tables once, under the names that its template uses::

    SHOWN = (SCENARIO, CCA, IP_VERSION, N, shown_number("Goodput, %", "goodput_percent", 1))
    TABLES = {"table": PageTable("policer-cells", "Loss and goodput behind policers", "policer_cells", SHOWN)}
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import pandas as pd

from report_parts.data_tables import Cell, PageColumn, data_table, interval_cell, number_cell, p_cell, signed_cell
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name


@dataclass(frozen=True)
class Shown:
    """A column of a table on the page, and the function that makes a cell of the column (`Cell` or text) from a row."""

    column: PageColumn
    cell: Callable[[dict], Cell | str]
    reads: tuple[str, ...] = ()  # columns of the analysis table from which cells are made; empty for custom cells


def shown_text(heading, name, words=None, empty="", kind="text", filtered=False, header=False) -> Shown:
    """Return a column of texts: the values, or the results of the function `words` for the values; `empty` replaces an empty text."""

    def cell(row):
        return (words(row[name]) if words else row[name]) or empty

    return Shown(PageColumn(heading, kind, filtered, header), cell, (name,))


def shown_number(heading, name, decimals=None, unit="", filtered=False, header=False) -> Shown:
    """Return a column of numbers; if `decimals` is None, the number of decimals is chosen for each number separately."""
    column = PageColumn(heading, "number", filtered, header)
    return Shown(column, lambda row: number_cell(row[name], decimals, unit), (name,))


def shown_interval(heading, name, decimals) -> Shown:
    """Return a column of intervals, whose ends are in the columns ``<name>_low`` and ``<name>_high``."""
    low, high = f"{name}_low", f"{name}_high"
    return Shown(PageColumn(heading, "short"), lambda row: interval_cell(row[low], row[high], decimals), (low, high))


def shown_signed(heading, name, decimals=None) -> Shown:
    """Return a column of differences with their signs."""
    return Shown(PageColumn(heading, "number"), lambda row: signed_cell(row[name], decimals), (name,))


def shown_p(heading, name) -> Shown:
    """Return a column of p-values."""
    return Shown(PageColumn(heading, "number"), lambda row: p_cell(row[name]), (name,))


def shown_cell(heading, cell, kind="text", filtered=False, header=False) -> Shown:
    """Return a column of custom cells, which `cell` makes from a row."""
    return Shown(PageColumn(heading, kind, filtered, header), cell)


@dataclass(frozen=True)
class PageTable:
    """The declaration of a table in a section: identifier, caption, the analysis table that it shows, and columns."""

    identifier: str
    caption: str
    table: str
    shown: tuple[Shown, ...]

    def of(self, material) -> dict:
        """Return the table for the page, made from a `ReportMaterial`."""
        table = getattr(material.tables, self.table)
        return cells_table(self.identifier, self.caption, table, self.shown, material.design)


#: Columns that identify a cell, and the column with its number of runs.
SCENARIO = shown_text("Scenario", "scenario_label", filtered=True, header=True)
CONDITIONS = shown_text("Conditions", "conditions", filtered=True)
CCA = shown_text("CCA", "cca", cca_name, filtered=True)
IP_VERSION = shown_text("IP version", "ip_version", ip_words, filtered=True)
N = shown_number("n", "n", 0)
#: Shorter versions of the columns CCA and IP version, for tables with many columns.
CCA_KEY = shown_text("CCA", "cca", filtered=True)
IP_KEY = shown_text("IP", "ip_version", ip_words, filtered=True)


def cells_table(
    identifier: str,
    caption: str,
    table: pd.DataFrame | Iterable[dict],
    shown: Iterable[Shown],
    design=None,
    without: Collection[str] = (),
    initial: dict[str, str] | None = None,
) -> dict:
    """Return the template variables of a table, as `data_table` does.

    Raises `ValueError` if a column that is shown is missing from `table`.

    Parameters
    ----------
    identifier, caption, initial
        As in `data_table`.
    table : pandas.DataFrame or iterable of dict
        Rows of the table.
    shown : iterable of Shown
        Columns of the table, in order.
    design : StudyDesign, optional
        If the study doesn't compare IP versions, columns that show ``ip_version`` are omitted.
    without : collection of str
        Columns of `table`; columns of the page that show any of them are omitted.
    """
    without = {*without, *(() if design is None or design.ip_versions_compared else ("ip_version",))}
    shown = [one for one in shown if not without.intersection(one.reads)]
    rows = table.to_dict("records") if isinstance(table, pd.DataFrame) else list(table)
    names = table.columns if isinstance(table, pd.DataFrame) else rows[0] if rows else None
    for one in shown:
        unknown = [] if names is None else [name for name in one.reads if name not in names]
        if unknown:
            raise ValueError(
                f"table {identifier}: '{one.column.heading}' shows the column {', '.join(unknown)}, which the table doesn't have; "
                f"its columns are {', '.join(names)}"
            )
    cells = [[one.cell(row) for one in shown] for row in rows]
    return data_table(identifier, caption, [one.column for one in shown], cells, initial)
