"""Draw the price of goodput: goodput against the share of segments that were sent again."""

from rule_script import run_rule
from run_tables.reading import read_runs, read_table
from run_tables.tidy_tables import SCENARIOS
from topics.speed.goodput_scatter import Quantity, write_scatter

RETRANSMITTED = Quantity("retransmit_percent", "retransmitted segments", "%")


def main(inputs, outputs, params) -> None:
    """Read runs and scenarios, write figure and data."""
    write_scatter(outputs, read_runs(inputs.runs), read_table(inputs.scenarios, SCENARIOS), RETRANSMITTED)


if "snakemake" in globals():
    run_rule(main, snakemake)
