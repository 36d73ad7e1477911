"""The section on queues: delay, drops and marks with each queueing discipline."""

import pandas as pd

from experiment.qdisc import DROP_TAIL
from report_parts.cells_table import CCA, CONDITIONS, IP_VERSION, N, PageTable, shown_interval, shown_number, shown_text
from report_parts.material import Finding
from topics.queues.variants import delay_of, variants_of, with_variants
from wording.discipline_words import DISCIPLINE_WORDS
from wording.number_format import number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed

SHOWN = (
    CONDITIONS, shown_text("Queue", "discipline", filtered=True, header=True), shown_text("ECN", "ecn", filtered=True),
    CCA, IP_VERSION, N, shown_number("Queueing, ms", "queueing_ms", 2), shown_interval("Interval", "queueing_ms", 2),
    shown_number("RTT above path, ms", "rtt_above_ms", 2), shown_interval("Interval of RTT", "rtt_above_ms", 2),
    shown_number("Goodput, %", "goodput_percent", 1), shown_number("Jain", "jain_index", 3),
    shown_number("Drops", "queue_drops", 1), shown_number("Drops by a full queue", "overflow_drops", 1),
    shown_number("Marks", "queue_marks", 1), shown_number("CE arrived", "ce_received", 1),
    shown_number("CE echoed", "ce_echoed", 1), shown_number("Retransmitted", "retransmits", 1),
)  # fmt: skip
#: Column with the delay -> verb phrase that follows the CCA in a sentence about this delay.
WAITS = {"queueing_ms": "waits", "rtt_above_ms": "has RTTs above the path's shortest by"}
TABLES = {"table": PageTable("queue-cells", "Drops and marks by queue, ECN and CCA", "queue_cells", SHOWN)}


def section(material) -> dict:
    """Return the template's variables other than tables."""
    shown = dict.fromkeys(material.tables.queue_cells["discipline"])
    return {"disciplines": [(name, DISCIPLINE_WORDS[name]) for name in shown if name in DISCIPLINE_WORDS]}


def findings(material) -> list[Finding]:
    """Return findings about queueing delays and ECN marks.

    There is a finding about delays for each setting, CCA and IP version with results for both drop-tail and other queues without ECN.
    """
    cells = with_variants(material.ranked(material.tables.queue_cells))
    delay = delay_of(cells)
    known = cells[cells[delay].notna()]
    sentences = []
    several = known["ip_version"].nunique() > 1
    panel = ["setting", "conditions", "cca", "ip_version"]
    for (_, conditions, cca, ip_version), group in known[known["ecn"] == "off"].groupby(panel, sort=False):
        is_plain = group["discipline"] == DROP_TAIL
        if is_plain.any() and not is_plain.all():
            names = variants_of(group)
            rows = pd.concat([group[is_plain], group[~is_plain].sort_values(delay, kind="stable")])
            shown = [f"{number(row[delay], 1)} ms behind {names[row['variant']]}" for row in rows.to_dict("records")]
            where = f"{conditions}, {ip_words(ip_version)}" if several else conditions
            sentences.append(f"{cca_name(cca)} ({where}) {WAITS[delay]} {listed(shown)}, on average.")
    marked = known[(known["ecn"] != "off") & (known["queue_marks"] > 0)]
    if len(marked):
        lossless = int((marked["queue_drops"] == 0).sum())
        sentences.append(
            f"With ECN, the queue dropped no packets in {lossless} of {len(marked)} cells in which it marked packets."
        )
    return [Finding("Queues", sentence, "queues") for sentence in sentences]
