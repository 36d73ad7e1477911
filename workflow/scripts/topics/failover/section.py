"""The section on failover: rates while a path is down, the standstill, and the time until the path is used again."""

from report_parts.cells_table import CCA, IP_VERSION, SCENARIO, N, PageTable, shown_cell, shown_interval, shown_number
from report_parts.material import Finding
from wording.number_format import count, number, plain


def _when(row):
    end_s = plain(row["outage_at_s"] + row["outage_for_s"])
    return f"{row['outage_path']:.0f}, {plain(row['outage_at_s'])} to {end_s} s"


SHOWN = (
    SCENARIO, shown_cell("Path down", _when, "short"), CCA, IP_VERSION, N,
    shown_number("Before, Mbit/s", "before_mbps", 2), shown_number("Meanwhile, Mbit/s", "during_mbps", 2),
    shown_number("After, Mbit/s", "after_mbps", 2), shown_number("Path's ideal, Mbit/s", "path_ideal_mbps", 2),
    shown_number("Standstill, s", "standstill_s", 2), shown_interval("Interval", "standstill_s", 2),
    shown_number("Used again after, s", "return_s", 2), shown_interval("Interval", "return_s", 2),
    shown_number("Runs with return", "returned", 0), shown_number("Lost packets", "outage_drops", 1),
)  # fmt: skip
TABLES = {"table": PageTable("failovers", "Rates, standstill and return by CCA", "failovers", SHOWN)}


def section(material) -> dict:
    """Return the template's other variables."""
    return {"paths": int(material.tables.failovers["paths"].max())}


def findings(material) -> list[Finding]:
    """Return one finding per scenario, with two ranges: the standstill, and the time until the path is used again."""
    cells = material.tables.failovers
    known = cells[cells["standstill_s"].notna()]
    sentences = []
    for _, group in known.groupby("scenario", sort=False):
        row = group.iloc[0]
        stood = _range(group["standstill_s"])
        sentence = (
            f"Where path {row['outage_path']:.0f} of {count(int(row['paths']), 'path')} is down for {plain(row['outage_for_s'])} s "
            f"({row['scenario_label']}), nothing is acknowledged for {stood} s (means of the cells)"
        )
        returned = group["return_s"].dropna()
        if len(returned):
            sentence += f"; once the path is up again, it takes {_range(returned)} s until it is used"
        if (back := int(group["returned"].sum())) < (runs := int(group["n"].sum())):
            sentence += f"; in {runs - back} of {count(runs, 'run')}, it is not used again"
        sentences.append(f"{sentence}.")
    return [Finding("Fail-over", sentence, "failover") for sentence in sentences]


def _range(values):
    low, high = number(values.min(), 2), number(values.max(), 2)
    return low if low == high else f"{low} to {high}"
