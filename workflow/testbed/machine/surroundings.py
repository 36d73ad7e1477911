"""Platform-specific parts of a run: hosts and their cores, the kernel's limits, the clock.

The steps of a run (`guest`) are the same on all platforms; the differences are here.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator

from testbed.machine import environment
from testbed.network import transport
from testbed.network.bare_host import BareHost
from testbed.readings.path_probe import PathProbe

#: Offset of the instant in `fall_into_step` within a second of the guest's clock: not at either end, where the kernel renews the key of its
#: random numbers.
STEP_NS = 300_000_000


def surroundings_of(specification) -> "GuestKernel | OwnMachine":
    """Return the object with the parts of a run that are specific to its platform."""
    return OwnMachine() if specification.platform == "host" else GuestKernel()


class GuestKernel:
    """A separate guest kernel for the run, with one core and a virtual clock, on which computing takes no time."""

    describe = staticmethod(environment.describe)
    #: The class of Mininet's hosts.
    host = BareHost

    def fall_into_step(self) -> None:
        """Wait for the next fixed instant of the guest's clock.

        Each reading moves that clock by 256 ns, and the number of readings while a kernel boots depends on its configuration.
        """
        now_ns = time.monotonic_ns()
        time.sleep(((STEP_NS - now_ns) % 1_000_000_000) / 1e9)

    def prepare(self, specification) -> None:
        """Set the kernel's global settings."""
        transport.prepare_kernel(specification)

    @contextlib.contextmanager
    def traffic(self) -> Iterator[Callable[[], int]]:
        """Context manager around the traffic; yields the function to call at the traffic's origin to read the clock."""
        yield time.monotonic_ns

    def network(self, path) -> dict:
        """Return the additional values read back from the network."""
        return {}

    def sections(self, path) -> dict:
        """Return the document's sections that are specific to this platform."""
        return {}

    def probe(self, path, specification) -> dict:
        """Return the path's effects on packets after the traffic: the section ``probe``."""
        return {"probe": PathProbe(path, specification).section()}


class OwnMachine:
    """The machine's own kernel, with separate namespaces for the run, cores for each side, and a real clock."""

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
        """Do nothing: there is no instant to wait for."""

    def prepare(self, specification) -> None:
        """Do nothing: global settings of the kernel belong to the machine."""

    @contextlib.contextmanager
    def traffic(self) -> Iterator[Callable[[], int]]:
        """Context manager around the traffic that also reads CPU times.

        It yields the function to call at the traffic's origin to read the clock; the time is stored.
        """
        with self._reader(self._placement.program) as self._cpu:
            yield self._begin

    def _begin(self):
        self._origin_ns = time.monotonic_ns()
        return self._origin_ns

    def network(self, path) -> dict:
        """Return the cores that process packets arriving at each interface."""
        from testbed.machine.placed_host import steering

        return {"steering": steering(path)}

    def sections(self, path) -> dict:
        """Return the section ``cpu``."""
        roles = self._placement.roles(node.name for node in path.net.hosts)
        return {"cpu": self._cpu.section(roles, self._origin_ns)}

    def probe(self, path, specification) -> dict:
        """Return no section, because times of a real clock are too inexact to verify single packets."""
        return {}
