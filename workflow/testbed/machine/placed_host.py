"""Mininet hosts on separate cores (see `cores`).

A host's processes run on the host's core, and the kernel processes the host's arriving packets on the same core.
"""

import os
from pathlib import Path

from testbed.errors import SettingError
from testbed.machine.host_init import mount
from testbed.network.bare_host import BareHost
from testbed.network.commands import log
from testbed.network.netlink import network_namespace
from testbed.network.sysctl import write

#: Default ``rps_cpus`` (receive packet steering) of the interfaces in a network namespace; see the kernel's
#: Documentation/networking/scaling.rst. Only the machine's root may write an interface's ``rps_cpus``.
STEERING = "net.core.rps_default_mask"
#: Folder in which the sysfs of each host is mounted.
SYSFS = Path("/run/sysfs")


def placed_hosts(placement) -> type[BareHost]:
    """Return the class that Mininet uses for hosts; ``placement`` is a `cores.Placement`."""

    class PlacedHost(BareHost):
        """A host whose processes run on one core; ``steered`` is true if arriving packets are processed on the same core."""

        def __init__(self, name, **params):
            super().__init__(name, **params)
            # The host must not have any interfaces yet, because the kernel copies the default when an interface is created.
            self.steered = steer(self, placement.of(name))

        def popen(self, command, **options):
            core = placement.of(self.name)
            return super().popen(command, preexec_fn=lambda: os.sched_setaffinity(0, {core}), **options)

    return PlacedHost


def steer(node, core) -> bool:
    """Make the kernel process the packets arriving at a node on the given core; return whether the kernel supports this (since 6.3)."""
    try:
        write(node, {STEERING: mask(core)})
    except SettingError as error:
        log(f"packets are processed on the core that sent them: {error}")
        return False
    return True


def mask(core) -> str:
    """Return the CPU mask of a core in the kernel's format: hexadecimal words of 32 bits, separated by commas."""
    return ",".join([f"{1 << core % 32:08x}"] + ["00000000"] * (core // 32))


def steering(path) -> dict[str, list[int]]:
    """Return the ``rps_cpus`` of each interface: the cores on which the kernel processes arriving packets."""
    cores = {}
    for node in path.net.hosts:
        devices = SYSFS / node.name
        if not devices.exists():
            devices.mkdir(parents=True)
            with network_namespace(node):
                # A sysfs shows the devices of the namespace in which it was mounted.
                mount("sysfs", str(devices), "sysfs")
        for interface in node.intfList():
            steered = devices / "class/net" / interface.name / "queues/rx-0/rps_cpus"
            cores[interface.name] = cores_of(steered.read_text())
    return cores


def cores_of(text) -> list[int]:
    """Return the core numbers in one of the kernel's CPU masks, in ascending order."""
    bits = int(text.replace(",", ""), 16)
    return [core for core in range(bits.bit_length()) if bits >> core & 1]
