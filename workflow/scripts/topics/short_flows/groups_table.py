"""Columns that identify a group of web objects or real-time streams in page tables."""

from report_parts.cells_table import CONDITIONS, IP_VERSION, Shown, shown_text
from topics.short_flows.beside import ALONE
from wording.sentence_words import cca_name

BESIDE = shown_text(
    "Long flows, programs",
    "beside",
    lambda beside: "none" if beside == ALONE else cca_name(beside),
    filtered=True,
    header=True,
)
GROUP = shown_text("Group", "group", filtered=True)


def group_columns(*more) -> tuple[Shown, ...]:
    """Return the columns that identify a group; ``more`` are columns with further properties of the group."""
    return (CONDITIONS, BESIDE, GROUP, *more, IP_VERSION)
