"""What can go wrong in a run and is no fault of the machine."""


class TrafficError(RuntimeError):
    """An application could not carry out its part."""
