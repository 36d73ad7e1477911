"""Draw one run of a cell over time, the first valid one: windows, phases, round-trip times, and the bottleneck's queue."""

import pandas as pd

from figure_parts.figure_svg import save_figure
from rule_script import run_rule
from run_tables.reading import read_runs, read_table
from run_tables.series_of_runs import series_of_runs
from run_tables.tidy_tables import RUN, SCENARIOS
from topics.time_series.drawn_run import first_valid
from topics.time_series.phases import BBR_PHASES, LOSS_BASED_PHASES
from topics.time_series.tables import PHASES
from topics.time_series.window_data import run_data
from topics.time_series.window_figure import draw_windows
from wording.number_format import plain
from wording.scenario_words import heading

SAMPLES = ["flow", "flow_cca", "time_s", "cwnd_packets", "ssthresh_packets", "rtt_ms", "retransmits"]
QUEUE = ["time_s", "packets", "drops", "delay_ms"]


def run_series(path, columns, run) -> pd.DataFrame:
    """Return a run's rows of a table of time series."""
    for name, rows in series_of_runs(path, columns, wanted={run}):
        if name == run:
            return rows
    return pd.DataFrame({name: pd.Series(dtype=float) for name in columns})


def main(inputs, outputs, params) -> None:
    """Read runs, scenarios, phases and samples, write figure and data."""
    runs = read_runs(inputs.runs)
    scenarios = read_table(inputs.scenarios, SCENARIOS)
    replication = first_valid(runs, params.scenario, params.cca_shown, params.ip_shown)
    run = (params.scenario, params.cca_shown, params.ip_shown, replication)
    phases = read_table(inputs.phases, PHASES)
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
    run_rule(main, snakemake)
