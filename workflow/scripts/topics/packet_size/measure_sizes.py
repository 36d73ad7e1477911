"""Hold every cell of a study of message sizes against the exact calculation, and compare cells with each other."""

from pathlib import Path

from rule_script import run_rule
from run_tables.conditions_at_centre import runs_at_centre
from run_tables.reading import read_flows, read_runs, read_table
from run_tables.tidy_tables import SCENARIOS
from topics.packet_size.size_cells import data_of_packets, runs_by_size, size_cells
from topics.packet_size.size_differences import size_differences
from topics.packet_size.tables import SIZE_CELLS


def main(inputs, outputs, params) -> None:
    """Read runs and flows, and the other platform's cells if there are any; write both tables."""
    scenarios, flows = read_table(inputs.scenarios, SCENARIOS), read_flows(inputs.flows)
    runs = runs_by_size(read_runs(inputs.runs), scenarios)
    packets = data_of_packets(runs, flows)
    cells = size_cells(runs_at_centre(runs, scenarios), packets, params.confidence, params.printed)
    cells.to_csv(outputs.size_cells, index=False, lineterminator="\n")
    # Read back, as those of the other study are.
    cells = read_table(outputs.size_cells, SIZE_CELLS)
    others = read_table(Path(inputs.other_size_cells[0]), SIZE_CELLS) if inputs.other_size_cells else None
    differences = size_differences(runs, cells, others, params.confidence)
    differences.to_csv(outputs.size_differences, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
