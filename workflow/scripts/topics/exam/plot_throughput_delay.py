"""Plot throughput against queueing delay, with one panel per scenario and one ellipse per CCA.

The figure follows Winstein and Balakrishnan (SIGCOMM 2013, figure 4).
"""

import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import KEY_COLUMNS, KEY_LINE_PT, panel_key
from figure_parts.delay_plane import ellipse
from figure_parts.figure_style import SMALL_SIZE_PT, apply_style, cca_colour, cca_marker
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import Grid, PanelFigure, columns_for, lines_behind, panel_title, value_axis
from figure_parts.tooltips import cell_name, run_words, tell
from wording.number_format import number
from wording.sentence_words import cca_name

WIDTH_PT, HEIGHT_PT, LEFT_PT, RIGHT_PT, TITLE_PT, AXIS_PT = 230, 170, 40, 14, 30, 30
DELAY, THROUGHPUT = "queueing_p95_ms", "utilisation_percent"
TITLE = "Throughput against queueing delay"


def pairs_of(values: pd.DataFrame) -> pd.DataFrame:
    """Return `DELAY` and `THROUGHPUT` from `EXAM_VALUES`, one row per run for which both are known."""
    keys = ["scenario", "cca", "ip_version", "replication"]
    wide = values[values["measure"].isin([DELAY, THROUGHPUT])].pivot(index=keys, columns="measure", values="value")
    return wide.reindex(columns=[DELAY, THROUGHPUT]).dropna().reset_index()


def _draw(data, scenarios):
    apply_style()
    shown = [row for row in scenarios.to_dict("records") if (data["scenario"] == row["scenario"]).any()]
    ccas = list(dict.fromkeys(data["cca"]))
    key = [Line2D([], [], color=cca_colour(c), marker=cca_marker(c), ms=3, lw=1.2, label=cca_name(c)) for c in ccas]
    key_pt = KEY_LINE_PT * -(-len(key) // KEY_COLUMNS)
    grid = Grid(len(shown), columns_for(len(shown)), WIDTH_PT, HEIGHT_PT + key_pt)
    drawn = PanelFigure(TITLE, grid, (LEFT_PT, RIGHT_PT, TITLE_PT + key_pt, AXIS_PT))
    for row in shown:
        axes = drawn.next_axes()
        here = data[data["scenario"] == row["scenario"]]
        outlines = {cca: ellipse(of_cca[DELAY], of_cca[THROUGHPUT]) for cca, of_cca in here.groupby("cca", sort=False)}
        lowest, highest = (
            pick(here[THROUGHPUT].agg(pick), *map(pick, (y for _, y in outlines.values()))) for pick in (min, max)
        )
        value_axis(axes, "y", linear_axis(min(lowest, 0.98 * highest), highest))
        value_axis(axes, "x", linear_axis(0, max(here[DELAY].max(), *(max(x) for x, _ in outlines.values())) or 1.0))
        lines_behind(axes, "xy")
        # Less delay is better and therefore further to the right: the best position is at the top right.
        axes.invert_xaxis()
        axes.set_xlabel("queueing delay, 95th percentile, ms", size=SMALL_SIZE_PT, labelpad=1, loc="right")
        panel_title(axes, row["label"], "goodput, % of the path's maximum", LEFT_PT, key_pt)
        panel_key(axes, key, LEFT_PT)
        words = []
        for cca, (x, y) in outlines.items():
            own = here[here["cca"] == cca]
            look = {"ls": "none", "marker": cca_marker(cca), "color": cca_colour(cca)}
            axes.plot(x, y, color=cca_colour(cca), lw=1.2)
            (runs,) = axes.plot(own[DELAY], own[THROUGHPUT], ms=2, mew=0, alpha=0.6, **look)
            rows = own.to_dict("records")
            tell(runs, [run_words(run, _words(run[THROUGHPUT], run[DELAY])) for run in rows], cell_name(rows))
            middle = own[DELAY].mean(), own[THROUGHPUT].mean()
            (mean,) = axes.plot(*middle, ms=4, **look)
            tell(mean, [f"mean {_words(*middle[::-1])}, n = {len(own)}"], cell_name(rows))
            words.append(f"{cca_name(cca)} {_words(*middle[::-1])}")
        drawn.finish(axes, f"{row['label']}: {', '.join(words)}.")
    return drawn


def _words(percent, delay_ms):
    return f"{number(percent, 1)} % at {number(delay_ms, 1)} ms"


def plot_throughput_delay(exam_values, scenarios) -> Drawing:
    """Return the figure and its data."""
    data = pairs_of(exam_values)
    return _draw(data, scenarios).drawing(TITLE, data)
