"""A token-bucket policer in front of a direction's bottleneck: it drops packets in excess of a rate and a burst, and never queues them.

Linux's police action (tc-police(8)) applies to packets that arrive from hosts at r1 (in reverse, at r2). All hosts share one bucket. The
policer counts bytes as the bottleneck does: the overhead replaces the Ethernet header, which arriving packets no longer have.
"""

import struct
from dataclasses import dataclass

from experiment.packet_sizes import ETHERNET_HEADER_BYTES, MTU_BYTES
from experiment.shaper_units import TICK_NS, rate_bps
from testbed.network.netlink import attributes
from testbed.readings.queue_information import MESSAGE

RTM_GETTFILTER = 46
#: Parent of the filters for arriving packets (include/uapi/linux/pkt_sched.h).
INGRESS_FILTERS = 0xFFFFFFF2
TCA_OPTIONS = TCA_MATCHALL_ACT = TCA_ACT_OPTIONS = 2
FIRST_ACTION = TCA_POLICE_TBF = 1
TC_ACT_SHOT = 2
#: Beginning of struct tc_police: index, action, limit, burst (in ticks), mtu, struct tc_ratespec.
POLICE = struct.Struct("=IiIII2B2hHI")
#: Number of the police action in the router; all interfaces share this action.
INDEX = 1
#: Direction -> router at which packets of this direction arrive from the hosts.
POLICED_AT = {"forward": "r1", "reverse": "r2"}


@dataclass(frozen=True)
class Policer:
    """Rate and burst of a policer; a router's ``first`` interface creates the policer, and the other interfaces share it."""

    rate_mbps: float
    burst_bytes: int
    first: bool = True
    mtu_bytes: int = MTU_BYTES

    def commands(self, device) -> list[str]:
        """Return the lines for ``tc -batch``."""
        bucket = f"rate {rate_bps(self.rate_mbps)}bit burst {self.burst_bytes} overhead {ETHERNET_HEADER_BYTES} conform-exceed drop"
        # With the default mtu, the policer would treat all packets above 2,047 bytes as exceeding the rate.
        bucket += f" mtu {self.mtu_bytes + ETHERNET_HEADER_BYTES}" if self.mtu_bytes > MTU_BYTES else ""
        made = f"{bucket} index {INDEX}" if self.first else f"index {INDEX}"
        return [f"qdisc add dev {device} ingress", f"filter add dev {device} ingress matchall action police {made}"]

    def expected(self) -> dict[str, float]:
        """Return the expected result of `read_policer`."""
        return {"rate_mbps": rate_bps(self.rate_mbps) / 1e6, "burst_bytes": self.burst_bytes, "overhead_bytes": ETHERNET_HEADER_BYTES, "exceed": "drop", "index": INDEX}  # fmt: skip


def read_policer(node, index) -> dict | None:
    """Return the policer at a device's ingress as read from the kernel, in the form of `Policer.expected`; None without a policer.

    ``index`` is the device's index. The policer is read over netlink, because tc's JSON omits rate and burst.
    """
    request = MESSAGE.pack(0, index, 0, INGRESS_FILTERS, 0)
    filters = node.route.ask(RTM_GETTFILTER, request, "policer", _police)
    return next((one for one in filters if one), None)


def _police(buffer, start, end):
    """Parse the struct tcmsg of a filter, and return the policer in the form of `Policer.expected`, or None."""
    at = start + MESSAGE.size, end
    # A message with only the filter's priority precedes the message with the filter's content.
    for kind in (TCA_OPTIONS, TCA_MATCHALL_ACT, FIRST_ACTION, TCA_ACT_OPTIONS, TCA_POLICE_TBF):
        inside = attributes(buffer, *at)
        if kind not in inside:
            return None
        at = inside[kind]
    index, action, _, burst, _, _, _, overhead, _, _, rate = POLICE.unpack_from(buffer, at[0])
    return {
        "rate_mbps": rate * 8 / 1e6,
        "burst_bytes": round(burst * TICK_NS * rate / 1e9),
        "overhead_bytes": overhead,
        "exceed": "drop" if action == TC_ACT_SHOT else f"{action}",
        "index": index,
    }


def drops(document, direction) -> int | None:
    """Return the number of packets that a direction's policer dropped during the traffic, or None without a policer."""
    router = f"{POLICED_AT[direction]}-"
    interfaces = [name for name in document["network"]["set"].get("policer", {}) if name.startswith(router)]
    if not interfaces:
        return None
    before, after = (
        sum(document["links"][when][name]["qdiscs"]["ingress"]["drops"] for name in interfaces)
        for when in ("before", "after")
    )
    return after - before
