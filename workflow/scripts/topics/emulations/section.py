"""The section on implementations of a path: the results with each implementation, compared with those of the first."""

from report_parts.cells_table import CCA, IP_VERSION, SCENARIO, N, PageTable, shown_interval, shown_number
from report_parts.material import Finding
from wording.number_format import count, number
from wording.sentence_words import cca_name

SHOWN = (
    SCENARIO, CCA, IP_VERSION, N, shown_number("Goodput, Mbit/s", "goodput_mbps"),
    shown_number("Compared with the first, %", "goodput_difference_percent", 1), shown_interval("Interval", "goodput_difference_percent", 1),
    shown_number("Mean RTT, ms", "rtt_mean_ms", 1), shown_number("Compared with the first, %", "rtt_difference_percent", 1),
    shown_interval("Interval", "rtt_difference_percent", 1), shown_number("Retransmitted, %", "retransmit_percent", 3),
)  # fmt: skip
TABLES = {"table": PageTable("emulation-cells", "The same path, implemented in several ways", "emulation_cells", SHOWN)}


def findings(material) -> list[Finding]:
    """Return one finding per path: the ranges of goodput and RTT, for the CCA whose RTT changes most between implementations."""
    cells = material.tables.emulation_cells
    cells = cells[cells["goodput_mbps"].notna() & cells["rtt_mean_ms"].notna()]
    sentences = []
    for _, path in cells.groupby("setting", sort=False):
        spans = [
            (rows["rtt_mean_ms"].max() / rows["rtt_mean_ms"].min(), rows)
            for _, rows in path.groupby(["cca", "ip_version"], sort=False)
            if len(rows) > 1
        ]
        if spans:
            sentences.append(_sentence(max(spans, key=lambda span: span[0])[1]))
    return [Finding("Emulation", text, "emulations", figures=("emulations",)) for text in sentences]


def _sentence(rows):
    ends = [rows.loc[rows["rtt_mean_ms"].agg(f"idx{end}")] for end in ("min", "max")]
    (low, short), (high, long) = ((number(row["rtt_mean_ms"], 1), row["scenario_label"]) for row in ends)
    goodput = [number(rows["goodput_mbps"].agg(end), 1) for end in ("min", "max")]
    same = (
        f"a goodput of {goodput[0]} to {goodput[1]} Mbit/s"
        if goodput[0] != goodput[1]
        else f"a goodput of {goodput[0]} Mbit/s"
    )
    return f"The same path, implemented in {count(len(rows), 'way')}, gives {cca_name(rows['cca'].iloc[0])} a mean RTT from {low} ms ({short}) to {high} ms ({long}), and {same}."
