"""Preconditions of a page's sentences, checked against the scenarios in the study's file without using the page's own predicates."""

import re

from experiment.link_options import LOSS_MODELS

#: Sections that quote others or list all programs, and so aren't only about this study.
QUOTING = ("claims", "published", "provenance")


def scenarios_of(study):
    """Return the resolved scenarios."""
    return study["scenarios"]


def platforms(study):
    return {scenario["platform"].split(":")[0] for scenario in scenarios_of(study)}


def link_of(scenario):
    return scenario["link"]


def lossy(scenario):
    return max(link_of(scenario)["loss_percent"].values()) > 0


def queues(scenario):
    return (
        [one["queue"] for one in scenario["chain"]["bottlenecks"]]
        if scenario["topology"] == "chain"
        else [scenario["queue"]]
    )


def drop_tail(scenario):
    return all(queue.get("discipline", "drop-tail") == "drop-tail" for queue in queues(scenario))


def groups(scenario, **values):
    return [group for group in scenario["groups"] if all(group[key] == value for key, value in values.items())]


def any_of(holds):
    return lambda study: any(map(holds, scenarios_of(study)))


def all_of(holds):
    return lambda study: all(map(holds, scenarios_of(study)))


def has_ccas_mixed(study):
    return any("+" in cca for cca in study["ccas"])


def has_program_over_tcp(study):
    tested = [
        one
        for name, one in study.get("programs", {}).items()
        if any(cca.partition(":")[0] == name for cca in study["ccas"])
    ]
    of_groups = [
        group["program"] for scenario in study["scenarios"] for group in scenario["groups"] if group["program"]
    ]
    return any(one["protocol"] == "tcp" for one in tested + of_groups)


def has_program_tested(study):
    return bool(_programs_tested(study))


def has_program_tested_over_udp(study):
    return any(one["protocol"] == "udp" for one in _programs_tested(study))


def has_tcp_tested(study):
    """Whether the kernel's TCP is under test, by iperf3 or by a program over TCP."""
    programs = _programs_tested(study)
    return len(programs) < len(study["ccas"]) or any(one["protocol"] == "tcp" for one in programs)


def _programs_tested(study):
    declared, named = study.get("programs", {}), (cca.partition(":")[0] for cca in study["ccas"])
    return [declared[name] for name in named if name in declared]


def others(scenario):
    crossing = scenario["topology"] == "chain" and scenario["chain"]["cross_cca"]
    return bool(crossing) or any(group["cca"] != "own" for group in groups(scenario, application="iperf3"))


def disturbed(scenario):
    link = link_of(scenario)
    changes = link.get("timeline") or link.get("trace")
    return bool(max(link["jitter_ms"].values()) > 0 or link.get("reordering") or changes)


def has_loss_model(scenario):
    return any(any((link_of(scenario).get(name) or {"forward": None}).values()) for name in LOSS_MODELS)


def udp(scenario):
    return scenario["traffic"]["protocol"] == "udp"


def one_run_is_like_another(scenario):
    """Return whether only the flows' start times are drawn in a scenario."""
    link = link_of(scenario)
    drawn = [
        lossy(scenario), max(link["jitter_ms"].values()), link.get("reordering"), scenario["platform"] == "host", not drop_tail(scenario),
        groups(scenario, application="web"), groups(scenario, application="real-time"), scenario["background"] == "server",
        any(scenario["variation"].values()), link.get("timeline"), link.get("trace"),
        any(max(value.values()) if isinstance(value, dict) else value for value in (link.get("duplicate_percent", 0), link.get("corrupt_percent", 0))),
    ]  # fmt: skip
    return not any(drawn)


kernel = any_of(lambda scenario: not scenario["platform"].startswith("ns3"))
#: Beginning of a sentence, as a regular expression -> whether it is true of a resolved study.
PRESUMED = {
    "The guest's clock moves only": any_of(lambda s: s["platform"] == "uml"),
    "CPU load, slow hosts": any_of(lambda s: s["platform"] == "uml"),
    "Runs on platform host": any_of(lambda s: s["platform"] == "host"),
    "No other run shared the machine": any_of(lambda s: s["platform"] == "host"),
    "A run is invalid if a core": any_of(lambda s: s["platform"] == "host"),
    "ns-3 has its own TCP models": any_of(lambda s: s["platform"].startswith("ns3")),
    "Results of simulated scenarios apply": any_of(lambda s: s["platform"].startswith("ns3")),
    "Values that ns-3 can't provide": any_of(lambda s: s["platform"].startswith("ns3")),
    "There is no network card": kernel,
    "No super-packet of TSO leaves a host": lambda study: kernel(study) and all_of(lambda s: not s["transport"]["segmentation_offload"])(study),
    "Scenarios with segmentation offload have": any_of(lambda s: s["transport"]["segmentation_offload"]),
    "Receivers process each packet individually": any_of(lambda s: not s["transport"]["segmentation_offload"] and not udp(s)),
    "The hosts' own links have no rate": any_of(lambda s: s["topology"] != "cable"),
    "Random losses are drawn packet by packet": any_of(lossy),
    "Losses in bursts follow": any_of(has_loss_model),
    "No jitter is emulated": all_of(lambda s: not disturbed(s)),
    "Some paths have several bottlenecks": any_of(lambda s: s["topology"] == "chain"),
    "The cross traffic consists of long flows": any_of(lambda s: s["topology"] == "chain"),
    "Elsewhere on this page, statements about one bottleneck": any_of(lambda s: s["topology"] == "chain"),
    "Every path has one bottleneck with a drop-tail queue": all_of(
        lambda s: drop_tail(s) and s["topology"] != "chain" and link_of(s)["rate_mbps"] is not None and not link_of(s).get("policer")
    ),
    "Every path has one bottleneck; the queues are": any_of(lambda s: not drop_tail(s)),
    "In a scenario without a rate limit": any_of(lambda s: link_of(s)["rate_mbps"] is None),
    "A policer drops packets in front": any_of(lambda s: link_of(s).get("policer")),
    "There is one sender, and one receiver": all_of(lambda s: s["hosts"]["pairs"] == 1 and not groups(s, direction="reverse") and s["topology"] != "chain"),
    "There are up to": any_of(lambda s: s["hosts"]["pairs"] > 1 or groups(s, direction="reverse")),
    "There is no cross traffic": all_of(lambda s: not s["groups"] and s["topology"] != "chain" and s["background"] == "none"),
    "In addition to the flows under test there are": any_of(lambda s: s["groups"]),
    "Some flows come and go": any_of(lambda s: len({(g["start_s"], g["stop_s"]) for g in groups(s, application="iperf3")}) > 1 or any(g["on_s"] for g in s["groups"])),
    "Messages of a server share": any_of(lambda s: s["background"] == "server"),
    "All flows of a run have the same CCA": lambda study: not has_ccas_mixed(study) and not any(map(others, scenarios_of(study))),
    "Active queue management is not examined": all_of(drop_tail),
    "Competition between CCAs is not examined": lambda study: not has_ccas_mixed(study) and not any(map(others, scenarios_of(study))),
    "All runs used Linux": lambda study: "ns3" not in platforms(study),
    "All runs on a kernel used Linux": lambda study: "ns3" in platforms(study) and kernel(study),
    "Runs used Linux": kernel,
    "CCAs change between versions, BBR": lambda study: kernel(study) and any("bbr" in cca for cca in study["ccas"]),
    "CCAs change between versions": kernel,
    "On an empty path, slow start": any_of(lambda s: not udp(s) and s["traffic"]["application"] != "round-trip"),
    "In longer runs, slow start would have less weight": any_of(lambda s: not udp(s) and s["traffic"]["application"] != "round-trip"),
    "Cells with fewer than": lambda study: True,
    "In most of these cells, an event": lambda study: True,
    "The table of power under Method": lambda study: len(study["ip_versions"]) == 2,
    "The width of the intervals": lambda study: True,
    "An undecided cell says": lambda study: True,
    "Flows start close together, and a path then changes": any_of(lambda s: link_of(s).get("timeline") and (s["traffic"]["start_within_ms"] or 0) < 1000),
    "The reaction to the change then": any_of(lambda s: link_of(s).get("timeline") and (s["traffic"]["start_within_ms"] or 0) < 1000),
    "A `traffic.start_within_ms` of a few seconds": any_of(lambda s: link_of(s).get("timeline") and (s["traffic"]["start_within_ms"] or 0) < 1000),
    "In .* replications differ only in the start times": any_of(one_run_is_like_another),
    "The spread of these replications is due to the start times": any_of(one_run_is_like_another),
    "In .* goodput is the same in all of these runs": lambda study: True,
    "When IPv6 is compared with IPv4, p is corrected": lambda study: len(study["ip_versions"]) == 2,
    "When CCAs are compared, p is corrected": lambda study: len(study["ccas"]) > 1,
    "Intervals aren't corrected": lambda study: True,
    "Over the whole report, expect more false alarms": lambda study: True,
    "Each run covers .* of traffic": lambda study: True,
    "A replication has one seed": lambda study: True,
    "So random losses and the start times of flows are the same": any_of(lossy),
    "So the start times of flows are the same": all_of(lambda s: not lossy(s)),
    "The runs of a replication are one block": lambda study: len(study["ccas"]) > 1,
    "The runs of a replication are pairs": lambda study: len(study["ip_versions"]) == 2,
    "There is nothing to compare within": lambda study: len(study["ccas"]) == len(study["ip_versions"]) == 1,
    "A run is one fresh network: two hosts": all_of(lambda s: s["hosts"]["pairs"] == 1 and not groups(s, direction="reverse")),
    "A run is one fresh network: up to": any_of(lambda s: s["hosts"]["pairs"] > 1 or groups(s, direction="reverse")),
    "The hosts run on a Linux guest kernel": lambda study: "host" not in platforms(study) and "uml" in platforms(study),
    "The hosts run on the machine's own kernel": lambda study: platforms(study) & {"uml", "host"} == {"host"},
    "Some hosts run on a Linux guest kernel": lambda study: {"uml", "host"} <= platforms(study),
    "Some scenarios have the same network simulated": lambda study: len(platforms(study)) > 1 and "ns3" in platforms(study),
    "The network is built, read back from the kernel": kernel,
    "After the traffic, a probe verifies": all_of(
        lambda s: s["platform"] == "uml" and (s["topology"] == "chain" or link_of(s)["rate_mbps"] is not None)
    ),
    "The network is built, loaded with traffic": lambda study: platforms(study) == {"ns3"},
    "A run that fails any check": lambda study: True,
    "Bytes delivered": any_of(lambda s: not udp(s)),
    "Bytes that arrived during": all_of(udp),
    "For UDP, goodput counts the bytes that arrived": any_of(udp),
    "For programs under test": has_program_tested,
    "For programs over UDP": has_program_tested_over_udp,
    "Programs over UDP": has_program_tested_over_udp,
    "The log is read only in scenarios with time series": has_program_tested_over_udp,
    "Programs over TCP": has_program_over_tcp,
    "Only groups of flows with the CCA under test": any_of(lambda s: s["groups"]),
    r"Groups marked \(reverse\)": any_of(lambda s: groups(s, direction="reverse")),
    "Long flows send both ways at once": any_of(lambda s: groups(s, direction="reverse")),
    "Download, upload and round-trip time": any_of(lambda s: groups(s, direction="reverse")),
    "Start-up is included": lambda study: True,
    "Mean of the smoothed round-trip times": has_tcp_tested,
    "It consists of the path's delay and the time": all_of(lambda s: not disturbed(s)),
    "It consists of the path's delay at each time": any_of(disturbed),
    "Packets dropped by the bottleneck's queue, divided": all_of(lambda s: not lossy(s) and not link_of(s).get("policer")),
    "Packets dropped by the bottleneck's queue and by the configured": any_of(lossy),
    "Packets dropped by the bottleneck's queue, by the configured loss and by a policer": any_of(lambda s: link_of(s).get("policer")),
    "Losses on the link also count": any_of(lambda s: any("loss_percent" in one or "down_for_s" in one for one in link_of(s).get("timeline") or ())),
    "Drops are counted where they occur": lambda study: True,
    "Segments that TCP retransmitted, summed": has_tcp_tested,
    "Not normalised: a faster CCA": lambda study: len(study["ccas"]) > 1,
    "Rate at the receiver": lambda study: True,
    "If twelve streams fill": any_of(lambda s: s["flows"] > 1 or s["topology"] == "chain"),
    "Mean round-trip time of the first stream": lambda study: True,
    "The paper gives it in microseconds": lambda study: True,
    "The RTTs of the other streams": any_of(lambda s: s["flows"] > 1 or s["topology"] == "chain"),
    "The paper's “packet loss”": lambda study: True,
    "It counts segments that TCP considered lost": lambda study: True,
}  # fmt: skip
#: Words of the page -> whether they may appear on the page of a resolved study at all, outside of quotations.
WORDS = {
    r"\bns-3\b": any_of(lambda s: s["platform"].startswith("ns3")),
    r"\bguest kernel\b": any_of(lambda s: s["platform"] == "uml"),
    r"\bpolicers?\b": any_of(lambda s: link_of(s).get("policer")),
    r"\bweb objects?\b": any_of(lambda s: groups(s, application="web")),
    r"\breal-time streams?\b": any_of(lambda s: groups(s, application="real-time")),
    r"\b[Gg]roups of (long )?flows\b": any_of(lambda s: s["groups"]),
    r"\bbottlenecks in (a row|series)\b": any_of(lambda s: s["topology"] == "chain"),
    r"\btunnels?\b": any_of(lambda s: s["multipath"]["by"] == "gre"),
    r"\bMPTCP\b": any_of(lambda s: s["multipath"]["by"] != "none"),
    r"\bGilbert\b": any_of(has_loss_model),
    r"\bECN\b": any_of(
        lambda s: s["transport"]["ecn"] != "off" or not drop_tail(s) or any(g["ecn"] for g in s["groups"])
    ),
    r"\bin a mix\b|\bmixes\b": has_ccas_mixed,
    # A calibration names the guest's own packets.
    r"\bIPv6\b": lambda study: (
        "ipv6" in study["ip_versions"]
        or study["analysis"]["calibration"]
        or any(s["multipath"]["by"] == "gre" for s in scenarios_of(study))
    ),
    r"\bIPv4\b": lambda study: (
        "ipv4" in study["ip_versions"] or any(s["multipath"]["by"] == "gre" for s in scenarios_of(study))
    ),
    r"\bqperf\b": any_of(lambda s: s["traffic"]["application"] == "round-trip"),
    r"\bvsftpd\b": any_of(lambda s: s["traffic"]["application"] == "ftp"),
    r"\b(\d+) of 72\b": lambda study: len(study["scenarios"]) * len(study["ccas"]) == 72,
}


def text_outside(page, *sections):
    """Return the text of a page without markup and without some of its sections."""
    html = page.read_text(encoding="utf-8")
    for name in sections:
        html = re.sub(rf'<section id="{name}".*?</section>', " ", html, flags=re.DOTALL)
    # The texts of checks come from the testbed and apply to all of its runs.
    html = re.sub(r"<caption>Checks, with the numbers of runs.*?</table>", " ", html, flags=re.DOTALL)
    html = re.sub(r"<style>.*?</style>|<script>.*?</script>|<svg.*?</svg>", "\n", html, flags=re.DOTALL)
    # Words within a sentence may be marked up; any other tag begins a new sentence.
    html = re.sub(r"</?(i|b|code|cite|a|sub|sup)\b[^>]*>", "", html)
    html = re.sub(r"\s+", " ", html)
    html = re.sub(r"<[^>]*>", "\n", html)
    return html.replace("&#39;", "'").replace("&#34;", '"')


def untrue(study, text):
    """Return the sentences and words of a text that are not true of a resolved study."""
    said = [
        f"{pattern}"
        for pattern, holds in PRESUMED.items()
        if not holds(study) and re.search(rf"(^|\n\s*|[.:!?] ){pattern}", text)
    ]
    return said + [pattern for pattern, holds in WORDS.items() if not holds(study) and re.search(pattern, text)]


def check_sentences(study, page):
    """Check that all sentences of a page are true of its study."""
    wrong = untrue(study, text_outside(page, *QUOTING))
    assert not wrong, wrong
