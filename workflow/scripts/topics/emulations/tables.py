"""The analysis table of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, SCENARIO_LABEL
from run_tables.table import Table, columns_with_intervals, count_column, interval_columns, number_column, text_column
from run_tables.tidy_tables import RUNS

_NO_RUN = "no valid run has a value"
_NO_RATIO = "the scenario is the first one for its path, or one of the two scenarios has no valid run with a value"
_FEW = "there is no difference, a side has fewer than 6 valid runs, all runs of each side give the same value, or some runs are outliers"
#: Measures in the order in which they are plotted, each with its interval.
MEASURES = tuple(
    number_column(name, RUNS[name].unit, RUNS[name].meaning, _NO_RUN, least=0)
    for name in ("goodput_mbps", "rtt_mean_ms", "retransmit_percent")
)
#: Measure that is compared with the first implementation -> column of the difference.
RATIOS = {"goodput_mbps": "goodput_difference_percent", "rtt_mean_ms": "rtt_difference_percent"}
EMULATION_CELLS = Table(
    "emulation_cells",
    "a cell (scenario, CCA and IP version) whose path is implemented in different ways by several scenarios",
    (
        *CELL_COLUMNS,
        SCENARIO_LABEL,
        count_column("setting", "", "Number of the nominal path, from 1. Scenarios with the same number implement this path in different ways."),
        text_column("conditions", "Conditions that the scenarios of the path share, in words."),
        text_column("compared_with", "The scenario with the first implementation of the path."),
        count_column("n", "runs", "Number of valid runs."),
        *columns_with_intervals(*MEASURES),
        *(
            column
            for measure, name in RATIOS.items()
            for column in (
                number_column(name, "%", f"Difference of `{measure}` from its value with the first implementation, computed from the ratio of geometric means.", _NO_RATIO, least=-100),
                *interval_columns(f"{name}_low", f"{name}_high", "%", "the difference", _FEW, least=-100),
            )
        ),
    ),
)  # fmt: skip
