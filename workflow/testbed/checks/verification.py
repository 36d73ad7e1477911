"""The checks that decide, from counters and settings read back, whether a run was carried out as specified.

Every check takes the specification and the run document (without a verdict), and returns a `Check`. If any check fails, the run is invalid:
it is kept, counted and shown, but excluded from the statistics. The set of checks depends on the run's application, protocol and platform.
"""

from collections.abc import Callable

from experiment.flow_groups import PROGRAM
from testbed.checks import definition_checks, host_verification, probe_checks, transport_checks
from testbed.checks.chain_verification import CHAIN, CHAIN_INSTEAD
from testbed.checks.check import verdict_of
from testbed.checks.datagram_checks import check_datagrams
from testbed.checks.flow_checks import (
    check_buffers,
    check_cca,
    check_duration,
    check_exchanges,
    check_exit_status,
    check_goodput_ceiling,
    check_intervals,
    check_messages,
    check_overlap,
    check_segment_size,
    check_series,
    check_streams,
    check_transfer,
)
from testbed.checks.loss_checks import check_loss_forward, check_loss_reverse
from testbed.checks.mark_checks import check_ecn, check_marks
from testbed.checks.multipath_verification import check_multipath, check_path_shares, check_subflows
from testbed.checks.network_checks import check_drops_elsewhere, check_idle_rtt, check_memory
from testbed.checks.policer_checks import check_policer
from testbed.checks.read_back_checks import (
    check_host_settings,
    check_mtu,
    check_offloads,
    check_pacing,
    check_qdiscs,
    counted_otherwise,
)
from testbed.checks.rtt_checks import check_rtt_floor
from testbed.checks.timeline_checks import check_timeline
from testbed.checks.unchanged_checks import check_unchanged
from testbed.network.outage import check_outage
from testbed.traffic.background import check_background

PATHS = {"none": (), "mptcp": (check_multipath, check_subflows), "gre": (check_multipath, check_path_shares)}
NETWORK = (check_qdiscs, check_offloads, check_host_settings)
CONNECTIONS = (check_cca, check_segment_size, check_pacing)
LOSS = (check_loss_forward, check_loss_reverse)
AFTERWARDS = (check_memory, check_drops_elsewhere)


def checks_of(specification) -> tuple[Callable, ...]:
    """Return the checks that apply to a run, in the order in which the verdict lists them."""
    return network_and_traffic(specification) + (host_verification.CHECKS if specification.platform == "host" else ())


def network_and_traffic(specification) -> tuple[Callable, ...]:
    """Return the checks that apply to a run, except those that only platform ``host`` needs."""
    background = (check_background,) if specification.background == "server" else ()
    looked_at = specification.traffic.application != "round-trip"
    looked_at = looked_at and specification.flows > 0
    marks = (*((check_ecn,) if looked_at else ()), check_marks) if specification.may_mark else ()
    mtu = (check_mtu,) if specification.has_own_mtu else ()
    changes = (check_timeline,) if specification.timeline else ()
    changes += (check_policer,) if specification.policers else ()
    changes += of_link_options(specification)
    outage = (check_outage,) if specification.multipath.outage else ()
    checks = (
        of_programs(specification)
        + checks_of_traffic(specification)
        + PATHS[specification.multipath.by]
        + mtu
        + outage
        + background
        + marks
        + changes
        + of_groups(specification)
        + definition_checks.checks_of(specification)
        + transport_checks.checks_of(specification)
        + (check_unchanged,)
        + probe_checks.checks_of(specification)
    )
    return tuple(CHAIN_INSTEAD.get(check, check) for check in checks) + CHAIN if specification.is_chain else checks


def of_link_options(specification) -> tuple[Callable, ...]:
    """Return the checks of loss bursts and link options that apply to a run."""
    checks = ()
    # Imported here because other runs don't need the module.
    if specification.has_loss_bursts:
        from testbed.checks.loss_replay import check_loss_bursts

        checks += (check_loss_bursts,)
    if specification.has_arrival_options:
        from testbed.checks import link_option_checks

        checks += link_option_checks.checks_of(specification)
    return checks


def of_groups(specification) -> tuple[Callable, ...]:
    """Return the checks of web and real-time groups that apply to a run."""
    if not specification.groups:
        return ()
    # Imported here because other runs don't need the module.
    from testbed.checks.group_checks import CHECKS

    checks = sum((checks for application, checks in CHECKS.items() if specification.groups_of(application)), ())
    return checks


def of_programs(specification) -> tuple[Callable, ...]:
    """Return the checks of declared programs that apply to a run; they come first, because other checks fail if a program fails."""
    if not specification.groups_of(PROGRAM):
        return ()
    # Imported here because other runs don't need the module.
    from testbed.checks import program_checks

    return program_checks.checks_of(specification)


def checks_of_traffic(specification) -> tuple[Callable, ...]:
    """Return the checks that apply to a run because of its application and protocol, in the order of the verdict."""
    if not specification.flows:
        loss = LOSS if specification.answers else (check_loss_forward,)
        return (*NETWORK, check_idle_rtt, *loss, *AFTERWARDS)
    traffic = specification.traffic
    by_time = traffic.messages is None
    iperf3 = (check_exit_status, check_duration if by_time else check_messages, check_streams)
    iperf3 += (check_intervals,) if by_time else ()
    series = check_series
    if specification.per_side:
        # Imported here because other runs don't need the module.
        from testbed.checks import stream_checks

        iperf3, series = stream_checks.CHECKS, stream_checks.check_series
    if traffic.application == "round-trip":
        return (*NETWORK, check_idle_rtt, check_exchanges, *LOSS, *AFTERWARDS)
    if traffic.application == "ftp":
        flows = (
            check_transfer,
            check_overlap,
            check_buffers,
            *LOSS,
            check_rtt_floor,
            check_series,
            check_goodput_ceiling,
        )
        return (*NETWORK, *CONNECTIONS, check_idle_rtt, *flows, *AFTERWARDS)
    if specification.udp:
        return (*NETWORK, check_idle_rtt, *iperf3, check_datagrams, *LOSS, check_goodput_ceiling, *AFTERWARDS)
    flows = (check_overlap, check_buffers, *LOSS, check_rtt_floor, series, check_goodput_ceiling)
    return (*NETWORK, *CONNECTIONS, check_idle_rtt, *iperf3, *flows, *AFTERWARDS)


def judge(specification, document) -> dict:
    """Return the verdict on a run: ``valid``, and the results of all ``checks``."""
    # If the counters don't come from the qdiscs that were set up, the other checks can't be made.
    counted = not counted_otherwise(document["network"]["set"], document["links"])
    return verdict_of(
        [check(specification, document) for check in (checks_of(specification) if counted else (check_qdiscs,))]
    )
