"""Tables of what a group of flows gets, alone and beside long flows: web objects, real-time streams."""

from report_parts.data_tables import Column, data_table
from topics.short_flows.beside import ALONE
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name


def groups_table(cells, design, identifier, title, columns, more_of_group=()) -> dict:
    """Return the table of all cells and groups.

    Parameters
    ----------
    cells : pandas.DataFrame
        With conditions, beside, group and ip_version.
    design : StudyDesign
        Where it compares no IP versions, there is no column of them.
    identifier, title : str
    columns, more_of_group : sequence of (Column, function of a row)
        What the group got, and what it is besides its name.
    """
    of_group = [
        (Column("Conditions", filtered=True), lambda row: row["conditions"]),
        (
            Column("Long flows", header=True, filtered=True),
            lambda row: "none" if row["beside"] == ALONE else cca_name(row["beside"]),
        ),
        (Column("Group", filtered=True), lambda row: row["group"]),
        *more_of_group,
    ]
    if design.ip_versions_compared:
        of_group.append((Column("IP version", filtered=True), lambda row: ip_words(row["ip_version"])))
    every = [*of_group, *columns]
    rows = [[of_cell(row) for _, of_cell in every] for row in cells.to_dict("records")]
    return data_table(identifier, title, [column for column, _ in every], rows)
