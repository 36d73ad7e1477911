"""Dotted lines that mark changes to a path on a figure's time axis, with their entry in the key and a description in words."""

from matplotlib.lines import Line2D

from figure_parts.figure_style import LIGHT

DOTS = (0, (1, 1.6))
#: Maximum number of changes that are described in words.
MOST_IN_WORDS = 6


def change_key() -> Line2D:
    """Return the key's entry for the dotted lines."""
    return Line2D([], [], color=LIGHT.muted, lw=0.9, ls=DOTS, label="a change")


def draw_changes(axes, moments) -> None:
    """Draw a line for each change to a path; ``moments`` are pairs: time in s, description."""
    axes.vlines([at for at, _ in moments], 0, axes.get_ylim()[1], color=LIGHT.muted, lw=0.9, ls=DOTS, zorder=2)


def change_list(moments) -> str:
    """Return a text that lists the changes to a path: the first `MOST_IN_WORDS` changes, and the number of the others.

    Examples
    --------
    >>> change_list([(5.0, "rate 10 Mbit/s"), (7.5, "down")])
    'rate 10 Mbit/s at 5 s; down at 7.5 s'
    >>> change_list([(at, "down") for at in range(1, 9)])
    'down at 1 s; down at 2 s; down at 3 s; down at 4 s; down at 5 s; down at 6 s; and 2 more'
    """
    words = [f"{words} at {at:g} s" for at, words in moments[:MOST_IN_WORDS]]
    more = len(moments) - len(words)
    return "; ".join([*words, *([f"and {more} more"] if more else [])]) or "a trace from the start"
