"""Parquet schemas of declared tables."""

import pyarrow

from run_tables.table import Table

TYPES = {
    "text": pyarrow.string(),
    "truth": pyarrow.bool_(),
    "number": pyarrow.float64(),
    "count": pyarrow.int64(),
    "ordinal": pyarrow.int32(),
}


def schema_of(table: Table) -> pyarrow.Schema:
    """Return the schema of a table, as its declaration says."""
    return pyarrow.schema([(column.name, TYPES[column.kind]) for column in table])
