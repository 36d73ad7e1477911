"""Measure the flows' response in each phase of a changing path, for each run and as a mean over each cell's runs."""

import pandas as pd

from run_tables.run_keys import CELL, RUN
from run_tables.series_of_runs import series_of_runs
from topics.path_changes.phases import phases_of, specification_of
from topics.path_changes.responses import QUEUE_COLUMNS, SOCKET_COLUMNS, measures_of, of_forward_flows
from topics.path_changes.tables import CHANGE_CELLS, CHANGE_RESPONSES, MEASURES, PHASE_COLUMNS

PHASE = [column.name for column in PHASE_COLUMNS]


def responses(runs, flows, changing, sockets, queues) -> pd.DataFrame:
    """Return `CHANGE_RESPONSES` for the valid runs of the ``changing`` scenarios; ``sockets`` and ``queues`` are time-series files."""
    valid = runs[runs["valid"] & runs["scenario"].isin(changing)]
    known = {tuple(run[name] for name in RUN): run for run in valid.to_dict("records")}
    wanted = {(*key[:3], int(key[3])) for key in known}
    queue_of, rows = dict(series_of_runs(queues, QUEUE_COLUMNS, wanted)), []
    flows_of = dict(list(flows.groupby(RUN)))
    for key, samples in series_of_runs(sockets, SOCKET_COLUMNS, wanted):
        if key not in wanted:
            continue
        run, samples = known[key], of_forward_flows(samples, flows_of[key])
        for phase in phases_of(specification_of(run, changing)):
            about = {name: getattr(phase, name) for name in PHASE if name != "phase"} | {"phase": phase.number}
            names = {name: run[name] for name in (*RUN, "scenario_label")}
            rows.append(names | about | measures_of(phase, samples, queue_of[key]))
    return pd.DataFrame(rows, columns=CHANGE_RESPONSES.names)


def cells_of(phases) -> pd.DataFrame:
    """Return `CHANGE_CELLS`, the means of `CHANGE_RESPONSES` over the runs of each cell."""
    rows = []
    for (*cell, _), of_phase in phases.groupby([*CELL, "phase"], sort=False):
        first = of_phase.iloc[0]
        rows.append(
            {
                **dict(zip(CELL, cell, strict=True)),
                **{name: first[name] for name in ("scenario_label", *PHASE)},
                "n": len(of_phase),
                "n_used": of_phase["used_s"].notna().sum(),
                "n_believed": of_phase["believed_s"].notna().sum(),
                **{measure.name: of_phase[measure.name].mean() for measure in MEASURES},
            }
        )
    return pd.DataFrame(rows, columns=CHANGE_CELLS.names)


def measure_responses(runs, flows, changing, sockets, queue) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `CHANGE_CELLS` and `CHANGE_RESPONSES`."""
    phases = responses(runs, flows, changing, sockets, queue)
    return cells_of(phases), phases
