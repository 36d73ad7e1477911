"""Draw the knee: goodput against the time that packets spend in queues.

A CCA that keeps the link full with an empty queue is at the knee of the curve of throughput
against delay (Jain and Ramakrishnan, 1988; RFC 9743, section 5.1 asks for both).
"""

from figure_parts.scatter_figure import Quantity, write_scatter
from rule_script import run_rule
from run_tables.reading import read_runs, read_table
from run_tables.tidy_tables import SCENARIOS
from tcp_models.throughput_models import full_queue_delay_ms
from wording.number_format import is_missing

DELAY = Quantity("queueing_delay_ms", "queueing delay", "ms")
GOODPUT = Quantity("goodput_mbps", "Goodput", "Mbit/s")


def full_queue_ms(scenario) -> float | None:
    """Return how long a packet waits behind a full queue of full packets, or None if unknown.

    Parameters
    ----------
    scenario : mapping
        With queue_packets and rate_mbps; either may be missing.

    Returns
    -------
    float or None
        In ms.
    """
    packets, rate = scenario["queue_packets"], scenario["rate_mbps"]
    if is_missing(packets) or is_missing(rate) or rate <= 0:
        return None
    return float(full_queue_delay_ms(packets, rate))


def main(inputs, outputs, params) -> None:
    """Read runs and scenarios, write figure and data."""
    runs = read_runs(inputs.runs)
    runs["queueing_delay_ms"] = runs["rtt_mean_ms"] - runs["rtt_path_ms"]
    scenarios = read_table(inputs.scenarios, SCENARIOS)
    write_scatter(
        runs=runs,
        scenarios=scenarios,
        x=DELAY,
        y=GOODPUT,
        better="better: up, left",
        svg_path=outputs.figure,
        csv_path=outputs.data,
        references={row["scenario"]: full_queue_ms(row) for row in scenarios.to_dict("records")},
        reference_name="delay of the full queue",
    )


if "snakemake" in globals():
    run_rule(main, snakemake)
