"""Key columns of most tables, and common reasons for empty fields."""

from run_tables.table import ordinal_column, text_column, truth_column

#: Columns that identify a cell or a run; in most tables, they come first.
CELL_COLUMNS = (
    text_column("scenario", "Identifier of the scenario."),
    text_column("cca", "Requested CCA, or mix of CCAs joined by `+`."),
    text_column("ip_version", "`ipv4` or `ipv6`."),
)
REPLICATION = ordinal_column("replication", "Number of the replication, from 1.")
RUN_KEYS = (*CELL_COLUMNS, REPLICATION)
SCENARIO_LABEL = text_column("scenario_label", "The scenario's short name.")
#: Conditions that are common to the scenarios compared by a topic (`scenario_labels.settings_of`): an identifying number, and a text.
SETTING = ordinal_column(
    "setting", "Number of the setting: the conditions shared by all scenarios that are compared with each other."
)
CONDITIONS = text_column("conditions", "Conditions of the setting in words.")
#: Columns that identify a cell, with the scenario's label after the scenario's identifier.
LABELLED_CELL = (CELL_COLUMNS[0], SCENARIO_LABEL, *CELL_COLUMNS[1:])
VALID = truth_column("valid", "Whether the run passed all of its checks.")
CELL = [column.name for column in CELL_COLUMNS]
RUN = [column.name for column in RUN_KEYS]

#: Reason why a field is empty.
NO_VALUE = "the run's application or platform doesn't provide it"
NO_WINDOW = "the flows had no time in common"
NOT_SAMPLED = "the scenario has no `sample_interval_ms`"
NO_DISCIPLINE, NO_ECN = "the queue is drop-tail", "the flows don't use ECN"
