"""The parts of a scenario's label (rate, RTT, loss, flows, queue and so on) and their wording."""

from collections.abc import Callable
from dataclasses import dataclass

from experiment.disciplines import MEASURES, discipline_of
from experiment.host_options import HOST_OPTIONS
from experiment.link_options import LINK_OPTIONS
from experiment.own_kernels import kernel_words
from experiment.specification import RunSpecification
from experiment.timeline import TRACES
from wording.host_option_words import effects_of as host_effects
from wording.link_option_words import effects_of
from wording.link_words import link_words, timeline_words
from wording.number_format import count, plain, rounded
from wording.scenario_keys import POLICERS_OF_LINK, SEPARATOR, said
from wording.scenario_words import both_ways, groups_words, ip_words, loss_words, platform_name, rate_words

#: Maximum number of RTTs that are listed; if there are more, they are shown as a range.
MOST_RTTS = 3


@dataclass(frozen=True)
class Part:
    """A part of a label: prefixes of the keys that it shows, the function that returns its words, and whether it is always present."""

    keys: tuple[str, ...]
    words: Callable[[dict], str]
    always: bool = False


def _run(scenario):
    return RunSpecification({"scenario": scenario, "ip_version": "ipv4"})


def _rate(scenario):
    """Return the capacity in the data's direction in words; if there are several paths, return the capacity of each path."""
    run = _run(scenario)
    capacity, paths = run.capacity, run.paths if run.is_cable else 1
    if capacity.is_unlimited():
        words = "no rate limit"
    elif run.multipath.path_rate_mbps:
        return f"{' + '.join(map(plain, run.multipath.path_rate_mbps))} Mbit/s"
    elif len(capacity.rates()) == 1 or run.multipath.outage:
        words = rate_words(capacity.most_mbps() / paths)
    else:
        rates = capacity.least_mbps(), capacity.most_mbps(), capacity.mean_mbps(0, round(1e9 * run.expected_s))
        factor, unit = (1000, "Gbit/s") if rates[1] / paths >= 1000 else (1, "Mbit/s")
        # A trace's rates have many digits, so they are rounded.
        least, most, mean = (rounded(rate / paths / factor, 4) for rate in rates)
        words = f"{least} to {most} {unit} (mean {mean})"
    policed = " by a policer" if capacity.policed_mbps is not None else ""
    several = f"{paths} \N{MULTIPLICATION SIGN} " if paths > 1 else ""
    several = f"{len(run.bottlenecks)} bottlenecks from " if run.is_chain else several
    return f"{several}{words}{policed}"


def _rtt(scenario):
    """Return the base RTTs in words, as they are before any change to the paths."""
    run, delays = _run(scenario), scenario["link"]["delay_ms"]
    rtts_ms = [pair.rtt_ms for pair in run.pairs]
    if run.is_cable:
        rtts_ms = [sum(delays.values()) + 2 * path_ms for path_ms in run.multipath.path_delay_ms]
    there, back = delays["forward"], delays["reverse"]
    apart = "" if there == back or run.is_chain else f" ({plain(there)} there + {plain(back)} back)"
    return f"RTT {listed([plain(round(rtt, 9)) for rtt in sorted(set(rtts_ms))], MOST_RTTS)} ms{apart}"


def listed(texts, most) -> str:
    """Return texts as "20" or "20 and 60"; if there are more than ``most`` texts, return only the first and the last: "20 to 60"."""
    return " and ".join(texts) if len(texts) <= most else f"{texts[0]} to {texts[-1]}"


def _loss(scenario):
    if of_paths := scenario["multipath"].get("path_loss_percent"):
        return f"{' / '.join(map(plain, of_paths))} % loss by path"
    loss = scenario["link"]["loss_percent"]
    row = {f"loss_{way}_percent": value for way, value in loss.items()}
    return loss_words(row, "both ways", both_ways)


def _flows(scenario):
    """Return the groups of flows in words, or the number of flows if there are no groups."""
    return groups_words(scenario["groups"]) or count(_run(scenario).flows, "flow")


def _joining(scenario):
    """Describe file transfers, and the way in which paths are combined."""
    paths, words = scenario["multipath"], ["FTP"] if scenario["traffic"]["application"] == "ftp" else []
    if paths["by"] == "mptcp":
        words.append("MPTCP")
    elif paths["by"] == "gre":
        words.append(f"GRE over {ip_words(paths['tunnel_ip_version'])}")
        words += ["per flow"] if paths["distribution"] == "per-flow" else []
    return " ".join(words)


def _queue(scenario):
    """Describe the queue, and the queue in the reverse direction if it differs."""
    if of_paths := scenario["multipath"].get("path_queue_packets"):
        return f"{discipline_of(scenario['queue']).name} of {' / '.join(map(plain, of_paths))} packets by path"
    back = scenario.get("reverse_queue")
    return _queue_words(scenario["queue"]) + (f", reverse queue {_queue_words(back)}" if back else "")


def _queue_words(queue):
    """Return a queue's discipline, size and non-default parameters in words."""
    discipline = discipline_of(queue)
    size = next(
        (f" of {plain(queue[measure])} {measure.replace('bdp', 'BDP')}" for measure in MEASURES if measure in queue), ""
    )
    unusual = [said(p.name, queue[p.name]) for p in discipline.parameters if queue.get(p.name, p.default) != p.default]
    return f"{discipline.name}{size}{f' ({SEPARATOR.join(unusual)})' if unusual else ''}"


def _jitter(scenario):
    there, back = (scenario["link"]["jitter_ms"][way] for way in ("forward", "reverse"))
    if there == back == 0:
        return ""
    return f"jitter {plain(there)} ms" if there == back else f"jitter {plain(there)} ms / {plain(back)} ms"


def _changes(scenario):
    return "; ".join(timeline_words(scenario["link"]["timeline"]))


def _options(scenario):
    return "; ".join(effects_of(scenario["link"]))


def _ecn(scenario):
    ecn = scenario["transport"].get("ecn", "off")
    return "" if ecn == "off" else f"ECN {ecn}"


def _policer(scenario):
    link, words = scenario["link"], []
    if policer := link["policer"]:
        words.append(f"policed with a burst of {policer['burst_bytes']:,} bytes")
    if policer := link["reverse_policer"]:
        words.append(
            f"policed in reverse at {rate_words(policer['rate_mbps'])} with a burst of {policer['burst_bytes']:,} bytes"
        )
    return "; ".join(words)


def _trace(scenario):
    return "; ".join(link_words({key: scenario["link"][key]}).split("; ")[0] for key in TRACES if scenario["link"][key])


def _outage(scenario):
    outage = scenario["multipath"].get("outage")
    return f"path {outage['path']} down at {outage['at_s']:g} s for {outage['for_s']:g} s" if outage else ""


def _kernel(scenario):
    return kernel_words(scenario["kernel"]) if "kernel" in scenario else ""


PARTS = (
    Part(("link.rate_mbps", "link.policer", "link.trace", "multipath.paths", "multipath.path_rate_mbps", "topology", "chain"), _rate, always=True),
    Part(("link.delay_ms", "hosts.access_delay_ms", "multipath.path_delay_ms", "chain"), _rtt, always=True),
    Part(("link.loss_percent", "multipath.path_loss_percent"), _loss, always=True),
    Part(("flows", "groups"), _flows, always=True),
    Part(("multipath.by", "multipath.tunnel_ip_version", "multipath.distribution", "traffic.application"), _joining, always=True),
    Part(("queue", "reverse_queue", "multipath.path_queue_packets"), _queue),
    Part(("link.jitter_ms",), _jitter),
    Part(("link.timeline",), _changes),
    Part(("link.trace", "link.reverse_trace"), _trace),
    Part(POLICERS_OF_LINK, _policer),
    Part(("multipath.outage",), _outage),
    Part(("kernel",), _kernel),
    Part(tuple(f"link.{option.name}" for option in LINK_OPTIONS), _options),
    Part(("transport.ecn",), _ecn),
    Part(tuple(f"transport.{option.name}" for option in HOST_OPTIONS), lambda scenario: "; ".join(host_effects(scenario["transport"]))),
    Part(("platform",), lambda scenario: platform_name(scenario["platform"])),
)  # fmt: skip
