"""The section on an exam: shown results, open rows, the verdicts by group, and the scorecard."""

import re

import pandas as pd

from report_parts.cells_table import CCA, Shown, cells_table, shown_cell, shown_text
from report_parts.data_tables import Cell, shared_decimals, signed_cell
from report_parts.hypothesis_cells import ALIKE, DIFFERS, OPEN
from report_parts.material import Finding, ReportMaterial
from topics.exam.beside_published import AGREES, NOT_SHOWN
from topics.exam.beside_published import DIFFERS as PUBLISHED_DIFFERS
from topics.exam.blind_spots import blind_spots, population_rows
from topics.exam.criteria import GROUPS, MEASURES, RARE_EVENTS
from topics.exam.judge import OF_THE_CCA
from topics.exam.outcomes import FAR
from topics.exam.tables import (
    BETTER,
    LIKE,
    NOT_APPLICABLE,
    NOT_ENOUGH,
    NOT_MEASURED,
    OPEN_VERDICTS,
    PRIMARY,
    SECONDARY,
    TOO_VARIABLE,
    WORSE,
)
from topics.exam.topic import AXES, CASES, FIGURE_OF, THROUGHPUT, TOPIC
from wording.number_format import NONE, count, is_missing, number, plain
from wording.sentence_words import cca_name, listed

#: Largest number of findings on the first screen.
MOST_FINDINGS = 3
GOOD, BAD = "verdict good", "verdict bad"
VERDICTS = {
    WORSE: BAD, TOO_VARIABLE: OPEN, NOT_ENOUGH: OPEN, NOT_MEASURED: OPEN, NOT_APPLICABLE: OPEN, LIKE: ALIKE, BETTER: GOOD, "": "",
}  # fmt: skip
#: Signs of agreement with what is published.
AGREEMENT = {AGREES: ALIKE, PUBLISHED_DIFFERS: DIFFERS, NOT_SHOWN: OPEN}
#: Names of runs that the CCA itself ended.
FAILED_WORDS = {
    "crash": "crashed the kernel",
    "not ended": "did not end",
    "sender": "was excluded because of its sender's behaviour",
}


def section(material: ReportMaterial) -> dict:
    """Return the template's variables."""
    card, exam = material.tables.scorecard, material.study["exam"]
    published = material.tables.exam_published
    deciding, shown = card[card["role"] == PRIMARY], card[card["role"] == SECONDARY]
    return {
        "cca": cca_name(exam["cca"]),
        "standards": listed([cca_name(cca) for cca in exam["standards"]]),
        "lead": lead(deciding),
        "inapplicable": inapplicable_cases(card),
        "failed": failed_runs(material.tables.runs, exam["cca"]),
        "groups": [group_verdict(group, deciding[deciding["group"] == group]) for group in GROUPS],
        "worst": [{"text": row_sentence(row), "link": link_of(row, material)} for row in worst_rows(deciding)],
        "fell": [row_sentence(row) for row in fallen_rows(deciding)],
        "open": [open_sentence(row) for row in open_rows(deciding)],
        "tests": len(deciding),
        "far": FAR,
        "worse_share": f"{100 * exam['limits']['worse_share']:g}",
        "margins": margins_words(exam["margins"]),
        "limits": {name: plain(limit) for name, limit in exam["limits"].items()},
        "explanation": exam["explanation"],
        "population": population_rows(material.tables.runs, material.tables.scenarios, exam["population"]),
        "blind": blind_spots(material.tables.runs, material.tables.scenarios),
        "table": cells_table("scorecard", "What decides", deciding, scorecard_columns(published)),
        "secondary": cells_table(
            "scorecard-secondary",
            "Other measurements",
            shown,
            scorecard_columns(published)[:1] + scorecard_columns(published)[2:],
        )
        if len(shown)
        else None,
        "published": _published_table(published) if len(published) else None,
        "agreement": {verdict: int((published["verdict"] == verdict).sum()) for verdict in AGREEMENT},
    }


def findings(material: ReportMaterial) -> list[Finding]:
    """Return the findings that open the report: shown results, the CCA's failures, and the worst rows."""
    card, exam = material.tables.scorecard, material.study["exam"]
    deciding = card[card["role"] == PRIMARY]
    found = [Finding("Failed", one, TOPIC.anchor) for one in failed_runs(material.tables.runs, exam["cca"])]
    found.append(Finding("Verdict", f"{cca_name(exam['cca'])}: {lead(deciding)}", TOPIC.anchor))
    if cases := inapplicable_cases(card):
        verb = "does" if len(cases) == 1 else "do"
        words = f"{count(len(cases), 'case')} of the exam {verb} not apply and had no run."
        found.append(Finding("Not applicable", words, TOPIC.anchor))
    found += [Finding("Worse", row_sentence(row), link_of(row, material)) for row in worst_rows(deciding)]
    return found + [Finding("Falls", row_sentence(row), link_of(row, material)) for row in fallen_rows(deciding)]


def lead(deciding: pd.DataFrame) -> str:
    """Return the card's first sentence: the number of worse rows and the worst of them, or the open row nearest to that verdict."""
    counts = deciding["verdict"].value_counts()
    rows, still = count(len(deciding), "row"), open_rows(deciding)
    worse, unmeasured = int(counts.get(WORSE, 0)), int(counts.get(NOT_MEASURED, 0))
    if unmeasured == len(deciding):
        return f"nothing was measured: none of {rows} that decide has a run with a value."
    others = [f"{int(counts[verdict])} {verdict}" for verdict in (BETTER, LIKE) if verdict in counts]
    if still:
        nearest = "" if worse else f", the nearest to worse being {_row_name(still[0])}, {_worse_words(still[0])}"
        others.append(f"{len(still)} open{nearest}")
    if unmeasured:
        others.append(f"{unmeasured} not measured")
    rest = f"; {', '.join(others)}" if others else ""
    if worse:
        # A single case is more informative than the row on all of them.
        worst = max(worst_rows(deciding), key=lambda row: row["measure"] != RARE_EVENTS.measures[0])
        return (
            f"worse in {worse} of {rows} that decide, most clearly in {_row_name(worst)}: {_worse_words(worst)}{rest}."
        )
    return f"nothing worse was shown in {rows} that decide{rest}."


def inapplicable_cases(card: pd.DataFrame) -> list[str]:
    """Return one sentence per case that doesn't apply to the candidate: the case, its question, and the reason."""
    rows = card[card["verdict"] == NOT_APPLICABLE]
    return [
        f"{scenario} ({'; '.join(of_case['criterion'])}): {of_case['reason'].iloc[0]}"
        for scenario, of_case in rows.groupby("scenario", sort=False)
    ]


def _row_name(row) -> str:
    """Return a row's subject for use within a sentence: "fairness among its own flows (case: 2 flows)"."""
    where = f" (case: {row['scenario_label']})" if row["scenario_label"] else ""
    return f"{re.split('[,:]', row['criterion'])[0]}{where}"


def failed_runs(runs: pd.DataFrame, cca) -> list[str]:
    """Return one sentence per kind of failure caused by the CCA itself, with its first run."""
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


def group_verdict(group, deciding: pd.DataFrame) -> dict[str, str]:
    """Return name, verdict, its style and counts of a group: the worst verdict of its rows, if they have a bad one."""
    verdicts = set(deciding["verdict"])
    if WORSE in verdicts:
        verdict, style = WORSE, BAD
    elif not verdicts or verdicts == {NOT_MEASURED}:
        verdict, style = NOT_MEASURED, OPEN
    else:
        verdict, style = "nothing worse shown", OPEN if verdicts & {*OPEN_VERDICTS, NOT_MEASURED} else GOOD
    return {"name": group, "verdict": verdict, "style": style, "words": counts_words(deciding)}


def counts_words(card: pd.DataFrame) -> str:
    """Return the number of rows per verdict, the bad ones first: "2 worse, 1 too variable, 11 like"."""
    counts = card["verdict"].value_counts()
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts) or "no row"


def worst_rows(deciding: pd.DataFrame) -> list[dict]:
    """Return the rows with the verdict worse, ordered by the share of worse runs and then by size in margins."""
    bad = deciding[deciding["verdict"] == WORSE].copy()
    bad["share"], bad["size"] = bad["runs_worse"] / bad["n"], (bad["worse_by"] / bad["margin"]).fillna(0)
    # A criterion is one finding, in the scenario with the worst result; the one on all cases together comes first.
    bad["first"] = bad["measure"] == RARE_EVENTS.measures[0]
    ordered = bad.sort_values(["first", "size", "share"], ascending=False, kind="stable")
    return ordered.drop_duplicates(["rfc_section", "criterion"]).head(MOST_FINDINGS).to_dict("records")


def fallen_rows(deciding: pd.DataFrame) -> list[dict]:
    """Return open rows in which runs of the CCA fall and none of a standard's does: they are findings even without a verdict."""
    fallen = deciding[
        deciding["verdict"].isin(OPEN_VERDICTS) & (deciding["runs_far_worse"] > deciding["standard_runs_far_worse"])
    ]
    return fallen.sort_values("runs_far_worse", ascending=False, kind="stable").head(MOST_FINDINGS).to_dict("records")


def open_rows(deciding: pd.DataFrame) -> list[dict]:
    """Return the rows that are open, those with the largest share of worse runs first."""
    still = deciding[deciding["verdict"].isin(OPEN_VERDICTS)].copy()
    still["share"] = still["runs_worse"] / still["n"].clip(lower=1)
    return still.sort_values(["share", "worse_share_at_most"], ascending=False, kind="stable").to_dict("records")


def _worse_words(row) -> str:
    """Return the number of a row's worse runs in words: "worse in 5 of 20 runs"."""
    by_version = f": {row['worse_by_ip_version']}" if row["worse_by_ip_version"] else ""
    return f"worse in {int(row['runs_worse'])} of {count(int(row['n']), 'run')}{by_version}"


def row_sentence(row) -> str:
    """Return a sentence on a row that is worse or in which runs fall."""
    measure = MEASURES[row["measure"]]
    if measure.name == RARE_EVENTS.measures[0]:
        where = f", most often in the cases {row['most_of_them']}" if row["most_of_them"] else ""
        return (
            f"In {int(row['runs_worse'])} of {count(int(row['n']), 'run')} it is worse than each standard CCA by more than {FAR} margins, or exceeds a limit that they "
            f"keep{where}. The standard CCA closest to it in each case does so in {int(row['standard_runs_far_worse'])}."
        )
    place = (
        f"{row['criterion'][0].upper()}{row['criterion'][1:]} ({row['scenario_label']}, section {row['rfc_section']})"
    )
    if not is_missing(row["limit"]):
        what = f"beyond the limit of {plain(row['limit'])}{_unit(measure)} in {int(row['runs_worse'])} of {count(int(row['n']), 'run')} in which no standard CCA is"
        most = (
            ""
            if is_missing(row["worst_value"])
            else f", at most {number(row['worst_value'], measure.decimals)}{_unit(measure)}"
        )
        return f"{place}: {measure.words} is {what}{most}."
    if is_missing(row["value"]):
        return f"{place}: {_worse_words(row)}."
    text = f"{place}: {_worse_words(row)}; {measure.words} is {_with_interval(row, 'value', 'low', 'high')} in the median run"
    if not is_missing(row["standard_value"]):
        text += f", against {_with_interval(row, 'standard_value', 'standard_low', 'standard_high')} with {cca_name(row['standard'])}"
    return f"{text}."


def open_sentence(row) -> str:
    """Return a sentence on an open row: its open question, its power, and the number of runs that would close it."""
    measure = MEASURES[row["measure"]]
    where = row["scenario_label"] or "all cases"
    text = f"{where}, {measure.words.rstrip(',')}: {row['verdict']} ({row['reason']})"
    if not is_missing(row["worse_share_at_most"]):
        text += f"; up to {100 * row['worse_share_at_most']:.0f} % of such runs can be worse"
    if not is_missing(row["detectable"]):
        text += f"; worse by {number(row['detectable'], measure.decimals)}{_unit(measure)} would have been shown"
    if not is_missing(row["runs_needed"]):
        text += f"; {int(row['runs_needed'])} runs would settle it if they continue like this"
    return f"{text}."


def _unit(measure):
    return f" {measure.unit}" if measure.unit else ""


def _with_interval(row, mean, low, high):
    measure = MEASURES[row["measure"]]
    text = f"{number(row[mean], measure.decimals)}{_unit(measure)}"
    if not is_missing(row[low]):
        text += f" ({number(row[low], measure.decimals)} to {number(row[high], measure.decimals)})"
    return text


def link_of(row, material) -> str:
    """Return the identifier of the figure that shows a row's case, or of the section."""
    card = material.tables.scorecard
    measured = set(card.loc[card["scenario"] == row["scenario"], "measure"])
    others = THROUGHPUT if row["measure"] in AXES and measured >= AXES else CASES
    slug = FIGURE_OF.get(row["rfc_section"], others)
    if slug not in material.figures:
        return TOPIC.anchor
    # A link to a box that is closed opens it; one to a figure within doesn't.
    return slug if slug == CASES else f"{slug}-figure"


def margins_words(margins) -> str:
    """Return the margins in words."""
    return (
        f"{margins['goodput_points']:g} percentage points of goodput and shares, {margins['loss_points']:g} of loss, "
        f"{margins['index']:g} of Jain's index and of harm, {margins['rtt_exponent']:g} of the exponent of the RTT, {margins['delay_ms']:g} ms of delay and jitter, "
        f"{margins['slowdown']:g} of a slowdown, {margins['time_s']:g} s of times"
    )


def published_words(row, published: pd.DataFrame) -> str:
    """Return the published statements on a row's CCA, scenario and measure, and whether the row agrees."""
    names = ["cca", "scenario", "measure"]
    rows = published[(published[names] == [row[name] for name in names]).all(axis=1)]
    return " ".join(f"Published: {one['verdict']} ({one['source']})." for one in rows.to_dict("records"))


def _decimals(row):
    measure = MEASURES.get(row["measure"])
    return measure.decimals if measure else 0


def _note_words(row, published):
    note = row["reason"]
    measure = MEASURES.get(row["measure"])
    if not is_missing(row["limit"]):
        note = " ".join(filter(None, (note, f"limit {plain(row['limit'])}{_unit(measure)}.")))
    failed = (
        f"{int(row['runs_failed'])} runs failed." if not is_missing(row["runs_failed"]) and row["runs_failed"] else ""
    )
    return " ".join(filter(None, (note, failed, row["worse_by_ip_version"], published_words(row, published))))


def measure_words(name) -> str:
    """Return a measure's name with its unit.

    >>> measure_words("queueing_p95_ms"), measure_words("jain_index"), measure_words("")
    ('queueing p95, ms', 'jain index', '–')
    """
    measure = MEASURES.get(name)
    if measure is None:
        return NONE
    words = name.replace("_", " ")
    for end in (" percent", f" {measure.unit}"):
        words = words.removesuffix(end)
    return f"{words}, {measure.unit}" if measure.unit and measure.unit.replace("/", " per ").lower() != words else words


def _mean_cell(row, prefix, decimals, name=""):
    """Return a cell with a mean and its interval, sorted by the mean."""
    mean, low, high = (row[f"{prefix}{end}"] for end in ("value", "low", "high"))
    if is_missing(mean):
        return Cell(NONE)
    interval = "" if is_missing(low) else f"({number(low, decimals)} to {number(high, decimals)})"
    return Cell(" ".join(filter(None, (name, number(mean, decimals), interval))), float(mean))


def _standard_cell(row):
    return _mean_cell(row, "standard_", _decimals(row), cca_name(row["standard"]) if row["standard"] else "")


def _worse_cell(row):
    return signed_cell(row["worse_by"], shared_decimals(row["worse_by"], row["margin"]))


SECTION = shown_text("Section", "rfc_section", filtered=True, header=True)


def _runs_cell(row):
    """Return a cell with the numbers of worse and better runs: "3 worse, 0 better of 20"."""
    if is_missing(row["n"]) or not row["n"]:
        return Cell(NONE)
    return Cell(
        f"{int(row['runs_worse'])} worse, {int(row['runs_better'])} better of {int(row['n'])}",
        row["runs_worse"] / row["n"],
    )


def _most_cell(row):
    most = row["worse_share_at_most"]
    return Cell(NONE) if is_missing(most) else Cell(f"{100 * most:.0f} %", float(most))


def scorecard_columns(published) -> tuple[Shown, ...]:
    """Return the columns of a scorecard, with the published statements."""
    return (
        SECTION,
        shown_cell("Verdict", lambda row: Cell(row["verdict"], style=VERDICTS[row["verdict"]]), filtered=True),
        shown_cell("Criterion", lambda row: f"{row['criterion']} ({row['rfc_word']})", "words", filtered=True),
        shown_text("Case", "scenario_label", empty=NONE, kind="short"),
        shown_text("Measure", "measure", measure_words, kind="short"),
        shown_cell("Runs", _runs_cell, "short"),
        shown_cell("At most worse", _most_cell, "number"),
        shown_cell("Median", lambda row: _mean_cell(row, "", _decimals(row)), "short"),
        shown_cell("Standard", _standard_cell, "short"),
        shown_cell("Worse by", _worse_cell, "number"),
        shown_cell("Note", lambda row: _note_words(row, published), "note"),
    )


def _difference_words(row):
    return measure_words(row["measure"]) + (f", less {cca_name(row['minus'])}'s" if row["minus"] else "")


def _bounds_words(row):
    return bounds_words(row["at_least"], row["at_most"], _decimals(row))


PUBLISHED = (
    SECTION, shown_cell("Verdict", lambda row: Cell(row["verdict"], style=AGREEMENT[row["verdict"]]), filtered=True),
    CCA, shown_text("Case", "scenario_label", kind="short"), shown_cell("Measure", _difference_words, "short"),
    shown_cell("Here", lambda row: _mean_cell(row, "", _decimals(row)), "short"),
    shown_cell("By the source", _bounds_words, "short"), shown_text("What is stated", "statement", kind="words"),
    shown_text("Where", "source", kind="words"),
)  # fmt: skip


def _published_table(published):
    """Return the table of means beside published ones."""
    caption = "Means here, and the sources' bounds"
    return cells_table("exam-published", caption, published, PUBLISHED)


def bounds_words(at_least, at_most, decimals) -> str:
    """Return the bounds within which a mean should lie, in words.

    >>> bounds_words(1, 2, 1), bounds_words(0, float("nan"), 0), bounds_words(float("nan"), 50, 0)
    ('1.0 to 2.0', 'at least 0', 'at most 50')
    """
    if is_missing(at_most):
        return f"at least {number(at_least, decimals)}"
    low = "at most" if is_missing(at_least) else f"{number(at_least, decimals)} to"
    return f"{low} {number(at_most, decimals)}"
