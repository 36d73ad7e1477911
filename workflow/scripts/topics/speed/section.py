"""The section on speed: goodput by cell, and what it costs."""

from report_parts.material import Finding
from topics.ccas.topic import one_cca_a_run
from topics.speed.sentences import price_sentence, speed_sentence


def section(material) -> dict:
    """Return what the template needs besides figures and metrics: nothing."""
    return {}


def findings(material) -> list[Finding]:
    """Return who is fastest, and what that costs; a mix has no speed of its own, for its CCAs share one link."""
    tables, design = material.tables, material.design
    if not one_cca_a_run(design):
        return []
    speed = "No run is valid, so nothing can be said about which CCA is fastest."
    price = "No run is valid, so what the fastest CCA pays can't be said either."
    if tables.runs["valid"].any():
        one_ip_version = not design.ip_versions_compared
        speed = speed_sentence(tables, material.params["significance"], one_ip_version, design.loss_changing_scenarios)
        price = price_sentence(tables, one_ip_version)
    return [Finding("Speed", speed, "speed"), Finding("Price", price, "price")]
