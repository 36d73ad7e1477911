"""The section on sensitivity: which conclusions moved under which perturbation, beside those that move by chance."""

from report_parts.data_tables import Cell, Column, data_table, number_cell
from report_parts.material import Finding
from report_parts.test_cells import DIFFERS
from study_files.perturbed_study import AGAIN, WORDS
from wording.number_format import count
from wording.sentence_words import listed


def section(material) -> dict:
    """Return the table of perturbations."""
    return {"table": _table(material.tables.sensitivity)}


def _table(table):
    columns = {
        Column("Scenario", filtered=True, header=True): lambda row: row["scenario"],
        Column("Changed", filtered=True): lambda row: WORDS[row["perturbation"]],
        Column("Comparison", filtered=True): lambda row: row["comparison"],
        Column("Conclusions", "number"): lambda row: number_cell(row["conclusions"], 0),
        Column("Shown", "number"): lambda row: number_cell(row["shown"], 0),
        Column("The same", "number"): lambda row: number_cell(row["same"], 0),
        Column("Turned", "number"): _turned_cell,
        Column("Lost", "number"): lambda row: number_cell(row["lost"], 0),
        Column("Won", "number"): lambda row: number_cell(row["won"], 0),
        Column("Goodput shift, points", "number"): lambda row: number_cell(row["largest_shift"]),
        Column("Which", "note"): lambda row: row["moved"] or "none",
    }
    rows = [[cell(row) for cell in columns.values()] for row in table.to_dict("records")]
    return data_table("perturbed", "Conclusions under perturbed conditions", list(columns), rows)


def _turned_cell(row):
    return Cell(f"{row['turned']:.0f}", row["turned"], style=DIFFERS) if row["turned"] else number_cell(0, 0)


def findings(material) -> list[Finding]:
    """Return which perturbations move conclusions."""
    return [Finding("Sensitivity", sensitivity_sentence(material.tables.sensitivity), "sensitivity")]


def sensitivity_sentence(table) -> str:
    """Say under which perturbations conclusions turned, and how many were lost or won beside those that are by chance."""
    sums = table.groupby("perturbation", sort=False)[["conclusions", "turned", "lost", "won"]].sum()
    if sums.empty:
        return "No scenario could be run both as it is and perturbed."
    turned = [
        f"{WORDS[name]} ({count(int(row['turned']), 'conclusion')})" for name, row in sums.iterrows() if row["turned"]
    ]
    text = f"Conclusions turned under {listed(turned)}" if turned else "No conclusion turned under any perturbation"
    shares = {
        name: 100 * (row["lost"] + row["won"]) / row["conclusions"]
        for name, row in sums.iterrows()
        if row["conclusions"]
    }
    chance = shares.pop(AGAIN, None)
    if shares:
        most = max(shares, key=shares.get)
        text += f"; lost or won were at most {shares[most]:.0f} % ({WORDS[most]})"
    if chance is not None:
        text += f", by other seeds alone {chance:.0f} %"
    return f"{text}."
