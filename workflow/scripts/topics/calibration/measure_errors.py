"""Hold each quantity of each point against an exact number."""

from rule_script import run_rule
from run_tables.reading import read_table
from run_tables.tidy_tables import SCENARIOS
from topics.calibration.errors import calibration
from topics.calibration.tables import READINGS


def main(inputs, outputs, params) -> None:
    """Read readings and scenarios, write the table."""
    table = calibration(read_table(inputs.readings, READINGS), read_table(inputs.scenarios, SCENARIOS))
    table.to_csv(outputs.calibration, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
