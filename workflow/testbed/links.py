"""Links that do what their parameters say, on top of Mininet's interface.

Mininet's TCLink ignores rates above 1000 Mbit/s, prints tc's errors and goes on,
leaves segmentation offload on, shares netem's queue with the bottleneck's, and
applies delay and loss at both ends. Here each interface gets exactly one
emulation, its own queue, and can be read back.
"""
from mininet.link import Intf, Link

from .commands import batch, run, run_json
from .emulation import OFFLOADS, parse_qdiscs


class EmulatedInterface(Intf):
    """Mininet's interface with at most one emulation and stated offloads."""

    def config(self, emulation=None, segmentation_offload=False, **params):
        """Configure the interface (called by Mininet when it makes the link).

        Parameters
        ----------
        emulation : Bottleneck or Netem, optional
            None leaves the kernel's default (noqueue on veth).
        segmentation_offload : bool

        Raises
        ------
        commands.CommandError
            If tc or ethtool refuse a parameter.
        """
        # Mininet would start ifconfig to bring it up; `topology.assign_addresses` does it with the rest.
        result = super().config(**(params | {"up": None}))
        self.emulation = emulation
        self.segmentation_offload = segmentation_offload
        state = "on" if segmentation_offload else "off"
        run(self.node, ["ethtool", "-K", self.name, "tso", state, "gso", state, "gro", state])
        if emulation:
            batch(self.node, "tc", emulation.commands(self.name))
        return result

    def expected(self):
        """Return the qdiscs that this interface should have, by kind."""
        return self.emulation.expected() if self.emulation else {"noqueue": {}}

    def read_back(self):
        """Ask the kernel for this interface's qdiscs and offloads.

        Returns
        -------
        dict
            ``qdiscs`` in the units of `expected`, ``offloads`` name -> bool.
        """
        qdiscs = run_json(self.node, ["tc", "-j", "qdisc", "show", "dev", self.name])
        classes = []
        if any(qdisc["kind"] == "htb" for qdisc in qdiscs):
            classes = run_json(self.node, ["tc", "-j", "class", "show", "dev", self.name])
        features = run_json(self.node, ["ethtool", "--json", "-k", self.name])[0]
        return {
            "qdiscs": parse_qdiscs(qdiscs, classes),
            "offloads": {name: features[name]["active"] for name in OFFLOADS},
        }


class EmulatedLink(Link):
    """A veth pair whose two ends are `EmulatedInterface` objects."""

    def __init__(self, node1, node2, **params):
        # Mininet passes its own default interface class along.
        super().__init__(node1, node2, **(params | {"intf": EmulatedInterface}))
