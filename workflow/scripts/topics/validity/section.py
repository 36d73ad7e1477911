"""The section on validity: the checks, and the runs that failed them."""

from report_parts.cells_table import cells_table, shown_text
from report_parts.hypothesis_cells import METRIC, shown_scenario
from report_parts.material import Finding
from run_tables.exclusions import not_run, usable_exclusions
from run_tables.metrics import differences
from run_tables.reading import run_name
from topics.validity.exclusions import changed_conclusions, exclusions_sentence
from topics.validity.sentences import trust_sentence
from wording.check_words import meaning_of_failure

MAX_EXCLUDED_SHOWN = 200


def section(material) -> dict:
    """Return the template's variables."""
    runs, validity = material.tables.runs, material.tables.validity
    absent = not_run(runs)
    excluded = runs[~runs["valid"] & ~absent]
    return {
        "checks": material.tables.checks.to_dict("records"),
        "meanings": failed_checks(material.tables.checks),
        "cells_excluded": len(validity[validity["excluded"] > 0]),
        "cells": len(validity),
        "excluded": [
            {"name": run_name(row), "because": row["invalid_because"]}
            for row in excluded.head(MAX_EXCLUDED_SHOWN).to_dict("records")
        ],
        "excluded_count": len(excluded),
        "not_run": [run_name(row) for row in runs[absent].head(MAX_EXCLUDED_SHOWN).to_dict("records")],
        "not_run_count": int(absent.sum()),
        "exclusions": _exclusions(material),
        "runs": len(runs),
        "valid": int(runs["valid"].sum()),
    }


def failed_checks(checks) -> list[dict]:
    """Return the failed checks, the most frequent first: ``check``, the number of runs that ``failed`` it, and its ``meaning``."""
    failed = checks[checks["failed"] > 0].sort_values("failed", ascending=False, kind="stable")
    return [
        {"check": row["check"], "failed": row["failed"], "meaning": meaning_of_failure(row["check"])}
        for row in failed.to_dict("records")
    ]


def _exclusions(material) -> dict:
    """Return the ``sentence`` about the effect of keeping excluded runs, and the ``table`` of changed conclusions (None if none change)."""
    tables, params = material.tables, material.params
    invalid = int((~tables.runs["valid"] & ~not_run(tables.runs)).sum())
    usable = int(usable_exclusions(tables.runs).sum())
    changes, compared = [], 0
    if usable:
        margins = differences(params["analysis"]["equivalence_margin"])
        changes, compared = changed_conclusions(tables, margins, params["significance"])
    shown = (
        shown_text("Conclusion", "question", filtered=True, header=True),
        METRIC,
        shown_scenario(tables.scenarios, header=False),
        shown_text("Of", "place", kind="short"),
        shown_text("As reported", "reported", kind="short"),
        shown_text("With excluded runs", "kept", kind="short"),
    )
    caption = "Conclusions that would change if excluded runs were kept"
    return {
        "sentence": exclusions_sentence(usable, invalid, changes, compared),
        "table": cells_table("exclusions", caption, map(vars, changes), shown) if changes else None,
    }


def findings(material) -> list[Finding]:
    """Return a finding about the validity of the runs."""
    tables = material.tables
    changes = material.design.rtt_shifts_ms, material.design.loss_changing_scenarios
    return [Finding("Trust", trust_sentence(tables.runs, tables.checks, tables.scenarios, *changes), "validity")]
