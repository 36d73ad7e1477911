"""The conditions of a run, grouped by the sections of a scenario; ``workflow/schemas/study.schema.yaml`` describes each condition.

A field's name ends with its unit. A ``dict`` has one value per direction, ``forward`` (data) and ``reverse`` (ACKs).
"""

from dataclasses import dataclass, field

#: Places of netem: behind the bottleneck's queue, at both ends of the bottleneck, or on the sending host. In the last two places, netem
#: itself is the queue.
RECEIVING_SIDE, BOTH_ENDS, SENDING_HOST = "receiving-side", "both-ends", "sending-host"


#: Direction -> key of the direction's policer in a link.
POLICERS = {"forward": "policer", "reverse": "reverse_policer"}


def policers_of(link) -> dict[str, dict]:
    """Return the policers of a link by direction; directions without a policer are omitted.

    ``link`` belongs to a resolved scenario or to a specification.
    """
    return {direction: link[key] for direction, key in POLICERS.items() if link.get(key)}


@dataclass(frozen=True)
class Link:
    """The bottleneck and the path's other effects on packets; the options of a link are in `link_options`."""

    rate_mbps: float | None
    delay_ms: dict
    jitter_ms: dict
    loss_percent: dict
    netem: str
    frame_overhead_bytes: int
    serialisation: str
    #: Specifications omit the following fields if they don't use them.
    timeline: list = field(default_factory=list)
    trace: dict | None = None
    reverse_trace: dict | None = None
    policer: dict | None = None
    reverse_policer: dict | None = None

    @property
    def netem_is_queue(self) -> bool:
        """Whether a single netem implements delay, loss and queueing, so that packets on the path count against netem's limit."""
        return self.netem != RECEIVING_SIDE


@dataclass(frozen=True)
class Multipath:
    """Disjoint paths between the two hosts of a cable, and how they are aggregated. `several_paths` turns each path into a scenario."""

    paths: int
    by: str
    tunnel_ip_version: str
    distribution: str
    path_delay_ms: list
    #: The following three fields have one value per path; None stands for the value of the link or of its queue. Specifications omit
    #: unused fields.
    path_rate_mbps: list | None = None
    path_loss_percent: list | None = None
    path_queue_packets: list | None = None
    #: Keys: ``path`` (counted from 1), ``at_s`` and ``for_s``.
    outage: dict | None = None


@dataclass(frozen=True)
class Chain:
    """Bottlenecks in series, and the cross flows at each bottleneck.

    Each bottleneck has the keys ``rate_mbps``, ``delay_ms`` (by direction) and ``queue``.
    """

    bottlenecks: list
    cross_flows: int
    cross_cca: str | None


@dataclass(frozen=True)
class Hosts:
    """The pairs of hosts, and the delay of the hosts' own links by pair."""

    pairs: int
    access_delay_ms: list
    #: Specifications omit this field if they don't use it.
    qdisc: str = "none"


@dataclass(frozen=True)
class Traffic:
    """The traffic: application, protocol, duration or amount, and sampling interval."""

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
    """Settings for TCP, except those declared in `host_options`."""

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
    #: Specifications omit this field if they don't use it.
    ecn: str = "off"
