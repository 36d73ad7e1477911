"""Addresses, routes and neighbours of the network, in 10/8 and in 2001:db8::/32 (RFC 3849).

With IPv4, each link uses a network 10.PLACE.NUMBER/24. The places are:

- 0: links between routers;
- 1 and 2: the hosts' links at the two ends of the path;
- 3: a cable's paths;
- 4: the bonded tunnels of these paths;
- 5: control connections.

After every 256 links of a place, the second byte of the address increases by 16, as from 10.1/16 to 10.17/16.
"""

from ipaddress import ip_interface

from experiment.chain_names import attached, ends, routers
from testbed.network.devices import bring_up, devices_of
from testbed.network.routes import Route, set_up

PREFIX = {"ipv4": 24, "ipv6": 64}
#: Priority of the routes that the kernel creates for the networks of a node's own addresses. A route with another priority would not
#: replace such a route and would never be used.
ROUTE_PRIORITY = {"ipv4": 0, "ipv6": 256}
#: Addresses of a dumbbell's two routers on the link between them.
BETWEEN_ROUTERS = {
    "r1-eth1": {"ipv4": "10.0.12.1", "ipv6": "2001:db8:12::1"},
    "r2-eth1": {"ipv4": "10.0.12.2", "ipv6": "2001:db8:12::2"},
}
#: Number of links of a place that share the second byte of their IPv4 addresses, and increment of this byte for the next links.
LINKS_OF_A_PLACE, NEXT_PLACE = 256, 16
#: Number of the last bottleneck for which the numbers of its two routers form the third byte of the addresses (10.0.89.1). For later
#: bottlenecks the third byte is 100 plus the bottleneck's number (10.0.110.1 for the tenth).
LAST_BY_ROUTERS = 8
EVERYWHERE = {"ipv4": "0.0.0.0/0", "ipv6": "::/0"}


def access_interface(router, pair) -> str:
    """Return the name of a router's interface towards a host of a `Pair`; eth1 is the bottleneck's interface."""
    return f"{router}-eth{0 if pair.index == 0 else pair.index + 1}"


def link_address(place, number, last) -> dict[str, str]:
    """Return an address on a link, by IP version.

    ``number`` is the number of the link within its ``place``, and ``last`` is the last part of the address.
    """
    further, byte = divmod(number, LINKS_OF_A_PLACE)
    return {"ipv4": f"10.{place + NEXT_PLACE * further}.{byte}.{last}", "ipv6": f"2001:db8:{place}:{number:x}::{last}"}


def access_address(router, pair, last) -> dict[str, str]:
    """Return an address on the link between a router and a host of a pair, by IP version; ``last`` is the last part of the address."""
    return link_address(int(router.removeprefix("r")), pair.index + 1, last)


def router_routes(specification) -> dict[str, list[Route]]:
    """Return the routes of a dumbbell's routers, by router.

    Each route leads to the hosts behind the other router.
    """
    routes = {}
    for router, place, via in (("r1", 2, BETWEEN_ROUTERS["r2-eth1"]), ("r2", 1, BETWEEN_ROUTERS["r1-eth1"])):
        further = range(0, len(specification.pairs) // LINKS_OF_A_PLACE + 1)
        networks = [f"10.{place + NEXT_PLACE * one}.0.0/16" for one in further]
        routes[router] = [
            *(Route(network, via["ipv4"]) for network in networks),
            Route(f"2001:db8:{place}::/48", via["ipv6"]),
        ]
    return routes


def path_address(host, path) -> dict[str, str]:
    """Return the address of a cable's host (h1 or h2) on a path, by IP version; paths are numbered from 0."""
    return link_address(3, path + 1, host.removeprefix("h"))


def control_interface(host) -> str:
    """Return the name of a host's interface in the network of control connections."""
    return f"{host}-control"


def control_address(pair, host) -> dict[str, str]:
    """Return the address of the sender or receiver of a `Pair` in the network of control connections, by IP version."""
    return link_address(5, pair.index + 1, 1 if host == pair.sender else 2)


def tunnel_address(host) -> dict[str, str]:
    """Return the address of a cable's host inside the bonded tunnels, by IP version."""
    last = host.removeprefix("h")
    return {"ipv4": f"10.4.0.{last}", "ipv6": f"2001:db8:4::{last}"}


def destination(specification, pair, host) -> str:
    """Return the address at which the other host of a pair reaches ``host``."""
    version = specification.ip_version
    if not specification.is_cable:
        return host_address(pair, host, version)
    if specification.multipath.by == "gre":
        return tunnel_address(host)[version]
    return path_address(host, 0)[version]


def idle_destinations(specification) -> list[tuple[str, str, str]]:
    """Return (host, peer, peer's address) for each pair, or for each path of a cable.

    The direction from the host to the peer is ``forward``.
    """
    version = specification.ip_version
    if not specification.is_cable:
        return [(*p.ends, host_address(p, p.ends[1], version)) for p in specification.pairs]
    return [("h1", "h2", path_address("h2", path)[version]) for path in range(specification.paths)]


def host_address(pair, host, ip_version) -> str:
    """Return the address of the sender or receiver of a pair."""
    return access_address("r1" if host == pair.ends[0] else "r2", pair, 2)[ip_version]


def subflow_address(specification, host, path) -> dict[str, str]:
    """Return the address of h1 or h2 for the MPTCP subflow on a path, by IP version.

    On a dumbbell, a host's only interface has one address per subflow.
    """
    if specification.is_cable:
        return path_address(host, path)
    return access_address("r1" if host == "h1" else "r2", specification.pairs[0], 2 + path)


def further_addresses(specification) -> dict[str, list[dict[str, str]]]:
    """Return the additional addresses of each interface, which exist only for additional MPTCP subflows on a dumbbell."""
    if specification.is_cable or specification.multipath.by != "mptcp":
        return {}
    further = range(1, specification.paths)
    return {f"{host}-eth0": [subflow_address(specification, host, path) for path in further] for host in ("h1", "h2")}


def subflow_routes(specification, metrics) -> list[Route]:
    """Return h1's routes for MPTCP subflows on a dumbbell; each route leads from an address of h1 to the corresponding address of h2."""
    gateway, routes = access_address("r1", specification.pairs[0], 1), []
    for path in range(specification.paths) if further_addresses(specification) else ():
        here, there = (subflow_address(specification, host, path) for host in ("h1", "h2"))
        routes += [Route(there[v], gateway[v], source=here[v], metrics=metrics["sender"]) for v in PREFIX]
    return routes


def plan_addresses(specification) -> dict[str, dict[str, str]]:
    """Return the addresses of all interfaces, by interface and IP version."""
    ends = [(pair, host) for pair in specification.control_pairs for host in (pair.sender, pair.receiver)]
    control = {control_interface(host): control_address(pair, host) for pair, host in ends}
    if specification.is_cable:
        return path_devices(specification, "h1") | path_devices(specification, "h2") | control
    if specification.is_chain:
        return chain_addresses(specification) | control
    planned = BETWEEN_ROUTERS | control
    for pair in specification.pairs:
        for router, host in zip(("r1", "r2"), pair.ends, strict=True):
            planned[access_interface(router, pair)] = access_address(router, pair, 1)
            planned[f"{host}-eth0"] = access_address(router, pair, 2)
    return planned


def between_routers(number, router) -> dict[str, str]:
    """Return a router's address on a bottleneck's link, by IP version.

    ``number`` and ``router`` are the numbers of the bottleneck and the router: 10.0.12.1 is r1's address towards r2.
    """
    last = router - number + 1
    link = f"{number}{number + 1}" if number <= LAST_BY_ROUTERS else f"{100 + number}"
    return {"ipv4": f"10.0.{link}.{last}", "ipv6": f"2001:db8:{link}::{last}"}


def chain_addresses(specification) -> dict[str, dict[str, str]]:
    """Return the addresses on a chain, by interface and IP version.

    Senders are in 10.1/16 and receivers in 10.2/16, regardless of their position.
    """
    planned = {}
    for number in range(1, len(specification.bottlenecks) + 1):
        for router, name in enumerate(ends(number).values(), number):
            planned[name] = between_routers(number, router)
    for pair in specification.pairs:
        for side, (router, host) in zip(("r1", "r2"), attached(pair), strict=True):
            planned[access_interface(router, pair)] = access_address(side, pair, 1)
            planned[f"{host}-eth0"] = access_address(side, pair, 2)
    return planned


def chain_routes(specification) -> dict[str, list[Route]]:
    """Return the routes of a chain's routers, by router.

    Each router has routes to the hosts of all pairs whose path crosses the router, except hosts attached to this router.
    """
    routes = {router: [] for router in routers(specification)}
    for pair in specification.pairs:
        first, last = pair.first_hop, pair.first_hop + pair.hops
        for router in range(first, last + 1):
            if router > first:
                routes[f"r{router}"] += _routes(
                    network_of(access_address("r1", pair, 1)), between_routers(router - 1, router - 1)
                )
            if router < last:
                routes[f"r{router}"] += _routes(
                    network_of(access_address("r2", pair, 1)), between_routers(router, router + 1)
                )
    return routes


def _routes(network, via):
    return [Route(network[version], via[version]) for version in PREFIX]


def host_routes(pair, metrics) -> dict[str, list[Route]]:
    """Return the default routes of a pair's hosts, by host.

    ``metrics`` maps ``sender`` and ``receiver`` to the metrics of the host's routes (such as ``quickack 1``).
    """
    return {
        host: [
            Route(everywhere, access_address(router, pair, 1)[version], metrics=metrics[side])
            for version, everywhere in EVERYWHERE.items()
        ]
        for router, host in zip(("r1", "r2"), pair.ends, strict=True)
        for side in ("sender" if host == pair.sender else "receiver",)
    }


def data_networks(specification) -> list[str]:
    """Return the destination networks of a host's routes to the peer: only networks that carry data, in the run's IP version."""
    if not specification.is_cable:
        return [EVERYWHERE[specification.ip_version]]
    if specification.multipath.by == "gre":
        return [network_of(tunnel_address("h1"))[specification.ip_version]]
    return [network_of(path_address("h1", path))[specification.ip_version] for path in range(specification.paths)]


def network_of(addresses) -> dict[str, str]:
    """Return the networks of the given addresses, by IP version; the prefix lengths are in `PREFIX`."""
    return {
        version: str(ip_interface(f"{address}/{PREFIX[version]}").network) for version, address in addresses.items()
    }


def cable_routes(specification, metrics, addresses_by_device) -> dict[str, list[Route]]:
    """Return, by host, those routes between a cable's hosts that need metrics.

    Each route leads to the peer. Hosts without metrics are omitted.

    Parameters
    ----------
    metrics : dict of str to str
        Metrics of the routes of ``sender`` and ``receiver``.
    addresses_by_device : callable
        Function that takes a host's name and returns the host's addresses by device and IP version.
    """
    return {
        host: [
            Route(network_of(addresses)[version], None, device, address, ROUTE_PRIORITY[version], metrics[side])
            for device, addresses in addresses_by_device(host).items()
            for version, address in addresses.items()
        ]
        for host, side in (("h1", "sender"), ("h2", "receiver"))
        if metrics[side]
    }


def path_devices(specification, host) -> dict[str, dict[str, str]]:
    """Return the addresses of a cable's host, by device and IP version."""
    return {f"{host}-eth{path}": path_address(host, path) for path in range(specification.paths)}


def assign(path, specification, metrics) -> None:
    """Bring all interfaces up, and set addresses, routes and permanent neighbour entries.

    Permanent entries prevent ARP requests and neighbour solicitations, which the emulation could delay or lose while traffic flows.

    ``metrics`` maps ``sender`` and ``receiver`` to the metrics of the routes to the other host, in the syntax of ip-route(8).
    """
    planned, further = plan_addresses(specification), further_addresses(specification)
    addresses, neighbours, routes = ({node.name: [] for node in path.net.hosts} for _ in range(3))
    for name, first in planned.items():
        node = path.interfaces[name].node
        bring_up(node, name)
        addresses[node.name] += [
            (name, address, PREFIX[version])
            for each in (first, *further.get(name, ()))
            for version, address in each.items()
        ]
    mac = {name: device["address"] for node in path.net.hosts for name, device in devices_of(node).items()}
    for link in path.net.links:
        for here, there in ((link.intf1, link.intf2), (link.intf2, link.intf1)):
            neighbours[here.node.name] += [
                (here.name, address, mac[there.name])
                for known in (planned[there.name], *further.get(there.name, ()))
                for address in known.values()
            ]
    if specification.is_cable:
        parts = [cable_routes(specification, metrics, lambda host: path_devices(specification, host))]
    else:
        between = chain_routes(specification) if specification.is_chain else router_routes(specification)
        parts = [between, *(host_routes(pair, metrics) for pair in specification.pairs)]
    for host, more in (item for part in parts for item in part.items()):
        routes[host] += more
    if further:
        routes["h1"] += subflow_routes(specification, metrics)
    for node in path.net.hosts:
        set_up(node, addresses[node.name], neighbours[node.name], routes[node.name])
