"""Draw the knee: goodput against the time that packets spend in queues.

A CCA that keeps the link full with an empty queue is at the knee of the curve of throughput
against delay (Jain and Ramakrishnan, 1988; RFC 9743, section 5.1 asks for both).
"""

from figure_parts.figure_svg import Drawing
from run_tables.conditions_at_centre import runs_at_centre
from tcp_models.throughput_models import full_queue_delay_ms
from topics.speed.goodput_scatter import Quantity, scatter
from wording.number_format import is_missing

DELAY = Quantity("queueing_delay_ms", "queueing delay", "ms", is_delay=True)


def full_queue_ms(run) -> float | None:
    """Return how many ms a packet of a run waits behind a full queue, None if size or rate are unknown."""
    held, rate = run["queue_bytes"], run["rate_mbps"]
    if is_missing(held) or is_missing(rate) or rate <= 0:
        return None
    return float(full_queue_delay_ms(held, rate))


def plot_knee(runs, scenarios) -> Drawing:
    """Return the figure and its data."""
    runs["queueing_delay_ms"] = runs["rtt_mean_ms"] - runs["rtt_path_ms"]
    measured = runs[runs["valid"] & runs[["goodput_mbps", "queueing_delay_ms"]].notna().all(axis=1)]
    if len(measured):
        # Round trips and datagrams have no place in this plane.
        scenarios = scenarios[scenarios["scenario"].isin(measured["scenario"])]
        runs = runs[runs["scenario"].isin(measured["scenario"])]
    centres = runs_at_centre(runs, scenarios).drop_duplicates("scenario")
    references = {run["scenario"]: full_queue_ms(run) for run in centres.to_dict("records")}
    return scatter(runs, scenarios, DELAY, references, "delay of the full queue")
