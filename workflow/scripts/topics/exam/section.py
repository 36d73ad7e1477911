"""The section on an exam: verdicts by group, the worst findings, and the scorecard."""

import pandas as pd

from report_parts.cells_table import CCA, cells_table, shown_cell, shown_text
from report_parts.data_tables import Cell, shared_decimals, signed_cell
from report_parts.hypothesis_cells import ALIKE, DIFFERS, OPEN
from report_parts.material import Finding, ReportMaterial
from topics.exam import judge
from topics.exam.criteria import GROUPS, MEASURES
from topics.exam.judge import BETTER, FAILED, LIKE, NOT_EVALUATED, NOT_SHOWN, PASSED, WORSE
from topics.exam.topic import AXES, CASES, FIGURE_OF, THROUGHPUT, TOPIC
from wording.number_format import NONE, is_missing, number, plain
from wording.sentence_words import cca_name, listed

#: How many findings the first screen has.
MOST_FINDINGS = 3
GOOD, BAD = "verdict good", "verdict bad"
VERDICTS = {
    FAILED: BAD, WORSE: BAD, NOT_SHOWN: OPEN, NOT_EVALUATED: OPEN, LIKE: ALIKE, BETTER: GOOD, PASSED: GOOD,
}  # fmt: skip
#: Signs of agreement with what is published.
AGREEMENT = {judge.AGREES: ALIKE, judge.DIFFERS: DIFFERS, NOT_SHOWN: OPEN}


def section(material: ReportMaterial) -> dict:
    """Return what the template needs."""
    card, exam = material.tables.scorecard, material.study["exam"]
    published = material.tables.exam_published
    beside = [cca_name(cca) for cca in material.design.ccas if cca not in (exam["cca"], *exam["standards"])]
    return {
        "cca": cca_name(exam["cca"]),
        "standards": listed([cca_name(cca) for cca in exam["standards"]]),
        "beside": listed(beside) if beside else "",
        "groups": [group_verdict(group, card[card["group"] == group]) for group in GROUPS],
        "worst": [{"text": row_sentence(row), "link": link_of(row, material)} for row in worst_rows(card)],
        "margins": margins_words(exam["margins"]),
        "limits": {name: plain(limit) for name, limit in exam["limits"].items()},
        "table": cells_table("scorecard", "The scorecard", card, _scorecard(published)),
        "published": _published_table(published) if len(published) else None,
        "agreement": {verdict: int((published["verdict"] == verdict).sum()) for verdict in AGREEMENT},
    }


def findings(material: ReportMaterial) -> list[Finding]:
    """Return the verdict on each group and the worst rows, which open the report."""
    card, name = material.tables.scorecard, cca_name(material.study["exam"]["cca"])
    of_groups = [
        Finding(group, f"{name}: {counts_words(card[card['group'] == group])}.", TOPIC.anchor) for group in GROUPS
    ]
    worst = [
        Finding(row["verdict"].capitalize(), row_sentence(row), link_of(row, material)) for row in worst_rows(card)
    ]
    return of_groups + worst


def group_verdict(group, card: pd.DataFrame) -> dict[str, str]:
    """Return name, verdict, its style and counts of a group: the worst verdict of its rows, if they have a bad one."""
    bad = [verdict for verdict in (FAILED, WORSE) if (card["verdict"] == verdict).any()]
    is_open = (card["verdict"] == NOT_SHOWN) | _has_no_run(card)
    verdict, style = (bad[0], BAD) if bad else ("nothing worse shown", OPEN if is_open.any() else GOOD)
    return {"name": group, "verdict": verdict, "style": style, "words": counts_words(card)}


def counts_words(card: pd.DataFrame) -> str:
    """Return how many rows have which verdict, the bad ones first: "1 failed, 2 worse, 11 like"."""
    counts = card["verdict"].value_counts()
    words = {verdict: f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts}
    if lost := int(_has_no_run(card).sum()):
        words[NOT_EVALUATED] += f" ({lost} for want of a valid run)"
    return ", ".join(words.values())


def _has_no_run(card):
    """Tell of each row whether it is not evaluated though the study has a case for it."""
    return (card["verdict"] == NOT_EVALUATED) & (card["scenario"] != "")


def worst_rows(card: pd.DataFrame) -> list[dict]:
    """Return the worst rows: those that failed, then those that are worse, by how many limits or margins."""
    bad = card[card["verdict"].isin([FAILED, WORSE])].copy()
    bad["size"] = (bad["worse_by"] / bad["margin"]).fillna(bad["value"] / bad["limit"])
    # A criterion is one finding, in the scenario in which it is worst.
    ordered = bad.sort_values(["verdict", "size"], ascending=[True, False], kind="stable")
    return ordered.drop_duplicates(["rfc_section", "criterion"]).head(MOST_FINDINGS).to_dict("records")


def row_sentence(row) -> str:
    """Return what a row that failed, or is worse, says in a sentence."""
    measure = MEASURES[row["measure"]]
    text = f"{row['criterion'][0].upper()}{row['criterion'][1:]} ({row['scenario_label']}): {measure.words} is {_with_interval(row, 'value', 'low', 'high')}"
    if row["verdict"] == FAILED:
        limit = f"the limit is {plain(row['limit'])}{_unit(measure)}"
        if not is_missing(row["standard_value"]):
            limit += f", and {cca_name(row['standard'])} has {number(row['standard_value'], measure.decimals)}{_unit(measure)}"
        return f"{text}; {limit} (section {row['rfc_section']})."
    beside = "to its own kind" if measure.incumbent else ""
    return (
        f"{text}, of {cca_name(row['standard'])} {f'{beside} ' if beside else ''}{_with_interval(row, 'standard_value', 'standard_low', 'standard_high')} "
        f"(section {row['rfc_section']})."
    )


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
        f"{margins['index']:g} of Jain's index and of harm, {margins['rtt_exponent']:g} of the power of the RTT, {margins['delay_ms']:g} ms of delay and jitter, "
        f"{margins['slowdown']:g} of a slowdown, {margins['time_s']:g} s of times"
    )


def published_words(row, published: pd.DataFrame) -> str:
    """Return what is published of a row's CCA, scenario and measure, and whether the row agrees."""
    names = ["cca", "scenario", "measure"]
    rows = published[(published[names] == [row[name] for name in names]).all(axis=1)]
    return " ".join(f"Published: {one['verdict']} ({one['source']})." for one in rows.to_dict("records"))


def _decimals(row):
    measure = MEASURES.get(row["measure"])
    return measure.decimals if measure else 0


def _note_words(row, published):
    note = row["reason"]
    if not note and not is_missing(row["limit"]):
        measure = MEASURES.get(row["measure"])
        note = f"limit {plain(row['limit'])}{_unit(measure)}"
    return " ".join(filter(None, (note, published_words(row, published))))


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


def _scorecard(published):
    """Return what is shown of the scorecard, beside what is published."""
    return (
        SECTION,
        shown_cell("Verdict", lambda row: Cell(row["verdict"], style=VERDICTS[row["verdict"]]), filtered=True),
        shown_cell("Criterion", lambda row: f"{row['criterion']} ({row['rfc_word']})", "words", filtered=True),
        shown_text("Case", "scenario_label", empty=NONE, kind="short"),
        shown_text("Measure", "measure", measure_words, kind="short"),
        shown_cell("Value", lambda row: _mean_cell(row, "", _decimals(row)), "short"),
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
    caption = "Means here, and where the sources put them"
    return cells_table("exam-published", caption, published, PUBLISHED)


def bounds_words(at_least, at_most, decimals) -> str:
    """Return where a mean should lie.

    >>> bounds_words(1, 2, 1), bounds_words(0, float("nan"), 0), bounds_words(float("nan"), 50, 0)
    ('1.0 to 2.0', 'at least 0', 'at most 50')
    """
    if is_missing(at_most):
        return f"at least {number(at_least, decimals)}"
    low = "at most" if is_missing(at_least) else f"{number(at_least, decimals)} to"
    return f"{low} {number(at_most, decimals)}"
