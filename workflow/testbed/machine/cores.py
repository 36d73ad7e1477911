"""Assignment of a run's work to cores under a real clock.

In a real network, senders and receivers are separate machines. Therefore each side is assigned a separate core, on which its processes run
and the kernel processes the packets that arrive at its hosts (`placed_host`). The core's busy time is then the busy time of the side.

==========  ===================  =============  ============
role        two cores            three cores    four cores
==========  ===================  =============  ============
senders     first                second         second
receivers   second               third          third
routers     r1 first, r2 second  first          fourth
program     second               first          first
==========  ===================  =============  ============

The program is the testbed itself, including its reader of CPU times (`cpu`). The first core of a machine often also handles interrupts.
If there is only one core, all roles share it.
"""

from dataclasses import dataclass
from pathlib import Path

from testbed.machine.machine import numbers_of

TOPOLOGY = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Placement:
    """Core numbers of the ``senders``, the ``receivers``, each router (in ``routers``, by name) and the ``program``."""

    senders: int
    receivers: int
    routers: dict
    program: int

    def of(self, node) -> int:
        """Return the core for the node with the given name.

        Hosts with odd numbers (h1, h3, ...) are senders, and hosts with even numbers are receivers.
        """
        if node.startswith("r"):
            # On a chain, routers with odd numbers are treated like r1, and the others like r2.
            return self.routers["r1" if int(node.removeprefix("r")) % 2 else "r2"]
        return self.senders if self._sends(node) else self.receivers

    def roles(self, nodes) -> dict[int, list[str]]:
        """Return the roles of each core: ``senders``, ``receivers``, ``program`` or the name of a router.

        ``nodes`` are the names of the run's nodes.
        """
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
    """Return a `Placement` on the given cores.

    Parameters
    ----------
    cores : collection of int
        Cores that the run may use.
    siblings : dict
        Core -> numbers of all hardware threads on the same physical core, including the core itself.
    """
    ordered = apart(cores, siblings)
    if len(ordered) < 3:
        first, second = ordered[0], ordered[-1]
        return Placement(senders=first, receivers=second, routers={"r1": first, "r2": second}, program=second)
    program, senders, receivers = ordered[:3]
    routers = ordered[3] if len(ordered) > 3 else program
    return Placement(senders=senders, receivers=receivers, routers={"r1": routers, "r2": routers}, program=program)


def apart(cores, siblings) -> list[int]:
    """Return one hardware thread of each physical core, or all threads if there is only one physical core."""
    chosen, seen = [], set()
    for core in sorted(cores):
        if core not in seen:
            chosen.append(core)
        seen |= siblings[core]
    return chosen if len(chosen) > 1 else sorted(cores)


def siblings_of(cores, folder=TOPOLOGY) -> dict[int, set[int]]:
    """Return, by core, the hardware threads on the same physical core, according to sysfs.

    If sysfs doesn't list them, the result for a core contains only the core itself.
    """
    siblings = {}
    for core in cores:
        try:
            siblings[core] = numbers_of((folder / f"cpu{core}/topology/thread_siblings_list").read_text())
        except OSError:
            siblings[core] = {core}
    return siblings
