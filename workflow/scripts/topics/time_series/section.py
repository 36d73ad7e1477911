"""The section on flows over time: plots of runs, phases, congestion windows compared with theory, and results for each flow."""

from report_parts.cells_table import IP_KEY, cells_table, shown_cell, shown_number, shown_text
from report_parts.data_tables import Cell
from report_parts.hypothesis_cells import ALIKE, DIFFERS, NOTE, OPEN, shown_scenario
from report_parts.material import Finding
from run_tables.run_keys import CELL
from study_files.program_ccas import program_names
from topics.time_series.phases import UNTOLD
from topics.time_series.sentences import range_words, window_findings
from topics.time_series.topic import pictures
from topics.time_series.window_data import cell_runs, first_valid
from topics.time_series.window_verdicts import AS_THEORY, NO_VERDICT, UNDECIDED, VERDICTS
from wording.number_format import NONE, count, is_missing, number
from wording.scenario_words import heading, ip_words
from wording.sentence_words import cca_name

DEFINITIONS = {
    "left by a loss": "ssthresh after a loss, divided by cwnd in the last sample before the loss. Reno halves (RFC 5681), Linux's CUBIC "
    "keeps 717/1024 (RFC 9438: 0.7); both round down to whole packets. The range of theory covers the window in this sample "
    "and a window one packet larger, because another packet may have been added since.",
    "peak": "cwnd in the last sample before a loss is detected. The range of theory is one packet wide; delayed acknowledgements determine whether the window reaches the upper end.",
    "mean over a tooth": "Mean cwnd from the beginning of one recovery to the beginning of the next, over all teeth together.",
    "growth": "Growth of Reno's cwnd per round trip in congestion avoidance. Theory: 1 packet (Linux counts "
    "acknowledged packets, so delayed acknowledgements don't halve the growth), minus at most the share of the window that isn't "
    "in flight because Linux sends in bursts.",
    "time between losses": "Time from the beginning of one recovery to the beginning of the next.",
    "queued as believed": "cwnd (1 - base / RTT), with Vegas's own RTTs: the base RTT that it assumes for the empty path, and the minimum RTT within a round trip. "
    "Measured after the flow has settled (its window was constant for three round trips, or changed direction). Theory: Diff from 2 to less than 5, because Linux "
    "rounds Diff down; both ends of this range are converted to packets in the queue.",
    "queued": "cwnd (1 - base / RTT), with the true RTT of the empty path and the smoothed RTT: the packets that are actually queued, bursts included.",
    "Diff": "The value that Linux's Vegas compares with alpha 2 and beta 4: cwnd (RTT - base) / base, rounded down. The divisor is the base RTT instead of the "
    "RTT, so Diff overestimates a queue that is long relative to the empty path.",
    "RTT assumed for the empty path": "Vegas's base RTT divided by the true RTT of the empty path. A flow that starts while packets are queued never measures the RTT of the empty path.",
    "cwnd at its least": "Share of samples in which Vegas's window is at its floor of 2 packets.",
    "time between ProbeRTTs": "Time from the end of one ProbeRTT to the beginning of the next. Linux's BBR probes for the minimum RTT "
    "when its estimate is 10 s old. A smaller RTT that is measured while another flow drains the queue postpones the probe.",
    "cwnd in ProbeRTT": "Minimum window in each ProbeRTT, except during recovery from losses; 4 packets in Linux.",
    "time in ProbeRTT": "Duration of a ProbeRTT. Theory: 200 ms or one round trip, whichever is longer, plus one to two round trips; the 200 ms begin only once at most 4 packets are in flight.",
    "bandwidth estimate": "BBR's estimate of the bandwidth, averaged over ProbeBW. Theory: the payload's share of the link's rate.",
    "cwnd in ProbeBW": "Theory: twice the path's BDP, three bursts, and the packets that one acknowledgement covers (tcp_bbr.c). "
    "Recovery from losses, in which BBR sends less, is excluded.",
    "queue in ProbeBW": "Mean RTT divided by the RTT of the empty path, minus 1. Theory: at most the part of the window that doesn't fit on the path, about one BDP.",
}


def _style(verdict):
    return {AS_THEORY: ALIKE, UNDECIDED: OPEN, NO_VERDICT: ""}.get(verdict, DIFFERS)


def _range(heading, low, high):
    """Return a column of intervals or ranges."""

    def cell(row):
        return Cell(NONE) if is_missing(row[low]) else Cell(range_words(row[low], row[high], 2), row[low])

    return shown_cell(heading, cell, "number")


def _flows_cell(row):
    as_theory, of_flows = row["flows_as_theory"], f"of {number(row['flows'], 0)}"
    return Cell(of_flows) if is_missing(as_theory) else Cell(f"{number(as_theory, 0)} {of_flows}", as_theory)


RUNS = shown_number("Runs (n)", "runs", 0)
PHASES_CAPTION = "Share of the flows' time that each phase takes"
PHASES = (
    shown_text("Phase", "phase", filtered=True), shown_number("Share of the time", "share_percent", 2, " %"),
    _range("Interval", "ci_low", "ci_high"), shown_number("Times per flow", "spells", 1), RUNS,
)  # fmt: skip
THEORY_CAPTION = "Windows compared with theory: means over replications"
THEORY = (
    shown_text("Quantity", "quantity", kind="short", filtered=True), shown_number("Counted", "n", 0),
    shown_number("Mean", "mean", 2), _range("Interval", "ci_low", "ci_high"), _range("Flows from, to", "least", "most"),
    _range("Theory", "theory_low", "theory_high"), shown_text("Unit", "unit"),
    shown_number("Tolerance", "tolerance_percent", 0, " %"),
    shown_cell("Verdict", lambda row: Cell(row["verdict"] or NONE, style=_style(row["verdict"])), filtered=True),
    shown_cell("Flows as theory", _flows_cell, "number"), RUNS, NOTE,
)  # fmt: skip


def section(material) -> dict | None:
    """Return the section's plots and tables; None if no run was sampled."""
    tables = material.tables
    if tables.phase_shares.empty:
        return None
    quantities, verdicts = (set(tables.window_theory[name]) for name in ("quantity", "verdict"))
    return {
        "pictures": [_picture(picture, material) for picture in pictures(material.design)],
        "phases": _table(material, "phase-shares", PHASES_CAPTION, material.tables.phase_shares, PHASES),
        "theory": None
        if tables.window_theory.empty
        else _table(material, "window-theory", THEORY_CAPTION, tables.window_theory, THEORY),
        "outcomes": _outcomes_table(material),
        "definitions": [(name, text) for name, text in DEFINITIONS.items() if name in quantities],
        "legend": [
            {"verdict": name or NONE, "meaning": meaning, "style": _style(name)}
            for name, meaning in VERDICTS.items()
            if name in verdicts
        ],
        "untold": UNTOLD in set(tables.phase_shares["phase"]),
    }


def findings(material) -> list[Finding]:
    """Return the findings about congestion windows; none unless runs are plotted, with only one scenario and IP version and no mixes."""
    drawn = pictures(material.design)
    if not drawn or material.design.mixes or len(material.design.scenarios) > 1 or len(material.design.ip_versions) > 1:
        return []
    return window_findings(material.tables, material.params["confidence"])


def _picture(picture, material):
    scenarios = material.tables.scenarios
    runs = cell_runs(material.tables.runs, picture.scenario, picture.cca, picture.ip_version)
    name = cca_name(picture.cca)
    if len({picture.scenario for picture in pictures(material.design)}) > 1:
        name = f"{name}, {heading(scenarios[scenarios['scenario'] == picture.scenario].iloc[0])}"
    if len(material.design.ip_versions) > 1:
        name = f"{name}, {ip_words(picture.ip_version)}"
    replications = count(len(runs), "replication")
    words = f"Replication {first_valid(runs)} is the first valid run of {replications}."
    if not runs["valid"].any():
        words = f"None of {replications} is valid: nothing is drawn."
    changing = picture.scenario in material.design.changing_scenarios
    programs = bool(program_names(material.design.study, ["udp"]))
    return {"slug": picture.slug, "name": name, "words": words, "changing": changing, "programs": programs}


def _table(material, identifier, caption, table, shown, by_flow=True):
    """Return a table of the page; its first columns identify a row.

    These columns are the scenario, the CCA or mix, the flows' CCA, and the IP version. The flows' CCA is shown only if it
    differs from the CCA in some row, as it does in mixes and with competing flows, and only if `by_flow` is true, which means that each row
    is about flows of one CCA.
    """
    mixes = material.design.mixes
    rows = table if isinstance(table, list) else table.to_dict("records")
    differ = by_flow and any(row["flow_cca"] != row["cca"] for row in rows)
    place = (
        shown_scenario(material.tables.scenarios),
        shown_text("Mix" if mixes else "CCA", "cca", filtered=True),
        *([shown_text("Flows' CCA", "flow_cca", filtered=True)] if differ else []),
        IP_KEY,
    )
    return cells_table(identifier, caption, table, (*place, *shown))


def _mean_cell(row, decimals):
    if row is None:
        return Cell(NONE)
    ends = "" if is_missing(row["ci_low"]) else f" ({range_words(row['ci_low'], row['ci_high'], decimals)})"
    return Cell(f"{number(row['mean'], decimals)}{ends}", row["mean"])


def _outcome(name, heading_of, decimals):
    """Return a column that shows a quantity's means."""
    return shown_cell(heading_of, lambda row: _mean_cell(row["quantities"].get(name), decimals), "number")


OUTCOMES = (
    RUNS,
    _outcome("goodput", "Goodput per flow, kbit/s", 0),
    _outcome("goodput_least", "Slowest flow", 0),
    _outcome("goodput_most", "Fastest flow", 0),
    _outcome("jain", "Jain's index", 3),
    _outcome("retransmits", "Segments retransmitted", 0),
    _outcome("rtt", "RTT, ms", 0),
)


def _outcomes_table(material):
    rows = [
        group.iloc[0].to_dict() | {"quantities": {row["quantity"]: row for row in group.to_dict("records")}}
        for _, group in material.tables.flow_outcomes.groupby(CELL, sort=False)
    ]
    caption = "Per-flow results: means over runs, with their intervals"
    return _table(material, "flow-outcomes", caption, rows, OUTCOMES, by_flow=False)
