"""The section on policers: loss and goodput by CCA."""

from report_parts.cells_table import CCA, IP_VERSION, SCENARIO, N, PageTable, shown_interval, shown_number, shown_text
from report_parts.material import Finding
from wording.number_format import number
from wording.sentence_words import cca_name, listed

SHOWN = (
    SCENARIO, shown_text("Policer", "policer", empty="none", filtered=True), CCA, IP_VERSION, N,
    shown_number("Policed, %", "policed_percent", 2), shown_interval("Interval", "policed_percent", 2),
    shown_number("Total loss, %", "loss_percent", 2), shown_number("Goodput, %", "goodput_percent", 1),
    shown_number("Policer's drops", "policer_drops", 1), shown_number("Queue's drops", "queue_drops", 1),
    shown_number("Retransmitted", "retransmits", 1),
)  # fmt: skip
TABLES = {"table": PageTable("policer-cells", "Loss and goodput behind policers, by CCA", "policer_cells", SHOWN)}


def findings(material) -> list[Finding]:
    """Return one finding per scenario with a policer: the loss and goodput of each CCA."""
    cells = material.ranked(material.tables.policer_cells)
    policed = cells[cells["policed_percent"].notna()]
    sentences = []
    for (_, label, words), group in policed.groupby(["scenario", "scenario_label", "policer"], sort=False):
        means = group.groupby("cca", sort=False)[["policed_percent", "goodput_percent"]].mean()
        shown = [
            f"{number(row['policed_percent'], 2)} % with {cca_name(cca)} (goodput {number(row['goodput_percent'], 1)} %)"
            for cca, row in means.sort_values("policed_percent").iterrows()
        ]
        sentences.append(f"{label}: the policer ({words}) drops {listed(shown)}.")
    return [Finding("Policers", sentence, "policers") for sentence in sentences]
