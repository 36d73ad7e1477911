"""Arrow schemas of declared tables, for Parquet files."""

import pyarrow
import pyarrow.csv

from run_tables.table import Table

TYPES = {
    "text": pyarrow.string(),
    "truth": pyarrow.bool_(),
    "number": pyarrow.float64(),
    "count": pyarrow.int64(),
    "ordinal": pyarrow.int32(),
}


def schema_of(table: Table) -> pyarrow.Schema:
    """Return the Arrow schema that follows from a table's declaration."""
    return pyarrow.schema([(column.name, TYPES[column.kind]) for column in table])


def read_typed(path: str, table: Table) -> pyarrow.Table:
    """Read a table's CSV file with the declared types; guessed types would turn the scenario names 7 and 007 into numbers."""
    options = pyarrow.csv.ConvertOptions(
        column_types=schema_of(table), null_values=[""], true_values=["True"], false_values=["False"]
    )
    return pyarrow.csv.read_csv(path, convert_options=options)
