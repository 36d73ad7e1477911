"""What marks tell who points at them: their run or cell and its numbers, carried in the SVG for the page's script.

`tell` is for what stands in one place: the marks of a line, a tile, the bars of one path. `tell_line` is for a curve, whose
numbers the script reads off its axes. Printed, or without the script, a figure is as without.
"""

import numpy as np
from matplotlib.lines import Line2D

from wording.number_format import interval_words, is_missing, number
from wording.scenario_words import ip_words

#: Figures of more marks say nothing of each: the page would be too large.
MOST_MARKS = 5_000
_BETWEEN = "|"
_POINTS_AN_INCH = 72


def tell(artist, texts, name="") -> None:
    """Say what the marks of an artist are.

    Parameters
    ----------
    artist : matplotlib.artist.Artist
        A line whose marks are meant, or a patch: of a compound path each part is a mark.
    texts : list of str
        One a mark, in their order.
    name : str
        What all of them are of; stands before each text.
    """
    if isinstance(artist, Line2D):
        shown = int(np.isfinite(np.asarray(artist.get_xydata(), float)).all(axis=1).sum())
        if shown != len(texts):
            raise ValueError(f"{len(texts)} texts for {shown} marks that are drawn; expected is one each")
    joined = _BETWEEN.join(text.replace(_BETWEEN, "¦") for text in texts)
    _note(artist, {"data-name": name, "data-told": joined}, len(texts))


def tell_line(line, name, x_unit="", y_unit="") -> None:
    """Say what a line is; at each of its places the numbers are those of its axes, in their units."""
    _note(line, {"data-name": name, "data-curve": f"{x_unit}{_BETWEEN}{y_unit}"}, 0)


def value_words(value, low=None, high=None, unit="", n=None) -> str:
    """Return a number as a mark tells it, with its interval and how many runs it is of, as far as these are known.

    Examples
    --------
    >>> value_words(9.317, 9.1, 9.5, "Mbit/s", 4)
    '9.317 Mbit/s (9.100 to 9.500), n = 4'
    """
    ends = "" if low is None or is_missing(low) else f" ({interval_words(low, high, value)})"
    runs = "" if n is None or is_missing(n) else f", n = {number(n, 0)}"
    return f"{number(value)}{f' {unit}' if unit else ''}{ends}{runs}"


def cell_name(rows) -> str:
    """Return what a cell is called, of one or more of its rows with ``scenario``, ``cca`` and ``ip_version``; empty of none."""
    return f"{rows[0]['scenario']}, {rows[0]['cca']}, {ip_words(rows[0]['ip_version'])}" if rows else ""


def run_words(row, words) -> str:
    """Return what the mark of a run tells behind the name of its cell."""
    return f"replication {number(row['replication'], 0)}: {words}"


def _note(artist, attributes, marks):
    notes = artist.get_figure().__dict__.setdefault("tooltips", [])
    artist.set_gid(f"told-{len(notes) + 1}")
    notes.append((artist, attributes, marks))


def tooltip_attributes(figure) -> dict[str, dict[str, str]]:
    """Return what the groups of a figure's SVG carry, by identifier: attributes by name; none of a figure of too many marks."""
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
    """Return for both directions of axes their scale and two values with their places in the SVG, None of other scales."""
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
