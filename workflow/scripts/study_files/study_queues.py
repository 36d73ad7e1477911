"""Describe problems with the queue of a bottleneck, in sentences that start with the affected key."""

import math
from collections.abc import Iterator

from experiment.conditions import RECEIVING_SIDE
from experiment.disciplines import DISCIPLINES, MEASURES, QUEUES, completed, discipline_of, measure_of, red_ewma
from experiment.flow_groups import OWN
from experiment.packet_sizes import ETHERNET_HEADER_BYTES, PACKET_BYTES
from experiment.programs import Program
from experiment.specification import RunSpecification
from experiment.timeline import DIRECTIONS
from study_files.cca_definitions import kernel_cca
from study_files.program_ccas import program_of
from study_files.study_platforms import LINUX
from study_files.study_validation import value_text

FORWARD, REVERSE = DIRECTIONS
#: Size of a full packet plus the largest possible frame overhead, in bytes.
LARGEST_PACKET_BYTES = PACKET_BYTES + 64
SFQ_FLOWS = 128  # SFQ_DEFAULT_FLOWS in net/sched/sch_sfq.c
LEAST_OF_NETEM = (
    4  # netem also counts packets in transit, and fewer can't show the rate (`testbed.readings.path_probe.LEAST_GAPS`)
)
SUPER_FRAME_BYTES = 65_536 + ETHERNET_HEADER_BYTES  # the largest frame with segmentation offload


def queue_problems(queue, key="queue") -> Iterator[str]:
    """Yield a message for each queue setting that doesn't fit the queue's discipline.

    Parameters
    ----------
    queue : dict
        The queue as written in the study, without defaults.
    key : str
        Key of the queue in messages.
    """
    for problem in _problems_of(queue):
        yield problem if key == "queue" else problem.replace("queue.", f"{key}.")


def _problems_of(queue):
    discipline = discipline_of(queue)
    here = f"with queue.discipline {discipline.name}"
    names = [parameter.name for parameter in discipline.parameters]
    for name, value in queue.items():
        if name in ("discipline", *MEASURES):
            continue
        parameter = discipline.parameter(name)
        if parameter is None:
            others = ", ".join(names) if names else "none of the parameters of disciplines"
            yield f"queue.{name} is {value_text(value)}; allowed {here}: {others}."
        elif problem := _range_problem(parameter, value):
            yield f"queue.{name} is {value_text(value)}; allowed {here}: {problem}."
    size = measure_of(queue)
    if size and size[0] == "bytes" and "bytes" not in discipline.kinds:
        yield f"queue.bytes is {size[1]}; allowed {here}: packets or bdp, because it counts packets."
    if size and size[0] != "bytes" and discipline.limit_word != "limit":
        yield f"queue.{size[0]} is {size[1]}; allowed {here}: bytes, because its limit is an amount of memory."
    if discipline.name == "red":
        yield from _red_problems(queue, completed(queue))


def _range_problem(parameter, value):
    """Return a description of the values allowed for a parameter if the given value isn't allowed, otherwise None."""
    if parameter.choices:
        return None if value in parameter.choices else f"one of {', '.join(parameter.choices)}"
    if parameter.is_switch or value is None or parameter.least is None:
        return None
    if parameter.least <= value <= parameter.most and not (parameter.whole and value != int(value)):
        return None
    unit = f" ({parameter.unit})" if parameter.unit else ""
    return f"a {'whole ' if parameter.whole else ''}number from {parameter.least:g} to {parameter.most:g}{unit}"


def _red_problems(given, queue):
    """Yield contradictions between the parameters of RED.

    ``given`` is the queue as written in the study. ``queue`` is the same queue with defaults filled in.
    """
    for name in ("min_packets", "max_packets", "probability", "burst_packets"):
        if queue["step_packets"] is not None and given.get(name, queue[name]) != queue[name]:
            yield (
                f"queue.{name} is {given[name]:g}; allowed with queue.step_packets {queue['step_packets']}: {queue[name]}, "
                "the value set by the step."
            )
    if queue["probability"] == 1 and queue["min_packets"] < queue["max_packets"]:
        yield (
            "queue.probability is 1; allowed with queue.min_packets below queue.max_packets: less than 1, because tc passes the probability to the kernel as a "
            "multiple of 2^-32 below 1, and the kernel would use another value."
        )
    if queue["min_packets"] > queue["max_packets"]:
        yield f"queue.min_packets is {queue['min_packets']:g}; allowed: at most queue.max_packets, {queue['max_packets']:g}."
    elif not red_ewma(queue["min_packets"], queue["burst_packets"]):
        yield (
            f"queue.burst_packets is {queue['burst_packets']}; allowed with queue.min_packets {queue['min_packets']:g}: at least as "
            "many packets, because tc computes the weight of the mean from both."
        )
    else:
        yield from _red_arithmetic(queue)


def _red_arithmetic(queue):
    """Yield problems with RED parameters that exceed the numeric ranges of tc and the kernel.

    The ranges follow from tc_red_eval_P in tc/tc_red.c and red_check_params in red.h.
    """
    low, high = (queue[name] * LARGEST_PACKET_BYTES for name in ("min_packets", "max_packets"))
    weight = red_ewma(queue["min_packets"], queue["burst_packets"])
    if high > low and queue["probability"] / (high - low) <= 2**-31:
        most = queue["min_packets"] + math.floor(queue["probability"] * 2**31 / LARGEST_PACKET_BYTES)
        yield (
            f"queue.max_packets is {queue['max_packets']:g}; allowed with queue.probability {queue['probability']:g}: up to {most:g}, because "
            "tc can't represent a growth of the probability per byte below 2^-31."
        )
    elif math.floor(high).bit_length() + weight >= 32:
        largest = "max_packets" if queue["step_packets"] is None else "step_packets"
        yield (
            f"queue.{largest} is {queue['max_packets']:g}, and the weight of the mean by queue.min_packets {queue['min_packets']:g} and "
            f"queue.burst_packets {queue['burst_packets']} is 2^-{weight}; allowed: values that give 2^-{31 - math.floor(high).bit_length()} or more, "
            "because the kernel's mean in bytes has 32 bits."
        )


def network_queue_problems(scenario) -> Iterator[str]:
    """Yield problems with settings of a resolved scenario that can't be combined with its queueing disciplines."""
    for key in (key for key in QUEUES if scenario[key]):
        yield from _discipline_problems(scenario, key)
    if scenario["reverse_queue"]:
        for name, value, allowed in (
            ("topology", scenario["topology"], "dumbbell"),
            ("link.netem", scenario["link"]["netem"], RECEIVING_SIDE),
        ):
            if value != allowed:
                yield f"{name} is {value}; allowed with reverse_queue: {allowed}."
        if scenario["link"]["rate_mbps"] is None:
            yield "link.rate_mbps is null; allowed with reverse_queue: a number."


def _discipline_problems(scenario, key):
    discipline = discipline_of(scenario[key])
    if discipline.limited_only:
        return
    here = f"{key}.discipline is {discipline.name}; allowed"
    if scenario["link"]["rate_mbps"] is None:
        yield f"{here} without a link.rate_mbps: drop-tail, because nothing waits."
    if scenario["link"]["netem"] != RECEIVING_SIDE:
        yield f"{here} with link.netem {scenario['link']['netem']}: drop-tail, because netem is the queue."
    elif scenario["link"]["shaper"] == "netem":
        yield f"{here} with link.shaper netem: drop-tail, because netem is the queue."
    if scenario["topology"] == "cable" and discipline.name == "fq":
        yield f"{here} with topology cable: any other, because on a sending host fq would do the pacing, which TCP itself does here."
    if scenario["transport"]["segmentation_offload"]:
        yield f"{here} with transport.segmentation_offload: drop-tail, because any other would mark and count super-packets."
    if scenario["multipath"]["by"] != "none" and scenario["topology"] == "cable":
        yield f"{here} with multipath.by {scenario['multipath']['by']}: drop-tail."


def size_problems(scenario) -> Iterator[str]:
    """Yield problems with the sizes of a resolved scenario's queues."""
    run = RunSpecification({"scenario": scenario, "ip_version": "ipv4"})
    yield from _size_problems(scenario, "queue", run, run.bdp_bytes)
    if scenario["reverse_queue"] and scenario["link"]["rate_mbps"] is not None:
        yield from _size_problems(
            scenario, "reverse_queue", run, run.bdp_bytes * run.rate_in("reverse") / run.rate_mbps
        )


def _size_problems(scenario, key, run, bdp_bytes):
    measure, size = measure_of(scenario[key])
    link, offload = scenario["link"], scenario["transport"]["segmentation_offload"]
    if measure != "packets" and link["netem"] != RECEIVING_SIDE:
        yield f"{key} is {{{measure}: {size}}}; allowed with netem at {link['netem']}: packets, because netem counts packets."
    elif measure == "bytes" and link["shaper"] == "netem":
        yield f"{key} is {{bytes: {size}}}; allowed with link.shaper netem: packets and bdp, because netem counts packets."
    elif measure == "bdp" and link["rate_mbps"] is None:
        yield f"{key} is {{bdp: {size}}}; allowed without a link.rate_mbps: packets or bytes."
    elif measure == "bdp" and run.rtt_path_ms == 0:
        yield f"{key} is {{bdp: {size}}}; allowed without a link.delay_ms: packets or bytes."
    elif measure == "bdp" and size * bdp_bytes < run.packet_bytes:
        yield (
            f"{key}.bdp is {size}, {size * bdp_bytes:.0f} bytes; "
            f"allowed: at least a packet of {run.packet_bytes} bytes, {run.packet_bytes / bdp_bytes:.3g} BDP."
        )
    elif measure == "bytes" and offload and size < SUPER_FRAME_BYTES:
        yield (
            f"{key}.bytes is {size}; allowed with transport.segmentation_offload: at least {SUPER_FRAME_BYTES}, "
            "because a super-packet that is larger than the queue never passes."
        )
    elif not run.is_chain:  # a chain's bottlenecks are checked one by one
        yield from _limit_problems(key, run, REVERSE if key == "reverse_queue" else FORWARD)


def _limit_problems(key, run, way):
    """Yield a problem if a direction's queue is smaller or larger than its discipline allows."""
    queue, packets = run.queue_in(way), run.queue_packets_in(way)
    discipline, (measure, size) = discipline_of(queue), measure_of(queue)
    given = f"{key}.{measure} is {size}" + (f", {packets} packets" if measure == "bdp" else "")
    depth = queue.get("depth_packets")
    if depth is not None and packets > SFQ_FLOWS * depth:
        yield f"{given}; allowed with {key}.depth_packets {depth}: up to {SFQ_FLOWS * depth} packets, because SFQ has {SFQ_FLOWS} flows of that depth."
    in_transit = run.link.netem_is_queue and run.rate_mbps is not None
    least = LEAST_OF_NETEM if in_transit else discipline.least_packets
    if (size < least * run.packet_bytes) if packets is None else (packets < least):
        what = f"link.netem {run.link.netem}" if in_transit else f"queue.discipline {discipline.name}"
        in_bytes = f", {least * run.packet_bytes} bytes" if packets is None else ""
        yield f"{given}; allowed with {what}: at least {least} packets{in_bytes}."


def mark_problems(study) -> Iterator[str]:
    """Yield a problem for each scenario in which DCTCP would receive no marks; exams aren't checked.

    Without marks, DCTCP behaves like Reno (RFC 8257, section 3.5).
    """
    if study["exam"]["cca"]:
        return
    named = next((mix for mix in study["ccas"] if "dctcp" in (_sends_by(study, cca) for cca in mix.split("+"))), None)
    for scenario in study["scenarios"] if named else ():
        queues, ecn = (
            [one.scenario["queue"] for one in RunSpecification({"scenario": scenario}).bottlenecks],
            scenario["transport"]["ecn"],
        )
        queue = next((queue for queue in queues if not discipline_of(queue).marks(queue)), queues[0])
        discipline = discipline_of(queue)
        if scenario["platform"] not in LINUX or (ecn != "off" and discipline.marks(queue)):
            continue
        marking = [one.name for one in DISCIPLINES.values() if one.marks_with is not None]
        setting = f"transport.ecn is {ecn} and queue.discipline {discipline.name}" + (
            f" without {' and '.join(discipline.marks_with)}"
            if discipline.marks_with and not discipline.marks(queue)
            else ""
        )
        yield (
            f"scenarios[{scenario['id']}].{setting}; allowed with {named} in ccas: classic or accurate and a queue that marks "
            f"({', '.join(marking)}), because DCTCP without marks behaves like Reno (RFC 8257, section 3.5)."
        )
    for scenario in study["scenarios"]:
        for where, name, cca, ecn in _named_flows(scenario):
            queues = [one.scenario["queue"] for one in RunSpecification({"scenario": scenario}).bottlenecks]
            marked = ecn != "off" and all(discipline_of(queue).marks(queue) for queue in queues)
            if not marked and kernel_cca(study, cca) == "dctcp":
                yield (
                    f"scenarios[{scenario['id']}].{where} is {name}; allowed with ECN {ecn} behind {discipline_of(queues[0]).name}: another CCA, "
                    "because DCTCP without marks behaves like Reno (RFC 8257, section 3.5)."
                )


def _sends_by(study, cca):
    """Return the kernel's name for a CCA of the study; for a program over TCP, the kernel's name for the CCA in the program's name."""
    program = program_of(study, cca)
    return kernel_cca(study, program["cca"] if program and program["protocol"] == "tcp" else cca)


def _named_flows(scenario):
    """Yield the key, its value, the CCA and the ECN setting of the flows for which a resolved scenario sets the CCA.

    Groups with the kernel's own dctcp are omitted, because `study_groups` checks them.
    """
    if cross := scenario.get("chain", {}).get("cross_cca"):
        yield "chain.cross_cca", cross, cross, scenario["transport"]["ecn"]
    for group in scenario["groups"]:
        ecn = group["ecn"] or scenario["transport"]["ecn"]
        if group["program"] and group["program"]["protocol"] == "tcp":
            yield f"flows[{group['name']}].program", Program(**group["program"]).label, group["program"]["cca"], ecn
        elif group["cca"] not in (OWN, "dctcp"):
            yield f"flows[{group['name']}].cca", group["cca"], group["cca"], ecn
