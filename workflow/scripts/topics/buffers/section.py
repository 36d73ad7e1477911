"""The section on buffers: what each of many flows gets, and all of them together, against the buffer's size."""

from report_parts.data_tables import Cell, Column, data_table, minus, number_cell
from report_parts.material import Finding
from run_tables.tidy_tables import CELL
from topics.buffers.kato_table import FLOWS, KATO_PAPER, STARVED_SHARE, VERSION, paper_row
from topics.buffers.topic import paced_cca
from wording.number_format import NONE, count, is_missing, number, plain
from wording.scenario_series import buffers_of, platform_name, platforms_of, with_series
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name

# Shares of the link that stand beside the paper's -> their decimals.
SHARES = {"mean_percent": 2, "sd_percent": 2, "total_percent": 1}


def section(material) -> dict:
    """Return what the template needs."""
    cells, figures, ccas = material.tables.flow_goodput_cells, material.figures, material.design.ccas
    return {
        "bars": [(cca_name(cca), figures[f"flow-goodput-{cca}"]) for cca in ccas],
        "boxes": [(cca_name(cca), figures[f"flow-boxes-{cca}"]) for cca in ccas],
        "table": cells_table(by_cell(cells), material.design),
        "paper": paper_table(cells, material),
        "flows": material.design.flows,
        "starved_words": starved_words(material.tables.flow_goodput),
        "paced": cca_name(paced_cca(material.design)),
    }


def by_cell(cells) -> list[dict]:
    """Return a dict a cell of ``flow_goodput_cells.csv`` with its statistics by name, in the table's order."""
    by_key = {}
    for row in cells.to_dict("records"):
        cell = by_key.setdefault(tuple(row[name] for name in CELL), {**row, "statistics": {}})
        cell["statistics"][row["statistic"]] = row
    return list(by_key.values())


def starved_words(flow_goodput) -> str:
    """Say below what goodput a flow counts as starved: "0.1 Mbit/s"."""
    limits = sorted(set(flow_goodput["fair_share_mbps"].dropna() * STARVED_SHARE))
    if not limits:
        return ""
    least, most = number(limits[0], 3), number(limits[-1], 3)
    return f"{least} Mbit/s" if least == most else f"{least} to {most} Mbit/s"


def cells_table(cells, design) -> dict:
    """Return the table of all cells."""
    both = design.ip_versions_compared
    columns = [
        Column("Platform", filtered=True),
        Column("CCA", filtered=True),
        *([Column("IP version", filtered=True)] if both else []),
        Column("Buffer", header=True),
        Column("% of BDP", "number"),
        Column("n", "number"),
        Column("Mean of a flow, Mbit/s", "number"),
        Column("SD, Mbit/s", "number"),
        Column("All flows, Mbit/s", "number"),
        Column("Interval", "short"),
        Column("% of link", "number"),
        Column("Jain", "number"),
        Column("Interval", "short"),
        Column("Starved", "number"),
    ]
    rows = []
    for cell in cells:
        of = cell["statistics"]
        rows.append(
            [
                platform_name(cell["platform"]),
                cca_name(cell["cca"]),
                *([ip_words(cell["ip_version"])] if both else []),
                cell["buffer"],
                number_cell(cell["bdp_percent"], 1),
                number_cell(of["total_mbps"]["n"], 0),
                number_cell(of["mean_mbps"]["mean"]),
                number_cell(of["sd_mbps"]["mean"]),
                number_cell(of["total_mbps"]["mean"]),
                interval_cell(of["total_mbps"]),
                number_cell(of["total_percent"]["mean"], 1),
                number_cell(of["jain_index"]["mean"], 3),
                interval_cell(of["jain_index"], 3),
                number_cell(of["starved"]["mean"], 1),
            ]
        )
    return data_table("buffer-cells", "Goodput of the flows by platform, CCA and buffer", columns, rows)


def interval_cell(row, decimals=1) -> Cell:
    """Return a cell with the interval of a row's mean."""
    ends = _ends(row, decimals)
    return Cell(ends, float(row["ci_low"])) if ends else Cell(NONE)


def _ends(row, decimals):
    """Return the interval of a row's mean: "61.0 to 65.4"; empty if it has none."""
    if is_missing(row["ci_low"]):
        return ""
    return minus(f"{number(row['ci_low'], decimals)} to {number(row['ci_high'], decimals)}")


def paper_table(cells, material) -> list[dict] | None:
    """Return the paper's table II beside the same of this study, or None for a study that isn't held against it.

    Returns
    -------
    list of dict
        One a buffer and source: buffer, source, mean, sd, total, jain, starved, n: texts.
    """
    if material.design.claims != KATO_PAPER or "bbr" not in material.design.ccas or material.design.flows != FLOWS:
        return None
    rows, table = [], with_series(material.tables.scenarios)
    order = platforms_of(table)
    bbr_cells = [cell for cell in by_cell(cells) if cell["cca"] == "bbr" and not is_missing(cell["bdp_percent"])]
    for buffer in buffers_of(table)["buffer"]:
        here = sorted(
            (cell for cell in bbr_cells if cell["buffer"] == buffer), key=lambda cell: order.index(cell["platform"])
        )
        paper = paper_row(here[0]["bdp_percent"]) if here else None
        if not paper:
            continue
        shares = [number(paper[name], decimals) for name, decimals in SHARES.items()]
        name = f"{plain(round(here[0]['bdp_percent']))} % of the BDP"
        rows.append(
            {
                "buffer": name,
                "rows": len(here) + 1,
                "source": f"ns-3 {VERSION}, the paper",
                "n": "1",
                "values": [*shares, number(paper["jain_index"], 2)],
            }
        )
        for cell in here:
            of = cell["statistics"]
            shares = [with_interval(of[name], decimals) for name, decimals in SHARES.items()]
            rows.append(
                {
                    "buffer": None,
                    "source": platform_name(cell["platform"]),
                    "n": number(of["total_percent"]["n"], 0),
                    "values": [*shares, with_interval(of["jain_index"], 2)],
                }
            )
    return rows or None


def with_interval(row, decimals) -> str:
    """Return a mean with its interval: "63.2 (61.0 to 65.4)"; "none" without a valid run."""
    return "none" if is_missing(row["mean"]) else f"{number(row['mean'], decimals)}{_in_brackets(row, decimals)}"


def findings(material) -> list[Finding]:
    """Return a sentence for each platform: the CCA of interest with the smallest and the largest buffer."""
    cca, sentences = paced_cca(material.design), []
    sizes = list(buffers_of(with_series(material.tables.scenarios))["buffer"])
    for platform in platforms_of(material.tables.scenarios):
        cells = [
            cell
            for cell in by_cell(material.tables.flow_goodput_cells)
            if cell["cca"] == cca and cell["platform"] == platform
        ]
        cells = [
            cell
            for cell in cells
            if (cell["conditions"], cell["ip_version"]) == (cells[0]["conditions"], cells[0]["ip_version"])
        ]
        valid = sorted(
            (cell for cell in cells if cell["statistics"]["total_mbps"]["n"]),
            key=lambda cell: sizes.index(cell["buffer"]),
        )
        if len({cell["buffer"] for cell in cells}) < 2:
            continue
        name = f"{cca_name(cca)} on {platform_name(platform)}"
        if not valid:
            sentences.append(f"{name} has no valid run, so nothing can be said about its buffers.")
            continue
        ends = [valid[0], valid[-1]] if len(valid) > 1 else valid
        parts = [cell_words(cell, material.design.flows) for cell in ends]
        sentences.append(f"{name}, {count(material.design.flows, 'flow')}: {'; '.join(parts)}.")
    return [Finding("Buffers", sentence, "buffers") for sentence in sentences]


def cell_words(cell, flows) -> str:
    """Say what all flows get together with a buffer, how evenly, and how many starve."""
    of = cell["statistics"]
    total = of["total_mbps"] if is_missing(of["total_percent"]["mean"]) else of["total_percent"]
    unit = "% of the link" if total is of["total_percent"] else "Mbit/s"
    percent, starved, jain = cell["bdp_percent"], of["starved"]["mean"], of["jain_index"]
    of_bdp = "" if is_missing(percent) else f" ({number(percent, 0 if percent >= 0.95 else 2)} % of the BDP)"
    even = "" if is_missing(jain["mean"]) else f", Jain's index {with_interval(jain, 2)}"
    decimals = 0 if float(starved).is_integer() else 1
    starving = f"{number(starved, decimals)} of {flows} starve" if starved else "none starves"
    return (
        f"with a buffer of {cell['buffer']}{of_bdp} together {number(total['mean'], 1)} {unit}{_in_brackets(total, 1)}"
        f"{even}, {starving} (n = {number(total['n'], 0)})"
    )


def _in_brackets(row, decimals):
    ends = _ends(row, decimals)
    return f" ({ends})" if ends else ""
