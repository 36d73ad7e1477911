"""Describe what each queue does in each cell: delay, goodput, drops and marks over the replications."""

import pandas as pd

from inference.mean_interval import mean_interval
from rule_script import run_rule
from run_tables.reading import read_runs, read_table
from run_tables.run_keys import CELL
from run_tables.tidy_tables import SCENARIOS
from topics.queues.tables import MEASURES, QUEUE_CELLS
from wording.number_format import count, plain
from wording.scenario_words import rate_words

#: The most that a measure can be; none can be less than 0.
MOST = {"goodput_percent": 100.0, "drop_percent": 100.0, "mark_percent": 100.0, "jain_index": 1.0}
COUNTS = ("queue_drops", "overflow_drops", "queue_marks", "ce_received", "ce_echoed", "retransmits")


def measured(runs) -> pd.DataFrame:
    """Return the runs with `MEASURES`; what isn't known is missing."""
    offered = runs["packets_sent"].where(runs["packets_sent"] > 0)
    ideal = runs["ideal_goodput_mbps"].where(runs["ideal_goodput_mbps"] > 0)
    return runs.assign(
        queueing_ms=runs["rtt_mean_ms"] - runs["rtt_path_ms"],
        goodput_percent=100 * runs["goodput_mbps"] / ideal,
        drop_percent=100 * runs["queue_drops"] / offered,
        mark_percent=100 * runs["queue_marks"] / offered,
    )


def describe_queues(runs, scenarios, confidence) -> pd.DataFrame:
    """Return `QUEUE_CELLS`: a row a cell, in the order of `runs`."""
    by_name, rows = scenarios.set_index("scenario"), []
    own = (runs["topology"] != "chain") & (runs["multipath"] == "none")
    for cell, of_cell in measured(runs[own]).groupby(CELL, sort=False):
        valid, first, scenario = of_cell[of_cell["valid"]], of_cell.iloc[0], by_name.loc[cell[0]]
        rows.append(
            {
                **dict(zip(CELL, cell, strict=True)),
                **{name: first[name] for name in ("scenario_label", "platform", "discipline", "ecn")},
                "conditions": conditions_words(first, scenario["groups"]),
                "queue_parameters": scenario["queue_parameters"],
                "n": len(valid),
                **{key: value for measure in MEASURES for key, value in _estimate(valid, measure.name, confidence)},
                **{name: valid[name].mean() for name in COUNTS},
            }
        )
    return pd.DataFrame(rows, columns=QUEUE_CELLS.names)


def conditions_words(run, groups="") -> str:
    """Return what a run's scenario is besides its queue: "2 flows, 20 Mbit/s, RTT 40 ms"; ``groups`` of flows stand for their number."""
    flows = groups or count(int(run["flows"]), "flow")
    return f"{flows}, {rate_words(run['rate_mbps'])}, RTT {plain(run['rtt_path_ms'])} ms"


def _estimate(runs, name, confidence):
    """Yield the mean of a measure and both ends of its t interval, cut off at what is possible."""
    values = runs[name].dropna()
    yield name, values.mean()
    if len(values) > 1:
        _, low, high = mean_interval(values, confidence)
        yield f"{name}_low", max(low, 0.0)
        yield f"{name}_high", min(high, MOST.get(name, high))


def main(inputs, outputs, params) -> None:
    """Read runs and scenarios, write the cells."""
    cells = describe_queues(read_runs(inputs.runs), read_table(inputs.scenarios, SCENARIOS), params.confidence)
    cells.to_csv(outputs.queue_cells, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
