"""The section with all statistics by cell, at the end of the report."""


def section(material) -> dict:
    """Return what the template needs besides the metrics: nothing."""
    return {}
