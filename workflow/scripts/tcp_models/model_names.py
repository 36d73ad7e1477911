"""Names of the throughput models in tables."""

SQUARE_ROOT = "square-root law"
CUBIC = "CUBIC's response function"
FULL_LINK = "full link"
FULL_QUEUE = "full queue"
