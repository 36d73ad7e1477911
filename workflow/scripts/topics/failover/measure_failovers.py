"""Measure the effects of a path outage: rates, the longest time without delivery, and the time until the path is used again."""

import pandas as pd

from run_tables.estimated_cells import estimated_cells
from run_tables.run_keys import RUN
from run_tables.series_of_runs import series_of_runs
from topics.failover.path_series import COLUMNS, MEASURES, acked_by_path, measure_run, path_ideal_mbps
from topics.failover.tables import FAILOVERS


def failover_cells(runs, scenarios, measured, confidence) -> pd.DataFrame:
    """Return `FAILOVERS`: one row per cell with an outage, in the order of `runs`.

    ``measured`` maps (scenario, cca, ip_version, replication) to the result of `measure_run`.
    """
    down = scenarios[scenarios["outage_path"].notna()].set_index("scenario")
    runs = runs[runs["scenario"].isin(down.index)]
    names = runs[RUN].itertuples(index=False, name=None)
    values = pd.DataFrame([measured.get(name, {}) for name in names], runs.index, MEASURES)

    def also(row, valid):
        return {
            "path_ideal_mbps": path_ideal_mbps(valid, down.loc[row["scenario"]]).mean(),
            "returned": int(valid["return_s"].notna().sum()),
        }

    about = down[["platform", "paths", "outage_path", "outage_at_s", "outage_for_s"]]
    return estimated_cells(FAILOVERS, runs.join(values), confidence, of_scenario=about, also=also)


def measure_failovers(runs, scenarios, sockets, confidence) -> pd.DataFrame:
    """Return `FAILOVERS`."""
    down = scenarios[scenarios["outage_path"].notna()].set_index("scenario")
    valid = runs[runs["valid"] & runs["scenario"].isin(down.index)]
    wanted = {(str(s), str(c), str(v), int(r)) for s, c, v, r in valid[RUN].itertuples(index=False)}
    measured = {
        run: measure_run(acked_by_path(samples), down.loc[run[0]])
        for run, samples in series_of_runs(sockets, COLUMNS, wanted)
        if run in wanted
    }
    return failover_cells(runs, scenarios, measured, confidence)
