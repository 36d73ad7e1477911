"""The section on delay and loss: the metrics by cell besides goodput."""


def section(material) -> dict:
    """Return what the template needs besides figures and metrics: nothing."""
    return {}
