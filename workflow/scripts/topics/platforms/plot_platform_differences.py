"""Plot the differences between platforms under the same conditions, with the study's tolerance."""

from figure_parts.axis_scales import difference_axis
from figure_parts.figure_style import FONT_SIZE_PT, LIGHT, apply_style, cca_colour, cca_marker
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import (
    INDENT_PT,
    LETTER_SHARE,
    TITLE_PT,
    Grid,
    PanelFigure,
    interval_line,
    panel_title,
    remark,
    rows_of,
    unit_below,
    value_axis,
)  # fmt: skip
from figure_parts.tooltips import tell, value_words
from topics.platforms.tables import PLACE
from wording.number_format import is_missing, number
from wording.scenario_series import compared_platforms, main_pairs, platform_name
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name

TITLE = "Difference between platforms under the same conditions"
SHOWN = {"goodput_mbps": "goodput", "jain_index": "Jain's index", "rtt_mean_ms": "mean RTT"}
WIDTH_PT, ROW_PT, AXIS_PT, RIGHT_PT, HEADER_PT = 200, 11, 30, 8, 30
#: Columns that identify a row of a panel.
KEY = ("conditions", "buffer", "cca", "ip_version")
# The axis extends to at most this multiple of the largest difference or tolerance, because intervals from few runs can be much longer.
REACH = 1.5


def _row_names(table):
    """Return the rows' names, such as "BBR 10 packets", by the values of the columns `KEY`."""
    keys = table[PLACE].drop_duplicates()
    several, both = keys["conditions"].nunique() > 1, keys["ip_version"].nunique() > 1
    order = {cca: place for place, cca in enumerate(keys["cca"].unique())}
    keys = keys.assign(order=keys["cca"].map(order)).sort_values(["conditions", "order", "ip_version"], kind="stable")
    return {
        tuple(row[name] for name in KEY): f"{cca_name(row['cca'])} {row['buffer']}"
        + (f", {ip_words(row['ip_version'])}" if both else "")
        + (f", setting {row['conditions']:.0f}" if several else "")
        for row in keys.to_dict("records")
    }


def draw_differences(table) -> PanelFigure:
    """Draw the figure of ``analysis/platforms.csv``."""
    apply_style()
    pairs, names = main_pairs(compared_platforms(table)), _row_names(table)
    left = INDENT_PT + 4 + LETTER_SHARE * FONT_SIZE_PT * max(map(len, names.values()), default=1)
    height = TITLE_PT + ROW_PT * len(names) + AXIS_PT
    grid = Grid(len(pairs) * len(SHOWN), len(SHOWN), max(WIDTH_PT, left + 110), height, HEADER_PT)
    drawn = PanelFigure(TITLE, grid, (left, RIGHT_PT, TITLE_PT, AXIS_PT))
    for platform_a, platform_b in pairs:
        here = table[(table["platform_a"] == platform_a) & (table["platform_b"] == platform_b)]
        for metric, what in SHOWN.items():
            rows = here[here["metric"] == metric]
            axes = drawn.next_axes()
            axis = _axis_of(table[table["metric"] == metric])
            value_axis(axes, "x", axis, spaced=True)
            rows_of(axes, list(names.values()))
            unit = "%" if metric != "jain_index" else "difference of the index"
            unit_below(axes, axis, unit)
            title = f"{platform_name(platform_b)} against {platform_name(platform_a)}"
            panel_title(axes, title, what, left, 0, RIGHT_PT)
            words = _rows(axes, rows, names)
            drawn.finish(axes, f"{title}: difference in {what}, {unit}. {'; '.join(words) or 'No data'}.")
    return drawn


def _axis_of(rows):
    """Return a metric's axis, which is the same for all pairs of platforms."""
    known = [float(value) for name in ("effect", "tolerance_low", "tolerance_high") for value in rows[name].dropna()]
    reach = REACH * max(map(abs, known), default=1.0)
    ends = [min(max(float(end), -reach), reach) for name in ("tost_low", "tost_high") for end in rows[name].dropna()]
    tolerance = max((abs(value) for value in rows["tolerance_high"].dropna()), default=None)
    return difference_axis([*known, *ends], tolerance)


def _rows(axes, rows, names):
    """Draw the differences in a panel; return them in words."""
    words = []
    axes.axvline(0, color=LIGHT.muted, lw=0.9, zorder=1)
    low, high = rows["tolerance_low"].min(), rows["tolerance_high"].max()
    if not is_missing(low):
        axes.axvspan(low, high, color=LIGHT.line, alpha=0.6, lw=0, zorder=0)
    for row in rows.to_dict("records"):
        key = tuple(row[name] for name in KEY)
        y = list(names).index(key)
        if is_missing(row["effect"]):
            remark(axes, y, "no valid run on one platform")
            continue
        colour = cca_colour(row["cca"])
        if not is_missing(row["ci_low"]):
            interval_line(axes, row["ci_low"], row["ci_high"], y, 0.8, colour)
            interval_line(axes, row["tost_low"], row["tost_high"], y, 2.2, colour)
        left, right = axes.get_xlim()
        x, marker = min(max(row["effect"], left), right), cca_marker(row["cca"])
        (mark,) = axes.plot([x], [y], ls="none", marker=marker, ms=4, mec=colour, mfc=colour, zorder=3)
        note = value_words(row["effect"], row["ci_low"], row["ci_high"])
        tell(mark, [f"{note}, {row['verdict']}" if row["verdict"] else note], names[key])
        words.append(f"{names[key]}: {number(row['effect'])} ({row['verdict']})")
    return words


def plot_platform_differences(platforms) -> Drawing:
    """Return the figure and its data."""
    return draw_differences(platforms).drawing(TITLE, platforms[platforms["metric"].isin(SHOWN)])
