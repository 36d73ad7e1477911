"""The section on what flows do over time: pictures of runs, phases, windows against theory, and what each flow got."""

from report_parts.data_tables import Cell, Column, data_table, number_cell
from report_parts.material import Finding
from report_parts.test_cells import ALIKE, DIFFERS, OPEN, Scenarios
from topics.time_series.drawn_run import cell_runs, first_valid
from topics.time_series.phases import UNTOLD
from topics.time_series.sentences import range_words, window_findings
from topics.time_series.topic import pictures, sampled_scenarios
from topics.time_series.window_verdicts import AS_THEORY, NO_VERDICT, UNDECIDED, VERDICTS
from wording.number_format import NONE, count, is_missing, number
from wording.scenario_words import heading, ip_words
from wording.sentence_words import cca_name

DEFINITIONS = {
    "left by a loss": "ssthresh that a loss sets, over cwnd in the last sample before it. Reno halves (RFC 5681), Linux' CUBIC "
    "keeps 717/1024 (RFC 9438: 0.7); both round down to whole packets.",
    "peak": "cwnd in the last sample before a loss. Theory: the path and the full queue, shared by the flows; from all losing "
    "at the same time to one after another.",
    "growth": "What cwnd grows by in congestion avoidance, over theory's for the same time: 1 packet a round trip for Reno (Linux "
    "counts acknowledged packets, so that delayed acknowledgements change nothing), the cubic curve, followed a round trip behind, "
    "for CUBIC. There theory is a range, with and without fast convergence, which a single packet decides.",
    "time between losses": "From the beginning of one recovery to that of the next. Theory: growth back to the peak, a round trip until "
    "the loss is known, and one of recovery, each as long as the queue makes it.",
    "queued as believed": "cwnd (1 - base / RTT), base being what Vegas takes for the RTT of the empty path, in the second "
    "half of the time. The algorithm's paper keeps it between alpha = 2 and beta = 4.",
    "queued": "The same with the true RTT of the empty path: what really waits.",
    "Diff": "What Linux' Vegas compares with alpha and beta: cwnd (RTT - base) / base. It divides by the base and not by the RTT, so "
    "that a queue that is long against the empty path looks longer than it is.",
    "RTT taken for the empty path's": "Vegas' base RTT over the true one. A flow that starts into a queue never sees the empty path.",
    "cwnd at its least": "Share of samples in which Vegas' window is at its floor of 2 packets.",
    "time between ProbeRTTs": "From the end of one to the beginning of the next; Linux' BBR looks for a smaller RTT when its smallest "
    "is 10 s old. A smaller RTT, seen while another flow drains the queue, puts it off.",
    "cwnd in ProbeRTT": "The least in each; 4 packets in Linux.",
    "time in ProbeRTT": "200 ms and a round trip at least, once the window is small.",
}


def section(material) -> dict | None:
    """Return pictures and tables, None if no run has samples."""
    tables = material.tables
    if tables.phase_shares.empty:
        return None
    quantities = set(tables.window_theory["quantity"])
    known = set(tables.window_theory["verdict"])
    return {
        "pictures": [_picture(picture, material) for picture in pictures(material.design)],
        "phases": phases_table(tables.phase_shares, tables.scenarios, material.design),
        "theory": theory_table(tables.window_theory, tables.scenarios, material.design),
        "outcomes": outcomes_table(tables.flow_outcomes, tables.scenarios, material.design),
        "definitions": [(name, text) for name, text in DEFINITIONS.items() if name in quantities],
        "legend": [
            {"verdict": name or NONE, "meaning": meaning, "style": _style(name)}
            for name, meaning in VERDICTS.items()
            if name in known
        ],
        "untold": UNTOLD in set(tables.phase_shares["phase"]),
    }


def findings(material) -> list[Finding]:
    """Return what is said of the windows at the top of the page: of studies whose cells are few."""
    drawn = pictures(material.design)
    if not drawn or material.design.mixes or len(material.design.scenarios) > 1 or len(material.design.ip_versions) > 1:
        return []
    return window_findings(material.tables, material.params["confidence"], "time-series")


def _picture(picture, material):
    runs, scenarios = material.tables.runs, material.tables.scenarios
    scenario = scenarios[scenarios["scenario"] == picture.scenario].iloc[0]
    cell = cell_runs(runs, picture.scenario, picture.cca, picture.ip_version)
    name = cca_name(picture.cca)
    if len(sampled_scenarios(material.design)) > 1:
        name = f"{name}, {heading(scenario)}"
    if len(material.design.ip_versions) > 1:
        name = f"{name}, {ip_words(picture.ip_version)}"
    replication = first_valid(runs, picture.scenario, picture.cca, picture.ip_version)
    words = f"Replication {replication}, the first valid one of {count(len(cell), 'replication')}"
    if not cell["valid"].any():
        words = f"None of {count(len(cell), 'replication')} is valid: nothing is drawn"
    return {"slug": picture.slug, "name": name, "words": f"{words}."}


def _place(row, places, design):
    """Return the cells that say what a row is of: scenario, CCA or mix, the flows' CCA if it has one, and IP version."""
    cells = [places.cell(row), row["cca"]]
    if design.mixes and "flow_cca" in row:
        cells.append(row["flow_cca"])
    return [*cells, ip_words(row["ip_version"])]


def _place_columns(design, flows=True):
    columns = [Column("Scenario", filtered=True, header=True), Column("Mix" if design.mixes else "CCA", filtered=True)]
    if design.mixes and flows:
        columns.append(Column("Flows' CCA", filtered=True))
    return [*columns, Column("IP", filtered=True)]


def interval_cell(row, decimals) -> Cell:
    """Return a cell with the interval of a row, a dash if it has none."""
    if is_missing(row["ci_low"]):
        return Cell(NONE)
    return Cell(range_words(row["ci_low"], row["ci_high"], decimals), row["ci_low"])


def phases_table(shares, scenarios, design) -> dict:
    """Return the table of the phases' share of the time."""
    places = Scenarios(scenarios)
    columns = [
        *_place_columns(design), Column("Phase", filtered=True), Column("Share of the time", "number"),
        Column("Interval", "number"), Column("Times per flow", "number"), Column("Runs (n)", "number"),
    ]  # fmt: skip
    rows = [
        [
            *_place(row, places, design), row["phase"], number_cell(row["share_percent"], 2, " %"), interval_cell(row, 2),
            number_cell(row["spells"], 1), number_cell(row["runs"], 0),
        ]
        for row in shares.to_dict("records")
    ]  # fmt: skip
    return data_table("phase-shares", "Share of the flows' time that each phase takes", columns, rows)


def theory_table(theory, scenarios, design) -> dict:
    """Return the table of windows against theory."""
    places = Scenarios(scenarios)
    columns = [
        *_place_columns(design), Column("Quantity", "short", filtered=True), Column("Mean", "number"), Column("Interval", "number"),
        Column("Flows from, to", "number"), Column("Theory", "number"), Column("Unit"), Column("Tolerance", "number"),
        Column("Verdict", filtered=True), Column("Flows as theory", "number"), Column("Runs (n)", "number"), Column("Note", "note"),
    ]  # fmt: skip
    rows = []
    for row in theory.to_dict("records"):
        known = not is_missing(row["theory_low"])
        rows.append(
            [
                *_place(row, places, design), row["quantity"], number_cell(row["mean"], 2), interval_cell(row, 2),
                Cell(range_words(row["least"], row["most"], 2), row["least"]),
                Cell(range_words(row["theory_low"], row["theory_high"], 2), row["theory_low"]) if known else Cell(NONE),
                row["unit"], number_cell(row["tolerance_percent"], 0, " %"), Cell(row["verdict"] or NONE, style=_style(row["verdict"])),
                Cell(_of_flows(row), row["flows_as_theory"] if not is_missing(row["flows_as_theory"]) else None),
                number_cell(row["runs"], 0), row["note"],
            ]
        )  # fmt: skip
    return data_table("window-theory", "Windows against theory, means over replications", columns, rows)


def _of_flows(row):
    whole = number(row["flows"], 0)
    return f"of {whole}" if is_missing(row["flows_as_theory"]) else f"{number(row['flows_as_theory'], 0)} of {whole}"


def _style(verdict):
    return {AS_THEORY: ALIKE, UNDECIDED: OPEN, NO_VERDICT: ""}.get(verdict, DIFFERS)


OUTCOMES = (
    ("goodput", "Goodput a flow, kbit/s", 0), ("goodput_least", "Slowest flow", 0), ("goodput_most", "Fastest flow", 0),
    ("jain", "Jain's index", 3), ("retransmits", "Segments sent again", 0), ("rtt", "RTT, ms", 0),
)  # fmt: skip


def _mean_cell(row, decimals):
    if row is None:
        return Cell(NONE)
    ends = "" if is_missing(row["ci_low"]) else f" ({range_words(row['ci_low'], row['ci_high'], decimals)})"
    return Cell(f"{number(row['mean'], decimals)}{ends}", row["mean"])


def outcomes_table(outcomes, scenarios, design) -> dict:
    """Return the table of what the flows of a cell got: means over runs, with intervals."""
    places = Scenarios(scenarios)
    columns = [*_place_columns(design, flows=False), Column("Runs (n)", "number")]
    columns += [Column(name, "number") for _, name, _ in OUTCOMES]
    rows = []
    for _, group in outcomes.groupby(["scenario", "cca", "ip_version"], sort=False):
        cells = {row["quantity"]: row for row in group.to_dict("records")}
        first = group.iloc[0].to_dict()
        known = [_mean_cell(cells.get(name), decimals) for name, _, decimals in OUTCOMES]
        rows.append([*_place(first, places, design), number_cell(first["runs"], 0), *known])
    return data_table(
        "flow-outcomes", "What the flows of a run got: means over runs, with their intervals", columns, rows
    )
