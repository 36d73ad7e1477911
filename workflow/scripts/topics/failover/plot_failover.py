"""Plot each path's rate over time, before, during and after an outage, with one panel (and one run) per CCA and IP version."""

import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels, with_ip_version
from figure_parts.cca_slots import empty_panel
from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import DASHES, value_axis
from figure_parts.tooltips import tell_line
from run_tables.run_keys import CELL, RUN
from run_tables.series_of_runs import series_of_runs
from topics.failover.path_series import COLUMNS, acked_by_path
from wording.number_format import number, plain
from wording.sentence_words import cca_name

#: Averaging interval for rates, long enough to hide individual acknowledgements.
STEP_S = 0.5
#: Line styles for the path that goes down, and for the other paths.
LINES = ((LIGHT.ink, 1.1, "-"), (LIGHT.muted, 0.9, DASHES))


def rates_over_time(samples) -> pd.DataFrame:
    """Return the rate of each path as a table: ``path``, ``time_s`` and ``acked_mbps``.

    Each rate is averaged over the `STEP_S` seconds that end at ``time_s``.
    """
    acked = acked_by_path(samples)
    steps = pd.Index([step * STEP_S for step in range(int(acked.index[-1] / STEP_S) + 1)])
    at_steps = acked.reindex(acked.index.union(steps)).ffill().fillna(0.0).loc[steps]
    rates = (8e-6 * at_steps.diff() / STEP_S).iloc[1:]
    long = rates.rename_axis(index="time_s", columns="path").stack().rename("acked_mbps").reset_index()
    return long.sort_values(["path", "time_s"])[["path", "time_s", "acked_mbps"]]


def _draw(shown, rates, scenario):
    """Return the figure, with one panel for each run shown."""
    apply_style()
    begin_s, end_s = scenario["outage_at_s"], scenario["outage_at_s"] + scenario["outage_for_s"]
    title = f"Paths over time, path {scenario['outage_path']:.0f} down from {plain(begin_s)} to {plain(end_s)} s"
    drawn = CategoryPanels(title, len(shown), 2, columns=2)
    highest = max((of_run["acked_mbps"].max() for of_run in rates.values()), default=1.0)
    versions = {run[2] for run in shown}
    for run in shown:
        name = with_ip_version(cca_name(run[1]), run[2], versions)
        axes = drawn.add("Acknowledged on each path, Mbit/s", name, linear_axis(0, highest))
        value_axis(axes, "x", linear_axis(0, rates[run]["time_s"].max()), spaced=True)
        axes.set_xlabel("s", size=SMALL_SIZE_PT, labelpad=1, loc="right")
        axes.axvspan(begin_s, end_s, color=LIGHT.line, lw=0, zorder=0)
        words, key = [], []
        for path, of_path in rates[run].groupby("path"):
            ink, width, dashes = LINES[int(path != scenario["outage_path"])]
            (line,) = axes.plot(
                of_path["time_s"],
                of_path["acked_mbps"],
                color=ink,
                lw=width,
                ls=dashes,
                drawstyle="steps-pre",
                zorder=3,
            )
            tell_line(line, f"{cca_name(run[1])}, path {path:.0f}", "s", "Mbit/s")
            key.append(Line2D([], [], color=ink, lw=width, ls=dashes, label=f"path {path:.0f}"))
            median = of_path.loc[of_path["time_s"].between(begin_s, end_s), "acked_mbps"].median()
            words.append(f"Path {path:.0f}: median {number(median, 1)} Mbit/s during the outage.")
        drawn.finish(axes, f"Acknowledged on each path over time, {name}. {' '.join(words)}", key)
    if not shown:
        empty_panel(drawn)
    return drawn


def plot_failover(runs, scenarios, sockets, scenario) -> Drawing:
    """Return the figure and its data."""
    first = runs[runs["valid"] & (runs["scenario"] == scenario)].drop_duplicates(CELL)
    shown = [(str(s), str(c), str(v), int(r)) for s, c, v, r in first[RUN].itertuples(index=False)]
    series = series_of_runs(sockets, COLUMNS, set(shown))
    rates = {run: rates_over_time(samples) for run, samples in series if run in shown}
    drawn = _draw([run for run in shown if run in rates], rates, scenarios.set_index("scenario").loc[scenario])
    parts = [of_run.assign(**dict(zip(RUN, run, strict=True))) for run, of_run in rates.items()]
    data = (
        pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["path", "time_s", "acked_mbps", *RUN])
    )
    return drawn.drawing("Paths over time while one is down", data[[*RUN, "path", "time_s", "acked_mbps"]])
