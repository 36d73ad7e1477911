"""Mininet's host on a separate core (see `cores`), with its processes and the handling of its arriving packets."""

import os
from pathlib import Path

from testbed.errors import SettingError
from testbed.machine.host_init import mount
from testbed.network.bare_host import BareHost
from testbed.network.commands import log
from testbed.network.netlink import network_namespace
from testbed.network.sysctl import write

#: A network namespace's default for an interface's ``rps_cpus``, receive packet steering
#: (the kernel's Documentation/networking/scaling.rst). Writing an interface's own file requires the machine's root.
STEERING = "net.core.rps_default_mask"
#: Folder in which the devices of each host are mounted.
SYSFS = Path("/run/sysfs")


def placed_hosts(placement) -> type[BareHost]:
    """Return the class of hosts that Mininet should create; ``placement`` is a `cores.Placement`."""

    class PlacedHost(BareHost):
        """A host whose processes run on its core; ``steered`` is true if its packets are processed there too."""

        def __init__(self, name, **params):
            super().__init__(name, **params)
            # This must precede the first interface, because the kernel copies the default when an interface is created.
            self.steered = steer(self, placement.of(name))

        def popen(self, command, **options):
            core = placement.of(self.name)
            return super().popen(command, preexec_fn=lambda: os.sched_setaffinity(0, {core}), **options)

    return PlacedHost


def steer(node, core) -> bool:
    """Make the kernel process packets that arrive at a node on a core; return whether it supports this (since 6.3)."""
    try:
        write(node, {STEERING: mask(core)})
    except SettingError as error:
        log(f"packets are processed on the core that sent them: {error}")
        return False
    return True


def mask(core) -> str:
    """Return a core as a mask in the kernel's format: hexadecimal, in words of 32 bits."""
    return ",".join([f"{1 << core % 32:08x}"] + ["00000000"] * (core // 32))


def steering(path) -> dict[str, list[int]]:
    """Return, by interface, the cores that process packets arriving there, according to the kernel (``rps_cpus``)."""
    cores = {}
    for node in path.net.hosts:
        devices = SYSFS / node.name
        if not devices.exists():
            devices.mkdir(parents=True)
            with network_namespace(node):
                mount("sysfs", str(devices), "sysfs")  # a sysfs shows the devices of the namespace that mounts it
        for interface in node.intfList():
            steered = devices / "class/net" / interface.name / "queues/rx-0/rps_cpus"
            cores[interface.name] = cores_of(steered.read_text())
    return cores


def cores_of(text) -> list[int]:
    """Return the numbers of the cores in a mask of the kernel, ascending."""
    bits = int(text.replace(",", ""), 16)
    return [core for core in range(bits.bit_length()) if bits >> core & 1]
