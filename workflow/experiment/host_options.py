"""TCP settings of the hosts that a study's `transport` may contain: each is declared once, here.

A declaration determines:

- the key of `transport` and its error messages (`study_files.host_keys`);
- the sysctl, route metric or interface attribute that applies the setting (`testbed.network.transport`);
- the value that must be read back before and after the traffic (check `host_settings`).

A specification contains the key only if its value isn't the default. The descriptions are in `wording.host_option_words`, where an edit
doesn't make any run stale.
Sources: Documentation/networking/ip-sysctl.rst of Linux 7.2, ip-route(8).
"""

from collections.abc import Callable
from dataclasses import dataclass

from experiment.link_options import number_schema

#: The two sides of a `Pair`, and a tuple of both.
SENDER, RECEIVER = "sender", "receiver"
SIDES = (SENDER, RECEIVER)
SWITCH = {"type": "boolean"}
#: Variant of RACK's reordering window -> value of the sysctl tcp_recovery, a bit mask (1: RACK detects losses; 2: the window is static; 4:
#: reaching DupThresh doesn't set the window to 0).
RACK = {"adaptive": "1", "static": "3", "without-threshold": "5"}
#: Option of iperf3(1) that limits the pacing rate of sockets.
MAX_PACING_RATE = "--fq-rate"


@dataclass(frozen=True, eq=False)
class HostOption:
    """A TCP setting: a sysctl, a metric of the routes to the peer, an attribute of a host's interface, or an iperf3 option."""

    name: str  # the setting's key in a study's `transport`
    value: dict  # JSON Schema of the value, without descriptions
    default: object  # value that stands for the kernel's default, which is never set explicitly
    sysctl: str = ""  # name in sysctl(8)
    metric: str = ""  # name in ip-route(8)
    device: str = ""  # name in ip-link(8), for the interface to the network
    program: str = ""  # option of iperf3(1)
    sides: tuple[str, ...] = SIDES  # sides of a pair to which the setting applies
    written: Callable = lambda value: str(int(value))  # value -> text for the kernel

    @property
    def place(self) -> str:
        """The setting's name in Linux or iperf3."""
        return self.sysctl or self.metric or self.device or self.program

    @property
    def needs(self) -> dict[str, tuple]:
        """The option's requirements on other keys of the scenario: key -> allowed values."""
        of_device = {"transport.segmentation_offload": (True,), "topology": ("dumbbell",)} if self.device else {}
        of_program = {"traffic.application": ("iperf3",), "multipath.by": ("none",)} if self.program else {}
        return of_device | of_program

    def used(self, transport) -> bool:
        """Return whether the `transport` of a resolved scenario or a specification sets the option."""
        return transport.get(self.name, self.default) != self.default


def _whole(unit, least, most) -> dict:
    return number_schema(unit, least, most, null=True) | {"type": ["integer", "null"]}


HOST_OPTIONS = (
    HostOption("initial_window_packets", _whole("packets", 1, 1000), None, metric="initcwnd", sides=(SENDER,)),
    HostOption("initial_receive_window_packets", _whole("packets", 2, 1000), None, metric="initrwnd", sides=(RECEIVER,)),
    HostOption("slow_start_after_idle", SWITCH, default=True, sysctl="net.ipv4.tcp_slow_start_after_idle"),
    HostOption("notsent_lowat_bytes", _whole("bytes", 1, 2**31 - 1), None, sysctl="net.ipv4.tcp_notsent_lowat", sides=(SENDER,)),
    HostOption("timestamps", SWITCH, default=True, sysctl="net.ipv4.tcp_timestamps"),
    HostOption("window_scaling", SWITCH, default=True, sysctl="net.ipv4.tcp_window_scaling"),
    HostOption("selective_acks", SWITCH, default=True, sysctl="net.ipv4.tcp_sack"),
    HostOption("duplicate_selective_acks", SWITCH, default=True, sysctl="net.ipv4.tcp_dsack"),
    # 0: one acknowledgement for each packet that arrives out of order. By default Linux compresses up to 44 such acknowledgements into one.
    HostOption(
        "sack_compression", SWITCH, default=True, sysctl="net.ipv4.tcp_comp_sack_nr", sides=(RECEIVER,),
        written=lambda value: "44" if value else "0",
    ),
    # 3: a tail loss probe after the last packets of a flight; 0: none.
    HostOption(
        "tail_loss_probe", SWITCH, default=True, sysctl="net.ipv4.tcp_early_retrans", sides=(SENDER,),
        written=lambda value: "3" if value else "0",
    ),
    HostOption(
        "rack_window", {"enum": list(RACK)}, "adaptive", sysctl="net.ipv4.tcp_recovery", sides=(SENDER,), written=lambda value: RACK[value],
    ),
    # RFC 5682 (F-RTO); Linux's default is 2.
    HostOption("frto", SWITCH, default=True, sysctl="net.ipv4.tcp_frto", sides=(SENDER,), written=lambda value: "2" if value else "0"),
    HostOption("reordering_packets", _whole("packets", 1, 300), None, sysctl="net.ipv4.tcp_reordering", sides=(SENDER,)),
    HostOption("pacing_slow_start_percent", _whole("percent", 1, 1000), None, sysctl="net.ipv4.tcp_pacing_ss_ratio", sides=(SENDER,)),
    HostOption("pacing_percent", _whole("percent", 1, 1000), None, sysctl="net.ipv4.tcp_pacing_ca_ratio", sides=(SENDER,)),
    HostOption("limit_output_bytes", _whole("bytes", 4096, 2**31 - 1), None, sysctl="net.ipv4.tcp_limit_output_bytes", sides=(SENDER,)),
    HostOption("min_tso_segments", _whole("segments", 1, 255), None, sysctl="net.ipv4.tcp_min_tso_segs", sides=(SENDER,)),
    HostOption("tso_rtt_log", _whole("log2 µs", 0, 31), None, sysctl="net.ipv4.tcp_tso_rtt_log", sides=(SENDER,)),
    HostOption("gso_max_segments", _whole("segments", 1, 65_535), None, device="gso_max_segs", sides=(SENDER,)),
    HostOption("gso_max_bytes", _whole("bytes", 2_000, 65_536), None, device="gso_max_size", sides=(SENDER,)),
    HostOption("max_pacing_rate_mbps", number_schema("Mbit/s", 0.01, 10_000, null=True), None, program=MAX_PACING_RATE, sides=(SENDER,)),
    HostOption("max_rto_ms", _whole("ms", 1000, 120_000), None, sysctl="net.ipv4.tcp_rto_max_ms", sides=(SENDER,)),
)  # fmt: skip
#: Name of an option -> option.
OF_NAME = {option.name: option for option in HOST_OPTIONS}


def sysctls_of(transport, side) -> dict[str, str]:
    """Return the sysctls (name -> value) that a `transport` requires on the hosts of one side."""
    return {
        one.sysctl: one.written(transport[one.name])
        for one in HOST_OPTIONS
        if one.sysctl and side in one.sides and one.used(transport)
    }


def device_limits_of(transport, side) -> dict[str, str]:
    """Return the interface limits (keyword of ip-link(8) -> value) that a `transport` requires on the hosts of one side."""
    return {
        one.device: one.written(transport[one.name])
        for one in HOST_OPTIONS
        if one.device and side in one.sides and one.used(transport)
    }


def metrics_of(transport, side) -> list[str]:
    """Return the route metrics, in the syntax of ip-route(8), that a `transport` requires on the hosts of one side."""
    return [
        f"{one.metric} {one.written(transport[one.name])}"
        for one in HOST_OPTIONS
        if one.metric and side in one.sides and one.used(transport)
    ]
