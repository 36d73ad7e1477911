"""Plot matrices of CCAs against CCAs, with one panel per scenario and a number in each tile."""

from dataclasses import dataclass

from matplotlib.patches import Rectangle

from figure_parts.figure_style import (
    BALANCE_STEPS,
    FONT_SIZE_PT,
    LIGHT,
    RAMP_STEPS,
    SMALL_SIZE_PT,
    apply_style,
    balance_colour,
    balance_text_colour,
    ramp_colour,
    ramp_text_colour,
)  # fmt: skip
from figure_parts.scenario_panels import (
    INDENT_PT,
    LETTER_SHARE,
    Grid,
    PanelFigure,
    columns_for,
    panel_title,
    parts_of,
)  # fmt: skip
from figure_parts.tiles import draw_tile
from wording.number_format import is_missing

# Matrices with more columns are split into several panels, so that tiles stay legible on a phone.
COLUMNS_A_PANEL = 8
PANEL_PT, ROW_PT, RIGHT_PT, TITLE_PT, KEY_PT, HEADER_PT = 250, 24, 8, 32, 34, 32
LARGEST_TILE_PT = 46
NAME_PT = FONT_SIZE_PT - 0.5


@dataclass(frozen=True)
class Scale:
    """A mapping of values to colour steps, with the figure's title, the label of the colour key, and the bounds between steps.

    On a diverging scale, which uses the balance colours, values in the middle are the best. On any other scale, which uses the ramp, high
    values are the best; the ramp is reversed so that unfair values stand out.
    """

    title: str
    key: str
    bounds: tuple[float, ...]
    diverging: bool

    @property
    def steps(self) -> int:
        """Number of steps."""
        return BALANCE_STEPS if self.diverging else RAMP_STEPS

    def step(self, value) -> int:
        """Return the step of a value."""
        step = 1 + sum(value >= bound for bound in self.bounds)
        return step if self.diverging else self.steps + 1 - step

    def colours(self, step) -> tuple[str, str]:
        """Return the colour of a tile and the colour of its text."""
        if self.diverging:
            return balance_colour(step), balance_text_colour(step)
        return ramp_colour(step), ramp_text_colour(step)


def draw_matrices(cells, panels_of, scale, by=("scenario", "ip_version")) -> PanelFigure:
    """Draw the figure with one matrix per panel.

    Parameters
    ----------
    cells : pandas.DataFrame
        Columns `by`, scenario, row_cca, column_cca, value (which may be missing) and note.
    panels_of : list of dict
        Dicts with `by`, title and conditions, one per panel; with many CCAs, one dict describes several panels.
    scale : Scale
    by : sequence of str
        Columns whose values identify a panel.
    """
    apply_style()
    ccas = list(dict.fromkeys([*cells["row_cca"], *cells["column_cca"]]))
    parts = parts_of(ccas, COLUMNS_A_PANEL)
    letters = max(map(len, ccas), default=0)
    longest = LETTER_SHARE * NAME_PT * letters
    labels = INDENT_PT + 6 + longest
    tile = min(LARGEST_TILE_PT, (PANEL_PT - labels - RIGHT_PT) / max(map(len, parts), default=1))
    upright = longest < tile - 2
    names = 14 if upright else 8 + 0.5 * NAME_PT * letters
    shown = [(panel, part) for panel in panels_of for part in parts]
    top = TITLE_PT + names
    grid = Grid(len(shown), columns_for(len(shown)), PANEL_PT, top + ROW_PT * len(ccas) + KEY_PT, HEADER_PT)
    drawn = PanelFigure(scale.title, grid, (labels, RIGHT_PT, top, KEY_PT))
    by_panel = dict(iter(cells.groupby(list(by), sort=False)))
    for panel, part in shown:
        right = PANEL_PT - labels - tile * len(part)
        axes = drawn.next_axes(right)
        axes.set_xlim(0, len(part))
        axes.set_ylim(len(ccas) - 0.5, -0.5)
        axes.set_axis_off()
        panel_title(axes, panel["title"], panel["conditions"], labels, names, right - RIGHT_PT)
        _names(axes, ccas, part, tile, upright)
        of_panel = by_panel.get(tuple(panel[name] for name in by), cells[:0])
        of_panel = of_panel[of_panel["column_cca"].isin(part)].to_dict("records")
        for cell in of_panel:
            _tile(axes, part.index(cell["column_cca"]), ccas.index(cell["row_cca"]), cell, scale, tile)
        _key(axes, len(ccas), scale, tile, len(part))
        drawn.finish(axes, _describe(of_panel, panel, scale))
    return drawn


def _names(axes, rows, columns, tile, upright):
    for row, cca in enumerate(rows):
        axes.text(-4 / tile, row, cca, size=NAME_PT, color=LIGHT.ink, ha="right", va="center_baseline")
    turned = {} if upright else {"rotation": 50, "rotation_mode": "anchor"}
    for column, cca in enumerate(columns):
        axes.text(
            column + (0.5 if upright else 0.45), -0.5 - 4 / ROW_PT, cca, size=NAME_PT, color=LIGHT.ink,
            ha="center" if upright else "left", va="baseline", **turned,
        )  # fmt: skip


def _tile(axes, column, row, cell, scale, tile):
    known = not is_missing(cell["value"])
    words = f"{cell['value']:.3f}" if known else cell["note"] or "none"
    draw_tile(
        axes, (column, row), (tile, ROW_PT), value_words(cell["value"]) if known else "none",
        scale.colours(scale.step(cell["value"])) if known else None,
        f"{cell['row_cca']} against {cell['column_cca']}: {words}", cell["scenario"],
    )  # fmt: skip


def value_words(value) -> str:
    """Return the text of a tile for a value between 0 and 1.

    A value that isn't 0 or 1 but would be rounded to 0 or 1 is shown as "<0.01" or ">0.99".
    """
    text = f"{value:.2f}"
    if text == "1.00" and value < 1 - 1e-9:
        return ">0.99"
    return "<0.01" if text == "0.00" and value > 1e-9 else text


def _key(axes, rows, scale, tile, columns):
    # The colour steps side by side, with the bounds between them as labels.
    width = max(columns, 150 / tile) / scale.steps
    top, height = rows - 0.5 + 9 / ROW_PT, 7 / ROW_PT
    for number in range(scale.steps):
        colour = scale.colours(number + 1 if scale.diverging else scale.steps - number)[0]
        axes.add_patch(Rectangle((number * width, top), width, height, fc=colour, ec="none", lw=0))
    for number, bound in enumerate(scale.bounds, 1):
        axes.text(
            number * width, top + height + 8 / ROW_PT, f"{bound:g}", size=SMALL_SIZE_PT - 0.5, color=LIGHT.muted,
            ha="center", va="baseline",
        )  # fmt: skip
    axes.text(
        -4 / tile, top + height / 2, scale.key, size=SMALL_SIZE_PT - 0.5, color=LIGHT.muted, ha="right",
        va="center_baseline",
    )  # fmt: skip


def _describe(cells, panel, scale):
    values = "; ".join(
        f"{cell['row_cca']} against {cell['column_cca']} "
        f"{cell['note'] or 'none' if is_missing(cell['value']) else value_words(cell['value'])}"
        for cell in cells
    )
    return f"{scale.title}. {panel['title']}, {panel['conditions']}: {values}."
