"""Compare the cells in a study of message sizes with an exact calculation and with each other."""

from io import StringIO

import pandas as pd

from run_tables.conditions_at_centre import runs_at_centre
from run_tables.reading import read_table
from topics.packet_size.size_cells import data_of_packets, runs_by_size, size_cells
from topics.packet_size.size_differences import size_differences
from topics.packet_size.tables import SIZE_CELLS


def measure_sizes(scenarios, flows, runs, other_size_cells, confidence, printed) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `SIZE_CELLS` and `SIZE_DIFFERENCES`."""
    runs = runs_by_size(runs, scenarios)
    packets = data_of_packets(runs, flows)
    cells = size_cells(runs_at_centre(runs, scenarios), packets, confidence, printed)
    # Write and read the table, so that its columns have the same types as the other study's table, which was read from a file.
    read = read_table(StringIO(cells.to_csv(index=False)), SIZE_CELLS)
    return cells, size_differences(runs, read, next(iter(other_size_cells), None), confidence)
