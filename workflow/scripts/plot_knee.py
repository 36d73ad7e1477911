"""Draw the knee: goodput against the time that packets spend in queues.

A CCA that keeps the link full with an empty queue is at the knee of the curve of throughput
against delay (Jain and Ramakrishnan, 1988; RFC 9743, section 5.1 asks for both).
"""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib")

from figure_parts.scatter_figure import Quantity, write_scatter
from number_format import is_missing
from run_tables.tidy_columns import SCENARIOS, read_runs, read_table

DELAY = Quantity("queueing_delay_ms", "queueing delay", "ms")
GOODPUT = Quantity("goodput_mbps", "Goodput", "Mbit/s")
# Ethernet frame with a full IP packet of 1,500 bytes, as the shaper counts it.
FULL_FRAME_BYTES = 1514


def full_queue_ms(scenario):
    """Return how long a packet waits behind a full queue of full packets, or None if unknown.

    Parameters
    ----------
    scenario : mapping
        With queue_packets and rate_mbps; either may be missing.

    Returns
    -------
    float or None
        Packets x 1,514 bytes x 8 over the rate, in ms.
    """
    packets, rate = scenario["queue_packets"], scenario["rate_mbps"]
    if is_missing(packets) or is_missing(rate) or rate <= 0:
        return None
    return float(packets) * FULL_FRAME_BYTES * 8 / (float(rate) * 1e3)


def main(inputs, outputs):
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
    main(snakemake.input, snakemake.output)
