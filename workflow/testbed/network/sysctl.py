"""The kernel's settings in a node's network namespace (sysctl(8)), written and read as files below /proc/sys."""

from pathlib import Path

from testbed.errors import SettingError
from testbed.network.commands import log
from testbed.network.netlink import network_namespace

SETTINGS = Path("/proc/sys")


def write(node, settings) -> None:
    """Set ``settings`` (name -> value).

    Raises `SettingError` if the kernel has no setting of a name or rejects its value.
    """
    with network_namespace(node):
        for name, value in settings.items():
            log(f"{node.name}: {name} = {value}")
            try:
                file_of(name).write_text(f"{value}")
            except OSError as error:
                raise SettingError(f"{node.name}: {name} = {value}: {error.strerror}") from error


def read(node, names) -> dict[str, str]:
    """Return name -> value, as sysctl prints it; raise `SettingError` if the kernel has no setting of a name."""
    with network_namespace(node):
        try:
            return {name: file_of(name).read_text().rstrip("\n") for name in names}
        except OSError as error:
            raise SettingError(f"{node.name}: {error.filename}: {error.strerror}") from error


def read_all(node, folder) -> dict[str, str]:
    """Return name -> value of all settings in a folder, such as ``net.mptcp``, by name."""
    with network_namespace(node):
        names = sorted(f"{folder}.{file.name}" for file in file_of(folder).iterdir())
    return read(node, names)


def file_of(name) -> Path:
    """Return the file of a setting; its words are separated by dots, and no device name here contains a dot."""
    return SETTINGS / name.replace(".", "/")
