"""Columns of `tidy_tables.RUNS` that count the packets affected by each link option."""

from experiment.link_options import LINK_OPTIONS
from experiment.run_document import specification_of
from run_tables.table import count_column
from testbed.checks.link_option_counts import COUNTED
from wording.link_option_words import COUNT_WORDS

#: Options for which the affected packets are counted.
OPTIONS = tuple(option for option in LINK_OPTIONS if option.column)


def option_columns() -> tuple:
    """Return one column for each option in `OPTIONS`."""
    words = ((option.column, *COUNT_WORDS[option.name]) for option in OPTIONS)
    return tuple(
        count_column(name, "packets", meaning, "no such packets are configured", source)
        for name, meaning, source, _ in words
    )


def option_counts(document) -> dict[str, int | None]:
    """Return, by column name, how many packets in the data's direction each option affected; None for an option that isn't set."""
    specification = specification_of(document)
    met = {}
    for option in OPTIONS:
        used = specification.option(option.name, "forward")
        met[option.column] = COUNTED[option.name](specification, document, "forward")[0] if used else None
    return met
