"""Tables that readers can sort and filter on the page, without a server.

A table is complete in plain HTML, in the study's order; the page's script adds sorting and filters. A table with more than `MAX_PLAIN_ROWS`
rows would slow down the page. The HTML of such a table contains only the first rows. For the script, the page contains all rows in the
compressed form that it also uses for downloads.
"""

import base64
import gzip
import json
from dataclasses import dataclass

from wording.number_format import NONE, decimals_for, is_missing, number, p_value

MAX_PLAIN_ROWS = 400
FIRST_ROWS = 100
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class PageColumn:
    """A column of a table on the page."""

    heading: str
    #: "text" (on one line), "number" (aligned right, sorted by value), "short", "words" or "note" (text on several lines, from narrow to
    #: wide).
    kind: str = "text"
    filtered: bool = False  # whether readers can filter the rows by the values in the column
    header: bool = False  # whether the column's cells are row headers


@dataclass(frozen=True)
class Cell:
    """A cell: its text, its sort key if it differs from the text, and a class for the style sheet."""

    text: str
    value: float | int | str | None = None
    style: str = ""


def data_table(identifier, caption, columns, rows, initial=None) -> dict:
    """Return the template variables of a table.

    The keys are ``id``, ``caption``, ``columns``, ``initial``, ``rows`` (the rows in the HTML), ``total`` (total number of rows) and
    ``packed`` (all rows, compressed, or None if the HTML contains all rows).

    Parameters
    ----------
    identifier : str
        Identifier, unique on the page.
    columns : list of PageColumn
        Columns of the table, in order.
    rows : list of list
        A `Cell` or a text for each column; a row of a different length raises ValueError.
    initial : dict of str to str, optional
        Heading of a filtered column -> value selected when the page opens.
    """
    rows = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"table {identifier}: {len(row)} cells for {len(columns)} columns")
    # If a value that occurs in no row were selected, the table would be empty.
    chosen = {
        column.heading: (initial or {}).get(column.heading, "")
        for place, column in enumerate(columns)
        if any(row[place].text == (initial or {}).get(column.heading) for row in rows)
    }
    long = len(rows) > MAX_PLAIN_ROWS
    return {
        "id": identifier,
        "caption": caption,
        "columns": columns,
        "initial": chosen,
        "rows": rows[:FIRST_ROWS] if long else rows,
        "total": len(rows),
        "packed": _pack(rows) if long else None,
    }


def _pack(rows) -> str:
    """Return rows of `Cell` as compressed JSON in base64; a cell becomes its text or [text, value, style]."""
    compact = [
        [
            cell.text if cell.value is None and not cell.style
            else [cell.text, cell.value, cell.style]
            for cell in row
        ]
        for row in rows
    ]  # fmt: skip
    text = json.dumps(compact, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode("ascii")


def number_cell(value, decimals=None, unit="") -> Cell:
    """Return a cell with a rounded number and the exact number as its sort key; a dash if the number is missing."""
    if is_missing(value):
        return Cell(NONE)
    return Cell(minus(number(value, decimals)) + unit, round_trip(value))


def interval_cell(low, high, decimals) -> Cell:
    """Return a cell with an interval and the lower end as its sort key; a dash if the interval is missing."""
    if is_missing(low):
        return Cell(NONE)
    return Cell(minus(f"{number(low, decimals)} to {number(high, decimals)}"), float(low))


def p_cell(value) -> Cell:
    """Return a cell with a p-value."""
    return Cell(NONE) if is_missing(value) else Cell(p_value(value), round_trip(value))


def round_trip(value) -> int | float:
    """Return a number in the form used in JSON and in attributes: an int if the number is whole, otherwise a float."""
    return int(value) if float(value).is_integer() else float(value)


def minus(text) -> str:
    """Return the text of a number with a true minus sign instead of a hyphen."""
    return text.replace("-", MINUS)


def signed(value, decimals=None) -> str:
    """Return a difference with its sign: "+0.3", "−1.38", "0"."""
    if is_missing(value):
        return NONE
    text = number(value, _effect_decimals(value) if decimals is None else decimals)
    if float(text.replace(",", "")) == 0:
        return text.removeprefix("-")  # no sign if the difference is rounded to 0
    return minus(text) if value < 0 else f"+{text}"


def signed_cell(value, decimals=None) -> Cell:
    """Return a cell with a signed difference and the exact difference as its sort key; a dash if the difference is missing."""
    return Cell(NONE) if is_missing(value) else Cell(signed(value, decimals), value)


def size(value) -> str:
    """Return the magnitude of a difference as text, without a sign: "1.4", "< 0.001"."""
    if is_missing(value):
        return NONE
    return "< 0.001" if 0 < value < 0.0005 else number(value, shared_decimals(value))


def _effect_decimals(value) -> int:
    """Return the number of decimals that shows a difference to three significant digits."""
    return max(0, decimals_for(value) - 1)


def effect_cells(row, estimate="effect", low="ci_low", high="ci_high") -> tuple[Cell, Cell]:
    """Return two cells for a row: the difference with its unit, and the interval of the difference; a dash for a missing value."""
    value = row[estimate]
    if is_missing(value):
        return Cell(NONE), Cell(NONE)
    unit = row["effect_unit"]
    decimals = shared_decimals(value, row[low], row[high])
    shown = Cell(f"{signed(value, decimals)} {unit}", round_trip(value))
    if is_missing(row[low]) or is_missing(row[high]):
        return shown, Cell(NONE)
    ends = f"{signed(row[low], decimals)} to {signed(row[high], decimals)}"
    return shown, Cell(ends, round_trip(row[low]))


def shared_decimals(*values) -> int:
    """Return the common number of decimals for a difference and its interval, chosen for the largest absolute value."""
    known = [abs(value) for value in values if not is_missing(value)]
    return min(3, _effect_decimals(max(known))) if known else 0
