"""The panels of figures that show each flow: a slot for each buffer, or for each platform."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes

from figure_parts.category_panels import buffer_names, nothing, slots, with_ip_version
from figure_parts.figure_style import cca_colour
from run_tables.tidy_tables import CELL
from topics.buffers.flow_ranks import shown_by_buffer, shown_by_platform
from wording.number_format import is_missing
from wording.scenario_series import platform_name, setting_words
from wording.sentence_words import cca_name


@dataclass(frozen=True)
class FlowPanel:
    """A panel.

    Attributes
    ----------
    title, second : str
        The two lines of its title.
    cells : list of tuple
        Scenario (None if there is none), CCA and IP version of each slot.
    names : list of str
        Of the slots.
    below : str
        What the slots are.
    """

    title: str
    second: str
    cells: list
    names: list
    below: str

    @property
    def scenarios(self) -> list:
        """Scenarios of the slots."""
        return [scenario for scenario, _, _ in self.cells]


def panels_by_buffer(runs: pd.DataFrame, table: pd.DataFrame, cca: str) -> Iterator[FlowPanel]:
    """Yield the panels of one CCA, with a slot for each buffer.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``tidy/runs.csv``.
    table : pandas.DataFrame
        Scenarios, as `scenario_series.with_series` gives them.
    cca : str
    """
    series, buffers = shown_by_buffer(table)
    names, below = buffer_names(buffers)
    ip_versions = list(runs["ip_version"].unique())
    for name in series:
        rows = table[table["series"] == name]
        scenarios = [next(iter(rows.loc[rows["buffer"] == buffer, "scenario"]), None) for buffer in buffers["buffer"]]
        for ip_version in ip_versions:
            title = with_ip_version(f"{cca_name(cca)}, {rows['platform_name'].iloc[0]}", ip_version, ip_versions)
            cells = [(scenario, cca, ip_version) for scenario in scenarios]
            yield FlowPanel(title, setting_words(rows.iloc[0]), cells, names, below)


def panels_by_platform(runs: pd.DataFrame, table: pd.DataFrame) -> Iterator[FlowPanel]:
    """Yield a panel for each CCA, with a slot for each platform; parameters as of `panels_by_buffer`."""
    here, platforms = shown_by_platform(table)
    scenarios = [here.loc[here["platform"] == platform, "scenario"].iloc[0] for platform in platforms]
    names = [platform_name(platform).removeprefix("ns-3 ") for platform in platforms]
    below = "version of ns-3" if any(":" in platform for platform in platforms) else "platform"
    ip_versions = list(runs["ip_version"].unique())
    for cca in runs["cca"].unique():
        for ip_version in ip_versions:
            title = with_ip_version(f"{cca_name(cca)}, buffer {here['buffer'].iloc[0]}", ip_version, ip_versions)
            cells = [(scenario, cca, ip_version) for scenario in scenarios]
            yield FlowPanel(title, setting_words(here.iloc[0]), cells, names, below)


def draw_slots(axes: Axes, panel: FlowPanel, cells: Mapping, draw: Callable) -> str:
    """Draw the slots of a panel; return what they show in words.

    Parameters
    ----------
    cells : mapping
        Scenario, CCA and IP version -> what is drawn of the cell, if it has a valid run.
    draw : callable
        Given axes, place, what is drawn of a cell, and colour, it draws that and returns it in words.
    """
    slots(axes, panel.names, panel.below)
    words = []
    for place, (name, cell) in enumerate(zip(panel.names, panel.cells, strict=True)):
        if cell in cells:
            words.append(f"{name}: {draw(axes, place, cells[cell], cca_colour(cell[1]))}")
        elif cell[0] is not None:
            nothing(axes, place)
            words.append(f"{name}: no valid run")
    return "; ".join(words)


def of_panels(table: pd.DataFrame, panels: list[FlowPanel]) -> pd.DataFrame:
    """Return the rows of a table whose cells have a slot in one of the panels."""
    shown = {cell for panel in panels for cell in panel.cells}
    return table[[cell in shown for cell in table[CELL].itertuples(index=False, name=None)]]


def fair_share(runs: pd.DataFrame, scenarios: list) -> float | None:
    """Return a flow's fair share of the link in Mbit/s, None if the scenarios differ in it or have no rate."""
    rows = runs[runs["scenario"].isin(scenarios)]
    shares = (rows["rate_mbps"] / rows["flows"]).unique()
    return float(shares[0]) if len(shares) == 1 and not is_missing(float(shares[0])) else None
