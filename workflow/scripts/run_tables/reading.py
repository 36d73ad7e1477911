"""Read tidy and analysis tables, and raise an error if one doesn't match its declaration.

Text columns are never converted, because a scenario may be called "1" or "nan". An empty field in a column of numbers is a missing value. A
missing column or a value of the wrong kind raises an error that names the file.
"""

import csv
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from run_tables.run_keys import RUN
from run_tables.table import OTHER, Column, Table
from run_tables.tidy_tables import CHECKS, FLOWS, RUNS, TIDY_TABLES

_TIDY = {table.name: table for table in TIDY_TABLES}

#: Cache of `read_once`: (path, columns, size, modification time) -> table. None outside the context of `read_once`.
_kept: dict[tuple, pd.DataFrame] | None = None


@contextmanager
def read_once() -> Iterator[None]:
    """Return a context in which each file is read only once; later calls return a copy of the table."""
    global _kept
    _kept = {}
    try:
        yield
    finally:
        _kept = None


def read_table(path, table: Table) -> pd.DataFrame:
    """Read a CSV file and check its columns.

    Returns rows and columns as in the file; all numbers, including whole numbers, are floats. Raises `ValueError` if the file isn't
    CSV, if a column is missing, or if a value isn't of its column's kind.

    Parameters
    ----------
    path : str, path, or text file
        File to read.
    table : Table
        Table whose columns must be in the file. Additional columns are kept as text.
    """
    if _kept is None or not isinstance(path, (str, os.PathLike)):
        return _read_table(path, table)
    state = os.stat(path)
    key = str(path), tuple((column.name, column.kind) for column in table), state.st_size, state.st_mtime_ns
    if key not in _kept:
        _kept[key] = _read_table(path, table)
    return _kept[key].copy()


def _read_table(path, table):
    try:
        # As objects, because every operation on a column would take several times as long with pandas' own text type.
        texts = pd.read_csv(path, dtype=object, keep_default_na=False)
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a CSV table ({error})") from error
    missing = sorted(set(table.names) - set(texts.columns))
    if missing:
        raise ValueError(f"{path}: no column {', '.join(missing)}")
    columns = {name: texts[name] for name in texts.columns}
    for column in table:
        if column.kind == "truth":
            columns[column.name] = _truths(path, texts[column.name])
        elif column.kind in ("number", "count", "ordinal"):
            columns[column.name] = _numbers(path, texts[column.name])
    return pd.DataFrame(columns, index=texts.index)


def _truths(path, values):
    _refuse(path, values, ~values.isin(["True", "False"]), "True or False")
    return values == "True"


def _numbers(path, values):
    numbers = pd.to_numeric(values, errors="coerce").astype(float)
    if (missing := numbers.isna()).any():
        _refuse(path, values, missing & (values != ""), "a number")
    return numbers


def _refuse(path, values, wrong, expected):
    if wrong.any():
        line = int(wrong.to_numpy().argmax()) + 2
        raise ValueError(f"{path}, line {line}: {values.name} is '{values[wrong].iloc[0]}'; expected {expected}")


def read_runs(path) -> pd.DataFrame:
    """Read ``tidy/runs.csv``: one row per run, in the study's order.

    Raises `ValueError` for the same reasons as `read_table`, and also if there are no runs or if a run appears twice.
    """
    runs = read_table(path, RUNS)
    if runs.empty:
        raise ValueError(f"{path}: contains no run")
    _number_wholly(path, runs)
    twice = runs[runs.duplicated(RUN)]
    if len(twice):
        raise ValueError(f"{path}: the run {run_name(twice.iloc[0])} occurs twice")
    return runs


def runs_of_rows(rows) -> pd.DataFrame:
    """Return rows of `RUNS` that haven't been written to a file, in the form in which `read_runs` returns them."""
    text = io.StringIO()
    table = csv.DictWriter(text, RUNS.names)
    table.writeheader()
    table.writerows(rows)
    text.seek(0)
    return read_runs(text)


def read_flows(path) -> pd.DataFrame:
    """Read ``tidy/flows.csv``: one row per flow of a run."""
    flows = read_table(path, FLOWS)
    for name in ("replication", "flow"):
        _number_wholly(path, flows, name)
    return flows


def read_checks(path) -> pd.DataFrame:
    """Read ``tidy/checks.csv``: one row per check of a run."""
    checks = read_table(path, CHECKS)
    _number_wholly(path, checks)
    return checks


def read_named(name, path, kinds) -> pd.DataFrame | list | dict | str | Path:
    """Return an input file in the form that scripts use: the table of a CSV file, the content of a JSON file, or any other file's path.

    For a list of paths, return a list of such inputs.

    Parameters
    ----------
    name : str
        Name of a tidy table or of a table in ``kinds``, with the prefix ``other_`` if the table is from another study.
    path : str, path, or list of them
        File or files to read.
    kinds : mapping
        Name of an analysis table -> column -> kind of the column.
    """
    if isinstance(path, list | tuple):
        return [read_named(name, one, kinds) for one in path]
    suffix = Path(path).suffix
    if suffix == ".json":
        return json.loads(Path(path).read_text(encoding="utf-8"))
    if suffix != ".csv":
        return path
    if name in _READERS:
        return _READERS[name](path)
    if name in _TIDY:
        return read_table(path, _TIDY[name])
    columns = [Column(*column) for column in kinds[name.removeprefix(OTHER)].items()]
    return read_table(path, Table(name, "", columns))


def _number_wholly(path, table, name="replication"):
    values = table[name]
    _refuse(path, values, ~(values % 1 == 0), "a whole number")
    table[name] = values.astype(int)


def run_name(row) -> str:
    """Return a run's name in the form of its path: ``scenario/cca/ip_version/replication``."""
    return "/".join(str(row[key]) for key in RUN)


def link_packets(runs: pd.DataFrame) -> pd.Series:
    """Return the number of packets in each run that passed the queue and reached the lossy link.

    The number is missing if queue and link share one netem, because their drops are then indistinguishable.
    """
    return runs["packets_sent"] - runs["queue_drops"]


#: Name of a table that needs additional checks -> its reader.
_READERS = {"runs": read_runs, "flows": read_flows, "checks": read_checks}
