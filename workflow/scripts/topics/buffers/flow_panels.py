"""Prepare inputs and panels for figures that show individual flows; a panel contains one slot per buffer or per platform.

`runs` is ``tidy/runs.csv``, `flows` is ``tidy/flows.csv``, and `table` is the result of `scenario_series.with_series`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels, buffer_names, draw_nothing, level, slots, with_ip_version
from figure_parts.figure_style import apply_style, cca_colour
from run_tables.run_keys import CELL
from wording.scenario_series import buffers_of, platform_name, platforms_of, setting_words
from wording.sentence_words import cca_name


@dataclass(frozen=True)
class FlowPanel:
    """A panel of a figure: a two-line title and labelled slots.

    Each slot is labelled with a name and shows one cell. A cell is a tuple (scenario, CCA, IP version); the scenario is None if the study
    contains no scenario for the slot.
    """

    title: str
    second: str
    cells: list[tuple[str | None, str, str]]
    names: list[str]
    below: str


def shown_by_buffer(table: pd.DataFrame) -> tuple[list[str], pd.DataFrame]:
    """Return the series that include several buffers, ordered by platform, and the buffers of these series."""
    order = platforms_of(table)
    sizes = table.groupby("series", sort=False)["buffer"].nunique()
    several = table[table["series"].isin(sizes[sizes > 1].index)]
    place = {
        name: (order.index(platform), number)
        for number, (name, platform) in enumerate(zip(several["series"], several["platform"], strict=True))
    }
    return sorted(place, key=place.get), buffers_of(several)


def at_buffers(rows: pd.DataFrame, buffers: pd.DataFrame) -> list[str | None]:
    """Return one scenario per buffer, from rows that differ only in the buffer; None for a buffer without a scenario."""
    scenarios = rows.drop_duplicates("buffer").set_index("buffer")["scenario"]
    return [scenarios.get(buffer) for buffer in buffers["buffer"]]


def shown_by_platform(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows to compare across platforms, and their platforms.

    These rows share the combination of conditions and buffer that is used on the most platforms; in a tie, the combination with the
    smallest buffer is chosen.
    """
    sizes = list(buffers_of(table)["buffer"])
    best = min(
        table.groupby(["conditions", "buffer"], sort=False),
        key=lambda item: (-item[1]["platform"].nunique(), sizes.index(item[0][1]), item[0][0]),
    )[1]
    return best, platforms_of(best)


def panels_by_buffer(runs: pd.DataFrame, table: pd.DataFrame, cca: str) -> Iterator[FlowPanel]:
    """Yield the panels for one CCA, with a slot for each buffer."""
    series, buffers = shown_by_buffer(table)
    for name in series:
        rows = table[table["series"] == name]
        title = f"{cca_name(cca)}, {rows['platform_name'].iloc[0]}"
        yield from _of_ip_versions(runs, title, rows, at_buffers(rows, buffers), cca, *buffer_names(buffers))


def panels_by_platform(runs: pd.DataFrame, table: pd.DataFrame) -> Iterator[FlowPanel]:
    """Yield a panel for each CCA, with a slot for each platform."""
    here, platforms = shown_by_platform(table)
    scenarios = [here.loc[here["platform"] == platform, "scenario"].iloc[0] for platform in platforms]
    names = [platform_name(platform).removeprefix("ns-3 ") for platform in platforms]
    below = "version of ns-3" if any(":" in platform for platform in platforms) else "platform"
    for cca in runs["cca"].unique():
        title = f"{cca_name(cca)}, buffer {here['buffer'].iloc[0]}"
        yield from _of_ip_versions(runs, title, here, scenarios, cca, names, below)


def _of_ip_versions(runs, title, rows, scenarios, cca, names, below):
    """Yield a CCA's panels, one for each IP version."""
    ip_versions = list(runs["ip_version"].unique())
    for ip_version in ip_versions:
        cells = [(scenario, cca, ip_version) for scenario in scenarios]
        whole = with_ip_version(title, ip_version, ip_versions)
        yield FlowPanel(whole, setting_words(rows.iloc[0]), cells, names, below)


def of_panels(table: pd.DataFrame, panels: list[FlowPanel]) -> pd.DataFrame:
    """Return the rows of a table whose cells are shown in one of the panels."""
    shown = {cell for panel in panels for cell in panel.cells}
    return table[np.array([cell in shown for cell in table[CELL].itertuples(index=False, name=None)], dtype=bool)]


def draw_flows(
    words: tuple[str, str, str],
    highest: pd.Series,
    panels: list[FlowPanel],
    runs: pd.DataFrame,
    cells: Mapping,
    draw: Callable,
) -> CategoryPanels:
    """Draw a figure of the flows' goodputs in Mbit/s.

    Parameters
    ----------
    words : tuple of str
        Title of the figure, subject of each panel's description, and the words that introduce the list of slots, such as "By".
    highest : pandas.Series of float
        Values in Mbit/s that must fit on the axis.
    panels, runs
        The panels to draw, and the runs from which the fair share is computed.
    cells : mapping
        (scenario, CCA, IP version) -> the data to draw; cells without a valid run are missing.
    draw : callable
        Function that draws a cell's data and returns a description in words. It is called with the axes, the slot's position, the data and
        the colour.
    """
    apply_style()
    title, subject, order = words
    drawn = CategoryPanels(title, len(panels))
    axis = linear_axis(0, float(highest.max()) if (highest > 0).any() else 1.0)
    for panel in panels:
        axes = drawn.add(panel.title, panel.second, axis)
        slots(axes, panel.names, panel.below)
        shown = []
        for place, (name, cell) in enumerate(zip(panel.names, panel.cells, strict=True)):
            if cell in cells:
                shown.append(f"{name}: {draw(axes, place, cells[cell], cca_colour(cell[1]))}")
            elif cell[0] is not None:
                draw_nothing(axes, place)
                shown.append(f"{name}: no valid run")
        level(axes, fair_share(runs, [scenario for scenario, _, _ in panel.cells]))
        by = panel.below.split(",")[0]
        drawn.finish(axes, f"{subject} in Mbit/s, {panel.title}. {order} {by}: {'; '.join(shown)}.")
    return drawn


def fair_share(runs: pd.DataFrame, scenarios: list) -> float | None:
    """Return a flow's fair share in Mbit/s, or None if the fair shares differ between the scenarios or the capacity is missing."""
    rows = runs[runs["scenario"].isin(scenarios)]
    shares = (rows["capacity_mbps"] / rows["flows_under_test"]).dropna().unique()
    return float(shares[0]) if len(shares) == 1 else None
