"""Draw what all flows get together, and how evenly, against the buffer: by CCA, or by platform."""

from collections.abc import Iterator
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels, buffer_names, interval, nothing, slots, with_ip_version
from figure_parts.figure_style import LIGHT, apply_style, cca_colour, cca_marker
from figure_parts.figure_svg import Panel, save_figure
from figure_parts.scenario_panels import DASHES
from rule_script import run_rule
from run_tables.reading import read_table
from run_tables.tidy_tables import SCENARIOS
from topics.buffers.flow_ranks import shown_by_buffer
from topics.buffers.tables import FLOW_GOODPUT_CELLS
from wording.number_format import is_missing, number
from wording.scenario_series import platform_name, platforms_of, setting_words, with_series
from wording.sentence_words import cca_name

# Statistic -> its name, and where its axis ends unless values are beyond.
SHOWN = {"total_mbps": ("Goodput of all flows, Mbit/s", None), "jain_index": ("Jain's index", 1.0)}
SPREAD = 0.3  # of a slot, over which lines are set apart


@dataclass(frozen=True)
class Line:
    """A line of a panel: its name, its cells one a buffer (None for those there aren't), and its look."""

    name: str
    cells: tuple
    colour: str
    marker: str
    is_open: bool = False
    dashes: object = "-"

    def entry(self) -> Line2D:
        """Return its entry in the panel's key."""
        return Line2D(
            [], [], color=self.colour, marker=self.marker, ms=4, lw=1.1, ls=self.dashes, mec=self.colour,
            mfc=LIGHT.paper if self.is_open else self.colour, label=self.name,
        )  # fmt: skip


def lines_of_ccas(scenarios, ccas) -> list[Line]:
    """Return a line for each CCA, of the scenarios of one series."""
    return [
        Line(cca_name(cca), tuple((name, cca) for name in scenarios), cca_colour(cca), cca_marker(cca)) for cca in ccas
    ]


def lines_of_platforms(table, buffers, platforms, cca) -> list[Line]:
    """Return a line for each platform: Linux in ink, a simulator's versions in the CCA's colour, the newest solid."""
    lines, versions = [], [platform for platform in platforms if ":" in platform]
    marks = dict(zip(reversed(versions), "s^Dv<>", strict=False))
    for platform in platforms:
        scenarios = table[table["platform"] == platform].set_index("buffer")["scenario"]
        cells = tuple((scenarios.get(buffer), cca) for buffer in buffers)
        newest = versions[-1:] == [platform]
        look = (
            (cca_colour(cca), marks.get(platform, "s"), True, "-" if newest else DASHES)
            if platform in versions
            else (LIGHT.ink, "o")
        )
        lines.append(Line(platform_name(platform), cells, *look))
    return lines


def panels_of(table, ccas, ip_versions, by_platform) -> Iterator[tuple]:
    """Yield title, second line, lines and IP version of each pair of panels."""
    series, buffers = shown_by_buffer(table)
    several = table[table["series"].isin(series)]
    for ip_version in ip_versions:
        if not by_platform:
            for name in series:
                rows = several[several["series"] == name]
                names = [
                    next(iter(rows.loc[rows["buffer"] == buffer, "scenario"]), None) for buffer in buffers["buffer"]
                ]
                yield (
                    with_ip_version(rows["platform_name"].iloc[0], ip_version, ip_versions),
                    setting_words(rows.iloc[0]),
                    lines_of_ccas(names, ccas),
                    ip_version,
                )
            continue
        for _, rows in several.groupby("conditions", sort=False):
            for cca in ccas:
                lines = lines_of_platforms(rows, list(buffers["buffer"]), platforms_of(rows), cca)
                title = with_ip_version(cca_name(cca), ip_version, ip_versions)
                yield title, setting_words(rows.iloc[0]), lines, ip_version


def draw_buffer_totals(cells, table, ccas, ip_versions, by_platform) -> tuple[Figure, list[Panel]]:
    """Draw the figure.

    Parameters
    ----------
    cells : pandas.DataFrame
        ``analysis/flow_goodput_cells.csv``.
    table : pandas.DataFrame
        Scenarios with their series.
    ccas, ip_versions : list of str
    by_platform : bool
        Whether lines are platforms, and panels CCAs.

    Returns
    -------
    figure : matplotlib.figure.Figure
    panels : list of Panel
    """
    apply_style()
    plan = list(panels_of(table, ccas, ip_versions, by_platform))
    names, below = buffer_names(shown_by_buffer(table)[1])
    known = {
        (row["scenario"], row["cca"], row["ip_version"], row["statistic"]): row for row in cells.to_dict("records")
    }
    most = max(len(lines) for _, _, lines, _ in plan)
    drawn = CategoryPanels("Goodput of all flows, and how evenly they share it", 2 * len(plan), most, columns=2)
    for title, second, lines, ip_version in plan:
        for statistic, (what, end) in SHOWN.items():
            axis = linear_axis(0, max(end or 0.0, *_tops(known, plan, statistic)))
            axes = drawn.add(f"{title}: {what}", second, axis)
            slots(axes, names, below)
            words = [
                _line(axes, line, number_of, len(lines), known, ip_version, statistic)
                for number_of, line in enumerate(lines)
            ]
            drawn.finish(
                axes, f"{what} against the buffer, {title}. {' '.join(words)}", [line.entry() for line in lines]
            )
    return drawn.figure, drawn.panels


def _tops(known, plan, statistic):
    # Highest means; intervals may reach a little further, and get an arrowhead beyond that.
    cells = {
        (*cell, ip_version, statistic) for _, _, lines, ip_version in plan for line in lines for cell in line.cells
    }
    tops = [known[cell]["mean"] for cell in cells if cell in known and not is_missing(known[cell]["mean"])]
    return [0.0, 1e-9, 1.04 * max(tops, default=0.0)] if statistic == "total_mbps" else [0.0]


def _line(axes, line, number_of, lines, known, ip_version, statistic):
    """Draw a line of a panel; return what it shows in words."""
    shift = SPREAD * (number_of / (lines - 1) - 0.5) if lines > 1 else 0.0
    xs, ys, words = [], [], []
    for place, cell in enumerate(line.cells):
        row = known.get((*cell, ip_version, statistic))
        if row is None:
            continue
        if is_missing(row["mean"]):
            nothing(axes, place + shift)
            words.append("no valid run")
            continue
        xs.append(place + shift)
        ys.append(row["mean"])
        words.append(number(row["mean"]))
        if not is_missing(row["ci_low"]):
            interval(axes, place + shift, row["ci_low"], row["ci_high"], line.colour)
    axes.plot(
        xs, ys, color=line.colour, lw=1.1, ls=line.dashes, marker=line.marker, ms=4.2, mec=line.colour,
        mfc=LIGHT.paper if line.is_open else line.colour, zorder=3,
    )  # fmt: skip
    return f"{line.name}: {', '.join(words) or 'none'}."


def main(inputs, outputs, params) -> None:
    """Read cells and scenarios, write figure and data."""
    cells = read_table(inputs.flow_goodput_cells, FLOW_GOODPUT_CELLS)
    table = with_series(read_table(inputs.scenarios, SCENARIOS))
    by_platform = params.lines == "platforms"
    ccas, ip_versions = list(cells["cca"].unique()), list(cells["ip_version"].unique())
    figure, views = draw_buffer_totals(cells, table, ccas, ip_versions, by_platform)
    title = f"Goodput of all flows and Jain's index against the buffer, by {params.lines}"
    save_figure(figure, views, title, cells[cells["statistic"].isin(SHOWN)], outputs)


if "snakemake" in globals():
    run_rule(main, snakemake)
