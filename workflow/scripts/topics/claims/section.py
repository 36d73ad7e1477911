"""The section on a paper's claims, and on CCAs that ran under the name of another CCA."""

from report_parts.material import Finding
from report_parts.page_files import citation
from topics.claims.page_tables import (
    chance_words,
    claims_table,
    follows_published_method,
    mislabelled_table,
    mislabelled_words,
    tally,
    version_words,
)
from topics.claims.sentences import claims_sentence
from topics.packet_size.topic import compares_sizes_alone


def section(material) -> dict | None:
    """Return the section's parts: the claims, and the cells in which a CCA other than the requested one ran.

    Returns None if there are no claims, no such cells, and no figure that compares two methods.
    """
    context = {"claims": claims_part(material), "mislabelled": _mislabelled_part(material)}
    return context if any(context.values()) or "methods" in material.figures else None


def findings(material) -> list[Finding]:
    """Return a finding that states how many of the paper's claims are reproduced."""
    tables = material.tables
    if tables.claims is None or tables.claims.empty:
        return []
    swapped = follows_published_method(tables.scenarios)
    return [Finding("Claims", claims_sentence(tables.claims, _other_method(material), swapped), "claims")]


def _other_method(material):
    """Return the name and the claims of the study that used the other method.

    Returns None if there is no such study, or if the study of this report compares only message sizes.
    """
    return None if compares_sizes_alone(material.design) else material.other_claims


def claims_part(material) -> dict | None:
    """Return the table of claims and their outcomes, or None if no claims were checked."""
    tables, other, paper = material.tables, _other_method(material), material.params.get("paper")
    if tables.claims is None or tables.claims.empty:
        return None
    swapped = follows_published_method(tables.scenarios)
    verdicts, owners = tally(tables.claims, other, swapped)
    quoted = (paper or {}).get("statements") == "quoted"
    return {
        "table": claims_table(tables.claims, other, swapped, quoted),
        "verdicts": verdicts,
        "owners": owners,
        "chance": chance_words(tables.claims, material.params["confidence"]),
        "versions": version_words(tables.claim_versions),
        "other": other[0] if other else None,
        "paper": citation(paper),
        "quoted": quoted,
    }


def _mislabelled_part(material):
    """Return the part about cells in which a CCA other than the requested one ran, or None if there are no such cells.

    If this study has no such cells, the part is about the other study's cells.
    """
    tables = material.tables
    for table, study, scenarios in (
        (tables.mislabelled, None, tables.scenarios),
        (tables.other_mislabelled, material.design.other, None),
    ):
        if table is not None and not table.empty:
            return {
                "words": mislabelled_words(table, study),
                "table": mislabelled_table(table, scenarios),
                "file": "mislabelled" if study is None else "other_mislabelled",
            }
    return None
