"""The section on subflows over one bottleneck: MPTCP's share, compared with the shares of coupled and of uncoupled subflows."""

from report_parts.cells_table import CONDITIONS, IP_VERSION, N, PageTable, shown_interval, shown_number, shown_text
from report_parts.material import Finding
from wording.number_format import number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed

SHOWN = (
    CONDITIONS, shown_number("Subflows", "subflows", 0, filtered=True),
    shown_text("CCA", "cca", cca_name, filtered=True, header=True), IP_VERSION, N,
    shown_number("MPTCP's share, %", "share_percent", 1), shown_interval("Interval", "share_percent", 1),
    shown_number("Uncoupled, %", "uncoupled_percent", 1), shown_number("Coupled, %", "coupled_percent", 1),
    shown_number("Retransmitted MPTCP, %", "mptcp_retransmit_percent", 3),
    shown_number("Retransmitted other, %", "other_retransmit_percent", 3),
)  # fmt: skip
TABLES = {"table": PageTable("subflow-shares", "Shares by number of subflows and CCA", "subflow_shares", SHOWN)}


def section(material) -> dict:
    """Return the template's variable ``several``: whether a host sends several flows."""
    return {"several": any(one["flows"] > one["hosts"]["pairs"] for one in material.design.scenarios)}


def findings(material) -> list[Finding]:
    """Return one finding per set of conditions, CCA and IP version."""
    cells = material.ranked(material.tables.subflow_shares)
    known = cells[cells["share_percent"].notna() & (cells["subflows"] > 1)]
    several = cells["ip_version"].nunique() > 1
    sentences = []
    for (_, conditions, cca, ip_version), group in known.groupby(
        ["setting", "conditions", "cca", "ip_version"], sort=False
    ):
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
