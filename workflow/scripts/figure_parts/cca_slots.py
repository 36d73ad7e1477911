"""Panels with one slot per category; each slot shows one mark with an interval for each CCA."""

from matplotlib.lines import Line2D

from figure_parts.axis_scales import Axis
from figure_parts.category_panels import CategoryPanels, draw_interval, draw_nothing, slots
from figure_parts.figure_style import LIGHT, apply_style, cca_colour, cca_marker
from figure_parts.scenario_panels import DASHES
from figure_parts.tooltips import tell, value_words
from wording.number_format import is_missing, number
from wording.sentence_words import cca_name

#: Share of a slot's width over which the CCAs' marks are spread.
SPREAD = 0.76


def cca_entries(ccas) -> list[Line2D]:
    """Return the key's entries for the given CCAs."""
    return [
        Line2D([], [], ls="none", marker=cca_marker(cca), ms=4.2, mew=0, color=cca_colour(cca), label=cca_name(cca))
        for cca in ccas
    ]


def by_slot(table, slot_of) -> dict[tuple[int, str], dict]:
    """Return the rows of a table in the form that `draw_slots` needs: (slot, CCA) -> row.

    ``slot_of`` returns the slot of a row. Raises `ValueError` if two rows have the same slot and CCA, because only one
    of the rows would be visible.
    """
    placed = {}
    for row in table.to_dict("records"):
        place = slot_of(row), row["cca"]
        if place in placed:
            raise ValueError(
                f"the scenarios {placed[place]['scenario']} and {row['scenario']} with {row['cca']} have the same "
                "place in a panel; expected: one scenario for each place"
            )
        placed[place] = row
    return placed


def draw_slots(axes, names, ccas, rows, value, low=None, high=None, below="") -> str:
    """Draw the marks of a panel; return its description in words.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes whose vertical axis is already set.
    names, ccas : list of str
        Names of the slots, and the CCAs in each slot.
    rows : dict
        (slot, CCA) -> mapping with the values; no mark is drawn for a pair that is missing.
    value, low, high : str
        Keys of the mean and of the ends of its interval.
    below : str
        Label of the slots, below the axis.
    """
    slots(axes, names, below)
    words = []
    shifts = [SPREAD * (place / (len(ccas) - 1) - 0.5) if len(ccas) > 1 else 0.0 for place in range(len(ccas))]
    for slot, name in enumerate(names):
        shown = []
        for shift, cca in zip(shifts, ccas, strict=True):
            row, x, colour = rows.get((slot, cca)), slot + shift, cca_colour(cca)
            if row is None:
                continue
            if is_missing(row[value]):
                draw_nothing(axes, x)
                shown.append(f"{cca_name(cca)} none valid")
                continue
            if low and not is_missing(row[low]):
                draw_interval(axes, x, row[low], row[high], colour)
            (mark,) = axes.plot(
                [x], [row[value]], ls="none", marker=cca_marker(cca), ms=4.2, mew=0, color=colour, zorder=3
            )
            ends = (row[low], row[high]) if low else ()
            tell(
                mark, [value_words(row[value], *ends)], f"{cca_name(cca)}, {name.replace(chr(10), ' ')} {below}".strip()
            )
            shown.append(f"{cca_name(cca)} {number(row[value])}")
        if shown:
            words.append(f"{name.replace(chr(10), ' ')}: {', '.join(shown)}.")
    return " ".join(words)


def draw_groups(title, table, by, draw_group, panels_each=1) -> CategoryPanels:
    """Draw a figure with panels for each group of rows; if the table is empty, the figure states that no run is valid.

    Parameters
    ----------
    title : str
        Title of the figure.
    table : pandas.DataFrame
        Table with the column ``cca`` and the columns `by`; rows with equal values in `by` form a group.
    draw_group : callable
        Called with the figure's `CategoryPanels`, the table's CCAs and a group's rows; adds `panels_each` panels.
    """
    apply_style()
    # A missing value is a level like others: nothing limits the rate.
    groups = [rows for _, rows in table.groupby(by, sort=False, dropna=False)]
    ccas = list(dict.fromkeys(table["cca"]))
    drawn = CategoryPanels(title, max(1, panels_each * len(groups)), len(ccas), columns=2)
    for rows in groups:
        draw_group(drawn, ccas, rows)
    if not groups:
        empty_panel(drawn)
    return drawn


def empty_panel(drawn) -> None:
    """Draw the only panel of a figure without valid runs."""
    axes = drawn.add("No run to be drawn", "none is valid", Axis("linear", 0, 1, (0, 1)))
    slots(axes, [""], "")
    draw_nothing(axes, 0)
    drawn.finish(axes, "No valid run.")


def step(axes, slot, value, dashes=DASHES) -> None:
    """Draw a line across one slot, such as the slot's upper limit; draw nothing if the value is missing."""
    if not is_missing(value):
        axes.plot([slot - 0.46, slot + 0.46], [value] * 2, color=LIGHT.muted, lw=0.9, ls=dashes, zorder=1)
