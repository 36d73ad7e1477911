"""Factors that a study compares, and data that it records.

Topics, figures and the report use this module to omit tables and comparisons that don't exist for the study. Properties that only one
topic needs are part of that topic's declaration.
"""

import json
from dataclasses import dataclass, field
from functools import cached_property

from experiment.flow_groups import LONG, OWN, PROGRAM, REVERSE
from experiment.specification import RunSpecification
from experiment.timeline import traces_of
from study_files.study_runs import ip_versions_of

#: Separator of the CCAs in a mix: `reno+cubic`.
MIX = "+"


@dataclass(frozen=True)
class StudyDesign:
    """Properties of a study that follow from the study file."""

    study: dict = field(repr=False)  # result of `study.resolve`, with or without ``analysis``
    other_tables: frozenset[str] = (
        frozenset()
    )  # names of the analysis tables of the study with which this one is compared
    paper: dict = field(default_factory=dict, repr=False)  # description of the paper from the claims file, or empty

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.study["study"]

    @property
    def ccas(self) -> tuple[str, ...]:
        """The CCAs and mixes (such as `reno+cubic`), in the study's order."""
        return tuple(self.study["ccas"])

    @property
    def ip_versions(self) -> tuple[str, ...]:
        """The IP versions, in the study's order."""
        return tuple(self.study["ip_versions"])

    @property
    def scenarios(self) -> list[dict]:
        """The resolved scenarios."""
        return self.study["scenarios"]

    @cached_property
    def scenario_names(self) -> tuple[str, ...]:
        """The identifiers of the scenarios."""
        return tuple(scenario["id"] for scenario in self.scenarios)

    @property
    def claims(self) -> str | None:
        """The name of the file with the claims that the study checks, or None."""
        return self.study.get("analysis", {}).get("claims")

    @property
    def other(self) -> str | None:
        """The name of the study with which this one is compared, or None."""
        return self.study.get("analysis", {}).get("compare_with")

    @cached_property
    def platforms(self) -> tuple[str, ...]:
        """The distinct platforms, in the order of the scenarios."""
        return tuple(dict.fromkeys(scenario["platform"] for scenario in self.scenarios))

    @cached_property
    def topologies(self) -> tuple[str, ...]:
        """The distinct topologies, in the order of the scenarios."""
        return tuple(dict.fromkeys(scenario["topology"] for scenario in self.scenarios))

    @cached_property
    def applications(self) -> tuple[str, ...]:
        """The distinct applications, in the order of the scenarios."""
        return tuple(dict.fromkeys(scenario["traffic"]["application"] for scenario in self.scenarios))

    @cached_property
    def pairs(self) -> int:
        """The maximum number of host pairs in any scenario."""
        return max(len(RunSpecification({"scenario": scenario}).pairs) for scenario in self.scenarios)

    @cached_property
    def flows(self) -> int:
        """The maximum number of flows in any scenario."""
        return max(RunSpecification({"scenario": scenario}).flows for scenario in self.scenarios)

    @cached_property
    def changing_scenarios(self) -> tuple[str, ...]:
        """The identifiers of the scenarios in which the path changes during the traffic."""
        return tuple(scenario["id"] for scenario in self.scenarios if is_changing(scenario))

    @cached_property
    def rtt_shifts_ms(self) -> dict[str, float]:
        """The minimum base RTT minus the initial base RTT, in ms, by scenario; scenarios in which the two are equal are omitted."""
        shifts_ms = {}
        for scenario in filter(is_changing, self.scenarios):
            shift_ms = RunSpecification({"scenario": scenario}).link_rtts_ms[0] - sum(
                scenario["link"]["delay_ms"].values()
            )
            shifts_ms |= {scenario["id"]: shift_ms} if shift_ms else {}
        return shifts_ms

    @cached_property
    def loss_changing_scenarios(self) -> tuple[str, ...]:
        """The identifiers of the scenarios in which the loss of data packets sometimes differs from the configured loss.

        This is the case if the loss changes during the traffic (for example, because a link goes down), or if losses are correlated, which
        makes them rarer.
        """
        runs = ((one["id"], RunSpecification({"scenario": one})) for one in self.scenarios)
        return tuple(
            name
            for name, run in runs
            if len(run.timeline.values_with_first("forward", "loss_percent")) > 1 or run.correlation("loss", "forward")
        )

    @cached_property
    def servers(self) -> int:
        """The number of scenarios in which the sending host also acts as a server for the receiver."""
        return sum(scenario["background"] == "server" for scenario in self.scenarios)

    @property
    def ip_versions_compared(self) -> bool:
        """Whether each replication is run over both IP versions, so that they can be compared."""
        return len(ip_versions_of(self.study, 1)) > 1

    @property
    def mixes(self) -> bool:
        """Whether flows with different CCAs compete in a run."""
        return self.cca_word == "mix"

    @property
    def ccas_that_run(self) -> tuple[str, ...]:
        """The distinct CCAs in the study's order, with mixes split into individual CCAs."""
        return tuple(dict.fromkeys(part for cca in self.ccas for part in cca.split(MIX)))

    @property
    def own_ccas(self) -> tuple[str, ...]:
        """The CCAs that the study itself defines."""
        return tuple(cca for cca in self.ccas_that_run if cca in self.study.get("cca_definitions", {}))

    @cached_property
    def has_own_flows(self) -> bool:
        """Whether any scenario has long flows with the CCA under test, which determine the goodput, RTT and retransmits of a run."""
        return any(map(has_own_flows, self.scenarios))

    @cached_property
    def other_groups(self) -> dict[str, list[str]]:
        """The groups of long flows or programs that aren't under test, by scenario; scenarios without such groups are omitted.

        These groups use a different CCA from the run's, or send in the direction `reverse`.
        """
        groups = {
            scenario["id"]: [group["name"] for group in scenario["groups"] if _is_of_others(group)]
            for scenario in self.scenarios
        }
        return {name: others for name, others in groups.items() if others}

    @property
    def cell_words(self) -> str:
        """The factors that distinguish cells, such as "scenario, CCA and IP version"."""
        return cell_words(self.ccas, self.ip_versions)

    @property
    def cca_word(self) -> str:
        """The heading of CCA columns: "CCA" or "mix"."""
        return cca_word(self.ccas)


def has_own_flows(scenario: dict) -> bool:
    """Return whether a resolved scenario has long flows with the CCA under test."""
    groups = scenario["groups"]
    return not groups or any(group["application"] == LONG and group["cca"] == OWN for group in groups)


def _is_of_others(group):
    other_long = group["application"] == LONG and (group["cca"] != OWN or group["direction"] == REVERSE)
    return other_long or group["application"] == PROGRAM


def is_sampled(scenario: dict) -> bool:
    """Return whether the sockets in a resolved scenario are sampled over time."""
    return scenario["traffic"]["sample_interval_ms"] is not None


def is_changing(scenario: dict) -> bool:
    """Return whether a resolved scenario's path changes during the traffic."""
    return bool(scenario["link"].get("timeline") or traces_of(scenario["link"]))


def conditions_of(scenario: dict, *apart: str) -> str:
    """Return a text that is the same for resolved scenarios with the same conditions on different platforms.

    The text excludes names, platforms, the sections in `apart`, and the key `recovery`, which only a simulator supports.
    """
    transport = {key: value for key, value in scenario["transport"].items() if key != "recovery"}
    rest = {key: value for key, value in scenario.items() if key not in ("id", "label", "platform", *apart)}
    return json.dumps(rest | {"transport": transport}, sort_keys=True)


def is_simulator(platform: str) -> bool:
    """Return whether a platform, such as `ns3:3.44`, uses the TCP of a simulator instead of a kernel's TCP."""
    return platform.split(":")[0] == "ns3"


def cca_word(ccas) -> str:
    """Return "CCA", or "mix" if flows with different CCAs compete in a run."""
    return "mix" if any(MIX in cca for cca in ccas) else "CCA"


def cell_words(ccas, ip_versions) -> str:
    """Return the factors that distinguish cells, such as "scenario, CCA and IP version"; a single IP version isn't a factor."""
    if len(ip_versions) > 1:
        return f"scenario, {cca_word(ccas)} and IP version"
    return f"scenario and {cca_word(ccas)}"
