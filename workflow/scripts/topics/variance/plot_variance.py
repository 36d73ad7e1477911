"""Plot the sources of each metric's variance: one bar per factor, interaction and kind of random variation."""

from figure_parts.axis_scales import Axis
from figure_parts.figure_style import FONT_SIZE_PT, LIGHT, apply_style
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import (
    INDENT_PT,
    LETTER_SHARE,
    TITLE_PT,
    WIDTHS_PT,
    Grid,
    PanelFigure,
    columns_for,
    interval_line,
    panel_title,
    rows_of,
    unit_below,
    value_axis,
)  # fmt: skip
from figure_parts.tooltips import tell, value_words
from run_tables.metrics import METRICS
from topics.variance.tables import CHANCE, HIGHER, INTERACTION
from wording.number_format import is_missing, number

ROW_PT, AXIS_PT, RIGHT_PT, HEADER_PT = 14, 30, 12, 30
#: An interaction is shown as a separate row if it accounts for at least this percentage of any metric's variance.
SHOWN_FROM = 1.0
AXIS = Axis("linear", 0.0, 102.0, (0, 25, 50, 75, 100))
COLOURS = {CHANCE: LIGHT.muted, INTERACTION: LIGHT.indigo, HIGHER: LIGHT.indigo}


def shown_parts(variance) -> list[str]:
    """Return the parts that are shown as rows: all except interactions that account for little of every metric's variance."""
    largest = variance.groupby("part", sort=False)["share_percent"].max()
    small = set(largest.index[~(largest >= SHOWN_FROM)]) & set(variance.loc[variance["kind"] == INTERACTION, "part"])
    return [part for part in dict.fromkeys(variance["part"]) if part and part not in small]


def _draw_part(axes, row, place) -> None:
    """Draw one part's bar and interval."""
    share = max(row["share_percent"], 0)
    (bar,) = axes.barh(place, share, height=0.62, color=COLOURS.get(row["kind"], LIGHT.blue), zorder=2)
    ends = row["approximate_low_percent"], row["approximate_high_percent"]
    tell(bar, [value_words(row["share_percent"], *ends, "%")], row["part"])
    if not is_missing(row["approximate_low_percent"]):
        interval_line(axes, row["approximate_low_percent"], row["approximate_high_percent"], place)


def _words(row) -> str:
    return f"{row['part']} {'none' if is_missing(row['share_percent']) else number(max(row['share_percent'], 0), 1)}"


def plot_variance(variance) -> Drawing:
    """Return the figure and its data."""
    metrics = [
        metric for metric in METRICS if variance.loc[variance["metric"] == metric.column, "share_percent"].notna().any()
    ]
    parts = shown_parts(variance) or ["no decomposition"]
    apply_style()
    panels = max(1, len(metrics))
    columns = min(2, columns_for(panels)) if panels > 1 else 1
    left = INDENT_PT + 6 + LETTER_SHARE * FONT_SIZE_PT * max(map(len, parts))
    width = max(WIDTHS_PT[columns], left + RIGHT_PT + 110)
    grid = Grid(panels, columns, width, TITLE_PT + ROW_PT * len(parts) + AXIS_PT, HEADER_PT)
    drawn = PanelFigure("Sources of variance", grid, (left, RIGHT_PT, TITLE_PT, AXIS_PT))
    for place in range(panels):
        axes = drawn.next_axes()
        value_axis(axes, "x", AXIS)
        unit_below(axes, AXIS, "% of the variance")
        rows_of(axes, parts)
        if not metrics:
            panel_title(axes, "Nothing varies, or too few cells have values", "", left)
            drawn.panels[-1] = grid.panel(place, "No metric has a variance to decompose.")
            continue
        metric = metrics[place]
        rows = variance[variance["metric"] == metric.column].to_dict("records")
        taken_as = {"value": f"of its values in {metric.unit}"}.get(
            rows[0]["taken_as"], f"of its {rows[0]['taken_as']}"
        )
        panel_title(axes, metric.name, taken_as, left)
        for row in rows:
            if row["part"] in parts and not is_missing(row["share_percent"]):
                _draw_part(axes, row, parts.index(row["part"]))
        drawn.finish(axes, f"{metric.name}: shares of its variance in percent. {', '.join(map(_words, rows))}.")
    return drawn.drawing("Shares of each metric's variance", variance)
