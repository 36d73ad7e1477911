"""The section on differences: the findings in order, and the tables on which they are based."""

from itertools import islice

from report_parts.cells_table import (
    PageTable,
    shown_cell,
    shown_interval,
    shown_number,
    shown_p,
    shown_signed,
    shown_text,
)
from report_parts.data_tables import Cell
from report_parts.hypothesis_cells import ALIKE as ALIKE_STYLE
from report_parts.hypothesis_cells import DIFFERS, OPEN
from report_parts.material import Finding
from study_files.kernel_pairs import kernel_pairs
from study_files.program_ccas import programs_under_test
from topics.differences.measures import BY_COLUMN, MEASURES
from topics.differences.ranking import Ranked, ranked
from topics.differences.sentences import Told, alike_sentence, open_sentence, undecided_sentence
from topics.differences.tables import ALIKE, LESS, MORE
from wording.number_format import is_missing
from wording.sentence_words import cca_name, listed

#: Largest number of differences at the top of the report; the tables list all differences.
MOST_FINDINGS = 4
STYLES = {MORE: DIFFERS, LESS: DIFFERS, ALIKE: ALIKE_STYLE}


def _verdict(row):
    return Cell(row["verdict"], style=STYLES.get(row["verdict"], OPEN))


def _level(name):
    return lambda row: cca_name(row[name]) if row["factor"] == "cca" else row[name]


_LEVELS = (
    shown_cell("Level", _level("level_a"), filtered=True, header=True),
    shown_cell("Against", _level("level_b"), filtered=True),
    shown_text("Measure", "measure", lambda name: BY_COLUMN[name].name, filtered=True),
)
_UNIT, _MARGIN = shown_text("Unit", "effect_unit"), shown_number("Margin", "margin")
COMPARED = (
    *_LEVELS, shown_number("Places", "places", 0), shown_number("More", "more", 0), shown_number("Less", "less", 0),
    shown_number("Alike", "alike", 0), shown_number("From", "least"), shown_number("To", "most"), shown_number("All within", "bound"),
    _UNIT, _MARGIN, shown_p("p, Holm", "p_holm"), shown_p("p of t, Holm", "t_p_holm"), shown_text("Shown by", "evidence", empty="nothing"),
    shown_cell("Verdict", _verdict, filtered=True),
)  # fmt: skip
AT_PLACES = (
    *_LEVELS, shown_text("Scenario", "scenario_label", filtered=True), shown_text("CCA", "cca", cca_name, filtered=True),
    shown_number("n", "n", 0), shown_number("Runs left out", "left_out", 0), shown_number("Mean", "value"), shown_number("Other's mean", "other_value"),
    shown_signed("Difference", "difference"), shown_interval("Interval", "difference", 2), _UNIT, _MARGIN, shown_cell("Verdict", _verdict, filtered=True),
)  # fmt: skip
TABLES = {
    "compared": PageTable("comparisons", "Differences over all places", "comparisons", COMPARED),
    "places": PageTable("differences-by-place", "Differences at each place", "differences", AT_PLACES),
}


def section(material) -> dict:
    """Return the template's variables: the compared levels and measures in words, and whether scenarios are compared."""
    factors = set(material.tables.comparisons["factor"])
    return {"compared_words": compared_words(factors), "scenarios": "scenario" in factors}


def compared_words(factors) -> str:
    """State which levels of the given factors are compared, and in which measures."""
    pairs = {
        "cca": "each pair of CCAs",
        "scenario": "each pair of scenarios that differ in only one condition (with the same CCA)",
    }
    text = " and ".join(pairs[factor] for factor in pairs if factor in factors) or "nothing"
    text = f"{text[0].upper()}{text[1:]} is compared in the measures that the tables list."
    if "scenario" not in factors:
        return text
    left_out = listed([measure.name for measure in MEASURES if not measure.of_scenarios])
    return (
        f"{text} If more than two scenarios differ only in the same condition, each of them is compared with the first. "
        f"Scenarios aren't compared by {left_out}, which the path's own rate and delay determine."
    )


def findings(material) -> list[Finding]:
    """Return the findings about the largest differences, the levels that are alike, and the open comparisons, with the data behind them.

    The study's own CCAs and programs are always mentioned.
    """
    tables, params = material.tables, material.params
    if not tables.runs["valid"].any():
        return [Finding("Differences", "No run is valid, so nothing can be compared.", "differences")]
    own = (*material.design.own_ccas, *programs_under_test(material.design.study))
    told = Told(tables.differences, tables.comparisons, params["confidence"], material.design.ccas)
    design = material.design
    definitions = design.study.get("cca_definitions", {})
    has_pairs = definitions and not design.mixes
    pairs = kernel_pairs(design.ccas, definitions, params["image_version"]) if has_pairs else []
    kernels, of_pairs = of_kernels(told, pairs), {frozenset((pair.cca, pair.base)) for pair in pairs}
    further = (one for one in ranked(tables.comparisons, own) if not _levels(one) <= of_pairs)
    found = kernels + [
        Finding(
            _topic(one),
            told.sentence(one),
            "differences",
            data=_data(told, one),
            figures=_figures(one),
            scenarios=_scenarios(told, one),
        )
        for one in islice(further, MOST_FINDINGS - len(kernels))
    ]
    is_shown, alike = bool(found), alike_sentence(tables.comparisons)
    if alike and not kernels:
        found.append(Finding("Alike", alike, "differences"))
    elif not found and (text := open_sentence(tables.comparisons)):
        found.append(Finding("No difference", text, "differences"))
    if is_shown and not kernels and (text := undecided_sentence(tables.comparisons, own)):
        found.append(Finding("No difference", text, "differences"))
    return found


def _levels(finding):
    return {frozenset((side.subject, side.other)) for side in finding.first}


def of_kernels(told, pairs) -> list[Finding]:
    """Return a finding for each pair of CCAs that differ only in their kernel, but no more than `MOST_FINDINGS`.

    A finding states the largest effect of the kernel, or that no effect is shown. Findings with the largest effects come first.
    """
    table = told.comparisons
    found = []
    for pair in pairs:
        rows = table[(table["factor"] == "cca") & table[["level_a", "level_b"]].isin((pair.cca, pair.base)).all(axis=1)]
        intro = f"{cca_name(pair.cca)} and {cca_name(pair.base)} are the same CCA on two kernels ({pair.kernel}; {pair.other})."
        best = next(ranked(rows, (pair.cca,)), None)
        if best is None:
            text = alike_sentence(rows) or open_sentence(rows) or "They have no runs in common."
            found.append((0.0, Finding("Kernel", f"{intro} {text}", "differences")))
            continue
        data, figures, scenarios = _data(told, best), _figures(best), _scenarios(told, best)
        one = Finding("Kernel", f"{intro} {told.sentence(best)}", "differences", data=data, figures=figures, scenarios=scenarios)  # fmt: skip
        found.append((sum(side.weight for side in best.first), one))
    found.sort(key=lambda one: -one[0])
    return [one for _, one in found[:MOST_FINDINGS]]


def _topic(finding) -> str:
    return cca_name(finding.first[0].subject) if finding.factor == "cca" else "Conditions"


def _figures(finding: Ranked) -> tuple[str, ...]:
    """Return the slugs of the figures that show a finding, the best figure first."""
    return tuple(
        dict.fromkeys(slug for group in (finding.first, *finding.further) for slug in group[0].measure.figures)
    )


def _scenarios(told, finding) -> tuple[str, ...]:
    """Return the scenarios of a finding, beginning with those in which the difference is largest."""
    sizes: dict[str, float] = {}
    for side in finding.first:
        places = told.places(side)
        for row in places[places["verdict"] == side.row["verdict"]].to_dict("records"):
            for name in (row["scenario"], row["other_scenario"]):
                sizes[name] = max(sizes.get(name, 0.0), abs(row["difference"]))
    return tuple(sorted(sizes, key=lambda name: -sizes[name]))


def _data(told, finding) -> list[dict]:
    """Return a finding's data: one dict per comparison, in which the list ``at`` gives the comparison's places."""
    columns = [
        "scenario",
        "other_scenario",
        "cca",
        "other_cca",
        "n",
        "value",
        "other_value",
        "difference",
        "difference_low",
        "difference_high",
        "verdict",
    ]
    return [
        {name: _plain(value) for name, value in side.row.items()}
        | {"subject": side.subject, "unit": side.measure.unit, "is_better": side.is_better}
        | {"at": [{name: _plain(row[name]) for name in columns} for row in told.places(side).to_dict("records")]}
        for group in (finding.first, *finding.further)
        for side in group
    ]


def _plain(value):
    """Return a table's value in a form that JSON can represent; None if the value is missing."""
    if is_missing(value):
        return None
    return value.item() if hasattr(value, "item") else value
