"""Draw one run of a cell over time, the first valid one: windows, phases, round-trip times, and the bottleneck's queue."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "pyarrow", "matplotlib")

import pandas as pd
from figure_parts.figure_svg import save_figure
from figure_parts.window_data import run_data
from figure_parts.window_figure import draw_windows
from number_format import plain
from run_tables.series_of_runs import series_of_runs
from run_tables.tidy_columns import RUN, SCENARIOS, read_runs, read_table
from scenario_words import heading
from window_dynamics.drawn_run import first_valid
from window_dynamics.phases import BBR_PHASES, LOSS_BASED_PHASES

PHASE_COLUMNS = dict.fromkeys(("scenario", "cca", "ip_version", "flow_cca", "phase"), "text") | dict.fromkeys(
    ("replication", "flow", "begin_s", "end_s"), "number"
)
SAMPLES = ["flow", "flow_cca", "time_s", "cwnd_packets", "ssthresh_packets", "rtt_ms", "retransmits"]
QUEUE = ["time_s", "packets", "drops", "delay_ms"]


def run_series(path, columns, run):
    """Return a run's rows of a table of time series."""
    for name, rows in series_of_runs(path, columns, wanted={run}):
        if name == run:
            return rows
    return pd.DataFrame({name: pd.Series(dtype=float) for name in columns})


def main(inputs, outputs, params):
    """Read runs, scenarios, phases and samples, write figure and data."""
    runs = read_runs(inputs.runs)
    scenarios = read_table(inputs.scenarios, SCENARIOS | {"sample_interval_ms": "number"})
    replication = first_valid(runs, params.scenario, params.cca_shown, params.ip_shown)
    run = (params.scenario, params.cca_shown, params.ip_shown, replication)
    phases = read_table(inputs.phases, PHASE_COLUMNS)
    phases = phases[(phases[RUN] == list(run)).all(axis=1)]
    data = run_data(run_series(inputs.sockets, SAMPLES, run), run_series(inputs.queue, QUEUE, run), phases)
    present = set(phases["phase"])
    rows = [name for name in (*LOSS_BASED_PHASES, *BBR_PHASES) if name in present]
    scenario = scenarios[scenarios["scenario"] == params.scenario].iloc[0]
    title = f"{params.cca_shown} in {heading(scenario)}, replication {replication}"
    source = f"replication {replication}, every {plain(scenario['sample_interval_ms'])} ms"
    figure, panels = draw_windows(data, title, source, rows)
    save_figure(figure, panels, title, data, outputs, float_format="%.6g")


if "snakemake" in globals():
    main(snakemake.input, snakemake.output, snakemake.params)
