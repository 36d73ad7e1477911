"""Hold every cell of a study of message sizes against the exact calculation, and compare IP versions, environments, platforms."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "scipy", "pandas", "pingouin")

from pathlib import Path

from run_tables.tidy_columns import RUN, SCENARIOS, read_runs, read_table
from size_tables.size_cells import data_of_packets, runs_by_size, size_cells
from size_tables.size_columns import SIZE_CELLS
from size_tables.size_differences import size_differences

FLOWS = dict.fromkeys(RUN[:3], "text") | dict.fromkeys((RUN[3], "flow", "bytes_sent"), "number")


def main(inputs, outputs, params):
    """Read runs and flows, and the other platform's cells if there are any; write both tables."""
    scenarios = read_table(inputs.scenarios, SCENARIOS)
    runs = runs_by_size(read_runs(inputs.runs), scenarios)
    flows = read_table(inputs.flows, FLOWS).astype({"replication": int})
    cells = size_cells(runs, data_of_packets(runs, flows), params.confidence, params.printed)
    others = read_table(Path(inputs.other[0]), SIZE_CELLS) if inputs.other else None
    cells.to_csv(outputs.size_cells, index=False, lineterminator="\n")
    # Read back, as those of the other study are.
    cells = read_table(outputs.size_cells, SIZE_CELLS)
    size_differences(runs, cells, others, params.confidence).to_csv(outputs.size_differences, index=False, lineterminator="\n")


if "snakemake" in globals():
    main(snakemake.input, snakemake.output, snakemake.params)
