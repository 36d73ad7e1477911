"""The section on controls: the number of differences found when cells are compared with themselves, and the number expected by chance."""

from report_parts.cells_table import CCA_KEY, IP_KEY, shown_cell, shown_number, shown_p, shown_text
from report_parts.data_tables import Cell
from report_parts.hypothesis_cells import ALIKE, DIFFERS, EFFECT, METRIC_NAMES, OPEN, TEST, tests_table
from report_parts.material import Finding
from topics.cells.page_tables import PAIRS
from topics.controls.false_alarms import ALL, MORE
from wording.number_format import count, is_missing, number, plain
from wording.sentence_words import listed

TESTS = (
    CCA_KEY, IP_KEY, shown_text("Tests of", "comparison", filtered=True), PAIRS, shown_number("Runs", "mean"),
    shown_number("Controls", "mean_control"), *EFFECT, TEST, shown_p("p", "p"), shown_p("p, Holm", "p_holm"),
)  # fmt: skip


def section(material) -> dict:
    """Return the summary by metric and the table of all comparisons."""
    tables = material.tables
    return {
        "summary": [_summary_row(row) for row in tables.aa_summary.to_dict("records")],
        "tests": _tests_table(tables.aa_tests, tables.scenarios, material.params["significance"]),
        "replications": int(material.study["replications"]),
        "chance_percent": f"{100 * material.params['significance']:g}",
    }


def _summary_row(row):
    whole = row["metric"] == ALL
    of_families = ""
    if whole:
        of_families = f"{number(row['families_different'], 0)} of {count(int(row['families']), 'family', 'families')}"
    return {
        "comparison": row["comparison"],
        "metric": "All" if whole else METRIC_NAMES[row["metric"]],
        "whole": whole,
        "tests": f"{number(row['tests'], 0)} of {number(row['comparisons'], 0)}",
        "below": number(row["below"], 0),
        "expected": number(row["expected"], 1),
        "share": _share_words(row),
        "verdict": row["verdict"],
        "findable": _percent_words(row["findable_percent"]),
        "style": DIFFERS if row["verdict"] == MORE else OPEN,
        "different": number(row["different"], 0),
        "families": of_families,
    }


def _share_words(row) -> str:
    """Return a share with its interval: "4.5 %, 2.1 to 8.3 %"."""
    if is_missing(row["share_percent"]):
        return "no test"
    share, low, high = (plain(round(row[name], 1)) for name in ("share_percent", "share_low", "share_high"))
    return f"{share} %, {low} to {high} %"


def _percent_words(percent) -> str:
    return "nothing" if is_missing(percent) else f"{plain(percent)} %"


def _findable_words(row) -> str:
    """Describe the power of the study: "a true share of at least 12 % would have been found in 80 of 100 studies"."""
    if is_missing(row["findable_percent"]):
        return "no true share, however large, would have been found in 80 of 100 studies"
    return (
        f"a true share of at least {_percent_words(row['findable_percent'])} would have been found in 80 of 100 studies"
    )


def _tests_table(table, scenarios, significance):
    different = shown_cell("Found different", lambda row: _different_cell(row, significance), filtered=True)
    caption = "Each cell compared with itself, run again with other seeds"
    return tests_table("aa-tests", caption, table, scenarios, (*TESTS, different))


def _different_cell(row, significance):
    if row["different"]:
        return Cell("yes", style=DIFFERS)
    if is_missing(row["p"]):
        return Cell("not tested", style=OPEN)
    return Cell("only uncorrected", style=OPEN) if row["p"] < significance else Cell("no", style=ALIKE)


def findings(material) -> list[Finding]:
    """Return a finding that states how many differences are found when cells are compared with themselves."""
    return [Finding("Control", controls_sentence(material.tables.aa_summary), "controls")]


def controls_sentence(table) -> str:
    """Report the number of differences found when cells are compared with themselves, and the number expected by chance.

    ``table`` is `AA_SUMMARY`.
    """
    of_all = [row for row in table[table["metric"] == ALL].to_dict("records") if row["tests"] > 0]
    if not of_all:
        return "No cell could be compared with itself: the runs of each cell repeat one measurement, or too few are valid for a test."
    parts = [
        f"{number(row['below'], 0)} of {number(row['tests'], 0)} tests of {row['comparison']} ({_share_words(row)}; "
        f"about {number(row['expected'], 1)} are expected by chance, and {_findable_words(row)})"
        for row in of_all
    ]
    false_alarms = [int(row["different"]) for row in of_all]
    corrected = (
        "none of them after the correction used for findings"
        if not any(false_alarms)
        else f"{listed([str(number_of) for number_of in false_alarms])} after the correction used for findings"
    )
    verdict = ""
    if any(row["verdict"] == MORE for row in of_all):
        verdict = " That is more than chance can explain: the p-values of this study are too small."
    return f"When cells are run again with other seeds and compared with themselves, a difference is found in {listed(parts)}; {corrected}.{verdict}"
