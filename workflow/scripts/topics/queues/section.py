"""The section on queues: delay, drops and marks behind each discipline."""

from experiment.qdisc import DROP_TAIL
from report_parts.cells_table import CCA, CONDITIONS, IP_VERSION, N, PageTable, shown_interval, shown_number, shown_text
from report_parts.material import Finding
from topics.queues.plot_queues import delay_of
from wording.discipline_words import DISCIPLINE_WORDS
from wording.number_format import number
from wording.sentence_words import cca_name, listed

SHOWN = (
    CONDITIONS, shown_text("Queue", "discipline", filtered=True, header=True), shown_text("ECN", "ecn", filtered=True),
    CCA, IP_VERSION, N, shown_number("Queueing, ms", "queueing_ms", 2), shown_interval("Interval", "queueing_ms", 2),
    shown_number("RTT above path, ms", "rtt_above_ms", 2), shown_interval("Its interval", "rtt_above_ms", 2),
    shown_number("Goodput, %", "goodput_percent", 1), shown_number("Jain", "jain_index", 3),
    shown_number("Drops", "queue_drops", 1), shown_number("by a full queue", "overflow_drops", 1),
    shown_number("Marks", "queue_marks", 1), shown_number("CE arrived", "ce_received", 1),
    shown_number("CE echoed", "ce_echoed", 1), shown_number("Sent again", "retransmits", 1),
)  # fmt: skip
#: Column of delays -> what a CCA does.
WAITS = {"queueing_ms": "waits", "rtt_above_ms": "has RTTs above the path's shortest by"}
TABLES = {"table": PageTable("queue-cells", "Drops and marks by queue, ECN and CCA", "queue_cells", SHOWN)}


def section(material) -> dict:
    """Return what else the template needs."""
    shown = dict.fromkeys(material.tables.queue_cells["discipline"])
    return {"disciplines": [(name, DISCIPLINE_WORDS[name]) for name in shown if name in DISCIPLINE_WORDS]}


def findings(material) -> list[Finding]:
    """Return a sentence for each conditions and CCA that meets drop-tail and other queues, both without ECN; and one on marks."""
    cells = material.tables.queue_cells
    delay = delay_of(cells)
    known = cells[cells[delay].notna()]
    sentences = []
    for (conditions, cca), group in known[known["ecn"] == "off"].groupby(["conditions", "cca"], sort=False):
        means = group.groupby("discipline", sort=False)[delay].mean()
        others = means.drop(DROP_TAIL, errors="ignore").sort_values()
        if DROP_TAIL in means and len(others):
            shown = [f"{number(value, 1)} ms behind {name}" for name, value in others.items()]
            sentences.append(
                f"{cca_name(cca)} ({conditions}) {WAITS[delay]} {number(means[DROP_TAIL], 1)} ms on average behind drop-tail, {listed(shown)}."
            )
    marked = known[(known["ecn"] != "off") & (known["queue_marks"] > 0)]
    if len(marked):
        lossless = int((marked["queue_drops"] == 0).sum())
        sentences.append(
            f"With ECN, {lossless} of {len(marked)} cells in which the queue marked packets lost none to it."
        )
    return [Finding("Queues", sentence, "queues") for sentence in sentences]
