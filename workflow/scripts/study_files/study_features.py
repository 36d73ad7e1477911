"""Features of scenarios, each of which is a predicate on a resolved scenario.

Sentences on the page that aren't true of every study name the features that they require (`report_page.statements`).
"""

from collections.abc import Callable, Iterable

from experiment.disciplines import discipline_of
from experiment.flow_groups import LONG, OWN, PROGRAM, REAL_TIME, REVERSE, WEB
from experiment.link_options import LOSS_MODELS, OF_NAME
from experiment.specification import RunSpecification
from study_files.study_design import is_changing, is_simulator
from study_files.study_variation import is_varied


def _lossy(scenario) -> bool:
    return any([*scenario["link"]["loss_percent"].values(), *(scenario["multipath"].get("path_loss_percent") or ())])


def _has_changing_loss(scenario) -> bool:
    return len(RunSpecification({"scenario": scenario}).timeline.values_with_first("forward", "loss_percent")) > 1


def _uses(*options) -> Callable[[dict], bool]:
    return lambda scenario: any(OF_NAME[option].used(scenario["link"]) for option in options)


def _has_group(holds) -> Callable[[dict], bool]:
    return lambda scenario: any(map(holds, scenario["groups"]))


def queues_of(scenario) -> list[dict]:
    """Return the queues of a resolved scenario's bottlenecks, including a separate queue for the reverse direction."""
    return RunSpecification({"scenario": scenario}).queues


def _managed(scenario) -> bool:
    return any(not discipline_of(queue).limited_only for queue in queues_of(scenario))


def _is_chain(scenario) -> bool:
    return scenario["topology"] == "chain"


def _has_rate(scenario) -> bool:
    return _is_chain(scenario) or scenario["link"]["rate_mbps"] is not None


def _other_cca(scenario) -> bool:
    """Return whether a scenario has long flows with a CCA other than the run's."""
    crossing = scenario["chain"]["cross_cca"] if _is_chain(scenario) else None
    return bool(crossing) or any(group["application"] == LONG and group["cca"] != OWN for group in scenario["groups"])


def _long_groups_apart(scenario) -> bool:
    long = [group for group in scenario["groups"] if group["application"] == LONG]
    return len({(group["start_s"], group["stop_s"], group["on_s"]) for group in long}) > 1


def _changes_at_one_phase(scenario) -> bool:
    """Return whether, in all runs, the path changes at nearly the same phase of the congestion window's sawtooth.

    This is the case if the path changes at fixed times and the start times of flows vary little between runs.
    """
    variation, start_ms = scenario["variation"], scenario["traffic"]["start_within_ms"] or 0
    varied = max(variation["rtt_percent"], variation["rate_percent"]) > 0
    close = start_ms + variation["start_ms"] < FEWEST_PHASES_MS
    long = scenario["flows"] > 0 or any(group["application"] == LONG for group in scenario["groups"])
    return bool(scenario["link"].get("timeline")) and long and close and not varied


#: Minimum range of start times, in ms, at which the phase of a sawtooth counts as varied; a sawtooth lasts from a few round trips to many
#: seconds.
FEWEST_PHASES_MS = 1000
#: Feature -> whether a resolved scenario has it.
FEATURES: dict[str, Callable[[dict], bool]] = {
    "guest kernel": lambda scenario: scenario["platform"] == "uml",
    "own kernel": lambda scenario: scenario["platform"] == "host",
    "simulator": lambda scenario: is_simulator(scenario["platform"]),
    "kernel": lambda scenario: not is_simulator(scenario["platform"]),
    "dumbbell": lambda scenario: scenario["topology"] == "dumbbell",
    "cable": lambda scenario: scenario["topology"] == "cable",
    "chain": _is_chain,
    "rate": _has_rate,
    "managed queue": _managed,
    "policer": lambda scenario: bool(scenario["link"].get("policer")),
    "changing path": is_changing,
    "change at one phase": _changes_at_one_phase,
    "random loss": _lossy,
    "changing loss": _has_changing_loss,
    "single losses": lambda scenario: _lossy(scenario) and not _uses(*LOSS_MODELS)(scenario),
    "loss bursts": _uses(*LOSS_MODELS),
    "jitter": lambda scenario: any(scenario["link"]["jitter_ms"].values()),
    "late packets": _uses("reordering"),
    "duplicates": _uses("duplicate_percent"),
    "damage": _uses("corrupt_percent"),
    "segmentation offload": lambda scenario: scenario["transport"]["segmentation_offload"],
    "several paths": lambda scenario: scenario["multipath"]["by"] != "none",
    "gre": lambda scenario: scenario["multipath"]["by"] == "gre",
    "mptcp": lambda scenario: scenario["multipath"]["by"] == "mptcp",
    "tcp": lambda scenario: scenario["traffic"]["protocol"] == "tcp",
    "bulk": lambda scenario: scenario["traffic"]["application"] != "round-trip" and scenario["flows"] > 0,
    "round trips": lambda scenario: scenario["traffic"]["application"] == "round-trip",
    "groups": lambda scenario: bool(scenario["groups"]),
    "reverse flows": _has_group(lambda group: group["direction"] == REVERSE),
    "web": _has_group(lambda group: group["application"] == WEB),
    "real-time": _has_group(lambda group: group["application"] == REAL_TIME),
    "programs": _has_group(lambda group: group["application"] == PROGRAM),
    "other CCAs": _other_cca,
    "flows that come and go": lambda scenario: (
        _long_groups_apart(scenario) or any(group["on_s"] is not None for group in scenario["groups"])
    ),
    "server": lambda scenario: scenario["background"] == "server",
    "several flows": lambda scenario: scenario["flows"] > 1 or _is_chain(scenario),
    "variation": is_varied,
    "ECN": lambda scenario: RunSpecification({"scenario": scenario}).uses_ecn,
    "dualpi2": lambda scenario: any(queue.get("discipline") == "dualpi2" for queue in queues_of(scenario)),
    "drawn sizes": _has_group(lambda group: group["application"] == WEB and group["sizes"] != "fixed"),
    "fixed sizes": _has_group(lambda group: group["application"] == WEB and group["sizes"] == "fixed"),
    "others on the link": lambda scenario: (
        scenario["background"] != "none"
        or any(group["application"] != LONG or group["cca"] != OWN for group in scenario["groups"])
    ),
}


def features_of(scenarios: Iterable[dict]) -> dict[str, list[str]]:
    """Return the features that at least one scenario has (key "some") and the features that all scenarios have (key "every")."""
    scenarios = list(scenarios)
    return {
        word: [name for name, has in FEATURES.items() if holds(map(has, scenarios))]
        for word, holds in (("some", any), ("every", all))
    }


def is_without_chance(scenario) -> bool:
    """Return whether only the start times of flows differ between replications of a scenario."""
    random = (
        "own kernel", "random loss", "jitter", "late packets", "duplicates", "damage", "managed queue", "web", "real-time", "programs", "server",
        "variation", "changing path",
    )  # fmt: skip
    return not any(FEATURES[name](scenario) for name in random)
