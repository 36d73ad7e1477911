"""Draw the outcomes of an atlas: one row per publication, one tile per claim."""

import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.figure_style import FONT_SIZE_PT, SMALL_SIZE_PT, apply_style, balance_colour, balance_text_colour
from figure_parts.scenario_panels import INDENT_PT, LETTER_SHARE, Grid, PanelFigure
from figure_parts.tiles import draw_tile
from topics.claims.tables import NOT_REPRODUCED, NOT_SHOWN, NOT_TESTABLE, REPRODUCED
from wording.number_format import count

TITLE = "Claims of publications, repeated"
#: Letter of each verdict, and its step on the diverging colour scale; the tile of a claim that can't be tested has a dashed border.
LETTERS = {REPRODUCED: "R", NOT_REPRODUCED: "N", NOT_SHOWN: "S", NOT_TESTABLE: "–"}
STEPS = {REPRODUCED: 6, NOT_REPRODUCED: 2, NOT_SHOWN: 4}
KEY = {REPRODUCED: "R reproduced", NOT_REPRODUCED: "N not reproduced", NOT_SHOWN: "S not shown"}
TILE_PT = (17, 17)
#: Maximum number of tiles per line; a study with more claims takes several lines.
MOST_TILES = 16
RIGHT_PT, TOP_PT, FOOT_PT = 5, 6, 4
NAME_PT = FONT_SIZE_PT - 0.5


def draw_atlas(claims: pd.DataFrame, labels) -> PanelFigure:
    """Draw the matrix of studies and claims.

    Parameters
    ----------
    claims : pandas.DataFrame
        Claims of all studies, in the order in which the tiles are drawn, with a column ``study``.
    labels : mapping
        Study -> label of its row.
    """
    apply_style()
    left = INDENT_PT + 8 + LETTER_SHARE * NAME_PT * max(map(len, labels.values()))
    numbers = claims.groupby("study", sort=False).size()
    most, lines = min(int(numbers.max()), MOST_TILES), -(-numbers // MOST_TILES)
    height = TOP_PT + int(lines.sum()) * TILE_PT[1] + FOOT_PT
    grid = Grid(1, 1, left + most * TILE_PT[0] + RIGHT_PT, height)
    drawn = PanelFigure(TITLE, grid, (left, RIGHT_PT, TOP_PT, FOOT_PT), _key())
    axes = drawn.next_axes(0)
    axes.set_xlim(0, most)
    axes.set_ylim(lines.sum() - 0.5, -0.5)
    axes.set_axis_off()
    below = 0
    for study, label in labels.items():
        first, below = below, below + lines[study]
        axes.text(-4 / TILE_PT[0], first, label, size=NAME_PT, ha="right", va="center_baseline")
        for column, row in enumerate(claims[claims["study"] == study].to_dict("records")):
            place = column % MOST_TILES, first + column // MOST_TILES
            step = STEPS.get(row["verdict"])
            colours = step and (balance_colour(step), balance_text_colour(step))
            told = f"{row['statement'].rstrip('.')}: {row['verdict']}"
            draw_tile(axes, place, TILE_PT, LETTERS[row["verdict"]], colours, told, label, SMALL_SIZE_PT)
    drawn.finish(axes, _describe(claims, labels))
    return drawn


def _key():
    return [
        Line2D([], [], ls="none", marker="s", ms=6, mec="none", color=balance_colour(STEPS[verdict]), label=words)
        for verdict, words in KEY.items()
    ]


def _describe(claims, labels):
    """Return a text description that counts each study's claims by verdict."""
    parts = []
    for study, of in claims.groupby("study", sort=False):
        numbers = of["verdict"].value_counts()
        said = ", ".join(f"{numbers[verdict]} {verdict}" for verdict in LETTERS if verdict in numbers)
        parts.append(f"{labels[study]}: {count(len(of), 'claim')}, {said}")
    return f"{TITLE}. {'. '.join(parts)}."
