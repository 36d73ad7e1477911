"""The section on speed: goodput by cell, and the retransmissions and delay that goodput costs."""

from report_parts.material import Finding
from topics.ccas.topic import one_cca_a_run
from topics.speed.sentences import lone_sentence


def section(material) -> dict:
    """Return no variables, because the template uses only figures and metrics."""
    return {}


def findings(material) -> list[Finding]:
    """Return a finding about the study's only CCA; differences between several CCAs are reported by the topic `differences`."""
    tables, design = material.tables, material.design
    if not one_cca_a_run(design) or not tables.runs["valid"].any():
        return []
    text = lone_sentence(tables, not design.ip_versions_compared)
    return [Finding("Speed", text, "speed")] if text else []
