"""Draw the price of goodput: goodput against the share of segments that were sent again."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib")

from figure_parts.scatter_figure import Quantity, write_scatter
from run_tables.tidy_columns import SCENARIOS, read_runs, read_table

RETRANSMITTED = Quantity("retransmit_percent", "retransmitted segments", "%")
GOODPUT = Quantity("goodput_mbps", "Goodput", "Mbit/s")


def main(inputs, outputs):
    """Read runs and scenarios, write figure and data."""
    write_scatter(
        runs=read_runs(inputs.runs),
        scenarios=read_table(inputs.scenarios, SCENARIOS),
        x=RETRANSMITTED,
        y=GOODPUT,
        better="better: up, left",
        svg_path=outputs.figure,
        csv_path=outputs.data,
    )


if "snakemake" in globals():
    main(snakemake.input, snakemake.output)
