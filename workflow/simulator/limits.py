"""Features that ns-3 supports, and the error messages that reject a study with other features before any run starts."""

from experiment.conditions import POLICERS, RECEIVING_SIDE, policers_of
from experiment.host_options import HOST_OPTIONS
from experiment.link_options import LINK_OPTIONS
from simulator import disciplines

#: Linux's name for a CCA -> TypeId of the equivalent CCA in all `VERSIONS` of ns-3.
CCAS = {
    "bbr": "ns3::TcpBbr",
    "bic": "ns3::TcpBic",
    "cubic": "ns3::TcpCubic",
    "highspeed": "ns3::TcpHighSpeed",
    "htcp": "ns3::TcpHtcp",
    "hybla": "ns3::TcpHybla",
    "illinois": "ns3::TcpIllinois",
    "lp": "ns3::TcpLp",
    "reno": "ns3::TcpLinuxReno",
    "scalable": "ns3::TcpScalable",
    "vegas": "ns3::TcpVegas",
    "veno": "ns3::TcpVeno",
    "westwood": "ns3::TcpWestwoodPlus",
    "yeah": "ns3::TcpYeah",
}
#: Linux's name for a CCA -> reason why the CCA isn't in `CCAS`, although ns-3 has a CCA of this name.
NOT_THE_SAME = {"dctcp": "DCTCP needs a queue that marks packets, and this one drops them"}
#: Versions of ns-3 for which there is a wheel; a study's platform is ``ns3:`` and one of these versions.
VERSIONS = ("3.39", "3.42", "3.43", "3.44")


def refusals(scenario, ccas, ip_versions) -> list[str]:
    """Return one sentence for each feature of a scenario that ns-3 doesn't support.

    Parameters
    ----------
    scenario : dict
        A resolved scenario whose platform is ``ns3:`` and a version.
    ccas : list of str
        CCAs and mixes of CCAs (``reno+cubic``) that the study runs in the scenario.
    ip_versions : list of str
        The study's IP versions, which are not checked, because ns-3 supports both.
    """
    where = f"scenarios[{scenario['id']}]."
    platform = scenario["platform"]
    version = platform.partition(":")[2]
    if version not in VERSIONS:
        return [f"{where}platform is {platform}; allowed for ns3: {', '.join(f'ns3:{known}' for known in VERSIONS)}."]
    problems = [
        *_of_ccas(ccas, platform),
        *_of_network(scenario, platform),
        *_of_link(scenario, platform),
        *_of_traffic(scenario, platform),
    ]
    return [where + problem for problem in problems]


def _of_ccas(ccas, platform):
    for cca in dict.fromkeys(part for mix in ccas for part in mix.split("+")):
        if cca not in CCAS:
            reason = f" ({NOT_THE_SAME[cca]})" if cca in NOT_THE_SAME else ""
            yield f"platform is {platform}, which has no {cca}{reason}; allowed there: {', '.join(CCAS)}."


def _of_network(scenario, platform):
    if scenario["topology"] != "dumbbell":
        yield f"topology is {scenario['topology']}; allowed on {platform}: dumbbell."
    link, traffic = scenario["link"], scenario["traffic"]
    if link["frame_overhead_bytes"]:
        yield f"link.frame_overhead_bytes is {link['frame_overhead_bytes']}; allowed on {platform}: 0."
    if traffic["application"] != "iperf3" or traffic["protocol"] != "tcp":
        asked = f"application {traffic['application']} and protocol {traffic['protocol']}"
        yield f"traffic has {asked}; allowed on {platform}: iperf3 and tcp, which its bulk transfers use."
    if traffic["control_connection"] == "own-network":
        yield f"traffic.control_connection is {traffic['control_connection']}; allowed on {platform}: automatic and data-path, because there is none."
    if traffic["messages"] is not None:
        yield f"traffic.messages is {traffic['messages']}; allowed on {platform}: null."


def _of_link(scenario, platform):
    link = scenario["link"]
    yield from disciplines.refusals(scenario["queue"], platform)
    if link["rate_mbps"] is None:
        yield f"link.rate_mbps is null; allowed on {platform}: a number (Mbit/s)."
    for direction, jitter_ms in link["jitter_ms"].items():
        if jitter_ms:
            yield f"link.jitter_ms.{direction} is {jitter_ms}; allowed on {platform}: 0."
    forward_ms, reverse_ms = link["delay_ms"]["forward"], link["delay_ms"]["reverse"]
    if forward_ms != reverse_ms:
        yield (
            f"link.delay_ms is {forward_ms} forward and {reverse_ms} reverse; allowed on {platform}: the same "
            "for both, because a channel there has one delay."
        )
    for number, change in enumerate(link.get("timeline", ())):
        if change["delay_ms"] is not None and change["direction"] != "both":
            yield (
                f"link.timeline[{number}].direction is {change['direction']}; allowed on {platform} with delay_ms: both, "
                "because a channel there has one delay."
            )
    for direction, policer in policers_of(link).items():
        yield f"link.{POLICERS[direction]} has {policer['rate_mbps']:g} Mbit/s; allowed on {platform}: null."
    if scenario.get("reverse_queue"):
        yield f"reverse_queue is not null; allowed on {platform}: null."
    for option in (option for option in LINK_OPTIONS if option.used(link)):
        none = "null" if option.default is None else option.default
        yield f"link.{option.name} is not {none}; allowed on {platform}: {none}."
    if link["netem"] != RECEIVING_SIDE:
        yield f"link.netem is {link['netem']}; allowed on {platform}: receiving-side."


def _of_traffic(scenario, platform):
    traffic, transport = scenario["traffic"], scenario["transport"]
    if scenario.get("groups"):
        yield f"flows is a list of groups; allowed on {platform}: a number of flows."
    if traffic["bitrate_mbps"] is not None:
        yield f"traffic.bitrate_mbps is {traffic['bitrate_mbps']}; allowed on {platform}: null, bulk transfers only."
    if (ecn := transport.get("ecn", "off")) != "off":
        yield f"transport.ecn is {ecn}; allowed on {platform}: off."
    for option in (option for option in HOST_OPTIONS if option.used(transport)):
        none = "null" if option.default is None else str(option.default).lower()
        yield f"transport.{option.name} is not {none}; allowed on {platform}: {none}."
    if transport["segmentation_offload"]:
        yield f"transport.segmentation_offload is true; allowed on {platform}: false, because it has no super-packets."
    if transport["cca_set_by"] == "sysctl":
        yield f"transport.cca_set_by is sysctl; allowed on {platform}: socket, because it has no kernel to ask."
