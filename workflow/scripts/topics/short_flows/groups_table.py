"""Tables of what a group of flows gets, alone and beside long flows: web objects, real-time streams."""

from report_parts.cells_table import CONDITIONS, IP_VERSION, cells_table, shown_text
from topics.short_flows.beside import ALONE
from wording.sentence_words import cca_name


def _beside_words(beside):
    return "none" if beside == ALONE else cca_name(beside)


BESIDE = shown_text("Long flows", "beside", _beside_words, filtered=True, header=True)
GROUP = shown_text("Group", "group", filtered=True)


def groups_table(identifier, caption, cells, shown, design, more_of_group=()) -> dict:
    """Return the table of all cells and groups.

    Parameters
    ----------
    identifier, caption, cells, shown, design
        As of `cells_table`; `shown` is what the group got.
    more_of_group : sequence of Shown
        What the group is besides its name.
    """
    of_group = (CONDITIONS, BESIDE, GROUP, *more_of_group, IP_VERSION)
    return cells_table(identifier, caption, cells, (*of_group, *shown), design)
