"""Plot the share that a CCA gets in competition with each other CCA, with intervals, at the levels of each scenario factor."""

import pandas as pd

from figure_parts.category_panels import with_ip_version
from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style, cca_colour, cca_marker
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import (
    DASHES,
    LETTER_SHARE,
    TITLE_PT,
    Grid,
    PanelFigure,
    columns_for,
    lines_behind,
    panel_title,
    remark,
    size_pt,
)  # fmt: skip
from figure_parts.tooltips import tell, value_words
from topics.fairness.scenario_factors import FACTORS
from wording.number_format import is_missing

#: Columns of the figure's data.
COLUMNS = [
    "factor", "level", "scenario", "ip_version", "cca", "against", "replications", "share", "share_low", "share_high",
]  # fmt: skip
PANEL_PT, PLOT_PT, LEFT_PT, RIGHT_PT, BELOW_PT, KEY_ROW_PT = 250, 150, 30, 10, 30, 12
KEY_COLUMNS, KEY_GAP_PT = 3, 6
RATIO = "rtt_ratio"
# The CCAs at one level are spread over this fraction of the space between two levels.
DODGE = 0.56


def shares_of(cca, factors) -> pd.DataFrame:
    """Return `COLUMNS`: a CCA's share at every level, from those rows of `FAIRNESS_FACTORS` that name the CCA.

    Rows in which the CCA is the column CCA are mirrored: the RTT ratio becomes its reciprocal, and the share becomes 1 minus the share.
    """
    as_row = factors.rename(columns={"row_cca": "cca", "column_cca": "against"})
    swapped = {"row_cca": "against", "column_cca": "cca", "share_low": "share_high", "share_high": "share_low"}
    ends, level = ["share", "share_low", "share_high"], factors["level"]
    turned = level.where((factors["factor"] != RATIO) | (level == 0), 1 / level)
    as_column = factors.assign(**(1 - factors[ends].astype(float)), level=turned).rename(columns=swapped)
    # Rows stay in the table's order. If both CCAs of a row are the same, the unmirrored copy comes first.
    both = pd.concat([as_row, as_column]).sort_index(kind="stable")
    shares = both.loc[both["cca"] == cca, COLUMNS]
    return shares.drop_duplicates(["factor", "level", "ip_version", "against"])


def _draw(shares, factors, title):
    """Return the figure of a CCA's shares; ``factors`` (`FAIRNESS_FACTORS`) provides the factor levels of the base scenario."""
    apply_style()
    others = list(dict.fromkeys(shares["against"]))
    names, ip_versions = set(shares["factor"]), list(shares["ip_version"].unique())
    shown = [(factor, ip_version) for factor in FACTORS if factor.name in names for ip_version in ip_versions]
    # A CCA is compared with itself only where the flows' RTTs differ, and thus in one panel.
    most = max((shares.loc[shares["factor"] == name, "against"].nunique() for name in names), default=0)
    key = KEY_ROW_PT * -(-most // KEY_COLUMNS) + KEY_GAP_PT
    number = len(shown)
    grid = Grid(number, columns_for(number), PANEL_PT, TITLE_PT + key + PLOT_PT + BELOW_PT, 32)
    drawn = PanelFigure(title, grid, (LEFT_PT, RIGHT_PT, TITLE_PT + key, BELOW_PT))
    if not shown:
        axes = drawn.next_axes()
        axes.set_axis_off()
        remark(axes, 0.5, "no two scenarios differ in only one factor")
        drawn.finish(axes, "No two scenarios differ in only one factor.")
    for factor, ip_version in shown:
        axes = drawn.next_axes()
        of_factor = shares[(shares["factor"] == factor.name) & (shares["ip_version"] == ip_version)]
        base = factors.loc[factors["factor"] == factor.name, "base_level"].iloc[0]
        levels = sorted(of_factor["level"].dropna().unique())
        name = with_ip_version(
            f"{factor.title}, {factor.unit}" if factor.unit else factor.title, ip_version, ip_versions
        )
        _frame(axes, levels, base)
        panel_title(axes, name, "share of the goodput of both, with intervals", LEFT_PT, key)
        here = [other for other in others if other in set(of_factor["against"])]
        _key(axes, here, key)
        for number, other in enumerate(here):
            aside = DODGE * ((number + 0.5) / len(here) - 0.5)
            _line(axes, of_factor[of_factor["against"] == other].sort_values("level"), levels, other, aside)
        drawn.finish(axes, _describe(of_factor, name, here))
    return drawn


def _frame(axes, levels, base):
    axes.set_xlim(-0.5, len(levels) - 0.5)
    axes.set_ylim(0, 1)
    labels = axes.set_xticks(range(len(levels)), map(_level_words, levels))
    for tick, level in zip(labels, levels, strict=True):
        tick.label1.set_fontweight("bold" if level == base else "normal")
        tick.label1.set_color(LIGHT.ink if level == base else LIGHT.muted)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
    axes.tick_params(axis="y", length=0, pad=3, labelsize=SMALL_SIZE_PT)
    axes.tick_params(axis="x", length=2.5, pad=2)
    lines_behind(axes, "y")
    axes.axhline(0.5, color=LIGHT.muted, lw=0.9, ls=DASHES, zorder=1)


def _level_words(level):
    """Return the tick label of a level: a number such as 40 or 0.25, or one of the fractions 1/3 and 1/5."""
    if level in (1 / 3, 1 / 5):
        return f"1/{1 / level:.0f}"
    return f"{level:,.4g}" if level < 10000 else f"{level:,.0f}"


def _key(axes, others, height):
    width, tall = size_pt(axes)
    for number, other in enumerate(others):
        row, column = divmod(number, KEY_COLUMNS)
        x = (column * (width + LEFT_PT - 12) / KEY_COLUMNS - LEFT_PT + 12) / width
        y = 1 + (height - 4 - KEY_ROW_PT * row - 5) / tall
        look = {"marker": cca_marker(other), "color": cca_colour(other), "ms": 4, "mew": 0, "ls": "none"}
        axes.plot([x], [y], transform=axes.transAxes, **look)
        text = f"against {other}"
        room = int(((width + LEFT_PT) / KEY_COLUMNS - 10) / (LETTER_SHARE * SMALL_SIZE_PT))
        axes.text(
            x + 6 / width, y, text if len(text) <= room else other, transform=axes.transAxes, size=SMALL_SIZE_PT,
            color=LIGHT.ink, va="center_baseline",
        )  # fmt: skip


def _line(axes, rows, levels, other, aside):
    rows = rows.dropna(subset=["share", "level"])
    colour, places = cca_colour(other), [levels.index(level) + aside for level in rows["level"]]
    (marks,) = axes.plot(places, rows["share"], color=colour, lw=0.9, marker=cca_marker(other), ms=4.2, mew=0, zorder=3)
    texts = [
        f"{value_words(row['share'], row['share_low'], row['share_high'])} at {_level_words(row['level'])}"
        for row in rows.to_dict("records")
    ]
    tell(marks, texts, f"against {other}")
    for place, low, high in zip(places, rows["share_low"], rows["share_high"], strict=True):
        if not is_missing(low):
            axes.plot([place, place], [low, high], color=colour, lw=1.1, zorder=2)


def _describe(rows, name, others):
    parts = []
    for other in others:
        levels = rows[(rows["against"] == other) & rows["share"].notna()].sort_values("level")
        values = ", ".join(f"{row.share:.2f} at {_level_words(row.level)}" for row in levels.itertuples())
        parts.append(f"against {other} {values or 'unknown'}")
    return f"Share over {name}: {'; '.join(parts)}."


def plot_share_factors(fairness_factors, cca_shown) -> Drawing:
    """Return the figure and its data."""
    shares = shares_of(cca_shown, fairness_factors)
    title = f"Share of {cca_shown}"
    drawn = _draw(shares, fairness_factors, title)
    return drawn.drawing(f"{title} against other CCAs, for each factor of the scenarios", shares)
