"""The runs and flows that the section on buffers describes and draws."""

import pandas as pd

from experiment.flow_groups import REVERSE
from run_tables.conditions_at_centre import runs_at_centre
from run_tables.run_keys import RUN
from wording.scenario_series import with_series


def at_centre(runs, flows, scenarios) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the runs with nominal instead of random conditions, the flows under test, and the scenarios with the series of each.

    The capacity of runs in which other flows share the link is missing, because the flows under test can't get all of it.
    """
    runs = runs_at_centre(runs, scenarios)
    others = flows.loc[~flows["under_test"] & (flows["direction"] != REVERSE), RUN]
    is_shared = pd.MultiIndex.from_frame(runs[RUN]).isin(pd.MultiIndex.from_frame(others))
    return (
        runs.assign(capacity_mbps=runs["capacity_mbps"].mask(is_shared)),
        flows[flows["under_test"]],
        with_series(scenarios),
    )
