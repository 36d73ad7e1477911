"""ns-3's counterparts of Linux's queueing disciplines, and the attributes that configure them.

Each discipline sits above a device whose own queue holds one packet. The attribute names are those of ns-3 3.39 to 3.44
(src/traffic-control/model). Where ns-3 offers a choice, the attributes are set to match Linux (net/sched/sch_red.c, sch_codel.c,
sch_pie.c).
"""

from collections.abc import Callable
from dataclasses import dataclass

from experiment.disciplines import DISCIPLINES, red_ewma
from experiment.packet_sizes import MTU_BYTES


@dataclass(frozen=True)
class Counterpart:
    """An ns-3 discipline: its TypeId, a function that converts a queue's parameters to attributes, and parameters that ns-3 lacks."""

    type_id: str
    attributes: Callable[[dict], dict[str, str]]
    lacks: tuple[str, ...] = ()


def _red(queue):
    # Linux draws the number of packets between drops from a uniform distribution, and drops all packets above the maximum.
    return {
        "MinTh": f"{queue['min_packets']:g}",
        "MaxTh": f"{queue['max_packets']:g}",
        "LInterm": f"{1 / queue['probability']:.12g}",
        "QW": f"{0.5 ** red_ewma(queue['min_packets'], queue['burst_packets']):.12g}",
        "MeanPktSize": str(MTU_BYTES),
        "Gentle": "false",
        "Wait": "false",
    }


def _codel(queue):
    return {"Target": _ms(queue["target_ms"]), "Interval": _ms(queue["interval_ms"])}


def _pie(queue):
    # Linux's alpha and beta are in units of 1/16 (pie_calculate_probability).
    return {
        "QueueDelayReference": _ms(queue["target_ms"]),
        "Tupdate": _ms(queue["tupdate_ms"]),
        "A": f"{queue['alpha'] / 16:g}",
        "B": f"{queue['beta'] / 16:g}",
        "MeanPktSize": str(MTU_BYTES),
        "UseDerandomization": "true",
    }


def _ms(value):
    return f"{value * 1e6:.0f}ns"


_OF_FLOW_QUEUES = ("quantum_bytes", "memory_limit_bytes")
COUNTERPARTS = {
    "red": Counterpart("ns3::RedQueueDisc", _red, ("step_packets",)),
    "codel": Counterpart("ns3::CoDelQueueDisc", lambda queue: _codel(queue) | {"MinBytes": str(MTU_BYTES)}),
    "fq_codel": Counterpart(
        "ns3::FqCoDelQueueDisc",
        lambda queue: (
            _codel(queue) | {"Flows": str(queue["flow_queues"]), "DropBatchSize": str(queue["drop_batch_packets"])}
        ),
        _OF_FLOW_QUEUES,
    ),
    "pie": Counterpart("ns3::PieQueueDisc", _pie),
    "fq_pie": Counterpart(
        "ns3::FqPieQueueDisc", lambda queue: _pie(queue) | {"Flows": str(queue["flow_queues"])}, _OF_FLOW_QUEUES
    ),
}


def counterpart_of(specification) -> Counterpart | None:
    """Return the ns-3 counterpart of a run's discipline; None for drop-tail, which the device's own queue implements."""
    return COUNTERPARTS.get(specification.discipline.name)


def attributes(specification, limit) -> dict[str, str]:
    """Return the attributes of a run's discipline, by name; empty for drop-tail.

    The values and ``limit``, the queue's size, are in ns-3's syntax. Packets are never marked, because simulated runs don't use ECN.
    """
    counterpart = counterpart_of(specification)
    return (
        {"MaxSize": limit, "UseEcn": "false"} | counterpart.attributes(specification.scenario["queue"])
        if counterpart
        else {}
    )


def refusals(queue, platform) -> list[str]:
    """Return one sentence for each feature of a resolved scenario's queue that ns-3 doesn't support."""
    name = queue.get("discipline", "drop-tail")
    if name == "drop-tail":
        return []
    if name not in COUNTERPARTS:
        allowed = ", ".join(["drop-tail", *COUNTERPARTS])
        return [f"queue.discipline is {name}; allowed on {platform}: {allowed}."]
    problems = []
    for key in COUNTERPARTS[name].lacks:
        default = DISCIPLINES[name].parameter(key).default
        if queue[key] != default:
            shown = "null" if default is None else default
            problems.append(
                f"queue.{key} is {queue[key]}; allowed on {platform}: {shown}, because ns-3's {name} has no such parameter."
            )
    if "bytes" in queue and name != "codel":
        problems.append(f"queue.bytes is {queue['bytes']}; allowed on {platform} with {name}: packets or bdp.")
    return problems
