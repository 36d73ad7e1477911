"""The analysis table of the topic, column by column."""

from run_tables.table import Table, count_column, number_column, text_column
from topics.controls.tables import OF_CCAS, OF_IP_VERSIONS

SENSITIVITY = Table(
    "sensitivity",
    "a perturbation of a scenario, and a comparison",
    (
        text_column("scenario", "Identifier of the scenario that is perturbed."),
        text_column("perturbation", "What was changed: the end of the perturbed scenario's identifier."),
        text_column("comparison", f"`{OF_IP_VERSIONS}` or `{OF_CCAS}`."),
        count_column("conclusions", "", "What is concluded of both: on a metric in a cell, or of a pair of CCAs; 0 where no run of one of them is valid."),
        count_column("shown", "", "Of these, that something is higher, lower or equivalent; the others are open."),
        count_column("same", "", "Conclusions that are the same in the perturbed scenario."),
        count_column("turned", "", "Shown in both, and not the same: the conclusion moved."),
        count_column("lost", "", "Shown, and open in the perturbed scenario."),
        count_column("won", "", "Open, and shown in the perturbed scenario."),
        number_column("largest_shift", "percentage points", "The largest change of a difference of goodput.", "no difference of goodput is known in both"),
        text_column("moved", "The conclusions that turned, or were lost or won, with what was concluded before and after.", "none"),
    ),
)  # fmt: skip
