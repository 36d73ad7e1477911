"""What this machine's kernel can do of what a network needs, found by trying.

``python3 kernel_features.py`` enters user and network namespaces of its own, asks the kernel there
for each part, in the words of tc(8) and ip(8), and prints what came of it as JSON. So a
module that the kernel loads by itself counts as there, just as it will in a run; nothing of it stays.
"""
import contextlib
import ctypes
import errno
import json
import os
import socket
import struct
import sys
from pathlib import Path

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
NETLINK_ROUTE, NETLINK_GENERIC = 0, 16
NLM_F_REQUEST, NLM_F_ACK, NLM_F_EXCL, NLM_F_CREATE = 0x1, 0x4, 0x200, 0x400
NLMSG_ERROR = 2
RTM_NEWLINK, RTM_NEWQDISC, RTM_NEWTFILTER = 16, 36, 44
#: Where a qdisc stands (include/uapi/linux/pkt_sched.h), and the handle of one for what arrives.
ROOT, INGRESS, INGRESS_HANDLE = 0xFFFFFFFF, 0xFFFFFFF1, 0xFFFF0000
TCA_KIND = IFLA_INFO_KIND = TCA_ACT_KIND = FIRST_ACTION = 1
TCA_OPTIONS = TCA_MATCHALL_ACT = 2
IFLA_IFNAME, IFLA_LINKINFO = 3, 18
#: The generic netlink family that knows the others (genetlink), its question for one by name.
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME = 16, 3, 2
#: A filter's priority (1) and protocol (all, ETH_P_ALL), as tcm_info has them.
FILTER_INFO = 1 << 16 | socket.htons(3)
#: How the kernel says that it does not know a kind: of qdiscs, filters, actions, families; of devices.
UNKNOWN = (errno.ENOENT, errno.EOPNOTSUPP)
QDISCS = ("htb", "netem", "pfifo", "bfifo", "ingress")
DEVICES = ("veth", "ifb", "gretap", "ip6gretap", "bond")


def attribute(kind, payload):
    """Return a netlink attribute; text gets the zero byte at its end that the kernel expects."""
    payload = payload.encode() + b"\0" if isinstance(payload, str) else payload
    return struct.pack("=HH", 4 + len(payload), kind) + payload + b"\0" * (-len(payload) % 4)


def ask(protocol, kind, body):
    """Send one request, which creates something, and return the kernel's errno (0: done)."""
    flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, protocol) as channel:
        channel.settimeout(10)  # a module that is being loaded
        channel.send(struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body)
        while True:
            answer = channel.recv(65536)
            if struct.unpack_from("=H", answer, 4)[0] == NLMSG_ERROR:
                return -struct.unpack_from("=i", answer, 16)[0]


def traffic_control(kind, name, parent=ROOT, handle=0, info=0, options=b""):
    """Ask for a qdisc or a filter on the loopback device and return the errno."""
    message = struct.pack("=B3xiIII", 0, socket.if_nametoindex("lo"), handle, parent, info)
    return ask(NETLINK_ROUTE, kind, message + attribute(TCA_KIND, name) + options)


def qdisc(name):
    """Ask for a qdisc of this kind."""
    if name == "ingress":
        return traffic_control(RTM_NEWQDISC, name, INGRESS, INGRESS_HANDLE)
    return traffic_control(RTM_NEWQDISC, name)


def arrivals_filter(action=None):
    """Ask for the filter matchall of what arrives, which needs the ingress qdisc; with an action, if one is named."""
    options = b""
    if action:
        first = attribute(FIRST_ACTION, attribute(TCA_ACT_KIND, action))
        options = attribute(TCA_OPTIONS, attribute(TCA_MATCHALL_ACT, first))
    return traffic_control(RTM_NEWTFILTER, "matchall", INGRESS_HANDLE, info=FILTER_INFO, options=options)


def device(name):
    """Ask for a network device of this kind."""
    body = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + attribute(IFLA_IFNAME, f"try-{name}")
    return ask(NETLINK_ROUTE, RTM_NEWLINK, body + attribute(IFLA_LINKINFO, attribute(IFLA_INFO_KIND, name)))


def family(name):
    """Ask for a family of generic netlink by its name."""
    body = struct.pack("=BBH", CTRL_CMD_GETFAMILY, 1, 0) + attribute(CTRL_ATTR_FAMILY_NAME, name)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_GENERIC) as channel:
        channel.settimeout(10)
        channel.send(struct.pack("=IHHII", 16 + len(body), GENL_ID_CTRL, NLM_F_REQUEST, 1, 0) + body)
        answer = channel.recv(65536)
    return -struct.unpack_from("=i", answer, 16)[0] if struct.unpack_from("=H", answer, 4)[0] == NLMSG_ERROR else 0


def features():
    """Return part -> whether the kernel has it; to be called in namespaces of its own."""
    tried = {name: qdisc(name) for name in QDISCS}
    tried |= {"matchall": arrivals_filter(), "mirred": arrivals_filter("mirred"), "fou": family("fou")}
    tried |= {name: device(name) for name in DEVICES}
    refused = [name for name, number in tried.items() if number == errno.EPERM]
    if refused:
        raise PermissionError(errno.EPERM, f"{os.strerror(errno.EPERM)} ({', '.join(refused)})")
    has = {name: number not in UNKNOWN for name, number in tried.items()}
    return has | {"mptcp": Path("/proc/sys/net/mptcp/enabled").exists()}


def enter_namespaces():
    """Enter a user and a network namespace of its own; raise OSError if the machine refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def ccas(which):
    """Return the CCAs that the kernel has (``available``) or lets anyone make a default (``allowed``)."""
    with contextlib.suppress(OSError):
        return sorted(Path(f"/proc/sys/net/ipv4/tcp_{which}_congestion_control").read_text().split())
    return []


def main():
    """Print what the kernel has, or why namespaces are refused."""
    found = {"kernel": os.uname().release, "ccas": ccas("available"), "ccas_allowed": ccas("allowed"), "refused": None, "parts": {}}
    try:
        enter_namespaces()
        found["parts"] = features()
    except OSError as error:
        found["refused"] = error.strerror or str(error)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
