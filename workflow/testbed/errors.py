"""What can go wrong in a run and is no fault of the machine."""


class SettingError(RuntimeError):
    """The kernel does not take a setting of a host or a device, or has none of that name."""


class TrafficError(RuntimeError):
    """An application could not carry out its part."""


class NotEndedError(TrafficError):
    """An application did not end within its time, by the run's clock."""
