"""The flows described by the columns of a run: long flows or programs that use the CCA under test, in the direction of the data."""

from experiment.flow_groups import OWN, PROGRAM, REVERSE
from experiment.host_pairs import Pair


def numbers_under_test(run) -> set[int]:
    """Return the numbers of the flows in a `RunSpecification` that use the CCA under test.

    Groups with an explicit CCA, programs other than the run's CCA, and groups that send data in the reverse direction are not under test.
    """
    named = {group.name for group in run.groups if group.cca != OWN or group.direction == REVERSE}
    under_test = {group.name for group in programs_under_test(run) if group.direction != REVERSE}
    long = {flow.number for flow in run.long_flows if flow.group not in named}
    return long | {flow.number for flow in run.program_flows if flow.group in under_test}


def programs_under_test(run) -> list:
    """Return the program groups under test in a `RunSpecification`: the groups whose program is the run's CCA."""
    return [group for group in run.groups_of(PROGRAM) if group.cca != OWN]


def pair_of(run, number) -> Pair:
    """Return the pair of hosts of the long flow or program flow with a given number."""
    if number < run.flows:
        return run.flow_pair(number)
    return run.program_flows[number - run.flows].pair


def tcp_programs_under_test(run) -> list:
    """Return the program flows under test in a `RunSpecification` that send over TCP."""
    under_test = numbers_under_test(run)
    return [flow for flow in run.tcp_program_flows if flow.number in under_test]
