"""Sentences about a scorecard: its lead, its worst rows and open rows, and runs that failed because of the CCA."""

import re

import pandas as pd

from topics.exam.criteria import MEASURES, NEVER, RARE_EVENTS, is_infinite
from topics.exam.outcomes import FAR
from topics.exam.scorecard import OF_THE_CCA
from topics.exam.tables import BETTER, LIKE, NOT_APPLICABLE, NOT_MEASURED, OPEN_VERDICTS, WORSE
from wording.number_format import count, is_missing, number, plain
from wording.sentence_words import cca_name

#: Largest number of findings on the first screen.
MOST_FINDINGS = 3
#: Kind of failure caused by the CCA itself -> the failure in words.
FAILED_WORDS = {
    "crash": "crashed the kernel",
    "not ended": "did not end",
    "sender": "was excluded because of its sender's behaviour",
}


def lead(deciding: pd.DataFrame) -> str:
    """Return the lead sentence: the number of worse rows and the worst row; if no row is worse, the open row closest to *worse*."""
    counts = deciding["verdict"].value_counts()
    rows, still = count(len(deciding), "row"), open_rows(deciding)
    worse, unmeasured = int(counts.get(WORSE, 0)), int(counts.get(NOT_MEASURED, 0))
    if unmeasured == len(deciding):
        return f"nothing was measured: none of the {rows} that decide has a run with a value."
    others = [f"{int(counts[verdict])} {verdict}" for verdict in (BETTER, LIKE) if verdict in counts]
    if still:
        nearest = "" if worse else f", the nearest to worse being {_row_name(still[0])}, {_worse_words(still[0])}"
        others.append(f"{len(still)} open{nearest}")
    if unmeasured:
        others.append(f"{unmeasured} not measured")
    rest = f"; {', '.join(others)}" if others else ""
    if worse:
        # A row for a single case is more informative than the row for all cases.
        worst = max(worst_rows(deciding), key=lambda row: row["measure"] != RARE_EVENTS.measures[0])
        return (
            f"worse in {worse} of {rows} that decide, most clearly in {_row_name(worst)}: {_worse_words(worst)}{rest}."
        )
    return f"nothing worse was shown in {rows} that decide{rest}."


def inapplicable_cases(card: pd.DataFrame) -> list[str]:
    """Return one sentence per case that doesn't apply to the candidate: the case, its criteria, and the reason."""
    rows = card[card["verdict"] == NOT_APPLICABLE]
    return [
        f"{scenario} ({'; '.join(of_case['criterion'])}): {of_case['reason'].iloc[0]}"
        for scenario, of_case in rows.groupby("scenario", sort=False)
    ]


def _row_name(row) -> str:
    """Return the subject of a sentence about a row, such as "fairness among its own flows (case: 2 flows)"."""
    where = f" (case: {row['scenario_label']})" if row["scenario_label"] else ""
    return f"{re.split('[,:]', row['criterion'])[0]}{where}"


def failed_runs(runs: pd.DataFrame, cca) -> list[str]:
    """Return one sentence per kind of failure caused by the CCA itself, with the first run that failed in this way."""
    if "excluded_by" not in runs:
        return []
    of_cca = runs[(runs["cca"] == cca) & runs["excluded_by"].isin(OF_THE_CCA)]
    sentences = []
    for kind, rows in of_cca.groupby("excluded_by", sort=False):
        first = rows.iloc[0]
        run = f"{first['scenario']}/{first['cca']}/{first['ip_version']}/{first['replication']}"
        because = f": {first['invalid_because']}" if first["invalid_because"] else ""
        whole = count(int((runs["cca"] == cca).sum()), "run")
        sentences.append(
            f"{cca_name(cca)} {FAILED_WORDS[kind]} in {len(rows)} of {whole}, first in {run}, seed {int(first['seed'])}{because}."
        )
    return sentences


def worst_rows(deciding: pd.DataFrame) -> list[dict]:
    """Return the rows with the verdict *worse* to show as findings: at most `MOST_FINDINGS`, and one per criterion.

    The row for all cases comes first. The others are ordered by the share of failed runs (a failed run is worse than any other), then by
    the size of the difference in margins, then by the share of worse runs.
    """
    bad = deciding[deciding["verdict"] == WORSE].copy()
    bad["share"], bad["size"] = bad["runs_worse"] / bad["n"], (bad["worse_by"] / bad["margin"]).fillna(0)
    bad["failed"] = bad["runs_failed"] / bad["n"]
    # Keep one finding per criterion, for the scenario with the worst result; the criterion for all cases together comes first.
    bad["first"] = bad["measure"] == RARE_EVENTS.measures[0]
    ordered = bad.sort_values(["first", "failed", "size", "share"], ascending=False, kind="stable")
    return ordered.drop_duplicates(["rfc_section", "criterion"]).head(MOST_FINDINGS).to_dict("records")


def fallen_rows(deciding: pd.DataFrame) -> list[dict]:
    """Return the rows that are open or *better*, and in which the CCA collapses more often than the similar standard CCAs.

    The page reports these rows as findings: their verdicts don't show the collapses.
    """
    fallen = deciding[deciding["runs_far_worse"] > deciding["standard_runs_far_worse"]]
    fallen = fallen.sort_values("runs_far_worse", ascending=False, kind="stable")
    still = fallen[fallen["verdict"].isin(OPEN_VERDICTS)].head(MOST_FINDINGS)
    return [*still.to_dict("records"), *fallen[fallen["verdict"] == BETTER].to_dict("records")]


def open_rows(deciding: pd.DataFrame) -> list[dict]:
    """Return the open rows in descending order of the share of worse runs."""
    still = deciding[deciding["verdict"].isin(OPEN_VERDICTS)].copy()
    still["share"] = still["runs_worse"] / still["n"].clip(lower=1)
    return still.sort_values(["share", "worse_share_at_most"], ascending=False, kind="stable").to_dict("records")


def _worse_words(row) -> str:
    """Return the number of a row's worse runs in words, such as "worse in 5 of 20 runs (2 failed)"."""
    by_version = f": {row['worse_by_ip_version']}" if row["worse_by_ip_version"] else ""
    return f"worse in {_runs_words(row)}{by_version}"


def _runs_words(row) -> str:
    """Return the number of a row's worse runs, and how many of these failed, such as "5 of 20 runs (2 failed)"."""
    worse, failed = int(row["runs_worse"]), int(row["runs_failed"])
    # A failed run isn't worse if a standard CCA's run failed in at least as grave a way.
    failed_words = f" ({min(failed, worse)} failed)" if failed and worse else ""
    return f"{worse} of {count(int(row['n']), 'run')}{failed_words}"


def row_sentence(row) -> str:
    """Return a sentence about a row that is worse or in which runs collapse."""
    measure = MEASURES[row["measure"]]
    if measure.name == RARE_EVENTS.measures[0]:
        where = f", most often in the cases {row['most_of_them']}" if row["most_of_them"] else ""
        return (
            f"In {_runs_words(row)} it is worse than every standard CCA by more than {FAR} margins, or "
            f"exceeds a limit that they respect{where}. For the standard CCAs similar to it, this number is at most {int(row['standard_runs_far_worse'])}."
        )
    place = (
        f"{row['criterion'][0].upper()}{row['criterion'][1:]} ({row['scenario_label']}, section {row['rfc_section']})"
    )
    # Values are known only for the runs that didn't fail.
    has_failed = bool(row["runs_failed"])
    if not is_missing(row["limit"]):
        or_failed = ", or the run failed," if has_failed else ""
        text = f"{place}: {measure.words} is beyond the limit of {plain(row['limit'])}{unit_of(measure)}{or_failed} in {_runs_words(row)}, in which no standard CCA exceeds it"
        if not is_missing(row["worst_value"]):
            worst = "worst of the other runs" if has_failed else "worst run"
            text += f"; in the {worst} it is {value_words(row['worst_value'], measure.decimals, unit_of(measure))}"
        return f"{text}."
    if is_missing(row["value"]):
        return f"{place}: {_worse_words(row)}."
    median = "median of the other runs" if has_failed else "median run"
    text = f"{place}: {_worse_words(row)}; {measure.words} is {_with_interval(row, 'value', 'low', 'high')} in the {median}"
    if not is_missing(row["standard_value"]):
        text += f", against {_with_interval(row, 'standard_value', 'standard_low', 'standard_high')} with {cca_name(row['standard'])}"
    return f"{text}."


def open_sentence(row) -> str:
    """Describe an open row: the verdict and its reason, the effect that the runs could have shown, and how many runs would decide it."""
    measure = MEASURES[row["measure"]]
    where = row["scenario_label"] or "all cases"
    text = f"{where}, {measure.words.rstrip(',')}: {row['verdict']} ({row['reason']})"
    if not is_missing(row["worse_share_at_most"]):
        text += f"; up to {100 * row['worse_share_at_most']:.0f} % of such runs can be worse"
    if not is_missing(row["detectable"]):
        text += f"; a deterioration by {number(row['detectable'], measure.decimals)}{unit_of(measure)} would have been shown"
    if not is_missing(row["runs_needed"]):
        text += f"; {int(row['runs_needed'])} runs would decide the row if further runs had the same shares of outcomes"
    return f"{text}."


def unit_of(measure) -> str:
    """Return a measure's unit with a leading space; empty if the measure has no unit."""
    return f" {measure.unit}" if measure.unit else ""


def _with_interval(row, mean, low, high):
    measure = MEASURES[row["measure"]]
    text = value_words(row[mean], measure.decimals, unit_of(measure))
    if not is_missing(row[low]) and row[low] < NEVER:
        text += f" ({value_words(row[low], measure.decimals)} to {value_words(row[high], measure.decimals)})"
    return text


def value_words(value, decimals, unit="") -> str:
    """Return a value, or a difference between two values, in words; `NEVER` is infinite.

    >>> value_words(2.25, 1, " ms"), value_words(NEVER, 1, " ms"), value_words(2 - NEVER, 1)
    ('2.2 ms', 'infinite', '-infinite')
    """
    if not is_missing(value) and is_infinite(value):
        return "infinite" if value > 0 else "-infinite"
    return f"{number(value, decimals)}{unit}"


def margins_words(margins) -> str:
    """Return the margins in words."""
    return (
        f"{margins['goodput_points']:g} percentage points for goodput and shares, {margins['loss_points']:g} for loss, "
        f"{margins['index']:g} for Jain's index and harm, {margins['rtt_exponent']:g} for the exponent of the RTT, {margins['delay_ms']:g} ms for delay and jitter, "
        f"{margins['slowdown']:g} for slowdowns, {margins['time_s']:g} s for times"
    )
