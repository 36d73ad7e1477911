"""Draw the price of goodput: goodput against the share of segments that were sent again."""

from figure_parts.scatter_figure import Quantity, write_scatter
from rule_script import run_rule
from run_tables.reading import read_runs, read_table
from run_tables.tidy_tables import SCENARIOS

RETRANSMITTED = Quantity("retransmit_percent", "retransmitted segments", "%")
GOODPUT = Quantity("goodput_mbps", "Goodput", "Mbit/s")


def main(inputs, outputs, params) -> None:
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
    run_rule(main, snakemake)
