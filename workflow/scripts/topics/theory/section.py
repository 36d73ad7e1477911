"""The section on theory: models by cell, and exponents."""

from topics.theory.page_tables import models_table, regressions_table


def section(material) -> dict:
    """Return the tables of models and exponents."""
    tables = material.tables
    return {
        "models": models_table(tables.models, tables.scenarios),
        "regressions": regressions_table(tables.regressions),
    }
