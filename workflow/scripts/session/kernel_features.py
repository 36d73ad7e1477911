"""Test this machine's kernel for the features that emulated networks need, by trying each feature.

``python3 -m session.kernel_features`` enters separate namespaces, as a run does (`testbed.machine.host`), and tries the mounts
of a run. It then requests each part from the kernel, under the part's name in tc(8) or ip(8), and prints the results as JSON.
A module that the kernel loads on request counts as available and stays loaded, as in a run. Everything else disappears with
the namespaces.

The netlink messages have the same form as in `testbed.network.netlink`, but the requests differ. That module sends requests to
another network namespace, reads existing objects and never waits. This module creates objects, for which the kernel may first
have to load a module.
"""

import contextlib
import ctypes
import errno
import json
import os
import socket
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path

from experiment.disciplines import OF_KIND
from testbed.machine.host_init import mount, prepare
from testbed.network.netlink import ATTRIBUTE, BUFFER_BYTES, ERROR_NUMBER, HEADER, NLM_F_REQUEST, NLMSG_ERROR, messages

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x10000000, 0x20000000, 0x40000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
#: Argument that makes this program try only the mounts.
TRY_MOUNTS = "mounts"
#: Time in s that the kernel may take to respond; it may have to load a module first.
ANSWER_S = 10
NETLINK_ROUTE, NETLINK_GENERIC = 0, 16
NLM_F_ACK, NLM_F_EXCL, NLM_F_CREATE = 0x4, 0x200, 0x400
RTM_NEWLINK, RTM_NEWQDISC, RTM_NEWTFILTER = 16, 36, 44
#: Parents of a qdisc (include/uapi/linux/pkt_sched.h), and handle of the qdisc for arriving packets.
ROOT, INGRESS, INGRESS_HANDLE = 0xFFFFFFFF, 0xFFFFFFF1, 0xFFFF0000
TCA_KIND = IFLA_INFO_KIND = TCA_ACT_KIND = FIRST_ACTION = 1
TCA_OPTIONS = TCA_MATCHALL_ACT = 2
IFLA_IFNAME, IFLA_LINKINFO, IFLA_INFO_DATA = 3, 18, 2
#: Attributes of a GRE tunnel (include/uapi/linux/if_tunnel.h): remote address, and type of encapsulation with its value for UDP.
IFLA_GRE_REMOTE, IFLA_GRE_ENCAP_TYPE, TUNNEL_ENCAP_FOU = 7, 14, 1
#: The generic netlink family that lists all families (genetlink), and its request for a family by name.
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME = 16, 3, 2
#: A filter's priority (1) and protocol (all, ETH_P_ALL) in the form of tcm_info.
FILTER_INFO = 1 << 16 | socket.htons(3)
#: The kernel's errors for an unknown kind of qdisc, filter, action or family, and for an unknown kind of device.
UNKNOWN = (errno.ENOENT, errno.EOPNOTSUPP)
#: Kind of tunnel -> remote address of a tunnel in UDP (RFC 5737, RFC 3849). A tunnel without UDP is requested without a remote address.
REMOTE = {
    "gretap": socket.inet_pton(socket.AF_INET, "192.0.2.1"),
    "ip6gretap": socket.inet_pton(socket.AF_INET6, "2001:db8::1"),
}


def _attribute(kind, payload):
    """Return a netlink attribute; text is terminated by a zero byte, as the kernel expects."""
    payload = payload.encode() + b"\0" if isinstance(payload, str) else payload
    return ATTRIBUTE.pack(ATTRIBUTE.size + len(payload), kind) + payload + b"\0" * (-len(payload) % 4)


def _ask(protocol, kind, body, flags=NLM_F_CREATE | NLM_F_EXCL):
    """Send a request, by default for creating an object, and return the kernel's errno (0 for success)."""
    number = 1
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, protocol) as channel:
        channel.settimeout(ANSWER_S)
        head = HEADER.pack(HEADER.size + len(body), kind, NLM_F_REQUEST | NLM_F_ACK | flags, number, 0)
        channel.send(head + body)
        while True:
            answer = channel.recv(BUFFER_BYTES)
            for answer_kind, start, _ in messages(answer, len(answer), number):
                if answer_kind == NLMSG_ERROR:
                    return -ERROR_NUMBER.unpack_from(answer, start)[0]


def _traffic_control(kind, name, parent=ROOT, handle=0, info=0, options=b""):
    """Request a qdisc or a filter on the loopback device and return the errno."""
    message = struct.pack("=B3xiIII", 0, socket.if_nametoindex("lo"), handle, parent, info)
    return _ask(NETLINK_ROUTE, kind, message + _attribute(TCA_KIND, name) + options)


def _qdisc(name):
    """Request a qdisc of the given kind and return the errno."""
    place = (INGRESS, INGRESS_HANDLE) if name == "ingress" else ()
    return _traffic_control(RTM_NEWQDISC, name, *place)


def _arrivals_filter(action=None):
    """Request a matchall filter for arriving packets, with an optional action, and return the errno.

    The filter needs the ingress qdisc.
    """
    options = b""
    if action:
        first = _attribute(FIRST_ACTION, _attribute(TCA_ACT_KIND, action))
        options = _attribute(TCA_OPTIONS, _attribute(TCA_MATCHALL_ACT, first))
    return _traffic_control(RTM_NEWTFILTER, "matchall", INGRESS_HANDLE, info=FILTER_INFO, options=options)


def _device(kind, name=None, data=b""):
    """Request a network device of the given kind and return the errno; ``data`` contains the attributes specific to the kind."""
    body = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + _attribute(IFLA_IFNAME, name or f"try-{kind}")
    kind = _attribute(IFLA_INFO_KIND, kind) + (_attribute(IFLA_INFO_DATA, data) if data else b"")
    return _ask(NETLINK_ROUTE, RTM_NEWLINK, body + _attribute(IFLA_LINKINFO, kind))


def _tunnel_in_udp(kind):
    """Request a tunnel of the given kind in UDP and return the errno.

    A kernel that has the tunnel and ``fou`` may still not support the combination.
    """
    around = _attribute(IFLA_GRE_ENCAP_TYPE, struct.pack("=H", TUNNEL_ENCAP_FOU))
    number = _device(kind, f"try-fou{len(REMOTE[kind])}", _attribute(IFLA_GRE_REMOTE, REMOTE[kind]) + around)
    return errno.EOPNOTSUPP if number == errno.EINVAL else number


def family(name) -> int:
    """Request a generic netlink family by name and return the errno."""
    body = struct.pack("=BBH", CTRL_CMD_GETFAMILY, 1, 0) + _attribute(CTRL_ATTR_FAMILY_NAME, name)
    return _ask(NETLINK_GENERIC, GENL_ID_CTRL, body, flags=0)


#: Part of the kernel (`host_needs.PARTS`) -> function that requests the part. ``fou`` is a generic netlink family. The order
#: matters: the filter ``matchall`` needs the qdisc ``ingress``.
ATTEMPTS = {
    **{name: partial(_qdisc, name) for name in ("htb", "tbf", "netem", *OF_KIND, "ingress")},
    "matchall": _arrivals_filter,
    "mirred": partial(_arrivals_filter, "mirred"),
    "police": partial(_arrivals_filter, "police"),
    "fou": partial(family, "fou"),
    **{kind: partial(_device, kind) for kind in ("veth", "ifb", "gretap", "ip6gretap", "bond")},
    **{f"fou for {kind}": partial(_tunnel_in_udp, kind) for kind in REMOTE},
}


def _features():
    """Return which parts the kernel has (part -> bool); must be called in separate namespaces.

    Raises PermissionError if the kernel refuses an action that a namespace's root may take, and TimeoutError if the kernel doesn't respond.
    """
    tried = {}
    for name, attempt in ATTEMPTS.items():
        try:
            tried[name] = attempt()
        except TimeoutError:
            raise TimeoutError(errno.ETIMEDOUT, f"no answer within {ANSWER_S} s when asked for {name}") from None
    refused = [name for name, number in tried.items() if number == errno.EPERM]
    if refused:
        raise PermissionError(errno.EPERM, f"{os.strerror(errno.EPERM)} ({', '.join(refused)})")
    has = {name: number not in UNKNOWN for name, number in tried.items()}
    # Kernels since 6.18 support AccECN, and kernels since 7.0 report its use on a socket.
    tells_accurate_ecn = int(os.uname().release.partition(".")[0]) >= 7
    return has | {"mptcp": Path("/proc/sys/net/mptcp/enabled").exists(), "tcpi_ecn_mode": tells_accurate_ecn}


def enter_namespaces() -> bool:
    """Enter new user, network and PID namespaces as root; return whether the user namespace was created.

    If the machine refuses a user namespace to root, the function continues without one. Any other refusal raises OSError.
    """
    user, group = os.geteuid(), os.getegid()
    others = CLONE_NEWNET | CLONE_NEWPID
    try:
        _unshare(CLONE_NEWUSER | others)
    except OSError:
        if user != 0:
            raise
        _unshare(others)
        return False
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        Path("/proc/self", name).write_text(text)
    return True


def _unshare(namespaces):
    """Enter new namespaces (unshare(2)); raise OSError if the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(namespaces):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def mount_refusal() -> str:
    """Return the message for the first mount of a run that the machine refuses, or an empty string.

    Must be called in separate namespaces.
    """
    # In a child process, because the new PID namespace doesn't contain this process.
    program = [sys.executable, "-B", "-P", "-m", "session.kernel_features", TRY_MOUNTS]
    return subprocess.run(program, capture_output=True, text=True, check=True).stdout


def _try_mounts():
    """Try a run's mounts in a separate mount namespace; return the message for the first refused mount, or an empty string."""
    try:
        _unshare(CLONE_NEWNS)
        # Like unshare(1); otherwise, mounts made by root would also appear on the machine.
        mount("none", "/", flags=MS_REC | MS_PRIVATE)
        prepare("/usr")  # any folder in place of the job's
    except OSError as error:
        return _words_of(error)
    return ""


def _words_of(error):
    """Return the message of an OSError, preceded by the file name if the error names a file."""
    words = error.strerror or str(error)
    return f"{error.filename}: {words}" if error.filename else words


def _ccas(which):
    """Return the CCAs that the kernel has (``available``), or the CCAs that unprivileged processes may choose (``allowed``)."""
    with contextlib.suppress(OSError):
        return sorted(Path(f"/proc/sys/net/ipv4/tcp_{which}_congestion_control").read_text().split())
    return []


def main() -> None:
    """Print the kernel's features, or the step that the machine refuses (``namespaces``, ``mounts``, ``answer``) and the reason."""
    kernel = {
        "kernel": os.uname().release, "ccas": _ccas("available"), "ccas_allowed": _ccas("allowed"),
        "user_namespaces": False, "refuses": None, "refused": None, "parts": {},
    }  # fmt: skip
    try:
        kernel["user_namespaces"] = enter_namespaces()
        if refused := mount_refusal():
            kernel |= {"refuses": "mounts", "refused": refused}
        else:
            kernel["parts"] = _features()
    except TimeoutError as error:
        kernel |= {"refuses": "answer", "refused": _words_of(error)}
    except OSError as error:
        kernel |= {"refuses": "namespaces", "refused": _words_of(error)}
    json.dump(kernel, sys.stdout)


if __name__ == "__main__":
    if sys.argv[1:] == [TRY_MOUNTS]:
        print(_try_mounts(), end="")
    else:
        main()
