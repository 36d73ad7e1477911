"""The section on sensitivity: how many conclusions change under each perturbation, and how many by chance."""

from report_parts.cells_table import cells_table, shown_cell, shown_number, shown_text
from report_parts.data_tables import Cell, number_cell
from report_parts.hypothesis_cells import DIFFERS
from report_parts.material import Finding
from study_files.perturbed_study import AGAIN, WORDS
from wording.number_format import count
from wording.sentence_words import listed


def _turned_cell(row):
    return Cell(f"{row['turned']:.0f}", row["turned"], style=DIFFERS) if row["turned"] else number_cell(0, 0)


SHOWN = (
    shown_text("Scenario", "scenario", filtered=True, header=True),
    shown_text("Changed", "perturbation", WORDS.__getitem__, filtered=True),
    shown_text("Comparison", "comparison", filtered=True), shown_number("Conclusions", "conclusions", 0),
    shown_number("Shown", "shown", 0), shown_number("The same", "same", 0),
    shown_cell("Reversed", _turned_cell, "number"), shown_number("Lost", "lost", 0), shown_number("Gained", "won", 0),
    shown_number("Goodput shift, points", "largest_shift"), shown_text("Which", "moved", empty="none", kind="note"),
)  # fmt: skip


def section(material) -> dict:
    """Return the table of perturbations."""
    caption = "Conclusions under perturbed conditions"
    return {"table": cells_table("perturbed", caption, material.tables.sensitivity, SHOWN)}


def findings(material) -> list[Finding]:
    """Return a finding about the perturbations that change conclusions."""
    return [Finding("Sensitivity", sensitivity_sentence(material.tables.sensitivity), "sensitivity")]


def sensitivity_sentence(table) -> str:
    """Name the perturbations that reverse conclusions; report the shares of conclusions lost or gained, and those expected by chance."""
    sums = table.groupby("perturbation", sort=False)[["conclusions", "shown", "turned", "lost", "won"]].sum()
    if sums.empty:
        return "No scenario could be run both unchanged and perturbed."
    if not sums["conclusions"].any():
        return "No conclusion could be compared, because no scenario has valid runs both unchanged and perturbed."
    if not sums[["shown", "won"]].any(axis=None):
        return "No comparison shows a result, whether unchanged or perturbed, so no conclusion could change."
    turned = [
        f"{WORDS[name]} ({count(int(row['turned']), 'conclusion')})" for name, row in sums.iterrows() if row["turned"]
    ]
    text = (
        f"Conclusions were reversed under {listed(turned)}"
        if turned
        else "No conclusion was reversed under any perturbation"
    )
    shares = {
        name: 100 * (row["lost"] + row["won"]) / row["conclusions"]
        for name, row in sums.iterrows()
        if row["conclusions"]
    }
    chance = shares.pop(AGAIN, None)
    if shares:
        # Report the mean, because the largest of several shares would exceed the effect of other seeds by chance alone.
        mean = sum(shares.values()) / len(shares)
        text += f"; on average over {count(len(shares), 'perturbation')}, {mean:.0f} % were lost or gained"
    if chance is not None:
        text += f"; with only the seeds changed, {chance:.0f} % were lost or gained"
    unknown = [WORDS[name] for name, number in sums["conclusions"].items() if not number]
    if unknown:
        text += f"; nothing is known about {listed(unknown)}, because no scenario has valid runs to compare"
    return f"{text}."
