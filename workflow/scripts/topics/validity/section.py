"""The section on validity: checks, and runs that failed them."""

from report_parts.data_tables import Column, data_table
from report_parts.material import Finding
from report_parts.test_cells import Scenarios, metric_cell
from run_tables.exclusions import usable_exclusions
from run_tables.metrics import differences
from run_tables.reading import run_name
from topics.validity.exclusions import changed_conclusions, exclusions_sentence
from topics.validity.sentences import trust_sentence

MAX_EXCLUDED_SHOWN = 200


def section(material) -> dict:
    """Return what the template needs."""
    runs, validity = material.tables.runs, material.tables.validity
    excluded = runs[~runs["valid"]].head(MAX_EXCLUDED_SHOWN)
    return {
        "checks": material.tables.checks.to_dict("records"),
        "cells_excluded": len(validity[validity["excluded"] > 0]),
        "cells": len(validity),
        "excluded": [{"name": run_name(row), "because": row["invalid_because"]} for row in excluded.to_dict("records")],
        "exclusions": _exclusions(material),
        "runs": len(runs),
        "valid": int(runs["valid"].sum()),
    }


def _exclusions(material) -> dict:
    """Return what keeping excluded runs would change: a sentence, and the table of conclusions, or None."""
    tables, params = material.tables, material.params
    usable, invalid = int(usable_exclusions(tables.runs).sum()), int((~tables.runs["valid"]).sum())
    changes, compared = [], 0
    if usable:
        margins = differences(params["analysis"]["equivalence_margin"])
        changes, compared = changed_conclusions(tables, margins, params["significance"])
    scenario = Scenarios(tables.scenarios)
    columns = {
        Column("Conclusion", filtered=True, header=True): lambda row: row["question"],
        Column("Metric", filtered=True): metric_cell,
        Column("Scenario", filtered=True): scenario.cell,
        Column("Of", "short"): lambda row: row["place"],
        Column("As reported", "short"): lambda row: row["reported"],
        Column("With excluded runs", "short"): lambda row: row["kept"],
    }
    rows = [[cell(vars(change)) for cell in columns.values()] for change in changes]
    caption = "Conclusions that would be others if excluded runs were kept"
    return {
        "sentence": exclusions_sentence(usable, invalid, changes, compared),
        "table": data_table("exclusions", caption, list(columns), rows) if changes else None,
    }


def findings(material) -> list[Finding]:
    """Return whether the numbers can be trusted."""
    tables = material.tables
    changes = material.design.rtt_shifts_ms, material.design.loss_changing_scenarios
    return [Finding("Trust", trust_sentence(tables.runs, tables.checks, tables.scenarios, *changes), "validity")]
