"""Panels with a slot for each of a few things and, in each slot, a mark with its interval for every CCA."""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from figure_parts.axis_scales import Axis
from figure_parts.category_panels import CategoryPanels, interval, nothing, slots
from figure_parts.figure_style import LIGHT, apply_style, cca_colour, cca_marker
from figure_parts.figure_svg import Panel
from wording.number_format import is_missing, number
from wording.sentence_words import cca_name

#: Of a slot's width, over which its CCAs are set apart.
SPREAD = 0.76


def cca_entries(ccas) -> list[Line2D]:
    """Return the key's entries of CCAs."""
    return [
        Line2D([], [], ls="none", marker=cca_marker(cca), ms=4.2, mew=0, color=cca_colour(cca), label=cca_name(cca))
        for cca in ccas
    ]


def shifts(count) -> list[float]:
    """Return how far from the middle of a slot each of its marks stands."""
    return [SPREAD * (place / (count - 1) - 0.5) if count > 1 else 0.0 for place in range(count)]


def by_slot(table, slot_of) -> dict[tuple[int, str], dict]:
    """Return (slot, CCA) -> row of a table for `draw_slots`.

    Parameters
    ----------
    table : pandas.DataFrame
        With ``scenario`` and ``cca``.
    slot_of : callable
        Of a row, a mapping.

    Raises
    ------
    ValueError
        If two rows would have one place, so that only one of them were seen.
    """
    placed = {}
    for row in table.to_dict("records"):
        place = slot_of(row), row["cca"]
        if place in placed:
            raise ValueError(
                f"the scenarios {placed[place]['scenario']} and {row['scenario']} with {row['cca']} have the same "
                "place in a panel; expected is one scenario for each"
            )
        placed[place] = row
    return placed


def draw_slots(axes, names, ccas, rows, value, low=None, high=None, below="") -> str:
    """Draw the marks of a panel.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        With its vertical axis.
    names : list of str
        Of the slots.
    ccas : list of str
    rows : dict
        (slot, CCA) -> mapping with the values; a pair that isn't there gets no mark.
    value, low, high : str
        Keys of the mean and its interval.
    below : str
        What the slots are, below the axis.

    Returns
    -------
    str
        What the panel shows in words.
    """
    slots(axes, names, below)
    words = []
    for slot, name in enumerate(names):
        shown = []
        for shift, cca in zip(shifts(len(ccas)), ccas, strict=True):
            row = rows.get((slot, cca))
            if row is None:
                continue
            if is_missing(row[value]):
                nothing(axes, slot + shift)
                shown.append(f"{cca_name(cca)} none valid")
                continue
            if low and not is_missing(row[low]):
                interval(axes, slot + shift, row[low], row[high], cca_colour(cca))
            axes.plot(
                [slot + shift],
                [row[value]],
                ls="none",
                marker=cca_marker(cca),
                ms=4.2,
                mew=0,
                color=cca_colour(cca),
                zorder=3,
            )
            shown.append(f"{cca_name(cca)} {number(row[value])}")
        if shown:
            words.append(f"{name.replace(chr(10), ' ')}: {', '.join(shown)}.")
    return " ".join(words)


def draw_groups(title, table, by, draw_group, panels_each=1) -> tuple[Figure, list[Panel]]:
    """Draw a figure with panels for each group of a table's rows, or one that says that no run is valid.

    Parameters
    ----------
    title : str
        Of the whole figure.
    table : pandas.DataFrame
        With ``cca``.
    by : list of str
        Columns whose values make a group.
    draw_group : callable
        Of the figure's `CategoryPanels`, the CCAs of the table and a group's rows; adds `panels_each` panels.
    panels_each : int

    Returns
    -------
    figure : matplotlib.figure.Figure
    panels : list of Panel
    """
    apply_style()
    groups = [rows for _, rows in table.groupby(by, sort=False)]
    ccas = list(dict.fromkeys(table["cca"]))
    drawn = CategoryPanels(title, max(1, panels_each * len(groups)), len(ccas), columns=2)
    for rows in groups:
        draw_group(drawn, ccas, rows)
    if not groups:
        empty_panel(drawn)
    return drawn.figure, drawn.panels


def empty_panel(drawn) -> None:
    """Draw the only panel of a figure for which no run is valid."""
    axes = drawn.add("No run to be drawn", "none is valid", Axis("linear", 0, 1, (0, 1)))
    slots(axes, [""], "")
    nothing(axes, 0)
    drawn.finish(axes, "No valid run.")


def step(axes, slot, value) -> None:
    """Draw a dashed line across one slot, such as its ceiling."""
    if not is_missing(value):
        axes.plot([slot - 0.46, slot + 0.46], [value] * 2, color=LIGHT.muted, lw=0.9, ls=(0, (3, 2)), zorder=1)
