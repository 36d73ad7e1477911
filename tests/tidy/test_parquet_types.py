"""Parquet files have the declared types, whatever the texts look like."""

import csv

import pyarrow
import pytest

from run_tables.parquet import read_typed, schema_of
from run_tables.table import Table, count_column, number_column, ordinal_column, text_column, truth_column

TABLE = Table(
    "t",
    "a row",
    (
        text_column("name", ""),
        truth_column("valid", ""),
        number_column("rtt_ms", "ms", ""),
        count_column("drops", "", ""),
        ordinal_column("n", ""),
    ),
)


@pytest.mark.parametrize(
    "names", [("7", "007"), ("true", "false"), ("2024-01-02", "2024-01-03"), ("", "NA"), ("nan", "1e5")]
)
def test_texts_stay_texts(tmp_path, names):
    rows = [dict(zip(TABLE.names, (name, "True", "", "", n), strict=True)) for n, name in enumerate(names)]
    with (tmp_path / "t.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, TABLE.names)
        writer.writeheader()
        writer.writerows(rows)
    table = read_typed(tmp_path / "t.csv", TABLE)
    assert table.schema == schema_of(TABLE)
    assert table["name"].to_pylist() == list(names)
    assert table["rtt_ms"].to_pylist() == [None, None]


def test_a_value_that_is_not_of_its_kind_is_an_error(tmp_path):
    (tmp_path / "t.csv").write_text(",".join(TABLE.names) + "\na,yes,1,1,1\n")
    with pytest.raises(pyarrow.ArrowInvalid):
        read_typed(tmp_path / "t.csv", TABLE)
