"""Draw the rate of a file transfer over time, over most paths and over a single one: the paper's figures 3 and 4."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib", "pyarrow")

import pandas as pd
from compare_paths import SCENARIO_COLUMNS, read_all_runs
from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels, nothing
from figure_parts.cca_slots import empty_panel
from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style, cca_colour
from figure_parts.figure_svg import save_figure
from figure_parts.scenario_panels import value_axis
from matplotlib.lines import Line2D
from number_format import count, number
from path_environments import environment_of, environments_of, with_conditions, with_paths, with_platform
from report_parts.sentence_words import cca_name
from run_tables.tidy_columns import RUN, read_table

COLUMNS = [*RUN, "environment", "rate_mbps", "conditions", "paths", "platform", "time_s", "acked_mbps"]


def shown_runs(runs, scenarios, cca):
    """Return the runs that are drawn: the first valid one of each transfer over one path, or as many as there are.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``tidy/runs.csv``.
    scenarios : pandas.DataFrame
        As `path_environments.with_paths` gives.
    cca : str

    Returns
    -------
    pandas.DataFrame
        Rows of `runs` with ``environment``, ``rate_mbps``, ``platform``, ``conditions``, ``paths``, and ``baseline``.
    """
    sampled = scenarios["sample_interval_ms"].astype(str).str.len() > 0
    transfers = scenarios[(scenarios["application"] == "ftp") & scenarios["even"] & sampled]
    most = transfers["paths"].max()
    transfers = transfers[(transfers["by"] == "none") | (transfers["paths"] == most)]
    names = ["scenario", "by", "tunnel_ip_version", "distribution", "paths", "platform", "conditions", "baseline"]
    mine = runs[runs["valid"] & (runs["cca"] == cca)].drop(columns=["paths", "platform", "tunnel_ip_version"], errors="ignore")
    mine = mine.merge(transfers[names], on="scenario").sort_values("replication", kind="stable")
    mine = mine.drop_duplicates(RUN[:3])
    return mine.assign(environment=[environment_of(row) for row in mine.to_dict("records")])


def rate_over_time(samples):
    """Return the rate of acknowledged data in Mbit/s between two samples, all sockets of a run together.

    Parameters
    ----------
    samples : pandas.DataFrame
        ``flow``, ``path``, ``time_s`` and ``bytes_acked`` (since the socket's begin) of a run.

    Returns
    -------
    pandas.DataFrame
        ``time_s``, ``acked_mbps``, the first since time 0; a socket that is gone at a sample keeps what it had acknowledged.
    """
    by_socket = samples.assign(path=samples["path"].fillna(0)).pivot_table(
        index="time_s", columns=["flow", "path"], values="bytes_acked", aggfunc="last"
    )
    total = by_socket.sort_index().ffill().fillna(0).sum(axis=1)
    total = pd.concat([pd.Series({0.0: 0.0}), total[total.index > 0]])
    times = total.index.to_series()
    rates = 8e-6 * total.diff() / times.diff()
    return pd.DataFrame({"time_s": times, "acked_mbps": rates})[1:].reset_index(drop=True)


def rates_of(shown, path):
    """Return the rates of all runs that are drawn, with `COLUMNS`."""
    parts = []
    for run in shown.to_dict("records"):
        wanted = [(key, "==", run[key]) for key in RUN]
        samples = pd.read_parquet(path, columns=["flow", "path", "time_s", "bytes_acked"], filters=wanted)
        parts.append(rate_over_time(samples).assign(**{name: run[name] for name in COLUMNS[: -2]}))
    return pd.concat(parts, ignore_index=True)[COLUMNS] if parts else pd.DataFrame(columns=COLUMNS)


def draw_transfer_rate(rates, shown, cca):
    """Draw the figure: a panel for each environment, with its single path."""
    apply_style()
    joined = shown[shown["by"] != "none"]
    groups = [
        (key, mine[mine["environment"] == environment].iloc[0])
        for key, mine in joined.groupby(["rate_mbps", "platform", "conditions"], sort=False)
        for environment in environments_of(mine["environment"])
    ]
    drawn = CategoryPanels(f"File transfer over time with {cca_name(cca)}, Mbit/s", max(1, len(groups)), 2)
    axis = linear_axis(0, max(1.0, rates["acked_mbps"].max() if len(rates) else 1.0))
    for (_, platform, conditions), run in groups:
        of_both = rates["scenario"].isin([run["scenario"], run["baseline"]])
        mine = rates[of_both & (rates["ip_version"] == run["ip_version"])]
        environment, baseline = run["environment"], f"baseline{run['ip_version'].removeprefix('ipv')}"
        second = with_conditions(f"{count(int(run['paths']), 'path')}, and a single one", conditions)
        axes = drawn.add(with_platform(environment, platform, joined["platform"]), second, axis)
        end = max(1e-9, mine["time_s"].max())
        value_axis(axes, "x", linear_axis(0, end), spaced=True)
        axes.set_xlabel("s", size=SMALL_SIZE_PT, labelpad=1, loc="right")
        entries, words = [], []
        for name, ink, width in ((baseline, LIGHT.ink, 0.9), (environment, cca_colour(cca), 1.1)):
            line = mine[mine["environment"] == name]
            if line.empty:
                nothing(axes, end / 2, f"{name}: none valid")
                continue
            # A rate is that of the time up to its look, the first since the beginning.
            times, values = ([first, *line[column]] for column, first in (("time_s", 0.0), ("acked_mbps", line["acked_mbps"].iloc[0])))
            axes.plot(times, values, color=ink, lw=width, drawstyle="steps-pre", zorder=3)
            entries.append(Line2D([], [], color=ink, lw=1.3, label=name))
            words.append(f"{name}: {number(line['time_s'].iloc[-1], 1)} s, median {number(line['acked_mbps'].median(), 1)} Mbit/s.")
        both = with_conditions(f"{environment} and {baseline}", conditions)
        drawn.finish(axes, f"Rate of a file transfer over time, {both}. {' '.join(words)}", entries[::-1])
    if not groups:
        empty_panel(drawn)
    return drawn.figure, drawn.panels


def main(inputs, outputs, params):
    """Read runs, scenarios and the sockets' time series, write figure and data."""
    scenarios = with_paths(read_table(inputs.scenarios, SCENARIO_COLUMNS))
    shown = shown_runs(read_all_runs(inputs.runs), scenarios, params.cca_shown)
    rates = rates_of(shown, inputs.sockets)
    figure, views = draw_transfer_rate(rates, shown, params.cca_shown)
    save_figure(figure, views, f"File transfer over time with {cca_name(params.cca_shown)}", rates, outputs)


if "snakemake" in globals():
    main(snakemake.input, snakemake.output, snakemake.params)
