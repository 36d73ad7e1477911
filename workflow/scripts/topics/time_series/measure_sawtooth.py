"""Measure what each flow's window does, and hold it against theory: teeth, packets that Vegas queues, BBR's probes."""

import pandas as pd

from rule_script import run_rule
from run_tables.reading import read_runs, read_table
from run_tables.tidy_tables import CELL, FLOWS, RUN, SCENARIOS
from topics.time_series.delay_keeping import probe_rtts, vegas_queueing
from topics.time_series.phases import COLUMNS
from topics.time_series.sawtooth import teeth
from topics.time_series.tables import SAWTOOTH, TEETH
from topics.time_series.window_measures import probe_measures, shared_path, tooth_measures, vegas_measures
from topics.time_series.window_series import valid_series
from topics.time_series.window_verdicts import compare_with_theory

SAMPLES = (*COLUMNS, "rtt_ms", "rtt_min_ms", "vegas_rtt_ms", "vegas_rtt_min_ms")


def measure_flows(series, paths, paths_ms, ends_s) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the teeth of flows, and all that is measured of their windows.

    Parameters
    ----------
    series : iterable of pandas.DataFrame
        The samples of each run, with `SAMPLES`.
    paths : dict
        Run -> `window_theory.Path` or None.
    paths_ms : dict
        Scenario and flow -> RTT of its empty path.
    ends_s : dict
        Scenario -> end of the traffic.

    Returns
    -------
    all_teeth, measures : pandas.DataFrame
        `TEETH` and `SAWTOOTH`.
    """
    all_teeth, measures = [], []
    for samples in series:
        all_teeth.append(teeth(samples))
        measures += [
            tooth_measures(all_teeth[-1], paths),
            vegas_measures(vegas_queueing(samples, paths_ms, ends_s), paths_ms),
            probe_measures(probe_rtts(samples)),
        ]
    return _stacked(all_teeth, TEETH), _stacked(measures, SAWTOOTH)


def _stacked(frames, table):
    # By rows, since concatenating empty ones is about to change its meaning in pandas.
    rows = [row for frame in frames for row in frame.itertuples(index=False, name=None)]
    return pd.DataFrame(rows, columns=table.names)


def paths_of(runs, scenarios, flows) -> dict:
    """Return run -> `window_theory.Path` where theory says what teeth are like, else None."""
    of_scenario = {row["scenario"]: row for row in scenarios.to_dict("records")}
    ccas = flows.groupby(RUN, sort=False)["flow_cca"].agg(set).to_dict()
    paths_ms = flows.groupby(RUN, sort=False)["rtt_path_ms"].agg(set).to_dict()
    return {
        key: shared_path(run, of_scenario[run["scenario"]], ccas[key], paths_ms[key])
        for run in runs[runs["valid"]].to_dict("records")
        if (key := tuple(run[name] for name in RUN)) in ccas
    }


def coarseness(all_teeth, intervals_ms) -> dict:
    """Return cell -> by what share of its peak a window grows from sample to sample, the mean over teeth."""
    grown = all_teeth.assign(
        share=all_teeth["scenario"].map(intervals_ms) / 1000
        * all_teeth["round_trips"] / (all_teeth["end_s"] - all_teeth["avoidance_begin_s"]) / all_teeth["peak_packets"]
    )  # fmt: skip
    return grown.groupby(CELL, sort=False)["share"].mean().to_dict() if len(grown) else {}


def main(inputs, outputs, params) -> None:
    """Read runs, flows, scenarios and samples, write teeth, measures and verdicts."""
    runs, scenarios = read_runs(inputs.runs), read_table(inputs.scenarios, SCENARIOS)
    flows = read_table(inputs.flows, FLOWS)
    paths_ms = {(row.scenario, row.flow): row.rtt_path_ms for row in flows.itertuples()}
    all_teeth, measures = measure_flows(
        valid_series(inputs.sockets, SAMPLES, runs), paths_of(runs, scenarios, flows), paths_ms,
        scenarios.set_index("scenario")["duration_s"].to_dict(),
    )  # fmt: skip
    all_teeth.to_csv(outputs.teeth, index=False, lineterminator="\n", float_format="%.6g")
    measures.to_csv(outputs.sawtooth, index=False, lineterminator="\n", float_format="%.8g")
    labels = scenarios.set_index("scenario")["label"].to_dict()
    coarse = coarseness(all_teeth, scenarios.set_index("scenario")["sample_interval_ms"].to_dict())
    table = compare_with_theory(measures, labels, coarse, params.confidence)
    table.to_csv(outputs.window_theory, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
