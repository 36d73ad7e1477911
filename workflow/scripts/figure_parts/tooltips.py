"""Tooltips of marks, which name a run or cell and show its numbers. They are stored in the SVG for the page's script.

`tell` is for marks with known values: the marks of a line, a tile, or bars that form one path. `tell_line` is for a curve: the script
computes the values from positions on the axes. Tooltips don't change a figure in print or without the script.
"""

import numpy as np
from matplotlib.lines import Line2D

from wording.number_format import interval_words, is_missing, number
from wording.scenario_words import ip_words

#: Maximum number of marks in a figure with tooltips; with more marks, tooltips would make the page too large.
MOST_MARKS = 5_000
_BETWEEN = "|"
_POINTS_AN_INCH = 72


def tell(artist, texts, name="") -> None:
    """Set the tooltips of an artist's marks.

    Parameters
    ----------
    artist : matplotlib.artist.Artist
        A line with marks, or a patch; each part of a compound path is a mark.
    texts : list of str
        One text per mark, in the order of the marks.
    name : str
        Name of the cell, CCA or other subject that the marks describe; it precedes each text.

    Raises
    ------
    ValueError
        If the number of texts isn't the number of a line's finite points.
    """
    if isinstance(artist, Line2D):
        shown = int(np.isfinite(np.asarray(artist.get_xydata(), float)).all(axis=1).sum())
        if shown != len(texts):
            raise ValueError(f"{len(texts)} texts for {shown} marks; expected: one text for each drawn mark")
    joined = _BETWEEN.join(text.replace(_BETWEEN, "¦") for text in texts)
    _note(artist, {"data-name": name, "data-told": joined}, len(texts))


def tell_line(line, name, x_unit="", y_unit="") -> None:
    """Set the tooltip of a line: the coordinates of each of its points, in the units of the axes."""
    _note(line, {"data-name": name, "data-curve": f"{x_unit}{_BETWEEN}{y_unit}"}, 0)


def value_words(value, low=None, high=None, unit="", n=None) -> str:
    """Return a number as text for a tooltip, with the interval and the number of runs if they are known.

    Examples
    --------
    >>> value_words(9.317, 9.1, 9.5, "Mbit/s", 4)
    '9.317 Mbit/s (9.100 to 9.500), n = 4'
    """
    ends = "" if low is None or is_missing(low) else f" ({interval_words(low, high, value)})"
    runs = "" if n is None or is_missing(n) else f", n = {number(n, 0)}"
    return f"{number(value)}{f' {unit}' if unit else ''}{ends}{runs}"


def cell_name(rows) -> str:
    """Return the name of the cell to which the rows of a table belong; empty if there are no rows."""
    return f"{rows[0]['scenario']}, {rows[0]['cca']}, {ip_words(rows[0]['ip_version'])}" if rows else ""


def run_words(row, words) -> str:
    """Return the tooltip text of a run's mark; the name of the run's cell precedes this text."""
    return f"replication {number(row['replication'], 0)}: {words}"


def _note(artist, attributes, marks):
    notes = artist.get_figure().__dict__.setdefault("tooltips", [])
    artist.set_gid(f"told-{len(notes) + 1}")
    notes.append((artist, attributes, marks))


def tooltip_attributes(figure) -> dict[str, dict[str, str]]:
    """Return the tooltip attributes of a figure: identifier of the SVG group -> attributes; empty if the figure has too many marks."""
    notes = figure.__dict__.get("tooltips", [])
    if sum(marks for _, _, marks in notes) > MOST_MARKS:
        return {}
    of_groups = {}
    for artist, attributes, _ in notes:
        if "data-curve" in attributes:
            places = _places(artist.axes)
            if places is None:
                continue
            units = attributes["data-curve"].split(_BETWEEN)
            ends = (f"{place}{_BETWEEN}{unit}" for place, unit in zip(places, units, strict=True))
            attributes = attributes | dict(zip(("data-x", "data-y"), ends, strict=True))
        of_groups[artist.get_gid()] = {name: text for name, text in attributes.items() if name != "data-curve" and text}
    return of_groups


def _places(axes):
    """Return the scale of each axis and the SVG coordinates of its ends; None unless both axes are linear or logarithmic."""
    if not {axes.get_xscale(), axes.get_yscale()} <= {"linear", "log"}:
        return None
    figure = axes.get_figure()
    corners = axes.transData.transform(np.column_stack([axes.get_xlim(), axes.get_ylim()]))
    points = corners * _POINTS_AN_INCH / figure.dpi
    points[:, 1] = figure.get_figheight() * _POINTS_AN_INCH - points[:, 1]
    return tuple(
        _BETWEEN.join([scale, *(f"{value:.10g}{_BETWEEN}{place:.2f}" for value, place in zip(ends, row, strict=True))])
        for scale, ends, row in zip(
            (axes.get_xscale(), axes.get_yscale()), (axes.get_xlim(), axes.get_ylim()), points.T, strict=True
        )
    )
