"""Tables that several scripts of one job read: each file is read once."""

from io import StringIO

import pandas as pd
import pytest

from run_tables import reading
from run_tables.table import Table, number_column, text_column

TABLE = Table("some", "a value", (text_column("name", "A name."), number_column("value", "s", "A value.")))


@pytest.fixture
def files_read(monkeypatch):
    """The files that pandas has read."""
    files, read_csv = [], pd.read_csv
    monkeypatch.setattr(pd, "read_csv", lambda path, **options: files.append(path) or read_csv(path, **options))
    return files


def test_a_file_is_read_once_and_each_reader_has_its_own_table(tmp_path, files_read):
    path = tmp_path / "some.csv"
    path.write_text("name,value\na,1.5\n")
    with reading.read_once():
        first = reading.read_table(path, TABLE)
        first.loc[0, "value"] = 7
        second = reading.read_table(path, TABLE)
        assert list(second["value"]) == [1.5]
        assert len(files_read) == 1
        path.write_text("name,value\na,1.5\nb,2\n")
        assert len(reading.read_table(path, TABLE)) == 2
    assert len(files_read) == 2
    reading.read_table(path, TABLE)
    assert len(files_read) == 3


def test_a_copy_is_what_is_read(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("name,value,more\na,1.5,x\nb,,y\n")
    read = reading.read_table(path, TABLE)
    with reading.read_once():
        reading.read_table(path, TABLE)
        pd.testing.assert_frame_equal(reading.read_table(path, TABLE), read)


def test_a_text_that_is_no_file_is_read_each_time():
    with reading.read_once():
        for value in (1.5, 2.5):
            assert list(reading.read_table(StringIO(f"name,value\na,{value}\n"), TABLE)["value"]) == [value]
