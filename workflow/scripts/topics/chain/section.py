"""The section on bottlenecks in series: the shares of flows that cross all bottlenecks, compared with theory."""

from report_parts.cells_table import CONDITIONS, IP_VERSION, N, PageTable, shown_interval, shown_number, shown_text
from report_parts.material import Finding
from wording.number_format import count, is_missing, number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed

SHOWN = (
    CONDITIONS, shown_number("Bottlenecks", "bottlenecks", 0, filtered=True),
    shown_text("CCA", "cca", cca_name, filtered=True, header=True), IP_VERSION, N,
    shown_number("Long flows' share, %", "long_share_percent", 1), shown_interval("Interval", "long_share_percent", 1),
    shown_number("Reno in theory, independent losses, %", "independent_percent", 1),
    shown_number("Reno in theory, simultaneous losses, %", "synchronised_percent", 1),
    shown_number("Minimum delay, %", "minimum_delay_percent", 1), shown_number("Proportional, %", "proportional_percent", 1),
    shown_number("Long flows' RTT, ms", "long_rtt_ms", 1), shown_number("Cross flows' RTT, ms", "cross_rtt_ms", 1),
    shown_number("Retransmitted by long flows, %", "long_retransmit_percent", 3),
    shown_number("Retransmitted by cross flows, %", "cross_retransmit_percent", 3), shown_number("Used, %", "used_percent", 1),
)  # fmt: skip
CAPTION = "Shares by number of bottlenecks and CCA, measured and by theory"
TABLES = {"table": PageTable("chain-cells", CAPTION, "chain_cells", SHOWN)}


def section(material) -> dict:
    """Return the template's variables other than `TABLES`."""
    cells = material.tables.chain_cells
    return {"most": int(cells["bottlenecks"].max()), "unlike": bool(cells["minimum_delay_percent"].isna().any())}


def findings(material) -> list[Finding]:
    """Return one finding for each combination of conditions, CCA and IP version for which the number of bottlenecks was varied."""
    cells = material.ranked(material.tables.chain_cells)
    known = cells[cells["long_share_percent"].notna()]
    several = known["ip_version"].nunique() > 1
    sentences = []
    for (_, conditions, cca, ip_version), group in known.groupby(
        ["setting", "conditions", "cca", "ip_version"], sort=False
    ):
        if group["bottlenecks"].nunique() < 2:
            continue
        ordered = group.sort_values("bottlenecks")
        shares = [
            f"{number(row['long_share_percent'], 1)} % with {count(int(row['bottlenecks']), 'bottleneck')}"
            for row in ordered.to_dict("records")
        ]
        where = f"{conditions}, {ip_words(ip_version)}" if several else conditions
        sentence = f"{cca_name(cca)} flows that cross all bottlenecks get {listed(shares)} ({where})"
        last = ordered.iloc[-1]
        if not is_missing(last["independent_percent"]):
            ends = number(last["synchronised_percent"], 1), number(last["independent_percent"], 1)
            sentence += f"; with {last['bottlenecks']:.0f}, theory gives {ends[0]} % if an overflowing queue halves the windows of all its flows, and {ends[1]} % if packets are lost independently"
        sentences.append(f"{sentence}.")
    return [Finding("Bottlenecks in series", sentence, "chain") for sentence in sentences]
