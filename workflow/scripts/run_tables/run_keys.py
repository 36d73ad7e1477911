"""What most tables begin with, and what their empty fields say where several tables say it."""

from run_tables.table import ordinal, text, truth

#: What tells cells apart, and runs: the first columns of most tables.
CELL_COLUMNS = (
    text("scenario", "Identifier of the scenario."),
    text("cca", "CCA, or the mix of CCAs joined by `+`, that was asked for."),
    text("ip_version", "`ipv4` or `ipv6`."),
)
REPLICATION = ordinal("replication", "Number of the replication, from 1.")
RUN_KEYS = (*CELL_COLUMNS, REPLICATION)
SCENARIO_LABEL = text("scenario_label", "The scenario's short name.")
VALID = truth("valid", "Whether the run passed all of its checks.")
CELL = [column.name for column in CELL_COLUMNS]
RUN = [column.name for column in RUN_KEYS]

#: Why a field is empty.
NO_VALUE = "the run's application or platform has none"
NO_DISCIPLINE, NO_ECN = "the queue is drop-tail", "flows have no ECN"
