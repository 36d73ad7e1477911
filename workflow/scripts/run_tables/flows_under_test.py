"""The flows that a run's own columns are of: the long flows with the CCA under test."""

from experiment.flow_groups import OWN


def numbers_under_test(run) -> set[int]:
    """Return the numbers of the long flows with the CCA under test: a run's own columns say nothing of groups with a CCA by name.

    ``run``:
    """
    named = {group.name for group in run.groups if group.cca != OWN}
    return {flow.number for flow in run.long_flows if flow.group not in named}
