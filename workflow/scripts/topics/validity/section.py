"""The section on validity: checks, and runs that failed them."""

from report_parts.material import Finding
from run_tables.reading import run_name
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
        "runs": len(runs),
        "valid": int(runs["valid"].sum()),
    }


def findings(material) -> list[Finding]:
    """Return whether the numbers can be trusted."""
    tables = material.tables
    return [Finding("Trust", trust_sentence(tables.runs, tables.checks, tables.scenarios), "validity")]
