"""Draw the matrix of a gallery: the verdict on each CCA in each deciding row, with one panel per group of criteria."""

import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.figure_style import (
    FONT_SIZE_PT,
    LIGHT,
    SMALL_SIZE_PT,
    apply_style,
    balance_colour,
    balance_text_colour,
)
from figure_parts.scenario_panels import INDENT_PT, LETTER_SHARE, Grid, PanelFigure, panel_title
from figure_parts.tiles import draw_tile
from topics.exam.criteria import GROUPS
from topics.exam.page_tables import measure_words
from topics.exam.tables import BETTER, LIKE, NOT_ENOUGH, NOT_MEASURED, TOO_VARIABLE, WORSE
from wording.number_format import count

TITLE = "Verdicts of exams by RFC 9743"
#: Columns that identify a row of a scorecard.
ROW_KEYS = ["rfc_section", "scenario", "scenario_label", "measure"]
#: Letter of each verdict, and its step on the diverging colour scale; the tile of a row that wasn't measured has a dashed border.
LETTERS = {WORSE: "W", TOO_VARIABLE: "V", NOT_ENOUGH: "N", LIKE: "L", BETTER: "B", NOT_MEASURED: "–"}
STEPS = {WORSE: 2, TOO_VARIABLE: 3, NOT_ENOUGH: 4, LIKE: 5, BETTER: 6}
ROW_PT, RIGHT_PT, TITLE_PT, FOOT_PT, COLUMNS = 17, 5, 32, 4, 2
#: Width and height of a tile in points; a panel of ten columns fits on a phone.
TILE_PT = (19, ROW_PT)
#: Approximate ratio of a letter's width to the font size, for names written vertically.
UPRIGHT_SHARE = 0.54
NAME_PT, COLUMN_PT = FONT_SIZE_PT - 0.5, SMALL_SIZE_PT - 0.5


def tile_words(row) -> str:
    """Return the text of a tile: the letter of the verdict, followed by the number of worse runs if there are any.

    >>> tile_words({"verdict": "too variable", "runs_worse": 3.0}), tile_words({"verdict": "like", "runs_worse": 0.0})
    ('V3', 'L')
    """
    worse = f"{row['runs_worse']:.0f}" if row["runs_worse"] > 0 else ""
    return f"{LETTERS[row['verdict']]}{worse}"


def row_label(row) -> str:
    """Return the label of a scorecard row: section and case."""
    return f"{row['rfc_section']} {row['scenario_label'] or 'all cases'}"


def draw_gallery(rows: pd.DataFrame, names) -> PanelFigure:
    """Draw the matrix of CCAs and deciding rows.

    Parameters
    ----------
    rows : pandas.DataFrame
        Deciding rows of all scorecards, card by card.
    names : mapping
        CCA -> label of its row.
    """
    apply_style()
    panels = {group: rows[rows["group"] == group] for group in GROUPS if (rows["group"] == group).any()}
    columns_of = {group: of.drop_duplicates(ROW_KEYS).to_dict("records") for group, of in panels.items()}
    left = INDENT_PT + 8 + LETTER_SHARE * NAME_PT * max(map(len, names.values()))
    labels = [text for columns in columns_of.values() for row in columns for text in _column_words(row)]
    heads = 10 + UPRIGHT_SHARE * COLUMN_PT * max(map(len, labels))
    most, top = max(map(len, columns_of.values())), TITLE_PT + heads
    width = left + most * TILE_PT[0] + RIGHT_PT
    grid = Grid(len(panels), min(COLUMNS, len(panels)), width, top + len(names) * ROW_PT + FOOT_PT)
    drawn = PanelFigure(TITLE, grid, (left, RIGHT_PT, top, FOOT_PT), _key())
    places = {cca: place for place, cca in enumerate(names)}
    for group, of in panels.items():
        columns = columns_of[group]
        axes = drawn.next_axes(width - left - TILE_PT[0] * len(columns))
        axes.set_xlim(0, len(columns))
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_axis_off()
        panel_title(
            axes,
            group,
            f"{count(len(columns), 'row')} of each card",
            left,
            heads,
            width - left - TILE_PT[0] * len(columns),
        )
        for cca, place in places.items():
            axes.text(-4 / TILE_PT[0], place, names[cca], size=NAME_PT, ha="right", va="center_baseline")
        for column, row in enumerate(columns):
            for text, at, colour in zip(_column_words(row), (0.28, 0.78), (LIGHT.ink, LIGHT.muted), strict=True):
                axes.text(
                    column + at, -0.5 - 4 / ROW_PT, text, size=COLUMN_PT, color=colour, ha="center", va="bottom", rotation=90
                )  # fmt: skip
        at = {tuple(row[key] for key in ROW_KEYS): column for column, row in enumerate(columns)}
        for row in of.to_dict("records"):
            _tile(axes, (at[tuple(row[key] for key in ROW_KEYS)], places[row["cca"]]), row, names[row["cca"]])
        drawn.finish(axes, _describe(group, of, names))
    return drawn


def _column_words(row):
    return row_label(row), measure_words(row["measure"])


def _key():
    words = {verdict: f"{letter} {verdict}" for verdict, letter in LETTERS.items() if verdict in STEPS}
    return [
        Line2D([], [], ls="none", marker="s", ms=6, mec="none", color=balance_colour(STEPS[verdict]), label=label)
        for verdict, label in words.items()
    ]


def _tile(axes, place, row, name):
    step = STEPS.get(row["verdict"])
    colours = step and (balance_colour(step), balance_text_colour(step))
    counted = (
        ""
        if step is None
        else f", {row['runs_worse']:.0f} worse and {row['runs_better']:.0f} better of {row['n']:.0f} runs"
    )
    told = f"{row_label(row)}, {measure_words(row['measure'])}: {row['verdict']}{counted}"
    text = tile_words(row)
    draw_tile(axes, place, TILE_PT, text, colours, told, name, SMALL_SIZE_PT if len(text) <= 3 else SMALL_SIZE_PT - 1.5)


def _describe(group, rows, names):
    """Return a text description of a panel: each CCA, with the rows in which the CCA's verdict isn't *like*."""
    parts = []
    for cca, of in rows.groupby("cca", sort=False):
        others = of[of["verdict"] != LIKE].groupby("verdict", sort=False)
        said = "; ".join(f"{verdict} in {', '.join(map(row_label, of.to_dict('records')))}" for verdict, of in others)
        parts.append(f"{names[cca]}: {said or 'like in all'}")
    return f"{TITLE}, {group}. {'. '.join(parts)}."
