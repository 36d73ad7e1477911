"""Platform-specific parts of a run: hosts and their cores, the kernel's limits, the clock.

The steps of a run (`guest`) are the same on all platforms; this module contains the differences.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator

from testbed.machine import environment
from testbed.network import transport
from testbed.network.bare_host import BareHost
from testbed.readings.path_probe import PathProbe

#: `fall_into_step` waits until this many ns after a full second of the guest's clock. The instant is far from any full second, at which
#: the kernel renews the key of its random number generator.
STEP_NS = 300_000_000


def surroundings_of(specification) -> "GuestKernel | OwnMachine":
    """Return the object with the platform-specific parts of a run."""
    return OwnMachine() if specification.platform == "host" else GuestKernel()


class GuestKernel:
    """A separate guest kernel for the run, with one core and a virtual clock that advances only while the guest is idle."""

    describe = staticmethod(environment.describe)
    #: The class of Mininet's hosts.
    host = BareHost

    def fall_into_step(self) -> None:
        """Wait for the next fixed instant of the guest's clock.

        Each reading of the clock advances it by 256 ns, and the number of readings during boot depends on the kernel's configuration. This
        wait removes the difference.
        """
        now_ns = time.monotonic_ns()
        time.sleep(((STEP_NS - now_ns) % 1_000_000_000) / 1e9)

    def prepare(self, specification) -> None:
        """Set the kernel's global settings."""
        transport.prepare_kernel(specification)

    @contextlib.contextmanager
    def traffic(self) -> Iterator[Callable[[], int]]:
        """Yield the function to call when the traffic starts; it returns the clock's reading, which is the traffic's origin."""
        yield time.monotonic_ns

    def network(self, path) -> dict:
        """Return an empty dict, because this platform reads back no additional settings of the network."""
        return {}

    def sections(self, path) -> dict:
        """Return an empty dict, because no section of the document is specific to this platform."""
        return {}

    def probe(self, path, specification) -> dict:
        """Probe the path after the traffic, and return the section ``probe``."""
        return {"probe": PathProbe(path, specification).section()}


class OwnMachine:
    """The machine's own kernel, with separate namespaces for the run, separate cores for senders and receivers, and a real clock."""

    describe = staticmethod(environment.describe_host)

    def __init__(self):
        # Imported here because a guest doesn't need it.
        from testbed.machine import cores
        from testbed.machine.placed_host import placed_hosts
        from testbed.readings.cpu import CpuReader

        usable = os.sched_getaffinity(0)
        self._placement = cores.place(usable, cores.siblings_of(usable))
        os.sched_setaffinity(0, {self._placement.program})
        self.host, self._reader = placed_hosts(self._placement), CpuReader

    def fall_into_step(self) -> None:
        """Do nothing, because a real clock has no fixed instant to wait for."""

    def prepare(self, specification) -> None:
        """Do nothing, because the kernel's global settings belong to the machine."""

    @contextlib.contextmanager
    def traffic(self) -> Iterator[Callable[[], int]]:
        """Read CPU times while the context is open, and yield the function to call when the traffic starts.

        The function returns the clock's reading, which is the traffic's origin, and also stores it.
        """
        with self._reader(self._placement.program) as self._cpu:
            yield self._begin

    def _begin(self):
        self._origin_ns = time.monotonic_ns()
        return self._origin_ns

    def network(self, path) -> dict:
        """Return the cores on which the kernel processes the packets arriving at each interface."""
        from testbed.machine.placed_host import steering

        return {"steering": steering(path)}

    def sections(self, path) -> dict:
        """Return the section ``cpu``."""
        roles = self._placement.roles(node.name for node in path.net.hosts)
        return {"cpu": self._cpu.section(roles, self._origin_ns)}

    def probe(self, path, specification) -> dict:
        """Return an empty dict, because a real clock is too imprecise to verify individual packets."""
        return {}
