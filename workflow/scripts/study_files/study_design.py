"""What kind of study a study is: which factors it compares, and what it records.

Analysis, figures and report ask this module, so that no table is made in vain and no sentence speaks of
a comparison that isn't there. Pure functions on the study as `study.resolve` returns it.
"""

import json
from dataclasses import dataclass

from size_tables.size_words import traffic_name

#: Name of the claims file of the paper that compares CCAs over IPv4 and IPv6: its figures 3 to 6 and
#: tables 3 to 5 are made again for studies that are held against it.
IP_PAPER = "lima-ccas-ipv4-ipv6"
#: Joins the CCAs of a mix: `reno+cubic`.
MIX = "+"


@dataclass(frozen=True)
class StudyDesign:
    """What follows from a study's file.

    Attributes
    ----------
    ccas, ip_versions : tuple of str
        As the study has them; with `mixes` the first are mixes such as `reno+cubic`.
    scenarios : tuple of str
        Identifiers.
    series : tuple of str
        Scenarios that are sampled over time and whose flows are iperf3's, each one TCP connection.
    platforms : tuple of str
        Distinct ones, in the scenarios' order.
    pairs, flows : int
        Most pairs of hosts, and most flows, of any scenario.
    queues : int
        Number of distinct queue sizes.
    buffers : int
        Most queue sizes among scenarios that differ in nothing but these and the platform.
    claims, other : str or None
        Names of the claims file, and of the study that this one is compared with.
    sized : tuple of str
        Scenarios of one flow, or of single messages, over a cable, which can be compared by the size of messages.
    message_sizes : int
        Number of distinct sizes of messages among these.
    topologies, applications : tuple of str
        Distinct ones, in the scenarios' order.
    servers : int
        Scenarios in which the sender also is the receiver's server.
    joined : tuple of str
        Scenarios in which several paths are made one, by MPTCP or tunnels.
    path_numbers : int
        Most different numbers of paths among those that are joined by the same thing.
    transfers : tuple of str
        Scenarios that transfer files and are sampled over time.
    """

    ccas: tuple
    ip_versions: tuple
    scenarios: tuple
    series: tuple
    platforms: tuple
    pairs: int
    flows: int
    queues: int
    buffers: int
    claims: str | None
    other: str | None
    sized: tuple = ()
    message_sizes: int = 0
    topologies: tuple = ("dumbbell",)
    applications: tuple = ("iperf3",)
    servers: int = 0
    joined: tuple = ()
    path_numbers: int = 0
    transfers: tuple = ()

    @property
    def multipath(self):
        """Whether the study asks what several paths give."""
        return bool(self.joined)

    @property
    def by_size(self):
        """Whether the study asks what the size of messages does and nothing else: it compares sizes then, not CCAs."""
        return self.message_sizes > 1 and self.sized == self.scenarios

    @property
    def ip_versions_compared(self):
        """Whether the study has both IP versions."""
        return len(self.ip_versions) > 1

    @property
    def mixes(self):
        """Whether flows of different CCAs meet in a run."""
        return self.cca_word == "mix"

    @property
    def ccas_that_run(self):
        """The CCAs themselves, those of the mixes too, in the study's order."""
        return tuple(dict.fromkeys(part for cca in self.ccas for part in cca.split(MIX)))

    @property
    def cell_words(self):
        """What cells differ by, such as "scenario, CCA and IP version"."""
        return cell_words(self.ccas, self.ip_versions)

    @property
    def cca_word(self):
        """What is in the columns of CCAs: "CCA" or "mix"."""
        return cca_word(self.ccas)

    @property
    def platforms_compared(self):
        """Whether the study has several platforms."""
        return len(self.platforms) > 1

    @property
    def repeats_ip_paper(self):
        """Whether the figures and tables of the paper on IPv4 and IPv6 are made again."""
        return self.claims == IP_PAPER


def is_simulator(platform):
    """Return whether a platform's TCP is a simulator's, such as `ns3:3.44`, and not a kernel's."""
    return platform.split(":")[0] == "ns3"


def cca_word(ccas):
    """Return "CCA", or "mix" if flows of different CCAs meet in a run."""
    return "mix" if any(MIX in cca for cca in ccas) else "CCA"


def cell_words(ccas, ip_versions):
    """Return what cells differ by: "scenario, CCA and IP version", without an IP version if there is only one."""
    if len(ip_versions) > 1:
        return f"scenario, {cca_word(ccas)} and IP version"
    return f"scenario and {cca_word(ccas)}"


def study_design(study, claims=None, other=None):
    """Return the design of a study.

    Parameters
    ----------
    study : dict
        As `study.resolve` returns it, with or without ``analysis``.
    claims, other : str, optional
        What ``analysis`` names as `claims` and `compare_with`.

    Returns
    -------
    StudyDesign
    """
    scenarios = study["scenarios"]
    sizes = _sizes(scenarios)
    return StudyDesign(
        ccas=tuple(study["ccas"]),
        ip_versions=tuple(study["ip_versions"]),
        scenarios=tuple(scenario["id"] for scenario in scenarios),
        series=tuple(s["id"] for s in scenarios if _is_sampled(s) and not _is_joined(s) and not _is_transfer(s)),
        platforms=tuple(dict.fromkeys(scenario["platform"] for scenario in scenarios)),
        pairs=max(scenario.get("hosts", {}).get("pairs", 1) for scenario in scenarios),
        flows=max(scenario["flows"] for scenario in scenarios),
        queues=len({tuple(scenario.get("queue", {}).items()) for scenario in scenarios}),
        buffers=_most_buffers(scenarios),
        claims=claims,
        other=other,
        topologies=tuple(dict.fromkeys(scenario.get("topology", "dumbbell") for scenario in scenarios)),
        applications=tuple(dict.fromkeys(s.get("traffic", {}).get("application", "iperf3") for s in scenarios)),
        servers=sum(scenario.get("background") == "server" for scenario in scenarios),
        sized=tuple(sizes),
        message_sizes=len(set(sizes.values())),
        joined=tuple(scenario["id"] for scenario in scenarios if _is_joined(scenario)),
        path_numbers=_most_path_numbers(scenarios),
        transfers=tuple(s["id"] for s in scenarios if _is_sampled(s) and _is_transfer(s)),
    )


def _sizes(scenarios):
    """Return scenario -> bytes of a message, for those that can be compared by it.

    None can if two are alike in traffic, size, environment, rate and platform: what they differ by (say a delay) is
    then what the study is about, and cells by size would mix it up.
    """
    sizes, places = {}, set()
    for scenario in scenarios:
        traffic = scenario.get("traffic", {})
        kind = traffic_name(
            scenario.get("topology"), scenario.get("multipath", {}).get("by"), scenario["flows"],
            traffic.get("application"), traffic.get("protocol"), scenario.get("transport", {}).get("segment_bytes"),
        )  # fmt: skip
        if kind is not None:
            size, rate = traffic["block_bytes"], scenario["link"]["rate_mbps"]
            place = (kind, size, scenario["background"], rate, scenario["platform"])
            if place in places:
                return {}
            places.add(place)
            sizes[scenario["id"]] = size
    return sizes


def _most_path_numbers(scenarios):
    numbers = {}
    for scenario in filter(_is_joined, scenarios):
        paths, application = scenario["multipath"], scenario["traffic"]["application"]
        if application == "iperf3" and len(set(paths["path_delay_ms"])) == 1:
            tunnels = (paths["tunnel_ip_version"], paths["distribution"]) if paths["by"] == "gre" else ()
            how = (paths["by"], *tunnels, scenario["platform"], scenario["link"]["rate_mbps"])
            numbers.setdefault(how, set()).add(paths["paths"])
    return max(map(len, numbers.values()), default=0)


def _is_sampled(scenario):
    return scenario.get("traffic", {}).get("sample_interval_ms") is not None


def _is_joined(scenario):
    return scenario.get("multipath", {}).get("by", "none") != "none"


def _is_transfer(scenario):
    return scenario.get("traffic", {}).get("application") == "ftp"


def _most_buffers(scenarios):
    sizes = {}
    for scenario in scenarios:
        transport = {key: value for key, value in scenario.get("transport", {}).items() if key != "recovery"}
        rest = {key: value for key, value in scenario.items() if key not in ("id", "label", "queue", "platform")}
        conditions = json.dumps(rest | {"transport": transport}, sort_keys=True)
        sizes.setdefault(conditions, set()).add(tuple(scenario.get("queue", {}).items()))
    return max(len(queues) for queues in sizes.values())
