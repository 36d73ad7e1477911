"""Declarations of tables and columns, used by all code that writes, reads, shows or documents a table.

This module uses only the standard library, because Snakemake reads the declarations when it plans the jobs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

#: Prefix of table names for the study with which a study is compared: `other_claims`.
OTHER = "other_"
#: Kind of a column -> description of its values.
KINDS = {
    "text": "text",
    "truth": "True or False",
    "number": "a number",
    "count": "a whole number",
    "ordinal": "a whole number that identifies something",
}


@dataclass(frozen=True)
class Column:
    """A column of a table, as described in the data dictionary."""

    name: str  # name, which ends with the unit if the column has a unit: `rtt_ms`
    kind: str  # a key of `KINDS`; in a CSV file, an empty number means a missing value, but text may be empty
    meaning: str = ""  # meaning of the value in words
    unit: str = ""  # unit of a number: "Mbit/s", "ms", "segments"; empty if there is no unit
    empty: str = ""  # meaning of a missing value; empty if no value can be missing
    source: str = ""  # program from whose output the value is read; empty if the value is computed from other columns
    least: float | None = None  # smallest possible value, which also limits the interval of a mean
    most: float | None = None  # largest possible value
    interval: str = ""  # prefix of the columns that contain the interval of the mean; empty if there is no interval
    unmeasured: tuple[str, ...] | None = (
        None  # verdicts for cases in which nothing was measured; None if the column doesn't contain verdicts
    )

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"column {self.name} is of kind '{self.kind}'; allowed: {', '.join(KINDS)}")


def text_column(name: str, meaning: str, empty: str = "", source: str = "") -> Column:
    """Return a text column."""
    return Column(name, "text", meaning, "", empty, source)


def verdict_column(name: str, meaning: str, empty: str = "", unmeasured: tuple[str, ...] = ()) -> Column:
    """Return a column of verdicts; ``unmeasured`` lists the verdicts, in addition to "", for cases without a measurement."""
    return Column(name, "text", meaning, "", empty, unmeasured=unmeasured)


def truth_column(name: str, meaning: str) -> Column:
    """Return a column of True and False."""
    return Column(name, "truth", meaning)


def number_column(
    name: str,
    unit: str,
    meaning: str,
    empty: str = "",
    source: str = "",
    least: float | None = None,
    most: float | None = None,
) -> Column:
    """Return a column of numbers from ``least`` to ``most``."""
    return Column(name, "number", meaning, unit, empty, source, least, most)


def count_column(name: str, unit: str, meaning: str, empty: str = "", source: str = "") -> Column:
    """Return a column of non-negative whole numbers."""
    return Column(name, "count", meaning, unit, empty, source, 0)


def ordinal_column(name: str, meaning: str, empty: str = "") -> Column:
    """Return a column of whole numbers that identify something: replications, flows, paths."""
    return Column(name, "ordinal", meaning, "", empty)


def interval_columns(
    low: str,
    high: str,
    unit: str,
    of: str,
    empty: str = "there are fewer than two values, or all are equal",
    least: float | None = None,
    most: float | None = None,
) -> tuple[Column, Column]:
    """Return the two columns of an interval at the study's confidence level; ``of`` names the estimated quantity, such as "the mean"."""
    return (
        number_column(low, unit, f"Lower end of the confidence interval of {of}.", empty, "", least, most),
        number_column(high, unit, f"Upper end of the confidence interval of {of}.", empty, "", least, most),
    )


def columns_with_intervals(*measures: Column, of: str = "", ends: str = "", **empty: str) -> tuple[Column, ...]:
    """Return each measure's column followed by the two columns of its interval, which have the measure's unit and bounds.

    Parameters
    ----------
    of : str
        Quantity that the intervals estimate; by default the mean.
    ends : str
        Prefix of the names of the interval's columns; by default the measure's name.
    empty : str, optional
        See `interval_columns`.
    """
    columns: list[Column] = []
    for measure in measures:
        name, words = (
            ends or measure.name,
            of or "the mean" + ", clipped to the possible values" * (measure.least is not None),
        )
        bounds = {"least": measure.least, "most": measure.most}
        ends_of_it = interval_columns(f"{name}_low", f"{name}_high", measure.unit, words, **empty, **bounds)
        columns += (replace(measure, interval=name), *ends_of_it)
    return tuple(columns)


def mean_of(column: Column, empty: str = "no valid run has a value") -> Column:
    """Return the column for the mean of another column, taken over the valid runs that have a value."""
    return replace(column, kind="number", meaning=f"{column.meaning} Mean over the valid runs.", empty=empty, source="")


@dataclass(frozen=True)
class Table:
    """A table of a study: a file in `tidy/` or `analysis/`."""

    name: str  # name of the file without the suffix
    row: str  # what a row describes: "a run", "a flow of a run"
    columns: tuple[Column, ...]  # in the order of the file
    folder: str = "analysis"  # or ``tidy``
    suffix: str = "csv"  # or ``parquet``
    digits: int | None = None  # number of significant digits written to the file; all digits if None

    def __post_init__(self):
        object.__setattr__(self, "columns", tuple(self.columns))
        names = [column.name for column in self.columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"table {self.name} declares {', '.join(twice)} twice")

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return [column.name for column in self.columns]

    @property
    def path(self) -> str:
        """The path of the file within a study's results."""
        return f"{self.folder}/{self.name}.{self.suffix}"

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"table {self.name} has no column {name}; there are {', '.join(self.names)}")

    def only(self, *names: str) -> "Table":
        """Return the table with only the given columns."""
        return Table(self.name, self.row, tuple(self[name] for name in names), self.folder, self.suffix)

    def without(self, *names: str) -> tuple[Column, ...]:
        """Return the table's columns except the given ones, for use in another table."""
        for name in names:
            self[name]
        return tuple(column for column in self.columns if column.name not in names)
