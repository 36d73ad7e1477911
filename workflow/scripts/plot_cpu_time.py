"""Draw how busy the cores are over time, a line for each number of paths: the paper's figures 5 and 6."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib", "pyarrow")

import numpy as np
import pandas as pd
from compare_paths import SCENARIO_COLUMNS, read_all_runs
from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels
from figure_parts.cca_slots import empty_panel
from figure_parts.figure_style import HUES, LIGHT, SMALL_SIZE_PT, apply_style
from figure_parts.figure_svg import save_figure
from figure_parts.scenario_panels import value_axis
from matplotlib.lines import Line2D
from number_format import count, number
from path_environments import environment_of, with_conditions, with_paths
from report_parts.sentence_words import cca_name
from run_tables.tidy_columns import RUN, read_table
from scenario_words import ip_words, rate_words

#: Readings of 0.1 s in units of 0.01 s are too coarse by themselves.
WINDOW_S = 0.5
COLUMNS = [
    *RUN, "environment", "joined", "by", "rate_mbps", "conditions", "paths", "baseline", "time_s", "busy_percent",
]  # fmt: skip


def shown_runs(runs, scenarios, cca):
    """Return the runs that are drawn: the first valid one of iperf3 in each scenario with paths of equal delay."""
    mine = scenarios[(scenarios["application"] == "iperf3") & scenarios["even"] & (scenarios["platform"] == "host")]
    rows = mine[["scenario", "by", "tunnel_ip_version", "distribution", "joined", "conditions", "paths", "baseline"]]
    valid = runs[runs["valid"] & (runs["cca"] == cca)].drop(columns=["paths", "tunnel_ip_version"], errors="ignore")
    valid = valid.merge(rows, on="scenario").sort_values("replication", kind="stable").drop_duplicates(RUN[:3])
    return valid.assign(environment=[environment_of(row) for row in valid.to_dict("records")])


def busy_over_time(samples):
    """Return the mean over the cores of their busy share in % in windows of `WINDOW_S`, by the window's end.

    Parameters
    ----------
    samples : pandas.DataFrame
        ``time_s`` and ``busy_percent`` of each core's readings.
    """
    window = np.ceil(samples["time_s"] / WINDOW_S) * WINDOW_S
    return samples.groupby(window)["busy_percent"].mean().rename_axis("time_s").reset_index()


def busy_of(shown, path):
    """Return the busy shares of all runs that are drawn, with `COLUMNS`."""
    parts = []
    for run in shown.to_dict("records"):
        wanted = [(key, "==", run[key]) for key in RUN]
        samples = pd.read_parquet(path, columns=["time_s", "busy_percent"], filters=wanted)
        parts.append(busy_over_time(samples).assign(**{name: run[name] for name in COLUMNS[:-2]}))
    return pd.concat(parts, ignore_index=True)[COLUMNS] if parts else pd.DataFrame(columns=COLUMNS)


def draw_cpu_time(busy, cca):
    """Draw the figure: a panel for what joins the paths and each IP version, with plain TCP."""
    apply_style()
    joined, single = busy[busy["by"] != "none"], busy[busy["by"] == "none"]
    groups = list(joined.groupby(["joined", "rate_mbps", "conditions", "ip_version"], sort=False, dropna=False))
    most = max((mine["paths"].nunique() for _, mine in groups), default=0)
    drawn = CategoryPanels(f"Busy share of the cores over time with {cca_name(cca)}, %", max(1, len(groups)), most + 1, columns=2)
    axis = linear_axis(0, max(10.0, busy["busy_percent"].max() if len(busy) else 10.0))
    for (name, rate_mbps, conditions, ip_version), mine in groups:
        second = with_conditions(f"one run each, paths of {rate_words(rate_mbps)}", conditions)
        axes = drawn.add(f"{name} ({mine['environment'].iloc[0]})", second, axis)
        value_axis(axes, "x", linear_axis(0, busy["time_s"].max()), spaced=True)
        axes.set_xlabel("s", size=SMALL_SIZE_PT, labelpad=1, loc="right")
        alike = single[single["scenario"].isin(mine["baseline"]) & (single["ip_version"] == ip_version)]
        lines = [("TCP, 1 path", LIGHT.ink, alike)]
        lines += [
            (count(int(paths), "path"), getattr(LIGHT, hue), mine[mine["paths"] == paths])
            for paths, hue in zip(sorted(mine["paths"].unique()), HUES, strict=False)
        ]
        entries, words = [], []
        for label, ink, line in lines:
            if line.empty:
                continue
            axes.plot(line["time_s"], line["busy_percent"], color=ink, lw=1.1, zorder=3)
            entries.append(Line2D([], [], color=ink, lw=1.3, label=label))
            words.append(f"{label}: mean {number(line['busy_percent'].mean(), 1)} %.")
        which = f"{with_conditions(name, conditions)}, {ip_words(ip_version)}"
        drawn.finish(axes, f"Busy share of the cores over time, {which}. {' '.join(words)}", entries)
    if not groups:
        empty_panel(drawn)
    return drawn.figure, drawn.panels


def main(inputs, outputs, params):
    """Read runs, scenarios and CPU times, write figure and data."""
    scenarios = with_paths(read_table(inputs.scenarios, SCENARIO_COLUMNS))
    busy = busy_of(shown_runs(read_all_runs(inputs.runs), scenarios, params.cca_shown), inputs.cpu)
    figure, views = draw_cpu_time(busy, params.cca_shown)
    save_figure(figure, views, f"Busy share of the cores over time with {cca_name(params.cca_shown)}", busy, outputs)


if "snakemake" in globals():
    main(snakemake.input, snakemake.output, snakemake.params)
