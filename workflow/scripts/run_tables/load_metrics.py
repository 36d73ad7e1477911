"""Columns of a run about the load on the bottleneck: utilisation, queueing delay, and convergence time."""

import numpy as np

from experiment.flow_groups import LONG
from experiment.run_document import specification_of
from run_tables.flows_under_test import pair_of, programs_under_test
from run_tables.path_changes import leaving_ms
from run_tables.simulated_metrics import is_simulated
from testbed.readings.deliveries import COOKIE_ACKED_BYTES, windows

#: Percentiles of the queueing delay that are computed.
PERCENTILES = (50, 95, 99)
#: Largest relative deviation from the fair share that still counts as fair: the delta of delta-fair convergence.
DELTA = 0.1
#: Shortest period over which a share is measured, in RTTs of the longest path.
STEP_RTTS = 1


def load_metrics(document) -> dict[str, float | None]:
    """Return the columns of `tidy_tables.RUNS` about queueing delay, utilisation and convergence; None for unknown values."""
    run = specification_of(document)
    return {
        **_queueing(document, run),
        "utilisation_percent": _utilisation(document, run),
        "convergence_s": convergence_s(document),
    }


def _queueing(document, run):
    """Return percentiles and mean of the queueing delay (the time to drain the queue) over samples taken during the traffic."""
    series = document.get("series", {}).get("queue")
    names = [*(f"queueing_p{p}_ms" for p in PERCENTILES), "queueing_mean_ms"]
    # If a netem is the queue, it also holds the packets that are in transit on the path.
    if not series or run.rate_mbps is None or run.link.netem_is_queue:
        return dict.fromkeys(names)
    waiting = leaving_ms(run.timeline, series["time_s"], series["bytes"])
    delays = [delay for at, delay in zip(series["time_s"], waiting, strict=True) if at <= run.expected_s]
    if not delays:
        return dict.fromkeys(names)
    return dict(zip(names, map(float, (*np.percentile(delays, PERCENTILES), np.mean(delays))), strict=True))


def _utilisation(document, run):
    """Return the data delivered in the forward direction as a percentage of the data that the path can deliver.

    None on a chain, for UDP, for applications other than iperf3, or if the path also carries traffic other than long flows and programs
    under test.

    The bottleneck's counters aren't used, because they keep counting after the end of the traffic, while socket buffers drain.
    """
    window = next(iter(windows(document).values()), None)
    under_test = programs_under_test(run)
    alone = (
        all(group.application == LONG or group in under_test for group in run.groups)
        and run.background == "none"
        and not run.is_chain
    )
    if not window or not alone or run.traffic.application != "iperf3" or run.udp:
        return None
    forward = [size for flow, size in window.delivered_bytes.items() if pair_of(run, flow).direction == "forward"]
    return run.capacity.share_percent(sum(forward), window.begin_ns, window.end_ns)


def convergence_s(document) -> float | None:
    """Return the time in s from the start of the last forward flow until all forward flows first receive fair shares.

    None if this never happens, if there are fewer than two forward flows, or if the run was simulated.

    This is the delta-fair convergence of RFC 5166 (section 2.3), after Bansal et al. (Dynamic Behavior of Slowly-Responsive Congestion
    Control Algorithms, SIGCOMM 2001): two flows have converged when their shares are (1 + delta) / 2 and (1 - delta) / 2. Here, n flows
    have converged when each share is between (1 - delta) / n and (1 + delta) / n, with delta = 0.1. Each share is measured between two
    readings of delivered data, at least one RTT of the longest path apart.
    """
    delivered = document.get("delivered")
    if not delivered or len(delivered["flows"]) < 2 or is_simulated(document):
        return None
    run, times_ns = specification_of(document), delivered["time_ns"]
    numbers = (flow["flow"] for flow in delivered["flows"])
    forward = {flow for flow in numbers if pair_of(run, flow).direction == "forward"}
    counts = [flow["bytes"] for flow in delivered["flows"] if flow["flow"] in forward]
    if len(counts) < 2:
        return None
    together = [n for n in range(len(times_ns)) if all((count[n] or 0) > COOKIE_ACKED_BYTES for count in counts)]
    starts_ns = [1e6 * process["start_offset_ms"] for process in document["traffic"] if forward & {*process["flows"]}]
    starts_ns += [entry["start_ns"] for entry in document.get("programs", ()) if entry["flow"] in forward]
    least_ns, fair = STEP_RTTS * 1e6 * run.rtt_longest_ms, 1 / len(counts)
    for place, begin in enumerate(together):
        end = next((n for n in together[place + 1 :] if times_ns[n] - times_ns[begin] >= least_ns), None)
        if end is None:
            return None
        got = [count[end] - count[begin] for count in counts]
        total = sum(got)
        if total and all(abs(part / total - fair) <= DELTA * fair for part in got):
            return (times_ns[end] - max(starts_ns)) / 1e9
    return None
