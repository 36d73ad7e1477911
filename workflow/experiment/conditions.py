"""The conditions of a run, grouped by the sections of a scenario; ``workflow/schemas/study.schema.yaml`` describes each condition.

The name of a field with a unit ends with the unit. A ``dict`` such as ``delay_ms`` contains one value per direction: ``forward`` (data)
and ``reverse`` (ACKs).
"""

from dataclasses import dataclass, field

#: Positions of netem: after the bottleneck's queue, at both ends of the bottleneck, or on the sending host. At the last two positions,
#: netem itself is the queue.
RECEIVING_SIDE, BOTH_ENDS, SENDING_HOST = "receiving-side", "both-ends", "sending-host"


#: Direction -> key of `link` for the policer in this direction.
POLICERS = {"forward": "policer", "reverse": "reverse_policer"}


def policers_of(link) -> dict[str, dict]:
    """Return the policers of a link by direction; directions without a policer are omitted.

    ``link`` belongs to a resolved scenario or to a specification.
    """
    return {direction: link[key] for direction, key in POLICERS.items() if link.get(key)}


@dataclass(frozen=True)
class Link:
    """The bottleneck and the path's other effects on packets, except the options declared in `link_options`."""

    rate_mbps: float | None
    delay_ms: dict
    jitter_ms: dict
    loss_percent: dict
    netem: str
    frame_overhead_bytes: int
    serialisation: str
    #: A specification omits each of the following fields that it doesn't use.
    timeline: list = field(default_factory=list)
    trace: dict | None = None
    reverse_trace: dict | None = None
    policer: dict | None = None
    reverse_policer: dict | None = None

    @property
    def netem_is_queue(self) -> bool:
        """Whether one netem qdisc implements delay, loss and queueing, so that packets in transit also count towards netem's limit."""
        return self.netem != RECEIVING_SIDE


@dataclass(frozen=True)
class Multipath:
    """Parallel paths between two hosts, and how they are aggregated; `several_paths` turns each path of a cable into a scenario."""

    paths: int
    by: str
    tunnel_ip_version: str
    distribution: str
    path_delay_ms: list
    #: The following three fields are lists with one value per path; None stands for the value of the link or its queue. A specification
    #: omits the fields that it doesn't use.
    path_rate_mbps: list | None = None
    path_loss_percent: list | None = None
    path_queue_packets: list | None = None
    #: Keys: ``path`` (counted from 1), ``at_s`` and ``for_s``.
    outage: dict | None = None


@dataclass(frozen=True)
class Chain:
    """Bottlenecks in series, and the cross flows at each bottleneck.

    The keys of each bottleneck are ``rate_mbps``, ``delay_ms`` (by direction) and ``queue``.
    """

    bottlenecks: list
    cross_flows: int
    cross_cca: str | None


@dataclass(frozen=True)
class Hosts:
    """The number of host pairs, the delay of the hosts' own links (one value per pair), and the hosts' qdisc."""

    pairs: int
    access_delay_ms: list
    #: A specification omits this field if it has the default value.
    qdisc: str = "none"


@dataclass(frozen=True)
class Traffic:
    """The traffic: application, protocol, duration or amount of data, and sampling interval."""

    application: str
    protocol: str
    messages: int | None
    no_delay: bool
    file_bytes: int
    duration_s: float
    interval_s: float
    start_within_ms: float | None
    sample_interval_ms: float | None
    processes: str
    control_connection: str
    block_bytes: int
    bitrate_mbps: float | None


@dataclass(frozen=True)
class Transport:
    """The TCP settings, except those declared in `host_options`."""

    segment_bytes: int | None
    receive_buffer_bytes: int | None
    receive_buffer_autotuning: bool
    send_buffer_bytes: int | None
    delayed_acks: bool
    min_rto_ms: float | None
    recovery: str
    segmentation_offload: bool
    cca_set_by: str
    restricted_ccas: str
    receive_wait: str
    #: A specification omits this field if it has the default value.
    ecn: str = "off"
