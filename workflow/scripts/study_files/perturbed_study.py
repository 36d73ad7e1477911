"""Derive a sensitivity study, which runs a sample of a study's scenarios under slightly changed conditions.

A perturbed scenario is an ordinary scenario named `<scenario>.<perturbation>`, so the same workflow runs and analyses it.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from experiment.disciplines import measure_of
from experiment.packet_sizes import PACKET_BYTES
from experiment.specification import RunSpecification
from study_files.kernels import NEWEST
from study_files.program_ccas import programs_under_test
from study_files.study_replications import most_replications

#: Separator between the names of the scenario and the perturbation.
JOINT = "."
#: The unperturbed scenario, and the same scenario with other seeds; the results of the two differ only by chance.
AS_IS, AGAIN = "as-is", "again"
#: Maximum number of CCAs, and maximum number of replications, which keep the sample small.
MOST_CCAS, MOST_REPLICATIONS = 3, 6
#: Tick rate of the perturbed guest kernel in Hz; the usual rate is 1,000 Hz.
TICK_HZ = 250


@dataclass(frozen=True)
class Perturbation:
    """A changed condition.

    Attributes
    ----------
    name : str
        Name of the perturbation in scenario ids.
    words : str
        Description of the change.
    change : callable
        Called with a resolved scenario; returns the scenario with the changed condition.
    """

    name: str
    words: str
    change: Callable[[dict], dict]


def _delays(factor):
    def change(scenario):
        link = scenario["link"] | {
            key: {way: _rounded(factor * value) for way, value in scenario["link"][key].items()}
            for key in ("delay_ms", "jitter_ms")
        }
        link["timeline"] = [
            entry if entry["delay_ms"] is None else entry | {"delay_ms": _rounded(factor * entry["delay_ms"])}
            for entry in link["timeline"]
        ]
        hosts = scenario["hosts"] | {
            "access_delay_ms": [_rounded(factor * d) for d in scenario["hosts"]["access_delay_ms"]]
        }
        paths = scenario["multipath"] | {
            "path_delay_ms": [_rounded(factor * d) for d in scenario["multipath"]["path_delay_ms"]]
        }
        return _chain(scenario | {"link": link, "hosts": hosts, "multipath": paths}, "delay_ms", _delayed(factor))

    return change


def _delayed(factor):
    return lambda delay_ms: {way: _rounded(factor * value) for way, value in delay_ms.items()}


def _chain(scenario, key, change):
    """Return a scenario with a key changed in each bottleneck of its chain; a scenario without a chain is returned unchanged."""
    if scenario["topology"] != "chain":
        return scenario
    bottlenecks = [one | {key: change(one[key])} for one in scenario["chain"]["bottlenecks"]]
    return scenario | {"chain": scenario["chain"] | {"bottlenecks": bottlenecks}}


def _queue(factor):
    def change(scenario):
        if scenario["topology"] == "chain":
            return _chain(scenario, "queue", lambda queue: change({"topology": "dumbbell", "queue": queue})["queue"])
        measure, size = measure_of(scenario["queue"])
        if of_paths := scenario["multipath"].get("path_queue_packets"):
            return scenario | {
                "multipath": scenario["multipath"]
                | {"path_queue_packets": [_by_a_packet(one, factor, 1) for one in of_paths]}
            }
        if measure != "bdp":
            size = _by_a_packet(size, factor, 1 if measure == "packets" else PACKET_BYTES)
        else:
            # A queue is rounded up to whole packets, so a bit more than a packet always changes it.
            changed, step = size * factor, 1.0001 * _packet_in_bdps(scenario)
            size = _rounded(changed if abs(changed - size) >= step else size + step * (1 if factor > 1 else -1))
        return scenario | {"queue": scenario["queue"] | {measure: size}}

    return change


def _packet_in_bdps(scenario):
    """Return the size of a packet in BDPs of the path with the smallest BDP; 0 for a bottleneck of a chain."""
    if "link" not in scenario:
        return 0.0
    of_paths = RunSpecification({"ip_version": "ipv4", "scenario": scenario}).bottlenecks
    return max(one.packet_bytes / (one.rate_in("forward") * 1e6 / 8 * one.rtt_path_ms / 1e3) for one in of_paths)


def _by_a_packet(size, factor, step):
    """Return a queue's size multiplied by a factor, but changed by at least one packet (``step``)."""
    changed = round(size * factor)
    return changed if abs(changed - size) >= step else size + step * (1 if factor > 1 else -1)


def _longer(scenario):
    traffic = scenario["traffic"]
    key = (
        "file_bytes" if traffic["application"] == "ftp" else "duration_s" if traffic["messages"] is None else "messages"
    )
    return scenario | {"traffic": traffic | {key: 2 * traffic[key]}}


def _other_offload(scenario):
    transport = scenario["transport"]
    return scenario | {"transport": transport | {"segmentation_offload": not transport["segmentation_offload"]}}


def _other_tick(scenario):
    kernel = scenario.get("kernel", {"base": NEWEST})
    return scenario | {"kernel": kernel | {"config": kernel.get("config", {}) | {"HZ": TICK_HZ}}}


def _rounded(value):
    return float(f"{value:.6g}")


PERTURBATIONS = (
    Perturbation(AS_IS, "as it is", lambda scenario: scenario),
    Perturbation(AGAIN, "as it is, other seeds", lambda scenario: scenario),
    Perturbation("offload", "segmentation offload the other way", _other_offload),
    Perturbation("rtt-up", "RTT +1 %", _delays(1.01)),
    Perturbation("rtt-down", "RTT -1 %", _delays(0.99)),
    Perturbation("queue-up", "queue +10 %", _queue(1.1)),
    Perturbation("queue-down", "queue -10 %", _queue(0.9)),
    Perturbation("twice", "twice the duration", _longer),
    Perturbation("tick", f"the guest kernel's tick {TICK_HZ} Hz", _other_tick),
)
WORDS = {perturbation.name: perturbation.words for perturbation in PERTURBATIONS}


def perturbed_study(study, count, seed, is_possible) -> tuple[dict, list[str]]:
    """Return a study of perturbed scenarios, in the form of a study file, and a sentence about each omitted perturbation.

    Parameters
    ----------
    study : dict
        Resolved study (`study.resolve`).
    count, seed : int
        Number of scenarios to choose at random (all if there are fewer), and seed for the random choice.
    is_possible : callable
        Called with a study that contains one scenario, in the form of a study file; returns whether the study can be run.
    """
    draw = random.Random(seed)
    chosen = set(draw.sample([scenario["id"] for scenario in study["scenarios"]], min(count, len(study["scenarios"]))))
    ccas = study["ccas"]
    if len(ccas) > MOST_CCAS:
        few = set(draw.sample(ccas, MOST_CCAS))
        ccas = [cca for cca in ccas if cca in few]
    outline = {
        "study": f"{study['study']}-sensitivity",
        "title": f"How much {study['study']} depends on its settings",
        "seed": study["seed"],
        "replications": min(most_replications(study), MOST_REPLICATIONS),
        "ccas": ccas,
        "cca_definitions": study["cca_definitions"],
        "ip_versions": study["ip_versions"],
        "analysis": {
            "sensitivity": True,
            **{key: study["analysis"][key] for key in ("equivalence_margin", "detect", "agreement")},
        },
    }
    # Groups contain the declarations of their programs.
    if programs := programs_under_test(study | {"ccas": ccas}):
        names = {program["name"] for program in programs.values()}
        outline["programs"] = {name: study["programs"][name] for name in sorted(names)}
    scenarios, left_out = [], []
    for number, scenario in enumerate((each for each in study["scenarios"] if each["id"] in chosen), 1):
        for place, perturbation in enumerate(PERTURBATIONS):
            name = f"{scenario['id']}{JOINT}{perturbation.name}"
            perturbed = perturbation.change(scenario) | {
                "id": name, "label": f"{number}{chr(ord('a') + place)}", "replications": None, "seeds_of": None,
            }  # fmt: skip
            if is_possible(outline | {"scenarios": [perturbed]}):
                scenarios.append(perturbed)
            else:
                left_out.append(
                    f"{scenario['id']}, {perturbation.words}: left out, because such a scenario can't be run"
                )
    return outline | {"scenarios": scenarios}, left_out
