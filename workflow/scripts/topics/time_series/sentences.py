"""Sentences about congestion windows over time, with values, n and intervals."""

from report_parts.data_tables import minus
from report_parts.material import Finding
from wording.number_format import count, is_missing, number
from wording.sentence_words import cca_name, listed


def window_findings(tables, confidence) -> list[Finding]:
    """Return the findings that the topic's tables support in a study with one scenario and one IP version."""
    # Flows of other groups may have another CCA.
    rows = [row for row in tables.window_theory.to_dict("records") if row["flow_cca"] == row["cca"]]
    theory = {(row["cca"], row["quantity"]): row for row in rows}
    sentences = [
        *(_tooth_sentence(theory, cca, confidence) for cca in ("reno", "cubic")),
        _vegas_sentence(theory, confidence),
        _probe_sentence(theory, confidence),
        _resent_sentence(tables.flow_outcomes, confidence),
    ]
    return [Finding(topic, text, "time-series") for topic, text in filter(None, sentences)]


def _value_words(row, decimals, confidence=None, unit=""):
    """Return a mean and its interval: "8.42 s (95 % interval 8.15 to 8.68)"; "95 % interval" is omitted if ``confidence`` is None."""
    shown = f"{number(row['mean'], decimals)}{unit}"
    if is_missing(row["ci_low"]):
        return shown
    words = f"{100 * confidence:g} % interval " if confidence else ""
    return f"{shown} ({words}{number(row['ci_low'], decimals)} to {number(row['ci_high'], decimals)})"


def _n_words(row):
    """Return the numbers of runs and flows, such as "n = 6 runs, 18 flows"."""
    return f"n = {count(int(row['runs']), 'run')}, {count(int(row['flows']), 'flow')}"


def range_words(low, high, decimals) -> str:
    """Return a range, such as "8.15 to 8.68", or a single number if both ends are equal after rounding."""
    words = minus(number(low, decimals)), minus(number(high, decimals))
    return words[0] if words[0] == words[1] else " to ".join(words)


def _tooth_sentence(theory, cca, confidence):
    """Return a sentence that compares a loss-based CCA's teeth with theory; None if there are no teeth."""
    left, period, growth = (theory.get((cca, name)) for name in ("left by a loss", "time between losses", "growth"))
    if left is None or is_missing(left["mean"]) or is_missing(period["mean"]):
        return None
    text = (
        f"A loss leaves {_value_words(left, 3, confidence)} of {cca_name(cca)}'s window, and the next loss comes after "
        f"{_value_words(period, 2, unit=' s')}; theory predicts {range_words(left['theory_low'], left['theory_high'], 2)} and "
    )
    if is_missing(period["theory_low"]):
        text += f"no certain time ({period['note'].partition(';')[0]})"
    else:
        text += f"{range_words(period['theory_low'], period['theory_high'], 2)} s"
    if growth is not None:
        text += (
            f". Between losses, the window grows by {_value_words(growth, 2)} packets per round trip; theory predicts 1"
        )
    return cca_name(cca), f"{text} ({_n_words(left)})."


def _vegas_sentence(theory, confidence):
    """Report how many packets a Vegas flow keeps in the queue, and how many flows are within bounds; None if no flow uses Vegas."""
    believed, queued, diff, base = (
        theory.get(("vegas", name))
        for name in ("queued as believed", "queued", "Diff", "RTT assumed for the empty path")
    )
    if believed is None or is_missing(believed["mean"]):
        return None
    text = (
        f"A Vegas flow keeps {_value_words(queued, 1, confidence)} packets in the queue and estimates this number at "
        f"{_value_words(believed, 1)}, with alpha and beta of 2 and 4"
    )
    # On a path without delay, there is no such ratio.
    if base is not None and base["mean"] > 1.05:
        text += f"; the RTT that it assumes for the empty path is {range_words(base['least'], base['most'], 1)} times the true RTT"
    if not is_missing(diff["flows_as_theory"]):
        kept = f"{int(diff['flows_as_theory'])} of {count(int(diff['flows']), 'flow')}"
        text += f"; Linux's measure, Diff, is between alpha and beta in {kept}"
    return "Vegas", f"{text} ({_n_words(believed)})."


def _probe_sentence(theory, confidence):
    """Report the time between BBR's probes for the minimum RTT, and cwnd during these probes; None if no flow uses BBR."""
    between, cwnd = theory.get(("bbr", "time between ProbeRTTs")), theory.get(("bbr", "cwnd in ProbeRTT"))
    if between is None:
        return None
    text = f"BBR probes for the minimum RTT {_value_words(between, 1, confidence, ' s')} after the previous probe"
    if cwnd is None:  # losses were being repaired during all probes
        return "BBR", f"{text}; Linux's value is 10 s ({_n_words(between)})."
    return "BBR", (
        f"{text}, with a window of {_value_words(cwnd, 2)} packets; Linux's values are 10 s and 4 packets ({_n_words(between)})."
    )


def _resent_sentence(outcomes, confidence):
    """Report the number of segments that a run's flows under test retransmit, by CCA."""
    rows = outcomes[outcomes["quantity"] == "retransmits"].to_dict("records")
    if not rows:
        return None
    rows.sort(key=lambda row: -row["mean"])
    words = [
        f"{cca_name(row['cca'])} {_value_words(row, 0, None if number_of else confidence)}"
        for number_of, row in enumerate(rows)
    ]
    runs = sorted({int(row["runs"]) for row in rows})
    n = f"n = {count(runs[0], 'run')} each" if len(runs) == 1 else f"n = {runs[0]} to {runs[-1]} runs"
    return "Retransmitted", f"Segments retransmitted by a run's flows under test: {listed(words)} ({n})."
