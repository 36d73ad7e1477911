"""Build the testbed's path h1 - r1 - r2 - h2 on the machine's own kernel, without emulation or segmentation offload.

The path is built in the testbed's image, as root in separate namespaces (``unshare --user --map-root-user --net --mount``).
"""

from mininet.net import Mininet

from testbed.network import devices, sysctl
from testbed.network.bare_host import BareHost
from testbed.network.commands import batch

#: Both ends of each link: host, device, address.
LINKS = [
    (("h1", "h1-eth0", "10.0.1.2"), ("r1", "r1-eth0", "10.0.1.1")),
    (("r1", "r1-eth1", "10.0.12.1"), ("r2", "r2-eth1", "10.0.12.2")),
    (("r2", "r2-eth0", "10.0.2.1"), ("h2", "h2-eth0", "10.0.2.2")),
]
ROUTES = {
    "h1": "default via 10.0.1.1",
    "r1": "10.0.2.0/24 via 10.0.12.2",
    "r2": "10.0.1.0/24 via 10.0.12.1",
    "h2": "default via 10.0.2.1",
}


def host_path() -> Mininet:
    """Build the path, and return it as a Mininet network."""
    net = Mininet(controller=None, host=BareHost)
    node = {name: net.addHost(name, ip=None) for name in ROUTES}
    for (host, device, _), (other, other_device, _) in LINKS:
        devices.join(node[host], device, node[other], other_device)
    net.start()
    for name, route in ROUTES.items():
        ends = [end for link in LINKS for end in link if end[0] == name]
        for _, device, _ in ends:
            devices.set_offloads(node[name], device, False)
        lines = [f"{line} dev {end[1]}" for end in ends for line in (f"address add {end[2]}/24", "link set up")]
        batch(node[name], "ip", [*lines, f"route add {route}"])
        sysctl.write(node[name], {"net.ipv4.ip_forward": 1})
    return net
