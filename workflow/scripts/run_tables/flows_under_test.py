"""The flows that a run's own columns are of: the long flows with the CCA under test, in the direction of the data."""

from experiment.flow_groups import OWN, REVERSE


def numbers_under_test(run) -> set[int]:
    """Return the numbers of the long flows of a `RunSpecification` with the CCA under test.

    A run's own columns say nothing of groups with a CCA by name, or whose data go in reverse.
    """
    named = {group.name for group in run.groups if group.cca != OWN or group.direction == REVERSE}
    return {flow.number for flow in run.long_flows if flow.group not in named}
