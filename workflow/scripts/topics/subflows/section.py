"""The section on subflows over one bottleneck: MPTCP's share against coupled and uncoupled."""

from report_parts.data_tables import Column, data_table, interval_cell, number_cell
from report_parts.material import Finding
from wording.number_format import number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed


def section(material) -> dict:
    """Return what the template needs."""
    return {"table": _cells_table(material.tables.subflow_shares, material.design)}


def _cells_table(cells, design):
    """Return the table of all cells."""

    def plain(name, decimals):
        return lambda row: number_cell(row[name], decimals)

    columns = [
        (Column("Conditions", filtered=True), lambda row: row["conditions"]),
        (Column("Subflows", "number", filtered=True), plain("subflows", 0)),
        (Column("CCA", header=True, filtered=True), lambda row: cca_name(row["cca"])),
        (Column("IP version", filtered=True), lambda row: ip_words(row["ip_version"])),
        (Column("n", "number"), plain("n", 0)),
        (Column("MPTCP's share, %", "number"), plain("share_percent", 1)),
        (
            Column("Interval", "short"),
            lambda row: interval_cell(row["share_percent_low"], row["share_percent_high"], 1),
        ),
        (Column("Uncoupled, %", "number"), plain("uncoupled_percent", 1)),
        (Column("Coupled, %", "number"), plain("coupled_percent", 1)),
        (Column("Sent again MPTCP, %", "number"), plain("mptcp_retransmit_percent", 3)),
        (Column("Sent again other, %", "number"), plain("other_retransmit_percent", 3)),
    ]
    if not design.ip_versions_compared:
        del columns[3]
    rows = [[of_cell(row) for _, of_cell in columns] for row in cells.to_dict("records")]
    return data_table("subflow-shares", "Shares by number of subflows and CCA", [column for column, _ in columns], rows)


def findings(material) -> list[Finding]:
    """Return a sentence for each conditions and CCA, and IP version if there are several."""
    cells = material.tables.subflow_shares
    known = cells[cells["share_percent"].notna() & (cells["subflows"] > 1)]
    several = cells["ip_version"].nunique() > 1
    sentences = []
    for (conditions, cca, ip_version), group in known.groupby(["conditions", "cca", "ip_version"], sort=False):
        shares = [
            f"{number(row['share_percent'], 1)} % with {row['subflows']:.0f} subflows (coupled {number(row['coupled_percent'], 1)}, "
            f"uncoupled {number(row['uncoupled_percent'], 1)})"
            for row in group.sort_values("subflows").to_dict("records")
        ]
        where = f"{conditions}, {ip_words(ip_version)}" if several else conditions
        sentences.append(
            f"MPTCP with {cca_name(cca)} takes {listed(shares)} of a bottleneck that its subflows share ({where})."
        )
    return [Finding("Subflows", sentence, "subflows") for sentence in sentences]
