"""A Mininet host without a shell: a network namespace that this process enters to start a program or to query the kernel.

Mininet's own host runs a shell with a terminal, and starts two extra programs for each program. All these processes would take a third
of a run's time, not counting the traffic.
"""

import os
import subprocess
from typing import Never

from mininet.node import Host

from testbed.network.devices import bring_up
from testbed.network.netlink import NETLINK_ROUTE, Channel, network_namespace


class BareHost(Host):
    """A host in a separate network namespace.

    ``namespace`` is the namespace's file descriptor. ``route`` is the `Channel` that queries the kernel for devices and queues.
    """

    #: Keeps Mininet from checking whether the programs that its own host class needs are installed.
    isSetup = True

    def startShell(self, mnopts=None) -> None:
        """Create the network namespace (called by Mininet when it creates the host)."""
        ours = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        os.unshare(os.CLONE_NEWNET)
        self.namespace = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        os.setns(ours, os.CLONE_NEWNET)
        os.close(ours)
        self.route = Channel(self, NETLINK_ROUTE)

    def config(self, **params) -> dict:
        """Bring the loopback device up (called by Mininet at the start); `addresses.assign` configures the other devices."""
        bring_up(self, "lo")
        return {}

    def cmd(self, *arguments, **options) -> Never:
        """Raise `RuntimeError`, because there is no shell."""
        raise RuntimeError(f"{self.name} has no shell for: {' '.join(map(str, arguments))}")

    def popen(self, command, **options) -> subprocess.Popen:
        """Start a program in the namespace, in a separate session; by default the program's output goes to pipes."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with network_namespace(self):
            return subprocess.Popen(command, **(pipes | options), start_new_session=True)
