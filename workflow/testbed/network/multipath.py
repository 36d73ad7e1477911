"""Aggregate the disjoint paths of a cable, with MPTCP subflows or with GRE-in-UDP tunnels under a bond.

MPTCP: the client has no endpoints and may open ``paths - 1`` further subflows. The listening server announces (ADD_ADDR) its address on
each further path. The client opens one subflow to each of these addresses, from the address given by the client's routes. Each path
therefore carries one subflow, and no subflow connects addresses of different paths. With endpoints (``subflow``) the client would also
connect from each endpoint to the first path's address.

For file transfers, the announced addresses include a port on which the kernel itself listens. An FTP server closes its own socket as soon
as a data connection exists, and would refuse further subflows. With IPv6 and TCP timestamps, an address and a port don't fit into the 40
bytes of TCP options; Linux 7.2 sends them nevertheless, but Linux 6.18 doesn't. iperf3's server keeps listening, so iperf3 needs no port
in the announcement.

GRE-in-UDP (RFC 8086): Linux's GRE over FOU. The tunnels carry Ethernet frames, because
bonding requires Ethernet devices for round robin. Names like gre0 are used by the kernel's own
devices, which exist in every network namespace.
"""

from testbed.network import routes
from testbed.network.addresses import PREFIX, cable_routes, host_address, path_address, subflow_address, tunnel_address
from testbed.network.commands import batch, run, run_json
from testbed.network.devices import OFFLOADS, devices_of, read_offloads, set_offloads
from testbed.network.sysctl import read_all
from testbed.network.transport import route_metrics

#: UDP port of GRE-in-UDP, and GRE's IP protocol number (RFC 8086, RFC 2784).
GRE_IN_UDP_PORT, GRE = 4754, 47
#: Port at which an MPTCP host accepts further subflows.
JOIN_PORT = 4755
BOND = "bond0"
#: A study's `multipath.distribution` -> options of the bond, in ip-link(8)'s syntax.
DISTRIBUTION = {
    "round-robin": {"mode": "balance-rr", "packets_per_slave": 1},
    "per-flow": {"mode": "balance-xor", "xmit_hash_policy": "layer3+4"},
}
TUNNEL_KIND = {"ipv4": "gretap", "ipv6": "ip6gretap"}
#: Command that preloads a library in addition to mptcpize's own; `mptcpize run` replaces all other preloaded libraries.
ADD_LIBRARY = 'LD_PRELOAD="$LD_PRELOAD:$0" exec "$@"'


def listener(specification) -> str:
    """Return the host that runs the application's server: the receiver, or with FTP the sender."""
    return "h1" if specification.traffic.application == "ftp" else "h2"


def command_prefix(specification, library=None) -> list[str]:
    """Return the environment variables or programs to put before an application's command.

    They make the application use MPTCP if the study requires it.

    ``library`` is a library to preload into the application.
    """
    with_library = [] if library is None else ["sh", "-c", ADD_LIBRARY, library]
    if specification.multipath.by == "mptcp":
        return ["mptcpize", "run", *with_library]
    return [] if library is None else [f"LD_PRELOAD={library}"]


def path_of_address(specification) -> dict[str, int]:
    """Return, for each host address, the index (from 0) of the path to which the address belongs.

    On a dumbbell, each subflow of the first pair counts as a path. The other pairs have only path 0.
    """
    version = specification.ip_version
    alone = {
        host_address(pair, host, version): 0 for pair in specification.pairs for host in (pair.sender, pair.receiver)
    }
    return alone | {
        subflow_address(specification, host, path)[version]: path
        for host in ("h1", "h2")
        for path in range(specification.paths)
    }


def plan(specification) -> dict[str, dict]:
    """Return the expected result of `read_back`: by host, the devices or endpoints that aggregate the paths.

    The result is empty if no paths are aggregated.
    """
    plans = {"mptcp": plan_mptcp, "gre": plan_tunnels}
    by = specification.multipath.by
    return {host: plans[by](specification, host) for host in ("h1", "h2")} if by in plans else {}


def plan_mptcp(specification, host) -> dict:
    """Return a host's MPTCP limits and endpoints."""
    more, listens = specification.paths - 1, host == listener(specification)
    endpoints = [
        {
            "address": subflow_address(specification, host, path)[specification.ip_version],
            **({"port": JOIN_PORT} if specification.traffic.application == "ftp" else {}),
            "id": path,
            "signal": True,
            "dev": f"{host}-eth{path if specification.is_cable else 0}",
        }
        for path in range(1, specification.paths)
    ]
    return {
        "limits": {"add_addr_accepted": 0 if listens else more, "subflows": more},
        "endpoints": endpoints if listens else [],
    }


def plan_tunnels(specification, host) -> dict:
    """Return a host's tunnels and the bond that joins them."""
    version, mtu = specification.multipath.tunnel_ip_version, specification.mtu_bytes
    there = {"h1": "h2", "h2": "h1"}[host]
    offloads = dict.fromkeys(OFFLOADS, specification.transport.segmentation_offload)
    common = {"mtu_bytes": mtu, "up": True, "offloads": offloads}
    tunnels = {
        f"tunnel{path}": {
            "kind": TUNNEL_KIND[version],
            "local": path_address(host, path)[version],
            "remote": path_address(there, path)[version],
            "encapsulation": "fou",
            "port": GRE_IN_UDP_PORT,
            "checksum": True,
            "joined_by": BOND,
            **common,
        }
        for path in range(specification.paths)
    }
    distribution = DISTRIBUTION[specification.multipath.distribution]
    # Super-packets have the same limits as on the interfaces below (`links.EmulatedInterface`).
    single = {} if specification.transport.segmentation_offload else {"gso_max_segs": 1}
    return {"tunnels": tunnels, "bond": {"kind": "bond", **distribution, **single, **common}}


def set_up(path, specification) -> None:
    """Aggregate the paths between the two hosts as the study requires (see the module's docstring).

    Raises `commands.CommandError` if the kernel refuses any command.
    """
    planned = plan(specification)
    if specification.multipath.by == "mptcp":
        for host, wanted in planned.items():
            batch(path.net[host], "ip", mptcp_lines(wanted))
    elif specification.multipath.by == "gre":
        for host, wanted in planned.items():
            run(
                path.net[host],
                ["ip", ip_option(specification), "fou", "add", "port", f"{GRE_IN_UDP_PORT}", "ipproto", f"{GRE}"],
            )
            batch(path.net[host], "ip", tunnel_lines(wanted, host))
            for device in (*wanted["tunnels"], BOND):
                set_offloads(path.net[host], device, specification.transport.segmentation_offload)
        # TCP uses the routes inside the tunnels.
        inside = cable_routes(specification, route_metrics(specification), lambda host: {BOND: tunnel_address(host)})
        for host, wanted in inside.items():
            routes.set_up(path.net[host], routes=wanted)
        set_neighbours(path)


def mptcp_lines(wanted) -> list[str]:
    """Return the lines for ``ip -batch`` that implement a host's part of `plan`."""
    limits = wanted["limits"]
    return [
        f"mptcp limits set subflow {limits['subflows']} add_addr_accepted {limits['add_addr_accepted']}",
        *(
            f"mptcp endpoint add {e['address']} {port_words(e)}dev {e['dev']} id {e['id']} signal"
            for e in wanted["endpoints"]
        ),
    ]


def port_words(endpoint) -> str:
    """Return an endpoint's port in the syntax of ip-mptcp(8), or "" if subflows connect to the server's own port."""
    return f"port {endpoint['port']} " if "port" in endpoint else ""


def tunnel_lines(wanted, host) -> list[str]:
    """Return the lines for ``ip -batch`` that implement a host's part of `plan`: tunnels, bond, and the bond's addresses."""
    bond = wanted["bond"]
    options = " ".join(
        f"{name} {value}" for name, value in bond.items() if name in ("mode", "packets_per_slave", "xmit_hash_policy")
    )
    # Prevent automatic addresses, so that only the run's traffic is sent.
    lines = [f"link add {BOND} mtu {bond['mtu_bytes']} type bond {options}", f"link set dev {BOND} addrgenmode none"]
    for name, tunnel in wanted["tunnels"].items():
        # Omit the option that limits nested tunnels, which would cost 8 bytes per packet.
        outer = {"gretap": "encap-csum", "ip6gretap": "encap-udp6-csum encaplimit none"}[tunnel["kind"]]
        lines += [
            f"link add {name} mtu {tunnel['mtu_bytes']} type {tunnel['kind']} "
            f"local {tunnel['local']} remote {tunnel['remote']} "
            f"encap {tunnel['encapsulation']} encap-sport auto encap-dport {tunnel['port']} {outer}",
            f"link set dev {name} master {BOND}",
            f"link set dev {name} up",
        ]
    if "gso_max_segs" in bond:
        lines.append(f"link set dev {BOND} gso_max_segs {bond['gso_max_segs']}")
    lines.append(f"link set dev {BOND} up")
    for version, address in tunnel_address(host).items():
        nodad = " nodad" if version == "ipv6" else ""
        lines.append(f"address add {address}/{PREFIX[version]} dev {BOND}{nodad}")
    return lines


def set_neighbours(path) -> None:
    """On each host, add permanent neighbour entries for the other host's bond, as on the interfaces below the bond."""
    hosts = ("h1", "h2")
    mac = {host: devices_of(path.net[host])[BOND]["address"] for host in hosts}
    for host, there in (hosts, hosts[::-1]):
        routes.set_up(
            path.net[host], neighbours=[(BOND, address, mac[there]) for address in tunnel_address(there).values()]
        )


def joined_devices(specification) -> list[str]:
    """Return the names of a host's tunnels and bond; empty without tunnels."""
    return [*plan_tunnels(specification, "h1")["tunnels"], BOND] if specification.multipath.by == "gre" else []


def read_back(path, specification) -> dict[str, dict]:
    """Return the kernel's settings for the aggregated paths, by host and in the form of `plan`.

    With MPTCP, each host's settings also include ``settings``, the sysctls.
    """
    readers = {"mptcp": read_mptcp, "gre": read_tunnels}
    by = specification.multipath.by
    return {host: readers[by](path.net[host], specification) for host in ("h1", "h2")} if by in readers else {}


def read_mptcp(node, _) -> dict:
    """Return a host's MPTCP limits, endpoints and sysctls (scheduler, path manager and more)."""
    # `ip -j` doesn't print limits as JSON.
    words = run(node, ["ip", "mptcp", "limits", "show"]).split()
    return {
        "limits": {name: int(value) for name, value in zip(words[::2], words[1::2], strict=True)},
        "endpoints": run_json(node, ["ip", "-j", "mptcp", "endpoint", "show"]),
        "settings": read_all(node, "net.mptcp"),
    }


def read_tunnels(node, specification) -> dict:
    """Return a host's tunnels and bond as read from the kernel, in the form of `plan_tunnels`."""
    links = {link["ifname"]: link for link in run_json(node, ["ip", "-d", "-j", "link", "show"])}
    # Without this port, a tunnel sends GRE in UDP but the other end doesn't decapsulate it.
    received = run_json(node, ["ip", "-j", ip_option(specification), "fou", "show"])
    names = [f"tunnel{path}" for path in range(specification.paths)]
    offloads = {name: read_offloads(node, name) for name in (*names, BOND)}
    taken = any(port["port"] == GRE_IN_UDP_PORT and port["ipproto"] == GRE for port in received)
    return {
        "tunnels": {name: read_tunnel(links[name], offloads[name], taken) for name in names},
        "bond": read_bond(links[BOND], specification, offloads[BOND]),
    }


def read_tunnel(link, offloads, taken) -> dict:
    """Return a tunnel in the form of `plan_tunnels`.

    ``link`` is ip's JSON for the device. ``taken`` is True if the host decapsulates GRE.
    """
    kind, data = link["linkinfo"]["info_kind"], link["linkinfo"]["info_data"]
    encapsulation = data.get("encap", {})
    return {
        "kind": kind,
        "local": data["local"],
        "remote": data["remote"],
        "encapsulation": encapsulation.get("type"),
        "port": encapsulation.get("dport") if taken else None,
        "checksum": encapsulation.get("csum6" if kind == "ip6gretap" else "csum"),
        "joined_by": link.get("master"),
        **read_common(link, offloads),
    }


def read_bond(link, specification, offloads) -> dict:
    """Return the bond in the form of `plan_tunnels`, including the options set for `multipath.distribution`."""
    data = link["linkinfo"]["info_data"]
    options = DISTRIBUTION[specification.multipath.distribution]
    return {
        "kind": link["linkinfo"]["info_kind"],
        **{name: data[name] for name in options},
        **({} if specification.transport.segmentation_offload else {"gso_max_segs": link["gso_max_segs"]}),
        **read_common(link, offloads),
    }


def read_common(link, offloads) -> dict:
    return {"mtu_bytes": link["mtu"], "up": "UP" in link["flags"], "offloads": offloads}


def ip_option(specification) -> str:
    """Return the option of ip(8) for the IP version outside the tunnels."""
    return {"ipv4": "-4", "ipv6": "-6"}[specification.multipath.tunnel_ip_version]
