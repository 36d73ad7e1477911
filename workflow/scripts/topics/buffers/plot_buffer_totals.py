"""Plot total goodput and Jain's index against the buffer, with one line per CCA or per platform."""

from dataclasses import dataclass

from matplotlib.lines import Line2D

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import (
    CategoryPanels,
    buffer_names,
    draw_interval,
    draw_nothing,
    slots,
    with_ip_version,
)
from figure_parts.figure_style import LIGHT, apply_style, cca_colour, cca_marker
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import DASHES
from figure_parts.tooltips import tell, value_words
from run_tables.run_keys import CELL
from topics.buffers.flow_panels import at_buffers, shown_by_buffer
from wording.number_format import is_missing, number
from wording.scenario_series import platform_name, platforms_of, setting_words, with_series
from wording.sentence_words import cca_name

# Statistic -> its name.
SHOWN = {"total_mbps": "Goodput of all flows, Mbit/s", "jain_index": "Jain's index"}
SPREAD = 0.3  # the lines in a slot are spread over this share of its width


@dataclass(frozen=True)
class _Line:
    """A line in a panel: name, style, and one (scenario, CCA) per buffer, where a missing scenario is None."""

    name: str
    cells: list[tuple[str | None, str]]
    look: dict


def _look(colour, marker, dashes="-", is_open=False):
    fill = LIGHT.paper if is_open else colour
    return {"color": colour, "marker": marker, "ls": dashes, "mec": colour, "mfc": fill, "lw": 1.1}


def _lines_of_ccas(rows, buffers, ccas):
    """Return a line for each CCA in the scenarios of one series."""
    scenarios = at_buffers(rows, buffers)
    looks = {cca: _look(cca_colour(cca), cca_marker(cca)) for cca in ccas}
    return [_Line(cca_name(cca), [(name, cca) for name in scenarios], look) for cca, look in looks.items()]


def _lines_of_platforms(rows, buffers, cca):
    """Return a line for each platform.

    Lines for Linux are black. Lines for versions of a simulator are in the CCA's colour, and only the newest version's line is solid.
    """
    lines, platforms = [], platforms_of(rows)
    versions = [platform for platform in platforms if ":" in platform]
    marks = dict(zip(reversed(versions), "s^Dv<>", strict=False))
    for platform in platforms:
        scenarios = at_buffers(rows[rows["platform"] == platform], buffers)
        look = _look(LIGHT.ink, "o")
        if platform in versions:
            look = _look(cca_colour(cca), marks.get(platform, "s"), "-" if platform == versions[-1] else DASHES, True)
        lines.append(_Line(platform_name(platform), [(name, cca) for name in scenarios], look))
    return lines


def _plan(table, ccas, ip_versions, by_platform):
    """Yield, for each pair of panels, both title lines, the lines to draw, and the IP version."""
    series, buffers = shown_by_buffer(table)
    several = table[table["series"].isin(series)]
    for ip_version in ip_versions:
        if by_platform:
            groups = [rows for _, rows in several.groupby("conditions", sort=False)]
            pairs = [(rows, cca_name(cca), _lines_of_platforms(rows, buffers, cca)) for rows in groups for cca in ccas]
        else:
            groups = [several[several["series"] == name] for name in series]
            pairs = [(rows, rows["platform_name"].iloc[0], _lines_of_ccas(rows, buffers, ccas)) for rows in groups]
        for rows, title, lines in pairs:
            yield with_ip_version(title, ip_version, ip_versions), setting_words(rows.iloc[0]), lines, ip_version


def _draw(cells, table, by_platform):
    """Return the figure: one line per platform and two panels per CCA, or one line per CCA and two panels per platform."""
    apply_style()
    plan = list(_plan(table, list(cells["cca"].unique()), list(cells["ip_version"].unique()), by_platform))
    names, below = buffer_names(shown_by_buffer(table)[1])
    known = cells.set_index([*CELL, "statistic"]).to_dict("index")
    shown = {
        (*cell, ip_version, "total_mbps") for *_, lines, ip_version in plan for line in lines for cell in line.cells
    }
    highest = max((known[key]["mean"] for key in shown & set(known) if not is_missing(known[key]["mean"])), default=0.0)
    # Intervals may extend slightly beyond the highest mean; those that extend further end in an arrowhead.
    axis = {"total_mbps": linear_axis(0, max(1e-9, 1.04 * highest)), "jain_index": linear_axis(0, 1.0)}
    most = max(len(lines) for _, _, lines, _ in plan)
    drawn = CategoryPanels("Goodput of all flows, and fairness among them", 2 * len(plan), most, columns=2)
    for title, second, lines, ip_version in plan:
        for statistic, what in SHOWN.items():
            axes = drawn.add(f"{title}: {what}", second, axis[statistic])
            slots(axes, names, below)
            shifts = [
                SPREAD * (place / (len(lines) - 1) - 0.5) if len(lines) > 1 else 0.0 for place in range(len(lines))
            ]
            words = [
                _draw_line(axes, line, shift, [known.get((*cell, ip_version, statistic)) for cell in line.cells])
                for line, shift in zip(lines, shifts, strict=True)
            ]
            key = [Line2D([], [], ms=4, label=line.name, **line.look) for line in lines]
            drawn.finish(axes, f"{what} against the buffer, {title}. {' '.join(words)}", key)
    return drawn


def _draw_line(axes, line, shift, rows):
    """Draw one line of a panel, shifted sideways by `shift`; return a description of the line in words."""
    xs, ys, words, texts = [], [], [], []
    for place, row in enumerate(rows):
        if row is None:
            continue
        if is_missing(row["mean"]):
            draw_nothing(axes, place + shift)
            words.append("no valid run")
            continue
        xs.append(place + shift)
        ys.append(row["mean"])
        words.append(number(row["mean"]))
        texts.append(value_words(row["mean"], row["ci_low"], row["ci_high"]))
        if not is_missing(row["ci_low"]):
            draw_interval(axes, place + shift, row["ci_low"], row["ci_high"], line.look["color"])
    (marks,) = axes.plot(xs, ys, ms=4.2, zorder=3, **line.look)
    tell(marks, texts, line.name)
    return f"{line.name}: {', '.join(words) or 'none'}."


def plot_buffer_totals(flow_goodput_cells, scenarios, lines) -> Drawing:
    """Return the figure and its data."""
    cells = flow_goodput_cells
    drawn = _draw(cells, with_series(scenarios), lines == "platforms")
    title = f"Goodput of all flows and Jain's index against the buffer, by {lines}"
    return drawn.drawing(title, cells[cells["statistic"].isin(SHOWN)])
