"""The section on bottlenecks in a row: shares of the flows over all of them, against theory."""

from report_parts.data_tables import Column, data_table, interval_cell, number_cell
from report_parts.material import Finding
from wording.number_format import is_missing, number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed


def section(material) -> dict:
    """Return what the template needs."""
    cells = material.tables.chain_cells
    return {
        "table": _cells_table(cells, material.design),
        "most": int(cells["bottlenecks"].max()),
        "unlike": bool((cells["minimum_delay_percent"].isna()).any()),
    }


def _cells_table(cells, design):
    """Return the table of all cells."""

    def plain(name, decimals):
        return lambda row: number_cell(row[name], decimals)

    columns = [
        (Column("Conditions", filtered=True), lambda row: row["conditions"]),
        (Column("Bottlenecks", "number", filtered=True), plain("bottlenecks", 0)),
        (Column("CCA", header=True, filtered=True), lambda row: cca_name(row["cca"])),
        (Column("IP version", filtered=True), lambda row: ip_words(row["ip_version"])),
        (Column("n", "number"), plain("n", 0)),
        (Column("Long flows' share, %", "number"), plain("long_share_percent", 1)),
        (
            Column("Interval", "short"),
            lambda row: interval_cell(row["long_share_percent_low"], row["long_share_percent_high"], 1),
        ),
        (Column("Theory of Reno, single losses, %", "number"), plain("independent_percent", 1)),
        (Column("Theory of Reno, losses together, %", "number"), plain("synchronised_percent", 1)),
        (Column("1/(√n + 1), %", "number"), plain("minimum_delay_percent", 1)),
        (Column("1/(n + 1), %", "number"), plain("proportional_percent", 1)),
        (Column("RTT long, ms", "number"), plain("long_rtt_ms", 1)),
        (Column("RTT cross, ms", "number"), plain("cross_rtt_ms", 1)),
        (Column("Sent again long, %", "number"), plain("long_retransmit_percent", 3)),
        (Column("Sent again cross, %", "number"), plain("cross_retransmit_percent", 3)),
        (Column("Used, %", "number"), plain("used_percent", 1)),
    ]
    if not design.ip_versions_compared:
        del columns[3]
    rows = [[of_cell(row) for _, of_cell in columns] for row in cells.to_dict("records")]
    title = "Shares by number of bottlenecks and CCA, measured and by theory"
    return data_table("chain-cells", title, [column for column, _ in columns], rows)


def findings(material) -> list[Finding]:
    """Return a sentence for each conditions, CCA and IP version with several numbers of bottlenecks."""
    cells = material.tables.chain_cells
    known = cells[cells["long_share_percent"].notna()]
    several = known["ip_version"].nunique() > 1
    sentences = []
    for (conditions, cca, ip_version), group in known.groupby(["conditions", "cca", "ip_version"], sort=False):
        if group["bottlenecks"].nunique() < 2:
            continue
        ordered = group.sort_values("bottlenecks")
        shares = [
            f"{number(row['long_share_percent'], 1)} % over {row['bottlenecks']:.0f}"
            for row in ordered.to_dict("records")
        ]
        where = f"{conditions}, {ip_words(ip_version)}" if several else conditions
        sentence = f"{cca_name(cca)} flows over all bottlenecks get {listed(shares)} ({where})"
        last = ordered.iloc[-1]
        if not is_missing(last["independent_percent"]):
            ends = number(last["synchronised_percent"], 1), number(last["independent_percent"], 1)
            sentence += f"; theory has {ends[0]} % there if a queue's overflow halves all its flows, {ends[1]} % if packets are lost on their own"
        sentences.append(f"{sentence}.")
    return [Finding("Bottlenecks in a row", sentence, "chain") for sentence in sentences]
