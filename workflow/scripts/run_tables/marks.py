"""Columns of runs and flows about ECN: packets marked or dropped by queues, marks received, and marks echoed to senders."""

from experiment.run_document import specification_of
from run_tables.flows_under_test import programs_under_test, tcp_programs_under_test
from run_tables.program_sockets import last_readings
from run_tables.simulated_metrics import is_simulated
from testbed.checks.mark_checks import ce_packets

#: Kernel counter at a sender: segments delivered while the receiver echoed CE marks.
ECHOED = "TcpExtTCPDeliveredCE"


def marks_of_run(document) -> dict[str, int | None]:
    """Return the columns queue_marks, overflow_drops, ce_received and ce_echoed of `RUNS`, for the data's direction.

    TCP's counter of echoed marks says nothing about programs over UDP, so ce_echoed is None if such programs are under test.
    """
    columns = dict.fromkeys(("queue_marks", "overflow_drops", "ce_received", "ce_echoed"))
    if is_simulated(document):
        return columns
    run, placed = specification_of(document), document["network"]["set"]["bottleneck"]["forward"]
    after = [queue for name in placed for queue in document["links"]["after"][name]["qdiscs"].values()]
    before = [queue for name in placed for queue in document["links"]["before"][name]["qdiscs"].values()]
    if placed and not all(one.discipline.limited_only for one in run.bottlenecks):
        columns["queue_marks"] = grown(before, after, "marks")
        columns["overflow_drops"] = grown(before, after, "overflow_drops")
    if run.uses_ecn:
        counters, forward = document["stack"]["tcp"], [pair for pair in run.pairs if pair.direction == "forward"]
        columns["ce_received"] = sum(ce_packets(document, pair.receiver) for pair in forward)
        if not programs_under_test(run) or tcp_programs_under_test(run):
            columns["ce_echoed"] = sum(counters[pair.sender][ECHOED] for pair in forward)
    return columns


def grown(before, after, name) -> int | None:
    """Return the increase in a counter during the traffic, summed over queues; None if no queue keeps this counter."""
    if not any(name in queue for queue in after):
        return None
    return sum(queue.get(name, 0) for queue in after) - sum(queue.get(name, 0) for queue in before)


def marks_of_flows(document) -> dict[int, dict]:
    """Return the ECN columns of `tidy_tables.FLOWS`, by flow, from the last reading of the flow's socket; unknown values are None."""
    run = specification_of(document)
    read = {
        socket["flow"]: socket for look in document.get("sockets", ()) for socket in look["sockets"] if "ecn" in socket
    }
    read |= last_readings(document)
    sources = {"ecn_observed": "ecn", "ce_received": "received_ce_packets", "ce_echoed": "delivered_ce_packets"}
    flows = [*range(run.flows), *(flow.number for flow in run.program_flows)]
    return {flow: {name: read.get(flow, {}).get(key) for name, key in sources.items()} for flow in flows}
