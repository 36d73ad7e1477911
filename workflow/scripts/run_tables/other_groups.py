"""Leave out the flows of a study's tables that aren't under test."""

import pandas as pd


def flows_under_test(flows, others) -> pd.DataFrame:
    """Return those rows of ``tidy/flows.csv`` whose flows are under test; ``others`` is `StudyDesign.other_groups`."""
    of_others = [(scenario, group) for scenario, groups in others.items() for group in groups]
    return flows[~pd.MultiIndex.from_frame(flows[["scenario", "group"]]).isin(of_others)] if of_others else flows
