"""Errors that arise within a run, as opposed to faults of the machine."""


class SettingError(RuntimeError):
    """The kernel rejects a setting of a host or device, or doesn't have this setting."""


class TrafficError(RuntimeError):
    """An application failed to do its part in the traffic."""


class NotEndedError(TrafficError):
    """An application exceeded its time limit, measured by the run's clock."""
