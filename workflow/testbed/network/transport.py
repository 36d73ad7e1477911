"""The TCP stack's settings: buffers, metrics cache, memory, permitted CCAs."""

import contextlib
import resource
from pathlib import Path

from experiment.host_options import RECEIVER, SENDER, device_limits_of, metrics_of, sysctls_of
from experiment.programs import Program
from testbed.errors import SettingError
from testbed.network import devices, sysctl
from testbed.network.addresses import data_networks
from testbed.network.routes import metrics_to

#: Initial sizes of a receive buffer and a send buffer: Linux's defaults (tcp(7)).
RECEIVE_BUFFER_INITIAL_BYTES = 131_072
SEND_BUFFER_INITIAL_BYTES = 16_384
#: Maximum number of packets queued between the two ends of a veth pair. With the default of 1,000, the kernel would drop packets of large
#: bursts.
DEVICE_BACKLOG_PACKETS = 100_000
#: Settings (ip-sysctl) for hosts with a link for iperf3's control connections, and for runs with ``processes: per-side``. A host then
#: retransmits SYNs every second, and gives up on SYNs, SYN-ACKs and data only after more than a hundred retransmissions. A path that loses
#: most packets thus delays a flow, but doesn't end the run.
PATIENT = {
    "net.ipv4.tcp_syn_retries": "127",
    "net.ipv4.tcp_syn_linear_timeouts": "127",
    "net.ipv4.tcp_synack_retries": "127",
    "net.ipv4.tcp_retries2": "255",
}
#: Setting for a host that accepts thousands of flows: the listen queue has room for all connection requests of a round trip. Otherwise the
#: kernel would respond with SYN cookies, and reset connections that it no longer knows.
MANY = {"net.core.somaxconn": "16384"}
#: A study's `transport.ecn` -> the kernel's setting (ip-sysctl). 2, Linux's default, accepts ECN but doesn't request it.
ECN = {"off": "2", "classic": "1", "accurate": "3"}
#: Setting for a network namespace's default CCA.
CCA = "net.ipv4.tcp_congestion_control"
#: Candidates for the default CCA of the guest's hosts if sockets choose their CCA: the first one that no flow uses becomes the default.
UNUSED = ("bic", "highspeed", "scalable", "illinois")
#: Linux's own default CCA.
LINUX_DEFAULT = "cubic"
ALLOWED_CCAS = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
AVAILABLE_CCAS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def settings(specification, host="h1") -> dict[str, str]:
    """Return the required sysctls of a host, by name; values are as sysctl(8) prints them. ``host`` is the host's name."""
    pair = specification.pair_of_host[host]
    receive, send = specification.receive_buffer_bytes, specification.send_buffer_bytes
    autotuning = specification.transport.receive_buffer_autotuning
    return {
        # Starting with full-size buffers would cost no memory, but it would change the acknowledgements: each segment that enlarges the
        # receive window is acknowledged at once (tcp_grow_window), so ACKs are more frequent until the receive window has reached the size
        # that the full buffer allows.
        "net.ipv4.tcp_rmem": f"4096\t{min(RECEIVE_BUFFER_INITIAL_BYTES, receive) if autotuning else receive}\t{receive}",
        "net.ipv4.tcp_moderate_rcvbuf": str(int(autotuning)),
        "net.ipv4.tcp_wmem": f"4096\t{min(SEND_BUFFER_INITIAL_BYTES, send)}\t{send}",
        # A new network namespace has no cached metrics, and the run's connections must not create any.
        "net.ipv4.tcp_no_metrics_save": "1",
        "net.ipv4.tcp_ecn": ECN[specification.pair_ecn(pair)],
        **(PATIENT if pair in specification.control_pairs or specification.per_side else {}),
        **(MANY if specification.per_side and host == pair.receiver else {}),
        **sysctls_of(specification.scenario["transport"], SENDER if host == pair.sender else RECEIVER),
    }


def device_limits(specification, host) -> dict[str, str]:
    """Return the required limits of a host's interface, by keyword of ip-link(8); ``host`` is the host's name."""
    pair = specification.pair_of_host[host]
    return device_limits_of(specification.scenario["transport"], SENDER if host == pair.sender else RECEIVER)


def cca_given_by(specification) -> str:
    """Return the setting that determines the CCA of a run's connections: ``socket``, ``route``, ``sysctl``, or ``nothing`` without TCP.

    If the application can't choose a CCA for its socket, the routes set the CCA. Unlike a network namespace's default, a route may name
    any CCA of the kernel. However, MPTCP subflows that a host accepts use the host's default, so MPTCP uses the sysctl.
    """
    if specification.udp:
        return "nothing"
    if specification.traffic.application == "iperf3":
        return specification.transport.cca_set_by
    return "sysctl" if specification.multipath.by == "mptcp" else "route"


def default_cca(specification, host, available) -> str | None:
    """Return the default CCA to set on a host, or None if the host keeps the kernel's. ``available`` contains the kernel's CCAs.

    iperf3 chooses a CCA after its socket is connected. If the chosen CCA were also the default, it would already have started with the
    SYN, whereas other CCAs, or a copy of the same CCA under another name, start later (CUBIC's HyStart counts rounds from the start). The
    default is therefore a CCA that no flow uses. It differs only on the hosts of declared programs over TCP (`default_of_programs`).
    """
    given_by = cca_given_by(specification)
    if given_by == "sysctl":
        return specification.kernel_cca(specification.cca)
    if given_by != "socket" or not specification.virtual_clock:
        return None
    if programs := tcp_programs_on(specification, host):
        return default_of_programs(specification, programs, available)
    used = {specification.kernel_cca(cca) for cca in specification.ccas_that_run}
    return next((cca for cca in UNUSED if cca not in used), None)


def tcp_programs_on(specification, host) -> list[Program]:
    """Return the declared programs that use TCP on a host, one for each flow."""
    return [one.program for one in specification.tcp_program_flows if host in (one.server_host, one.client_host)]


def default_of_programs(specification, programs, available) -> str:
    """Return the default CCA of a host with programs over TCP; a socket uses it if the program doesn't choose a CCA.

    The default is the CCA for which the programs are declared (``nginx:bbr``), if all programs name the same CCA and the kernel has it,
    and otherwise Linux's own default.
    """
    named = {specification.kernel_cca(program.cca) for program in programs}
    return next(iter(named)) if len(named) == 1 and named <= set(available) else LINUX_DEFAULT


def route_metrics(specification) -> dict[str, str]:
    """Return the metrics of the routes to the other host, in the syntax of ip-route(8), for ``sender`` and ``receiver``."""
    least, transport = specification.transport.min_rto_ms, specification.scenario["transport"]
    cca = [f"congctl {specification.kernel_cca(specification.cca)}"] if cca_given_by(specification) == "route" else []
    return {
        "sender": " ".join([*metrics_of(transport, SENDER), *([f"rto_min {least}ms"] if least else []), *cca]),
        "receiver": " ".join(
            [*metrics_of(transport, RECEIVER), *([] if specification.transport.delayed_acks else ["quickack 1"]), *cca]
        ),
    }


def prepare_kernel(specification) -> None:
    """Set the kernel's global settings; call this function before any network namespace exists.

    By default, TCP may use only a fraction of the guest's memory. Because guests have little memory, this limit would silently reduce
    receive windows. TCP is therefore allowed to use all of the memory.
    """
    pages = Path("/proc/meminfo").read_text().split()[1]
    pages = int(pages) * 1024 // resource.getpagesize()
    write("/proc/sys/net/ipv4/tcp_mem", f"{pages // 2} {pages * 3 // 4} {pages}")
    write("/proc/sys/net/core/netdev_max_backlog", str(DEVICE_BACKLOG_PACKETS))
    if specification.transport.restricted_ccas == "allowed":
        # Only CCAs on this list may be the default of a network namespace (Linux 5.12.4).
        ALLOWED_CCAS.write_text(AVAILABLE_CCAS.read_text())


def available_ccas() -> list[str]:
    """Return the names of the kernel's CCAs."""
    return AVAILABLE_CCAS.read_text().split()


def configure_host(node, specification) -> None:
    """Set a host's sysctls, interface limits and default CCA."""
    sysctl.write(node, settings(specification, node.name))
    for limit, value in device_limits(specification, node.name).items():
        devices.set_limit(node, f"{node.name}-eth0", limit, int(value))
    if cca := default_cca(specification, node.name, available_ccas()):
        # A refusal (`transport.restricted_ccas`) is not an error here, because a check compares the CCAs that the connections really used,
        # as in any run.
        with contextlib.suppress(SettingError):
            sysctl.write(node, {CCA: cca})


def read_back(node, specification) -> dict[str, str]:
    """Return a host's `settings`, `device_limits` and default CCA, and the metrics of the routes to the peer (``route``), by name."""
    values = sysctl.read(node, [*settings(specification, node.name), CCA])
    if limits := device_limits(specification, node.name):
        device = devices.devices_of(node)[f"{node.name}-eth0"]
        values |= {limit: str(device[limit]) for limit in limits}
    # The result is a single value if all routes have the same metrics, as they must.
    metrics = dict.fromkeys(words for network in data_networks(specification) for words in metrics_to(node, network))
    return values | {"route": " / ".join(metrics)}


def write(path, value) -> None:
    Path(path).write_text(value)
