"""The analysis table of the topic, column by column."""

from run_tables.table import Table, count_column, number_column, text_column
from topics.controls.tables import OF_CCAS, OF_IP_VERSIONS

SENSITIVITY = Table(
    "sensitivity",
    "a comparison in a perturbed scenario",
    (
        text_column("scenario", "Identifier of the scenario that is perturbed."),
        text_column("perturbation", "The changed condition, as given by the end of the perturbed scenario's identifier."),
        text_column("comparison", f"Comparison that led to the conclusions: `{OF_IP_VERSIONS}` or `{OF_CCAS}`."),
        count_column("conclusions", "", "Number of conclusions (on a metric in a cell, or on a pair of CCAs) that exist for both scenarios; 0 if a scenario has no valid run."),
        count_column("shown", "", "Number of conclusions in the unperturbed scenario that state a result: higher, lower or equivalent. The other conclusions are open."),
        count_column("same", "", "Number of conclusions that are the same in the perturbed scenario."),
        count_column("turned", "", "Number of conclusions that the perturbed scenario contradicts: higher instead of lower, or a difference beyond the margin instead of equivalence (or vice versa)."),
        count_column("lost", "", "Number of conclusions that the perturbed scenario neither shows nor contradicts."),
        count_column("won", "", "Number of conclusions that are open only in the unperturbed scenario."),
        number_column("largest_shift", "percentage points", "Largest change in a difference in goodput, from the unperturbed to the perturbed scenario.", "no difference in goodput is known in both scenarios"),
        text_column("moved", "The conclusions that were reversed, lost or gained, with the conclusions before and after.", "no conclusion changed"),
    ),
)  # fmt: skip
