"""Links that do what their parameters say, on top of Mininet's interface.

Mininet's TCLink ignores rates above 1000 Mbit/s, prints tc's errors and goes on,
leaves segmentation offload on, shares netem's queue with the bottleneck's, and
applies delay and loss at both ends. Here each interface gets exactly one
emulation, its own queue, and can be read back.
"""

from mininet.link import Intf, Link

from .commands import batch, run, run_json
from .devices import set_single_packets
from .emulation import OFFLOADS, parse_qdiscs


class EmulatedInterface(Intf):
    """Mininet's interface with at most one emulation and stated offloads.

    ``leads_to`` is the ifb that packets pass when they arrive (`Arrivals`), or None.
    """

    leads_to = None

    def config(self, emulation=None, segmentation_offload=False, single_packets=False, **params) -> dict:
        """Configure the interface (called by Mininet when it makes the link).

        Parameters
        ----------
        emulation : Bottleneck or Netem, optional
            None leaves the kernel's default (noqueue on veth).
        segmentation_offload : bool
        single_packets : bool
            Whether TCP on this very host makes single packets. Without offload it still makes super-packets,
            which are cut behind the queueing discipline: a queue on a sending host would hold and count those.

        Raises
        ------
        commands.CommandError
            If tc or ethtool refuse a parameter.
        """
        # Mininet would start ifconfig to bring it up; `addresses.assign` does it with the rest.
        result = super().config(**(params | {"up": None}))
        self.emulation = emulation
        self.segmentation_offload = segmentation_offload
        state = "on" if segmentation_offload else "off"
        run(self.node, ["ethtool", "-K", self.name, "tso", state, "gso", state, "gro", state])
        self.single_packets = single_packets
        if single_packets:
            set_single_packets(self.node, self.name)
        if emulation:
            batch(self.node, "tc", emulation.commands(self.name))
        return result

    def expected(self) -> dict[str, dict]:
        """Return the qdiscs that this interface should have, by kind."""
        arriving = {"ingress": {}} if self.leads_to else {}
        return (self.emulation.expected() if self.emulation else {"noqueue": {}}) | arriving

    def read_back(self) -> dict:
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
        said = {
            "qdiscs": parse_qdiscs(qdiscs, classes),
            "offloads": {name: features[name]["active"] for name in OFFLOADS},
        }
        if self.single_packets:
            said["gso_max_segs"] = run_json(self.node, ["ip", "-d", "-j", "link", "show", "dev", self.name])[0][
                "gso_max_segs"
            ]
        return said


class Arrivals:
    """What happens to packets where they arrive: netem on an ifb that an interface's ingress is led through.

    On a cable there is no router behind the bottleneck, and netem does not belong on a host that sends.

    Parameters
    ----------
    interface : EmulatedInterface
    name : str
        Of the ifb.
    emulation : Netem
    """

    def __init__(self, interface, name, emulation):
        self.interface, self.node, self.name, self.emulation = interface, interface.node, name, emulation
        interface.leads_to = name
        run(self.node, ["ip", "link", "add", name, "type", "ifb"])
        # Its own neighbour discovery would be dropped, and counted: an ifb passes what it is led alone.
        run(self.node, ["sysctl", "-q", "-w", f"net.ipv6.conf.{name}.disable_ipv6=1"])
        run(self.node, ["ip", "link", "set", "dev", name, "up"])
        redirect = f"matchall action mirred egress redirect dev {name}"
        lines = [f"qdisc add dev {interface.name} ingress", f"filter add dev {interface.name} ingress {redirect}"]
        batch(self.node, "tc", [*lines, *emulation.commands(name)])

    def expected(self) -> dict[str, dict]:
        """Return the qdiscs that the ifb should have, by kind."""
        return self.emulation.expected()

    def read_back(self) -> dict:
        """Ask the kernel for the ifb's qdiscs, and for the interface whose ingress is led to it."""
        filters = run_json(self.node, ["tc", "-j", "filter", "show", "dev", self.interface.name, "ingress"])
        targets = [a["to_dev"] for f in filters for a in f.get("options", {}).get("actions", ()) if "to_dev" in a]
        return {
            "qdiscs": parse_qdiscs(run_json(self.node, ["tc", "-j", "qdisc", "show", "dev", self.name]), []),
            "arrivals_of": self.interface.name if targets == [self.name] else None,
        }


class EmulatedLink(Link):
    """A veth pair whose two ends are `EmulatedInterface` objects."""

    def __init__(self, node1, node2, **params):
        # Mininet passes its own default interface class along.
        super().__init__(node1, node2, **(params | {"intf": EmulatedInterface}))
