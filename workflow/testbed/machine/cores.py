"""The assignment of a run's work to cores under a real clock: each side's work on a separate core.

Two hosts of a real network are two machines. So the work of one host's processes, and the
kernel's work for packets that arrive there, is put on one core (`placed_host`), and the work of its
peer on another: a core's busy time is then the busy time of a host.

==========  ===================  =============  ============
role        two cores            three cores    four cores
==========  ===================  =============  ============
senders     first                second         second
receivers   second               third          third
routers     r1 first, r2 second  first          fourth
program     second               first          first
==========  ===================  =============  ============

The program is the testbed's own, with the reader of CPU times (`cpu`). The first core of a
machine often also handles its interrupts. If there is only one core, it does everything.
"""

from dataclasses import dataclass
from pathlib import Path

from testbed.machine.machine import numbers_of

TOPOLOGY = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Placement:
    """The core numbers of ``senders``, ``receivers``, each of the ``routers`` by name, and the ``program``."""

    senders: int
    receivers: int
    routers: dict
    program: int

    def of(self, node) -> int:
        """Return the core of a node, by the node's name: h1, h3 and so on send, h2, h4 and so on receive."""
        if node.startswith("r"):
            # On a chain with more than two routers, every second router is treated like the first.
            return self.routers["r1" if int(node.removeprefix("r")) % 2 else "r2"]
        return self.senders if self._sends(node) else self.receivers

    def roles(self, nodes) -> dict[int, list[str]]:
        """Return the roles of each core (``senders``, ``receivers``, a router's name, ``program``), given the names of a run's nodes."""
        parts = [
            (self.of(node), node if node.startswith("r") else "senders" if self._sends(node) else "receivers")
            for node in nodes
        ]
        parts.append((self.program, "program"))
        return {
            core: list(dict.fromkeys(part for c, part in parts if c == core)) for core in sorted({c for c, _ in parts})
        }

    @staticmethod
    def _sends(host):
        return int(host.removeprefix("h")) % 2 == 1


def place(cores, siblings) -> Placement:
    """Return the `Placement` on the given cores.

    Parameters
    ----------
    cores : collection of int
        Cores that the run may use.
    siblings : dict
        Core -> numbers of the threads of the same physical core, including itself.
    """
    ordered = apart(cores, siblings)
    if len(ordered) < 3:
        first, second = ordered[0], ordered[-1]
        return Placement(senders=first, receivers=second, routers={"r1": first, "r2": second}, program=second)
    program, senders, receivers = ordered[:3]
    routers = ordered[3] if len(ordered) > 3 else program
    return Placement(senders=senders, receivers=receivers, routers={"r1": routers, "r2": routers}, program=program)


def apart(cores, siblings) -> list[int]:
    """Return one thread of each core, or all threads if there is only one core."""
    chosen, seen = [], set()
    for core in sorted(cores):
        if core not in seen:
            chosen.append(core)
        seen |= siblings[core]
    return chosen if len(chosen) > 1 else sorted(cores)


def siblings_of(cores, folder=TOPOLOGY) -> dict[int, set[int]]:
    """Return, for each core, the threads of the same physical core according to sysfs; only the core itself if sysfs lists none."""
    siblings = {}
    for core in cores:
        try:
            siblings[core] = numbers_of((folder / f"cpu{core}/topology/thread_siblings_list").read_text())
        except OSError:
            siblings[core] = {core}
    return siblings
