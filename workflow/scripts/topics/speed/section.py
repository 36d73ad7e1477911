"""The section on speed: goodput by cell, and what it costs."""

from report_parts.material import Finding
from topics.ccas.topic import one_cca_a_run
from topics.speed.sentences import lone_sentence


def section(material) -> dict:
    """Return the template's variables besides figures and metrics: none."""
    return {}


def findings(material) -> list[Finding]:
    """Return what a lone CCA reached; what several differ in is told by the topic `differences`."""
    tables, design = material.tables, material.design
    if not one_cca_a_run(design) or not tables.runs["valid"].any():
        return []
    text = lone_sentence(tables, not design.ip_versions_compared)
    return [Finding("Speed", text, "speed")] if text else []
