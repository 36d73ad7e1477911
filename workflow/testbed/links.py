"""Links that do what their parameters say, on top of Mininet's interface.

Mininet's TCLink ignores rates above 1000 Mbit/s, prints tc's errors and goes on,
leaves segmentation offload on, shares netem's queue with the bottleneck's, and
applies delay and loss at both ends. Here each interface gets exactly one
emulation, its own queue, and can be read back.
"""
from dataclasses import dataclass

from mininet.link import Intf, Link

from .commands import batch, run, run_json
from .specification import PACKET_BYTES

#: netem's limit where it only delays: more packets than any path here can hold.
NETEM_LIMIT_PACKETS = 1_000_000
#: Segmentation and its reverse, by ethtool's names.
OFFLOADS = ("tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload")
#: The largest packet with segmentation offload (GSO_MAX_SIZE).
SUPER_PACKET_BYTES = 65_536


@dataclass(frozen=True)
class Bottleneck:
    """A rate and, in front of it, a drop-tail queue (htb with a fifo below).

    Exactly one of ``queue_packets`` and ``queue_bytes`` is set. ``burst_bytes``
    is what htb may send at once after idle time; one packet, since the guest's
    timers are exact (a super-packet where segmentation offload is on).
    """

    rate_mbps: float
    queue_packets: int | None
    queue_bytes: int | None
    burst_bytes: int = PACKET_BYTES

    def commands(self, device):
        """Return the lines for ``tc -batch``."""
        rate = f"{round(self.rate_mbps * 1e6)}bit"
        burst = f"burst {self.burst_bytes} cburst {self.burst_bytes} quantum {self.burst_bytes}"
        fifo = (
            f"pfifo limit {self.queue_packets}"
            if self.queue_packets is not None
            else f"bfifo limit {self.queue_bytes}"
        )
        return [
            f"qdisc replace dev {device} root handle 1: htb default 1",
            f"class replace dev {device} parent 1: classid 1:1 htb rate {rate} ceil {rate} {burst}",
            f"qdisc replace dev {device} parent 1:1 handle 10: {fifo}",
        ]

    def expected(self):
        """Return what `EmulatedInterface.read_back` must give."""
        kind, limit = (
            ("pfifo", self.queue_packets) if self.queue_packets is not None else ("bfifo", self.queue_bytes)
        )
        return {"htb": {"rate_bps": round(self.rate_mbps * 1e6)}, kind: {"limit": limit}}


@dataclass(frozen=True)
class Netem:
    """Delay, jitter and random loss of one direction, with a seed of its own."""

    delay_ms: float
    jitter_ms: float
    loss_percent: float
    seed: int
    limit_packets: int = NETEM_LIMIT_PACKETS

    def commands(self, device):
        """Return the lines for ``tc -batch``."""
        delay = f"delay {self.delay_ms:.6f}ms"
        if self.jitter_ms:
            delay += f" {self.jitter_ms:.6f}ms"
        loss = f" loss random {self.loss_percent:.7f}%" if self.loss_percent else ""
        return [
            f"qdisc replace dev {device} root handle 20: netem limit {self.limit_packets} "
            f"{delay}{loss} seed {self.seed}"
        ]

    def expected(self):
        """Return what `EmulatedInterface.read_back` must give."""
        return {
            "netem": {
                "delay_ms": self.delay_ms,
                "jitter_ms": self.jitter_ms,
                "loss_percent": self.loss_percent,
                "limit": self.limit_packets,
                "seed": self.seed,
            }
        }


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
        result = super().config(**params)
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

    def counters(self):
        """Return the statistics of this interface's qdiscs: kind -> counters."""
        qdiscs = run_json(self.node, ["tc", "-s", "-j", "qdisc", "show", "dev", self.name])
        return {
            qdisc["kind"]: {
                "packets": qdisc.get("packets", 0),
                "bytes": qdisc.get("bytes", 0),
                "drops": qdisc.get("drops", 0),
                "overlimits": qdisc.get("overlimits", 0),
                "backlog_packets": qdisc.get("qlen", 0),
            }
            for qdisc in qdiscs
        }


class EmulatedLink(Link):
    """A veth pair whose two ends are `EmulatedInterface` objects."""

    def __init__(self, node1, node2, **params):
        # Mininet passes its own default interface class along.
        super().__init__(node1, node2, **(params | {"intf": EmulatedInterface}))


def parse_qdiscs(qdiscs, classes):
    """Translate tc's JSON into the units of a specification.

    Parameters
    ----------
    qdiscs, classes : list of dict
        Output of ``tc -j qdisc show`` and ``tc -j class show`` for one device.

    Returns
    -------
    dict
        kind -> parameters: rates in bit/s, times in ms, loss in percent.
    """
    parsed = {}
    for qdisc in qdiscs:
        kind, options = qdisc["kind"], qdisc.get("options", {})
        if kind == "htb":
            # tc prints rates in bytes per second.
            parsed[kind] = {"rate_bps": round(classes[0]["rate"] * 8)} if classes else {}
        elif kind in ("pfifo", "bfifo"):
            parsed[kind] = {"limit": options["limit"]}
        elif kind == "netem":
            delay = options.get("delay", {})
            parsed[kind] = {
                "delay_ms": delay.get("delay", 0) * 1e3,
                "jitter_ms": delay.get("jitter", 0) * 1e3,
                "loss_percent": options.get("loss-random", {}).get("loss", 0) * 100,
                "limit": options["limit"],
                "seed": options.get("seed"),
            }
        else:
            parsed[kind] = {}
    return parsed
