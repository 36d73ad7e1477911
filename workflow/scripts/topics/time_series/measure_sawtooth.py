"""Compare the flows' congestion windows with theory: teeth, packets that Vegas keeps in the queue, and BBR's probes."""

import pandas as pd

from run_tables.run_keys import CELL, RUN
from topics.time_series.delay_keeping import bbr_measures, vegas_measures
from topics.time_series.phases import COLUMNS
from topics.time_series.sawtooth import TOOTHLESS, teeth
from topics.time_series.tables import SAWTOOTH, TEETH
from topics.time_series.window_measures import path_of, tooth_measures
from topics.time_series.window_series import flows_of, valid_series
from topics.time_series.window_verdicts import compare_with_theory

SAMPLES = (*COLUMNS, "rtt_ms", "rtt_min_ms", "vegas_rtt_ms", "vegas_rtt_min_ms", "bbr_bw_mbps")


def _paths_of(runs, scenarios, flows, disturbed):
    """Return, for each valid run, the `window_theory.TheoryPath`, or the reason why theory doesn't apply to the run's teeth."""
    of_scenario = scenarios.set_index("scenario", drop=False).to_dict("index")
    of_run = dict(iter(flows.groupby(RUN, sort=False)))
    return {
        key: path_of(run, of_scenario[run["scenario"]], of_run[key], run["scenario"] in disturbed)
        for run in runs[runs["valid"]].to_dict("records")
        if (key := tuple(run[name] for name in RUN)) in of_run
    }


def _coarseness(all_teeth, intervals_ms):
    """Return, for each cell, the growth of cwnd between two samples as a fraction of the tooth's peak, averaged over teeth."""
    grown = all_teeth.assign(
        share=all_teeth["scenario"].map(intervals_ms) / 1000
        * all_teeth["round_trips"] / (all_teeth["end_s"] - all_teeth["avoidance_begin_s"]) / all_teeth["peak_packets"]
    )  # fmt: skip
    return grown.groupby(CELL, sort=False)["share"].mean().to_dict() if len(grown) else {}


def measure_sawtooth(
    runs, scenarios, flows, sockets, changing, disturbed, confidence
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return `TEETH`, `SAWTOOTH` and `WINDOW_THEORY`."""
    runs = runs[~runs["scenario"].isin(changing)]
    paths = _paths_of(runs, scenarios, flows, disturbed)
    paths_ms = dict(zip(flows[[*RUN, "flow"]].itertuples(index=False, name=None), flows["rtt_path_ms"], strict=True))
    of_scenario = scenarios.set_index("scenario")
    ends_s = of_scenario["duration_s"].to_dict()
    all_teeth, measures = [], []
    for samples in valid_series(sockets, SAMPLES, runs):
        of_run = teeth(samples)
        # Rows are collected instead of tables, because pandas is about to change how it concatenates empty tables.
        all_teeth += of_run.itertuples(index=False, name=None)
        for key, _ in flows_of(samples):
            if key["flow_cca"] not in TOOTHLESS:
                path = paths[tuple(key[name] for name in RUN)]
                measures += tooth_measures(key, of_run[of_run["flow"] == key["flow"]], path)
        measures += vegas_measures(samples, paths_ms, ends_s)
        measures += bbr_measures(samples, paths)
    all_teeth, measures = pd.DataFrame(all_teeth, columns=TEETH.names), pd.DataFrame(measures, columns=SAWTOOTH.names)
    coarse = _coarseness(all_teeth, of_scenario["sample_interval_ms"].to_dict())
    table = compare_with_theory(measures, of_scenario["label"].to_dict(), coarse, confidence)
    return all_teeth, measures, table
