"""The section on buffers: the goodput of each flow and of all flows together, as a function of the buffer's size."""

from report_parts.cells_table import CCA, IP_VERSION, cells_table, shown_cell, shown_number, shown_text
from report_parts.data_tables import Cell, minus, number_cell
from report_parts.material import Finding
from run_tables.run_keys import CELL
from topics.buffers.flow_counts import flows_words
from topics.buffers.kato_table import FLOWS, KATO_PAPER, STARVED_SHARE, VERSION, paper_row
from topics.buffers.topic import paced_cca
from topics.topic import slug_of
from wording.number_format import NONE, count, is_missing, number, plain
from wording.scenario_series import buffers_of, platform_name, platforms_of, with_series
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name

# Statistics that are compared with the paper's (shares of the link's rate, and Jain's index) -> number of decimals.
BESIDE = {"mean_percent": 2, "sd_percent": 2, "total_percent": 1, "jain_index": 2}


def _mean(heading, statistic, decimals=None):
    """Return a column that shows the mean of a statistic over runs."""
    return shown_cell(heading, lambda cell: number_cell(cell["statistics"][statistic]["mean"], decimals), "number")


def _interval(statistic, decimals):
    """Return a column that shows the interval for the mean of a statistic."""
    return shown_cell("Interval", lambda cell: _interval_cell(cell["statistics"][statistic], decimals), "short")


def _interval_cell(row, decimals):
    ends = _ends(row, decimals)
    return Cell(ends, float(row["ci_low"])) if ends else Cell(NONE)


def _ends(row, decimals):
    """Return the interval for the mean in a row, such as "61.0 to 65.4"; empty if there is no interval."""
    if is_missing(row["ci_low"]):
        return ""
    return minus(f"{number(row['ci_low'], decimals)} to {number(row['ci_high'], decimals)}")


SHOWN = (
    shown_text("Platform", "platform", platform_name, filtered=True), CCA, IP_VERSION,
    shown_text("Buffer", "buffer", header=True), shown_number("% of BDP", "bdp_percent", 1),
    shown_cell("n", lambda cell: number_cell(cell["statistics"]["total_mbps"]["n"], 0), "number"),
    _mean("Mean of a flow, Mbit/s", "mean_mbps"), _mean("SD, Mbit/s", "sd_mbps"),
    _mean("All flows, Mbit/s", "total_mbps"), _interval("total_mbps", 1), _mean("% of link", "total_percent", 1),
    _mean("Jain", "jain_index", 3), _interval("jain_index", 3), _mean("Starved", "starved", 1),
)  # fmt: skip


def section(material) -> dict:
    """Return the template's variables."""
    figures, ccas = material.figures, material.design.ccas
    caption = "Goodput of the flows by platform, CCA and buffer"
    return {
        "bars": [(cca_name(cca), figures[f"flow-goodput-{slug_of(cca)}"]) for cca in ccas],
        "boxes": [(cca_name(cca), figures[f"flow-boxes-{slug_of(cca)}"]) for cca in ccas],
        "table": cells_table("buffer-cells", caption, _by_cell(material), SHOWN, material.design),
        "paper": paper_table(material),
        "flows": flows_words(material.tables.runs),
        "starved_words": _starved_words(material.tables.flow_goodput),
        "paced": cca_name(paced_cca(material.design)),
    }


def _by_cell(material):
    """Return one dict per cell of ``flow_goodput_cells.csv`` with its statistics by name, in the table's order."""
    by_key = {}
    for row in material.tables.flow_goodput_cells.to_dict("records"):
        cell = by_key.setdefault(tuple(row[name] for name in CELL), {**row, "statistics": {}})
        cell["statistics"][row["statistic"]] = row
    return list(by_key.values())


def _starved_words(flow_goodput):
    """Return the goodput below which a flow counts as starved: "0.1 Mbit/s"."""
    limits = flow_goodput["fair_share_mbps"].dropna() * STARVED_SHARE
    if limits.empty:
        return ""
    least, most = number(limits.min(), 3), number(limits.max(), 3)
    return f"{least} Mbit/s" if least == most else f"{least} to {most} Mbit/s"


def paper_table(material) -> list[dict] | None:
    """Return the paper's table II next to this study's values, or None if the study isn't compared with the paper.

    There is one dict per buffer and source. It contains ``buffer``, ``source``, ``n`` and ``values`` (mean, SD, total and Jain's index as
    texts). The first dict for a buffer also contains ``rows``, the number of dicts for this buffer; in the others, ``buffer`` is None.
    """
    if material.design.claims != KATO_PAPER or "bbr" not in material.design.ccas or material.design.flows != FLOWS:
        return None
    rows, table, flows_of = [], with_series(material.tables.scenarios), _flows_of(material)
    order = platforms_of(table)
    bbr_cells = [
        cell
        for cell in _by_cell(material)
        if cell["cca"] == "bbr"
        and not is_missing(cell["bdp_percent"])
        and flows_of.get(cell["scenario"], FLOWS) == FLOWS
    ]
    bbr_cells.sort(key=lambda cell: order.index(cell["platform"]))
    for buffer in buffers_of(table)["buffer"]:
        here = [cell for cell in bbr_cells if cell["buffer"] == buffer]
        paper = paper_row(here[0]["bdp_percent"]) if here else None
        here = [cell for cell in here if paper_row(cell["bdp_percent"]) == paper]
        if not paper:
            continue
        about = {"buffer": f"{plain(round(here[0]['bdp_percent']))} % of the BDP", "rows": len(here) + 1}
        values = [number(paper[statistic], decimals) for statistic, decimals in BESIDE.items()]
        rows.append(about | {"source": f"ns-3 {VERSION}, the paper", "n": "1", "values": values})
        for cell in here:
            of = cell["statistics"]
            values = [_with_interval(of[statistic], decimals) for statistic, decimals in BESIDE.items()]
            n = number(of["total_percent"]["n"], 0)
            rows.append({"buffer": None, "source": platform_name(cell["platform"]), "n": n, "values": values})
    return rows or None


def _with_interval(row, decimals):
    """Return a mean with its interval: "63.2 (61.0 to 65.4)"; "none" if no run is valid."""
    ends = _ends(row, decimals)
    return "none" if is_missing(row["mean"]) else f"{number(row['mean'], decimals)}{f' ({ends})' if ends else ''}"


def findings(material) -> list[Finding]:
    """Return a finding for each platform: the results of one CCA (`paced_cca`) with the smallest and the largest buffer.

    Buffers without a valid run are ignored. Platforms with only one buffer are left out. If a platform has several settings or IP
    versions, the finding is about the first of them, and names it.
    """
    cca, sentences, table = paced_cca(material.design), [], with_series(material.tables.scenarios)
    sizes, flows_of = list(buffers_of(table)["buffer"]), _flows_of(material)
    settings = dict(zip(table["scenario"], table["setting"], strict=True))
    for platform in platforms_of(table):
        cells = [cell for cell in _by_cell(material) if cell["cca"] == cca and cell["platform"] == platform]
        setting = [(cell["conditions"], cell["ip_version"]) for cell in cells]
        several_ip_versions = len({ip_version for _, ip_version in setting}) > 1
        cells = [cell for cell, own in zip(cells, setting, strict=True) if own == setting[0]]
        cells.sort(key=lambda cell: sizes.index(cell["buffer"]))
        if len({cell["buffer"] for cell in cells}) < 2:
            continue
        valid = [cell for cell in cells if cell["statistics"]["total_mbps"]["n"]]
        name = f"{cca_name(cca)} on {platform_name(platform)}"
        over = ip_words(cells[0]["ip_version"]) if several_ip_versions else ""
        if not valid:
            name = ", ".join(filter(None, (name, settings[cells[0]["scenario"]], over)))
            sentences.append(f"{name} has no valid run, so there is no result for any buffer.")
            continue
        flows = flows_of[valid[0]["scenario"]]
        parts = [_cell_words(cell, flows) for cell in (valid if len(valid) == 1 else (valid[0], valid[-1]))]
        setting = settings[valid[0]["scenario"]] or count(flows, "flow")
        sentences.append(f"{', '.join(filter(None, (name, setting, over)))}: {'; '.join(parts)}.")
    return [Finding("Buffers", sentence, "buffers") for sentence in sentences]


def _flows_of(material):
    """Return scenario -> number of flows, for each scenario with a valid run."""
    return material.tables.flow_goodput.groupby("scenario")["flows"].max().astype(int).to_dict()


#: Smallest mean number of starving flows that is given as a number.
LEAST_SHOWN = 0.1


def _mean_words(starved):
    """Return a mean number of starving flows in words; a small number isn't rounded to 0."""
    if starved.is_integer():
        return number(starved, 0)
    return f"on average {number(starved, 1)}" if starved >= LEAST_SHOWN else f"on average fewer than {LEAST_SHOWN}"


def _cell_words(cell, flows):
    """Describe a cell in words: the buffer, the flows' total goodput, Jain's index and the number of starving flows."""
    of = cell["statistics"]
    total, unit = of["total_percent"], "% of the link"
    if is_missing(total["mean"]):
        total, unit = of["total_mbps"], "Mbit/s"
    percent, starved, jain, ends = cell["bdp_percent"], of["starved"]["mean"], of["jain_index"], _ends(total, 1)
    of_bdp = "" if is_missing(percent) else f" ({number(percent, 0 if percent >= 0.95 else 2)} % of the BDP)"
    even = "" if is_missing(jain["mean"]) or flows == 1 else f", Jain's index {_with_interval(jain, 2)}"
    starving = "" if flows == 1 else f", {_mean_words(starved)} of {flows} starve" if starved else ", none starves"
    return (
        f"with a buffer of {cell['buffer']}{of_bdp}, its flows together get {number(total['mean'], 1)} {unit}{f' ({ends})' if ends else ''}"
        f"{even}{starving} (n = {number(total['n'], 0)})"
    )
