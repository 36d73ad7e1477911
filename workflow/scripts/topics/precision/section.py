"""The section on precision: the width of each interval, and the number of replications."""

from inference.looks_at_spread import least_coverage
from report_parts.cells_table import CCA_KEY, IP_KEY, N, cells_table, shown_cell, shown_number
from report_parts.data_tables import Cell, number_cell
from report_parts.hypothesis_cells import ALIKE, DIFFERS, METRIC, OPEN, first_metric, shown_scenario
from report_parts.material import Finding
from run_tables.metrics import METRICS
from study_files.study_replications import looks
from topics.precision.mean_precision import NO_VALUE, PRECISE, SETTLED
from wording.number_format import count, plain
from wording.sentence_words import between, listed


def section(material) -> dict:
    """Return the template's variables."""
    table, steps = material.tables.precision, looks(material.study)
    return {
        "wanted": wanted_words(material.study),
        "looks": listed([f"{step:,}" for step in steps]),
        "at_most": steps[-1],
        "level_percent": plain(table["level_percent"].iloc[0]),
        "least_percent": f"{100 * least_coverage(steps, material.params['confidence']):.1f}",
        "table": _table(table, material.tables.scenarios, steps[-1]),
    }


def findings(material) -> list[Finding]:
    """Return a finding that states how many means are as precise as required, and the number of replications."""
    return [Finding("Precision", precision_sentence(material.tables.precision, material.study), "precision")]


def wanted_words(study) -> str:
    """Return the required precision of each metric in words: "goodput within 1 % and packet loss within 0.1 percentage points"."""
    until = study["replications"]["until"]
    asked = [metric for metric in METRICS if metric.difference in until]
    units = {metric: " percentage points" if metric.scale == "points" else " %" for metric in asked}
    names = {metric: metric.name if metric.name.startswith("RTT") else metric.name.lower() for metric in asked}
    return listed([f"{names[metric]} within {plain(until[metric.difference])}{units[metric]}" for metric in asked])


def precision_sentence(table, study) -> str:
    """Report how many means are as precise as required, and the number of replications."""
    known = table[table["verdict"] != NO_VALUE]
    is_precise = known["verdict"].isin(SETTLED)
    taken = table.groupby("scenario")["replications"].first()
    sentence = (
        f"{int(is_precise.sum()):,} of {count(len(known), 'mean')} {'is' if len(known) == 1 else 'are'} as precise as required ({wanted_words(study)}), "
        f"after {between(taken)} replications"
        if len(known)
        else "No mean is known, because no valid run has a value"
    )
    ended = known.loc[~is_precise, "replications"] >= looks(study)[-1]
    if ended.all() and len(ended):
        sentence += "; the others ended at the largest allowed number"
    elif ended.any():
        sentence += f"; {int(ended.sum()):,} of the others ended at the largest allowed number, and {int((~ended).sum()):,} {'needs' if (~ended).sum() == 1 else 'need'} more"
    elif len(ended):
        sentence += "; the others need more"
    if len(known) and (unknown := len(table) - len(known)):
        sentence += f"; {count(unknown, 'more mean')} {'is' if unknown == 1 else 'are'} unknown, because no valid run has a value"
    return f"{sentence}."


def _table(table, scenarios, at_most):
    shown = (
        METRIC,
        shown_scenario(scenarios),
        CCA_KEY,
        IP_KEY,
        shown_number("Replications", "replications", 0),
        N,
        shown_number("Mean", "mean"),
        shown_cell("Reaches", lambda row: number_cell(row["half_width"], unit=_unit(row)), "number"),
        shown_cell("Wanted", lambda row: Cell(plain(row["wanted"]) + _unit(row), row["wanted"]), "number"),
        shown_cell("Precise", lambda row: _verdict_cell(row, at_most), filtered=True),
    )
    caption = "Half-width of the interval of each mean, and the number of replications"
    return cells_table("precision-of-means", caption, table, shown, initial=first_metric(table))


def _unit(row):
    return " %" if row["precision_unit"] == "%" else " points"


def _verdict_cell(row, at_most):
    verdict = row["verdict"]
    if verdict == NO_VALUE:
        return Cell(verdict, style=OPEN)
    if verdict in SETTLED:
        return Cell("yes" if verdict == PRECISE else f"yes, {verdict}", style=ALIKE)
    return Cell(f"no: {verdict}{', ended by at_most' if row['replications'] >= at_most else ''}", style=DIFFERS)
