"""The section on an exam: verdicts by group, the worst findings, and the scorecard."""

import pandas as pd

from report_parts.data_tables import Cell, Column, data_table, number_cell, shared_decimals, signed
from report_parts.material import Finding, ReportMaterial
from report_parts.test_cells import ALIKE, DIFFERS, OPEN
from topics.exam import judge
from topics.exam.criteria import GROUPS, MEASURES
from topics.exam.judge import BETTER, FAILED, LIKE, NOT_EVALUATED, NOT_SHOWN, PASSED, WORSE
from topics.exam.topic import FIGURE_OF, THROUGHPUT, TOPIC
from wording.number_format import NONE, is_missing, number, plain
from wording.sentence_words import cca_name, listed

#: Of the first screen.
MOST_FINDINGS = 3
VERDICTS = {
    FAILED: DIFFERS, WORSE: DIFFERS, NOT_SHOWN: OPEN, NOT_EVALUATED: OPEN, LIKE: ALIKE, BETTER: ALIKE, PASSED: ALIKE,
}  # fmt: skip
#: Of what is published.
AGREEMENT = {judge.AGREES: ALIKE, judge.DIFFERS: DIFFERS, NOT_SHOWN: OPEN}


def section(material: ReportMaterial) -> dict:
    """Return what the template needs."""
    card, exam = material.tables.scorecard, material.study["exam"]
    published = material.tables.exam_published
    return {
        "cca": cca_name(exam["cca"]),
        "standards": listed([cca_name(cca) for cca in exam["standards"]]),
        "beside": [cca_name(cca) for cca in material.design.ccas if cca not in (exam["cca"], *exam["standards"])],
        "groups": [{"name": group, "words": counts_words(card[card["group"] == group])} for group in GROUPS],
        "worst": [{"text": row_sentence(row), "link": link_of(row, material)} for row in worst_rows(card)],
        "margins": margins_words(exam["margins"]),
        "limits": {name: plain(limit) for name, limit in exam["limits"].items()},
        "table": _table(card, published),
        "published": _published_table(published) if len(published) else None,
        "agreement": counts_words(published, AGREEMENT),
    }


def findings(material: ReportMaterial) -> list[Finding]:
    """Return the verdict on each group and the worst rows, which open the report."""
    card, name = material.tables.scorecard, cca_name(material.study["exam"]["cca"])
    found = [Finding(group, f"{name}: {counts_words(card[card['group'] == group])}.", TOPIC.anchor) for group in GROUPS]
    worst = [
        Finding(row["verdict"].capitalize(), row_sentence(row), link_of(row, material)) for row in worst_rows(card)
    ]
    return found + worst


def counts_words(card: pd.DataFrame, verdicts=VERDICTS) -> str:
    """Return how many rows have which verdict, the bad ones first: "1 failed, 2 worse, 11 like"."""
    counts = card["verdict"].value_counts()
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in verdicts if verdict in counts)


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
        return f"{text}; the limit is {plain(row['limit'])}{_unit(measure)} (section {row['rfc_section']})."
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
    """Return the identifier of the figure that shows a row, or of the section."""
    slug = FIGURE_OF.get(row["rfc_section"], THROUGHPUT)
    return f"{slug}-figure" if slug in material.figures else TOPIC.anchor


def margins_words(margins) -> str:
    """Return the margins in words."""
    return (
        f"{margins['goodput_points']:g} percentage points of goodput and shares, {margins['loss_points']:g} of loss, "
        f"{margins['index']:g} of Jain's index and of harm, {margins['rtt_exponent']:g} of the power of the RTT, {margins['delay_ms']:g} ms of delay and jitter, "
        f"{margins['slowdown']:g} of a slowdown, {margins['time_s']:g} s of times"
    )


COLUMNS = [
    Column("Section", filtered=True, header=True), Column("Criterion", "words", filtered=True), Column("RFC", "short"),
    Column("Case", "short"), Column("Measure", "short"), Column("Verdict", filtered=True), Column("Value", "number"),
    Column("Interval", "short"), Column("Standard", "short"), Column("Its value", "number"), Column("Its interval", "short"),
    Column("Worse by", "number"), Column("Note", "note"),
]  # fmt: skip


def _table(card, published):
    rows = [_cells(row, published_words(row, published)) for row in card.to_dict("records")]
    return data_table("scorecard", "The scorecard", COLUMNS, rows)


def published_words(row, published: pd.DataFrame) -> str:
    """Return what is published of a row's CCA, scenario and measure, and whether the row agrees."""
    names = ["cca", "scenario", "measure"]
    found = published[(published[names] == [row[name] for name in names]).all(axis=1)]
    return " ".join(f"Published: {one['verdict']} ({one['source']})." for one in found.to_dict("records"))


def _cells(row, published):
    measure = MEASURES.get(row["measure"])
    decimals = measure.decimals if measure else 0
    note = row["reason"] or ("" if is_missing(row["limit"]) else f"limit {plain(row['limit'])}{_unit(measure)}")
    note = " ".join(filter(None, (note, published)))
    return [
        row["rfc_section"], row["criterion"], row["rfc_word"], row["scenario_label"] or NONE, row["measure"].replace("_", " ") or NONE,
        Cell(row["verdict"], style=VERDICTS[row["verdict"]]),
        number_cell(row["value"], decimals), _interval_cell(row["low"], row["high"], decimals),
        cca_name(row["standard"]) if row["standard"] else NONE, number_cell(row["standard_value"], decimals),
        _interval_cell(row["standard_low"], row["standard_high"], decimals),
        Cell(NONE) if is_missing(row["worse_by"]) else Cell(signed(row["worse_by"], shared_decimals(row["worse_by"], row["margin"])), row["worse_by"]),
        note,
    ]  # fmt: skip


def _interval_cell(low, high, decimals):
    return Cell(NONE) if is_missing(low) else Cell(f"{number(low, decimals)} to {number(high, decimals)}", float(low))


PUBLISHED = [
    Column("Section", filtered=True, header=True), Column("CCA", filtered=True), Column("Case", "short"), Column("Measure", "short"),
    Column("Here", "number"), Column("Interval", "short"), Column("By the source", "short"), Column("Verdict", filtered=True),
    Column("What is stated", "note"), Column("Where", "note"),
]  # fmt: skip


def _published_table(published):
    """Return the table of means beside published ones."""
    rows = []
    for row in published.to_dict("records"):
        decimals = MEASURES[row["measure"]].decimals
        name = row["measure"].replace("_", " ") + (f" less {cca_name(row['minus'])}'s" if row["minus"] else "")
        rows.append([
            row["rfc_section"], cca_name(row["cca"]), row["scenario_label"], name, number_cell(row["value"], decimals),
            _interval_cell(row["low"], row["high"], decimals), bounds_words(row["at_least"], row["at_most"], decimals),
            Cell(row["verdict"], style=AGREEMENT[row["verdict"]]), row["statement"], row["source"],
        ])  # fmt: skip
    return data_table("exam-published", "Beside what is published", PUBLISHED, rows)


def bounds_words(at_least, at_most, decimals) -> str:
    """Return where a mean should lie.

    >>> bounds_words(1, 2, 1), bounds_words(0, float("nan"), 0), bounds_words(float("nan"), 50, 0)
    ('1.0 to 2.0', 'at least 0', 'at most 50')
    """
    if is_missing(at_most):
        return f"at least {number(at_least, decimals)}"
    return (
        f"at most {number(at_most, decimals)}"
        if is_missing(at_least)
        else f"{number(at_least, decimals)} to {number(at_most, decimals)}"
    )
