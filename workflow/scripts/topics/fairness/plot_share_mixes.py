"""Plot each CCA's share, relative to the fair share, in mixes other than pairs."""

from figure_parts.axis_scales import panel_axes
from figure_parts.category_panels import with_ip_version
from figure_parts.figure_style import FONT_SIZE_PT, LIGHT, apply_style, cca_colour, cca_marker
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import (
    INDENT_PT,
    LETTER_SHARE,
    TITLE_PT,
    Grid,
    PanelFigure,
    columns_for,
    interval_line,
    panel_title,
    reference_line,
    remark,
    rows_of,
    unit_below,
    value_axis,
)  # fmt: skip
from figure_parts.tooltips import tell, value_words
from topics.fairness.distributions import distributions, has_many
from topics.fairness.flow_shares import PLACE, ccas_of, mix_sizes
from topics.fairness.share_words import scenario_name
from wording.number_format import count, is_missing
from wording.scenario_words import conditions

#: Columns of the table to draw.
DRAWN = [
    "scenario", "scenario_label", "ip_version", "cca", "flow_cca", "note", "position", "flows", "n", "rtt_path_ms",
    "share", "share_low", "share_high", "fair_ratio", "fair_ratio_low", "fair_ratio_high",
]  # fmt: skip
ROW_PT, RIGHT_PT, AXIS_PT, PLOT_PT, WIDEST_LABEL_PT = 17, 10, 32, 150, 150


def _row_name(row, many=False):
    """Return a row's name, such as "reno in reno+cubic+bbr".

    If all flows use the same CCA, the name is "cubic, flow 2", or "cubic" if there are ``many`` flows.
    """
    if len(ccas_of(row["cca"])) > 1:
        return f"{row['flow_cca']} in {row['cca']}"
    if many:
        return row["flow_cca"]
    return f"{row['flow_cca']}, flow {int(row['position']) + 1}"


def _draw(shares, scenarios, many):
    """Return the figure, with one panel per scenario and IP version."""
    apply_style()
    names = list(dict.fromkeys(_row_name(row, many) for row in shares.to_dict("records")))
    labels = min(WIDEST_LABEL_PT, INDENT_PT + 6 + LETTER_SHARE * FONT_SIZE_PT * max(map(len, names)))
    width, height = labels + PLOT_PT + RIGHT_PT, TITLE_PT + ROW_PT * len(names) + AXIS_PT
    ip_versions = list(shares["ip_version"].unique())
    places = [(scenario, ip_version) for scenario in scenarios.to_dict("records") for ip_version in ip_versions]
    grid = Grid(len(places), columns_for(len(places)), width, height, 32)
    drawn = PanelFigure("Share divided by the fair share", grid, (labels, RIGHT_PT, TITLE_PT, AXIS_PT))
    by_place = {place: rows.to_dict("records") for place, rows in shares.groupby(PLACE, sort=False)}
    shown = [by_place.get((scenario["scenario"], ip_version), []) for scenario, ip_version in places]
    ends = ("fair_ratio", "fair_ratio_low", "fair_ratio_high")
    axis = panel_axes([[1.0, *(float(row[end]) for row in rows for end in ends if not is_missing(row[end]))]
                       for rows in shown])  # fmt: skip
    for (scenario, ip_version), rows, of_panel in zip(places, shown, axis, strict=True):
        axes, name = drawn.next_axes(), with_ip_version(scenario_name(scenario), ip_version, ip_versions)
        value_axis(axes, "x", of_panel, spaced=True)
        rows_of(axes, names)
        unit_below(axes, of_panel, "times the fair share")
        panel_title(axes, name, conditions(scenario), labels)
        reference_line(axes, 1.0)
        for row in rows:
            _row(axes, names.index(_row_name(row, many)), row, many)
        drawn.finish(axes, _describe(rows, name, conditions(scenario), many))
    return drawn


def _row(axes, y, row, many):
    if is_missing(row["fair_ratio"]):
        remark(axes, y, row["note"] or "no value")
        return
    if not is_missing(row["fair_ratio_low"]):
        interval_line(axes, row["fair_ratio_low"], row["fair_ratio_high"], y)
    (mark,) = axes.plot(
        [row["fair_ratio"]], [y], marker=cca_marker(row["flow_cca"]), ms=4.5, mew=0.8, mec=LIGHT.paper,
        mfc=cca_colour(row["flow_cca"]), zorder=4, ls="none",
    )  # fmt: skip
    words = value_words(
        row["fair_ratio"], row["fair_ratio_low"], row["fair_ratio_high"], "times the fair share", row["n"]
    )
    about = f"{_row_name(row, many)}, median of {count(int(row['flows']), 'flow')}" if many else _row_name(row)
    tell(mark, [words], about)


def _describe(rows, name, conditions, many):
    values = "; ".join(
        f"{_row_name(row, many)} {row['fair_ratio']:.2f}" for row in rows if not is_missing(row["fair_ratio"])
    )
    return f"Share divided by the fair share. {name}, {conditions}: {values or 'no valid run'}."


def plot_share_mixes(shares, scenarios) -> Drawing:
    """Return the figure and its data."""
    shares = shares[mix_sizes(shares) != 2]
    if many := has_many(shares):
        shares = distributions(shares)
    drawn = _draw(shares, scenarios, many)
    title = "Share of each CCA divided by the fair share, in mixes that are not pairs"
    return drawn.drawing(title, shares[DRAWN])
