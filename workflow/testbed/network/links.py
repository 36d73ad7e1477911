"""Links with exactly the requested effects, built on Mininet's interfaces.

Mininet's TCLink ignores rates above 1000 Mbit/s, continues after tc errors, leaves segmentation offload on, uses netem's queue as the
bottleneck's queue as well, and applies delay and loss at both ends. Here each interface has at most one emulation and a separate queue, and
the settings can be read back. tc is called once per host to set everything (`emulate`) and once to read everything back (`read_back`). On
hosts without settings tc isn't called at all.
"""

from mininet.link import Intf, Link

from testbed.network import devices, sysctl
from testbed.network.commands import batch, batch_json
from testbed.network.emulation import parse_qdiscs
from testbed.network.policer import read_policer
from testbed.readings.queue_information import kinds_of


class EmulatedInterface(Intf):
    """A Mininet interface with explicitly set offloads and at most one emulated element (a bottleneck or a netem).

    ``leads_to`` is the name of the ifb that arriving packets pass through (`Arrivals`), or None. ``policer`` is the `policer.Policer` that
    is applied to arriving packets before the ifb, or None.
    """

    leads_to = policer = None

    def config(
        self, emulation=None, segmentation_offload=False, single_packets=False, mtu_bytes=None, **params
    ) -> dict:
        """Configure the interface, except for the settings made by tc (`emulate`); Mininet calls this when it creates the link.

        Raises `SettingError` or `netlink.NetlinkError` if the kernel refuses a parameter.

        Parameters
        ----------
        emulation : Bottleneck or Netem, optional
            Emulation of the interface. None leaves the kernel's default qdisc (noqueue on veth).
        segmentation_offload : bool
            Whether the device's offloads are on.
        single_packets : bool
            Whether TCP on this host creates only individual packets (`RunSpecification.single_packets`).
        mtu_bytes : int, optional
            MTU of the interface in bytes, that is, the maximum size of an IP packet. None leaves Ethernet's MTU.
        """
        # Mininet would start ifconfig to bring the interface up; `addresses.assign` brings it up along with everything else.
        result = super().config(**(params | {"up": None}))
        self.emulation, self.single_packets, self.mtu_bytes = emulation, single_packets, mtu_bytes
        devices.set_offloads(self.node, self.name, segmentation_offload)
        if single_packets:
            devices.set_single_packets(self.node, self.name)
        if mtu_bytes:
            devices.set_mtu(self.node, self.name, mtu_bytes)
        return result

    def commands(self) -> list[str]:
        """Return the lines for ``tc -batch``."""
        own = [effect for effect in (self.emulation, self.policer) if effect]
        return [line for effect in own for line in effect.commands(self.name)]

    def expected(self) -> dict[str, dict]:
        """Return the expected qdiscs of this interface, by kind."""
        arriving = {"ingress": {}} if self.leads_to or self.policer else {}
        return (self.emulation.expected() if self.emulation else {"noqueue": {}}) | arriving

    def read_back(self, qdiscs, _, known) -> dict:
        """Return the kernel's settings for this interface: ``qdiscs`` in the units of `expected`, and the state of ``offloads`` by name.

        Depending on the configuration, ``policer``, ``mtu_bytes`` and ``gso_max_segs`` are included.

        Parameters
        ----------
        qdiscs : dict
            Result of `parse_qdiscs` for the interface.
        known : dict
            Result of `devices.device` for the interface.
        """
        state = {"qdiscs": qdiscs, "offloads": devices.read_offloads(self.node, self.name)}
        state |= {"policer": read_policer(self.node, known["index"])} if self.policer else {}
        state |= {"mtu_bytes": known["mtu_bytes"]} if self.mtu_bytes else {}
        return state | ({"gso_max_segs": known["gso_max_segs"]} if self.single_packets else {})


class Arrivals:
    """Effects on packets that arrive at an interface: a netem on an ifb to which the interface's ingress is redirected.

    A cable needs this because it has no router behind the bottleneck, and netem must not be on a sending host.

    Parameters
    ----------
    interface : EmulatedInterface
        Interface at which the packets arrive.
    name : str
        Name of the ifb.
    emulation : Netem
        The effects.
    queue_packets : int, optional
        Length of the ifb's own queue; by default the kernel's.
    """

    def __init__(self, interface, name, emulation, queue_packets=None):
        self.interface, self.node, self.name, self.emulation = interface, interface.node, name, emulation
        interface.leads_to = name
        devices.add(self.node, name, "ifb", queue_packets=queue_packets)
        # The ifb's own neighbour discovery would be dropped and counted, because an ifb passes only redirected packets.
        sysctl.write(self.node, {f"net.ipv6.conf.{name}.disable_ipv6": 1})
        devices.bring_up(self.node, name)

    def commands(self) -> list[str]:
        """Return the lines for ``tc -batch``."""
        redirect = f"matchall action mirred egress redirect dev {self.name}"
        here = self.interface.name
        lines = [f"qdisc add dev {here} ingress", f"filter add dev {here} ingress {redirect}"]
        return [*lines, *self.emulation.commands(self.name)]

    def expected(self) -> dict[str, dict]:
        """Return the expected qdiscs of the ifb, by kind."""
        return self.emulation.expected()

    def read_back(self, qdiscs, filters, _) -> dict:
        """Return the kernel's settings for the ifb: ``qdiscs``, and the interface whose ingress is redirected to the ifb.

        ``filters`` are the filters of that interface as printed by tc.
        """
        targets = [a["to_dev"] for f in filters for a in f.get("options", {}).get("actions", ()) if "to_dev" in a]
        return {"qdiscs": qdiscs, "arrivals_of": self.interface.name if targets == [self.name] else None}


class EmulatedLink(Link):
    """A veth pair whose two ends are `EmulatedInterface` objects."""

    def __init__(self, node1, node2, **params):
        # Mininet also passes its own default interface class.
        super().__init__(node1, node2, **(params | {"intf": EmulatedInterface}))

    @classmethod
    def makeIntfPair(cls, name1, name2, addr1=None, addr2=None, node1=None, node2=None, deleteIntfs=True) -> None:
        """Create the pair (called by Mininet), with each end directly in its host."""
        devices.join(node1, name1, node2, name2)


def emulate(path) -> None:
    """Set up the emulation of all devices of a `topology.NetworkPath` with tc.

    Raises `commands.CommandError` if tc refuses a parameter.
    """
    for node, own in path.devices_by_node.items():
        batch(node, "tc", [line for device in own for line in device.commands()])


def read_back(path) -> dict[str, dict]:
    """Return the kernel's settings for all devices of a `topology.NetworkPath`, by the device's name.

    The settings are as returned by `EmulatedInterface.read_back` or `Arrivals.read_back`.
    """
    of_devices = {}
    for node, own in path.devices_by_node.items():
        known = devices.devices_of(node)
        # Some parameters of a discipline appear only in the details and statistics.
        details = () if path.drop_tail else ("-details", "-statistics")
        read = read_by_tc if any(device.commands() for device in own) else read_by_kernel
        for device, (qdiscs, filters) in zip(own, read(node, own, known, details), strict=True):
            of_devices[device.name] = device.read_back(qdiscs, filters, known[device.name])
    return of_devices


def read_by_tc(node, own, _, details) -> list[tuple[dict, list]]:
    """Return (qdiscs, filters) for each of a node's devices, read with tc.

    ``own`` are the node's devices. The qdiscs are the result of `parse_qdiscs`; the filters are tc's filters for arriving packets.
    """
    questions = [
        question
        for device in own
        for question in (
            f"qdisc show dev {device.name}",
            f"class show dev {device.name}",
            f"filter show dev {getattr(device, 'interface', device).name} ingress",
        )
    ]
    answers = iter(batch_json(node, "tc", questions, *details))
    return [
        (parse_qdiscs(qdiscs, classes), filters)
        for qdiscs, classes, filters in zip(answers, answers, answers, strict=True)
    ]


def read_by_kernel(node, own, known, _) -> list[tuple[dict, list]]:
    """Return the same as `read_by_tc` for devices without settings: the kinds of their default qdiscs, and no filters."""
    kinds = {name: {} for name in known}
    names = {device["index"]: name for name, device in known.items()}
    for index, kind in kinds_of(node):
        kinds[names[index]][kind] = {}
    return [(kinds[device.name], []) for device in own]
