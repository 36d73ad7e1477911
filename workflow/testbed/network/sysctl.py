"""The kernel's settings in a node's network namespace (sysctl(8)), accessed as files below /proc/sys."""

import os
from pathlib import Path

from testbed.errors import SettingError
from testbed.network.commands import log
from testbed.network.netlink import network_namespace

SETTINGS = Path("/proc/sys")


def write(node, settings) -> None:
    """Set the sysctls in ``settings``, a dict from name to value.

    Raises `SettingError` if the kernel doesn't have one of the settings or rejects the value.
    """
    with network_namespace(node):
        for name, value in settings.items():
            log(f"{node.name}: {name} = {value}")
            try:
                _write(file_of(name), f"{value}".encode())
            except OSError as error:
                raise SettingError(f"{node.name}: {name} = {value}: {error.strerror}") from error


def read(node, names) -> dict[str, str]:
    """Return the values of settings by name, as sysctl(8) prints them.

    Raises `SettingError` if the kernel doesn't have one of the settings.
    """
    with network_namespace(node):
        try:
            return {name: _read(file_of(name)).decode().rstrip("\n") for name in names}
        except OSError as error:
            raise SettingError(f"{node.name}: {error.filename}: {error.strerror}") from error


def read_all(node, folder) -> dict[str, str]:
    """Return the values of all settings in a folder, such as ``net.mptcp``, sorted by name."""
    with network_namespace(node):
        names = sorted(f"{folder}.{file.name}" for file in file_of(folder).iterdir())
    return read(node, names)


def file_of(name) -> Path:
    """Return the path of a setting's file.

    Dots separate the parts of a name, and no device name here contains a dot.
    """
    return SETTINGS / name.replace(".", "/")


# Like `Path.write_text` and `Path.read_text`, but with four fewer system calls each: a run with 500 pairs accesses 30,000 settings.
def _write(file, value):
    descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, value)
    finally:
        os.close(descriptor)


def _read(file):
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # The kernel returns a setting in a single read of at most one page.
        return os.read(descriptor, os.sysconf("SC_PAGESIZE"))
    finally:
        os.close(descriptor)
