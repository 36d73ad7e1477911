"""Plot the knee of the throughput-delay curve: goodput against the time that packets spend in queues.

A CCA that keeps the link busy and the queue empty is at the knee of the curve of throughput against delay (Jain and
Ramakrishnan, 1988). RFC 9743, section 5.1, asks for both: a busy link and an empty queue.
"""

from figure_parts.figure_svg import Drawing
from run_tables.conditions_at_centre import runs_at_centre
from run_tables.waiting import ABOVE, drain_rates_mbps, waiting
from tcp_models.throughput_models import full_queue_delay_ms
from topics.speed.goodput_scatter import Quantity, scatter

#: Name of a delay in `waiting` -> its name on the axis.
ON_AXIS = {ABOVE: "RTT above path"}
#: The delay of a full queue isn't marked if it exceeds this multiple of a scenario's largest delay: no flow fills such a queue, and the
#: mark would stretch the axis too far.
FAR_OFF = 100


def full_queues_ms(runs) -> dict[str, float]:
    """Return the delay in ms of a full queue, for each scenario whose queue drains at a constant rate."""
    known = runs.assign(full_ms=full_queue_delay_ms(runs["queue_bytes"].astype(float), drain_rates_mbps(runs)))
    return known[known["full_ms"].notna()].groupby("scenario", sort=False)["full_ms"].first().to_dict()


def plot_knee(runs, scenarios) -> Drawing:
    """Return the figure and its data."""
    name, delays = waiting(runs)
    runs = runs.assign(delay_ms=delays)
    delay = Quantity("delay_ms", ON_AXIS.get(name, name.lower()), "ms", is_delay=True)
    measured = runs[runs["valid"] & runs[["goodput_mbps", "delay_ms"]].notna().all(axis=1)]
    if len(measured):
        # Runs that measure only message round trips or datagrams don't belong in this plane.
        scenarios = scenarios[scenarios["scenario"].isin(measured["scenario"])]
        runs = runs[runs["scenario"].isin(measured["scenario"])]
    most = runs[runs["valid"]].groupby("scenario")["delay_ms"].max().to_dict()
    full = full_queues_ms(runs_at_centre(runs, scenarios))
    references = {scenario: ms for scenario, ms in full.items() if ms <= FAR_OFF * most.get(scenario, 0)}
    return scatter(runs, scenarios, delay, references, "delay of the full queue")
