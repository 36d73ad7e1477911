"""The section on speed: goodput by cell, and its price."""

from report_parts.material import Finding
from topics.ccas.topic import one_cca_a_run
from topics.speed.sentences import lone_sentence


def section(material) -> dict:
    """Return the template variables other than figures and metrics: none."""
    return {}


def findings(material) -> list[Finding]:
    """Return the results of a lone CCA; differences between several are reported by the topic `differences`."""
    tables, design = material.tables, material.design
    if not one_cca_a_run(design) or not tables.runs["valid"].any():
        return []
    text = lone_sentence(tables, not design.ip_versions_compared)
    return [Finding("Speed", text, "speed")] if text else []
