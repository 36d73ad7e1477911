"""The section on changing paths: the time until a new rate is used, queueing delay, losses, and the RTTs that CCAs assume."""

from report_parts.cells_table import CCA, IP_VERSION, N, PageTable, shown_cell, shown_number, shown_text
from report_parts.data_tables import Cell
from report_parts.material import Finding
from topics.path_changes.responses import LEAST_RTT
from wording.number_format import NONE, count, is_missing, number
from wording.sentence_words import cca_name, listed


def _used_cell(row):
    never = int(row["n"] - row["n_used"])
    if is_missing(row["used_s"]):
        return Cell(NONE)
    return Cell(f"{number(row['used_s'], 2)}{f' ({never} never)' if never else ''}", float(row["used_s"]))


SHOWN = (
    shown_text("Scenario", "scenario_label", filtered=True), shown_number("From, s", "begin_s", 1),
    shown_text("Change", "change", kind="words", filtered=True, header=True), CCA, IP_VERSION, N,
    shown_cell("Used after, s", _used_cell, "number"), shown_number("Delivered, %", "utilisation_percent", 1),
    shown_number("Queue, ms", "queue_mean_ms", 1), shown_number("Largest queue, ms", "queue_max_ms", 1),
    shown_number("Queue drops", "queue_drops", 1), shown_number("Retransmitted", "retransmits", 1),
    shown_number("Believed after, s", "believed_s", 1),
)  # fmt: skip
TABLES = {"table": PageTable("change-cells", "Phases of paths that change, by CCA", "change_cells", SHOWN)}


def findings(material) -> list[Finding]:
    """Return findings about changes to paths.

    There is one finding for each change after which CCAs differ, and one for each CCA that notices a longer path.
    """
    cells = material.ranked(material.tables.change_cells)
    sentences = []
    for (_, label, begin_s, change), group in cells[cells["phase"] > 1].groupby(
        ["scenario", "scenario_label", "begin_s", "change"], sort=False
    ):
        used = group[group["n_used"] > 0].groupby("cca", sort=False)["used_s"].mean().sort_values()
        if len(used) > 1 and used.iloc[-1] > 2 * used.iloc[0]:
            counts = group.groupby("cca")[["n_used", "n"]].sum()
            shown = [
                f"{cca_name(cca)} after {number(value, 2)} s{_of_runs(*counts.loc[cca])}" for cca, value in used.items()
            ]
            never = [cca_name(cca) for cca in dict.fromkeys(group["cca"]) if cca not in used.index]
            tail = f"; never by {listed(never)}" if never else ""
            sentences.append(f"{label}, {change} at {begin_s:g} s: 90 % of the rate is used by {listed(shown)}{tail}.")
    asked = cells[cells["cca"].isin(LEAST_RTT) & (cells["n_believed"] > 0)]
    for (_, label, cca), group in asked.groupby(["scenario", "scenario_label", "cca"], sort=False):
        row = group.iloc[0]
        sentences.append(
            f"{label}: {cca_name(cca)} takes {number(row['believed_s'], 1)} s{_of_runs(row['n_believed'], row['n'])} to notice that the "
            f"path became longer ({row['change']})."
        )
    return [Finding("Changes", sentence, "path-changes") for sentence in sentences]


def _of_runs(n_known, n):
    """Return " in 2 of 6 runs" if a time is known only for some of the runs, otherwise ""."""
    return f" in {n_known:.0f} of {count(int(n), 'run')}" if n_known < n else ""
