"""Mininet's host on a core of its own (see `cores`): its processes, and the packets that arrive there."""

import os

from mininet.node import Host

from .commands import CommandError, log, run

#: Default of an interface's ``rps_cpus``, of a network namespace: receive packet steering
#: (the kernel's Documentation/networking/scaling.rst). An interface's own file needs the machine's root.
STEERING = "net.core.rps_default_mask"


def placed_hosts(placement) -> type[Host]:
    """Return the class of hosts that Mininet is to make; ``placement`` is a `cores.Placement`."""

    class PlacedHost(Host):
        """A host whose processes run on its core, with ``steered`` true if its packets are processed there too."""

        def __init__(self, name, **params):
            super().__init__(name, **params)
            # Before it has any interface: the kernel copies the default when one is made.
            self.steered = steer(self, placement.of(name))

        def popen(self, *arguments, **options):
            core = placement.of(self.name)
            return super().popen(*arguments, preexec_fn=lambda: os.sched_setaffinity(0, {core}), **options)

    return PlacedHost


def steer(node, core) -> bool:
    """Have packets that arrive at a node processed on a core; return whether this kernel can (from 6.3 on)."""
    try:
        run(node, ["sysctl", "-q", "-w", f"{STEERING}={mask(core)}"])
    except CommandError as error:
        log(f"packets are processed on the core that sent them: {error}")
        return False
    return True


def mask(core) -> str:
    """Return a core as the kernel reads masks: hexadecimal, in words of 32 bits."""
    return ",".join([f"{1 << core % 32:08x}"] + ["00000000"] * (core // 32))


def steering(path) -> dict[str, list[int]]:
    """Return interface -> the cores that process what arrives there, as the kernel says (``rps_cpus``)."""
    found = {}
    for node in path.net.hosts:
        names = [interface.name for interface in node.intfList()]
        files = [f"/sys/class/net/{name}/queues/rx-0/rps_cpus" for name in names]
        if files:
            found |= dict(zip(names, (cores_of(text) for text in run(node, ["cat", *files]).split()), strict=True))
    return found


def cores_of(text) -> list[int]:
    """Return the numbers of the cores in a mask of the kernel, ascending."""
    bits = int(text.replace(",", ""), 16)
    return [core for core in range(bits.bit_length()) if bits >> core & 1]
