"""Errors of a run that are not faults of the machine."""


class SettingError(RuntimeError):
    """The kernel rejects a setting of a host or a device, or has no setting of that name."""


class TrafficError(RuntimeError):
    """An application could not do its part."""


class NotEndedError(TrafficError):
    """An application did not end within its time limit, by the run's clock."""
