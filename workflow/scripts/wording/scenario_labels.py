"""Labels of a study's scenarios: one unique text each, with all conditions that distinguish them.

A text has parts. Rate, RTT, loss and flows are always present. Any other key of a resolved scenario is included if the scenarios
differ in it; a key without its own wording is omitted for scenarios with the value of the majority. If a part has the same text for
different values, these values are appended, so that every differing key is visible. To find scenarios that belong together, use
`settings_of`, not these texts.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from experiment.conditions import POLICERS
from experiment.disciplines import MEASURES, discipline_of
from experiment.host_options import HOST_OPTIONS
from experiment.link_options import LINK_OPTIONS
from experiment.own_kernels import kernel_words
from experiment.specification import RunSpecification
from experiment.timeline import TRACES
from wording.host_option_words import effects_of as host_effects
from wording.link_option_words import effects_of
from wording.link_words import link_words, timeline_words
from wording.number_format import count, plain
from wording.scenario_words import both_ways, groups_words, ip_words, loss_words, platform_name, rate_words

#: Keys that are names.
NAMES = ("id", "label")
#: Suffixes of keys -> units.
UNITS = {
    "_ms": "ms", "_s": "s", "_mbps": "Mbit/s", "_percent": "%", "_bytes": "bytes", "_packets": "packets", "_per_s": "per s",
}  # fmt: skip
#: Parts of keys -> their wording, if different.
WORDS = {"min": "minimum", "max": "maximum", "rto": "RTO", "rtt": "RTT", "ecn": "ECN", "cca": "CCA", "acks": "ACKs"}
#: Lists whose items have keys -> name of an item.
ITEMS = {"groups": "group", "chain.bottlenecks": "bottleneck"}
_POLICERS = tuple(f"link.{key}" for key in POLICERS.values())
#: Mappings that are treated as one value.
WHOLE = (
    "queue",
    "reverse_queue",
    *_POLICERS,
    "link.trace",
    "link.reverse_trace",
    "link.reordering",
    "link.correlation",
    "multipath.outage",
    "kernel",
)
#: Sections whose keys are shown only if the other parts don't distinguish the scenarios.
STRUCTURE = ("groups", "flows", "hosts", "multipath", "chain")
#: Separator within a part.
SEPARATOR = "; "
#: Prefix of a key -> the columns of `tidy_tables.SCENARIOS` that show it; other keys are shown in the column of the same name.
COLUMNS = {
    **dict.fromkeys(("link.timeline", "link.trace", "link.reverse_trace", *_POLICERS), ("link_options",)),
    **{f"link.{option.name}": ("link_options",) for option in LINK_OPTIONS},
    **{f"transport.{option.name}": ("host_options",) for option in HOST_OPTIONS},
    "queue": ("queue", "discipline", "queue_parameters"), "reverse_queue": ("reverse_queue",), "traffic.block_bytes": ("message_bytes",),
    "hosts.qdisc": ("host_options",), "hosts.access_delay_ms": ("pairs", "access_delay_ms"), "multipath.by": ("multipath",), "variation": ("variation",),
    "kernel": ("kernel",), "groups": ("groups",), "multipath.outage": ("outage_path", "outage_at_s", "outage_for_s"),
    "chain": ("bottlenecks", "rate_mbps", "chain_rtts_ms", "queue"),
}  # fmt: skip
#: Longest value that is shown; for a longer one, a digest is shown.
LONGEST = 40
#: Largest number of RTTs that are listed; more are shown as a range.
MOST_RTTS = 3


@dataclass(frozen=True)
class Part:
    """A part of a label: the prefixes of its keys, its words for a scenario, and whether it is always present."""

    keys: tuple[str, ...]
    words: Callable[[dict], str]
    always: bool = False


def _run(scenario):
    return RunSpecification({"scenario": scenario, "ip_version": "ipv4"})


def _rate(scenario):
    """Return the capacity in the data's direction, for each path if there are several."""
    run = _run(scenario)
    capacity, paths = run.capacity, run.paths if run.is_cable else 1
    if capacity.is_unlimited():
        words = "no rate limit"
    elif run.multipath.path_rate_mbps:
        return f"{' + '.join(map(plain, run.multipath.path_rate_mbps))} Mbit/s"
    elif len(capacity.rates()) == 1 or run.multipath.outage:
        words = rate_words(capacity.most_mbps() / paths)
    else:
        # A trace's rates have many digits, so they are rounded.
        least, most = (float(f"{pick() / paths:.4g}") for pick in (capacity.least_mbps, capacity.most_mbps))
        mean = capacity.mean_mbps(0, round(1e9 * run.expected_s)) / paths
        words = f"{plain(least)} to {rate_words(most)} (mean {mean:.4g})"
    policed = " by a policer" if capacity.policed_mbps is not None else ""
    several = f"{paths} \N{MULTIPLICATION SIGN} " if paths > 1 else ""
    several = f"{len(run.bottlenecks)} bottlenecks from " if run.is_chain else several
    return f"{several}{words}{policed}"


def _rtt(scenario):
    """Return the RTTs of the empty paths before anything changes."""
    run, delays = _run(scenario), scenario["link"]["delay_ms"]
    rtts_ms = [pair.rtt_ms for pair in run.pairs]
    if run.is_cable:
        rtts_ms = [sum(delays.values()) + 2 * path_ms for path_ms in run.multipath.path_delay_ms]
    there, back = delays["forward"], delays["reverse"]
    apart = "" if there == back or run.is_chain else f" ({plain(there)} there + {plain(back)} back)"
    return f"RTT {listed([plain(round(rtt, 9)) for rtt in sorted(set(rtts_ms))], MOST_RTTS)} ms{apart}"


def listed(texts, most) -> str:
    """Return "20", "20 and 60", or the first and the last of more than ``most``: "20 to 60"."""
    return " and ".join(texts) if len(texts) <= most else f"{texts[0]} to {texts[-1]}"


def _loss(scenario):
    if of_paths := scenario["multipath"].get("path_loss_percent"):
        return f"{' / '.join(map(plain, of_paths))} % loss by path"
    loss = scenario["link"]["loss_percent"]
    row = {f"loss_{way}_percent": value for way, value in loss.items()}
    return loss_words(row, "both ways", both_ways)


def _flows(scenario):
    """Return the number of flows, or the groups."""
    return groups_words(scenario["groups"]) or count(_run(scenario).flows, "flow")


def _joining(scenario):
    """Return text on file transfers and on the method of combining paths."""
    paths, words = scenario["multipath"], ["FTP"] if scenario["traffic"]["application"] == "ftp" else []
    if paths["by"] == "mptcp":
        words.append("MPTCP")
    elif paths["by"] == "gre":
        words.append(f"GRE over {ip_words(paths['tunnel_ip_version'])}")
        words += ["per flow"] if paths["distribution"] == "per-flow" else []
    return " ".join(words)


def _queue(scenario):
    """Return text on the queue: once if both directions are equal, otherwise for each."""
    if of_paths := scenario["multipath"].get("path_queue_packets"):
        return f"{discipline_of(scenario['queue']).name} of {' / '.join(map(plain, of_paths))} packets by path"
    back = scenario.get("reverse_queue")
    return _queue_words(scenario["queue"]) + (f", reverse queue {_queue_words(back)}" if back else "")


def _queue_words(queue):
    """Return the discipline, its size, and those of its parameters that aren't defaults."""
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
    Part(_POLICERS, _policer),
    Part(("multipath.outage",), _outage),
    Part(("kernel",), _kernel),
    Part(tuple(f"link.{option.name}" for option in LINK_OPTIONS), _options),
    Part(("transport.ecn",), _ecn),
    Part(tuple(f"transport.{option.name}" for option in HOST_OPTIONS), lambda scenario: "; ".join(host_effects(scenario["transport"]))),
    Part(("platform",), lambda scenario: platform_name(scenario["platform"])),
)  # fmt: skip


def keys_of(scenario, without=()) -> dict[str, object]:
    """Return the keys of a resolved scenario with their values: "link.delay_ms.forward" -> 10.

    ``without`` are prefixes of keys to leave out; `NAMES` are always left out. A list is one value, except those in `ITEMS`.
    """
    found = {}

    def add(path, value):
        if path in NAMES or any(_is_in(path, begin) for begin in without):
            return
        # The same applies to a group's program.
        if isinstance(value, dict) and value and path not in WHOLE and not path.endswith(".program"):
            for key, inner in value.items():
                add(f"{path}.{key}" if path else key, inner)
        elif path in ITEMS:
            for number, item in enumerate(value, 1):
                add(f"{path}.{item.get('name', number)}", item)
        else:
            found[path] = value

    add("", scenario)
    return found


def _is_in(path, begin):
    """Return whether a key has one of the prefixes: "queue.packets" has "queue"."""
    return path == begin or path.startswith(f"{begin}.")


class Differences:
    """The keys in which scenarios differ; ``without`` lists prefixes of keys to ignore."""

    def __init__(self, scenarios, without=()):
        known = [keys_of(scenario, without) for scenario in scenarios]
        # The order must not depend on that of the scenarios, whose groups may have different names.
        every = dict.fromkeys(key for keys in sorted(known, key=_text) for key in keys)
        values = {key: [_text(keys[key]) if key in keys else "" for keys in known] for key in every}
        #: Key -> its value for each scenario, as a text to compare.
        self.values = {key: texts for key, texts in values.items() if len(set(texts)) > 1}
        self._known = known

    def among(self, begins) -> list[str]:
        """Return the differing keys with one of the prefixes."""
        return [key for key in self.values if any(_is_in(key, begin) for begin in begins)]

    def are_distinguished_by(self, texts, keys) -> bool:
        """Return whether texts, one per scenario, differ wherever a key's values differ."""
        seen = {}
        for place, text in enumerate(texts):
            values = tuple(self.values[key][place] for key in keys)
            if seen.setdefault(text, values) != values:
                return False
        return True

    def words(self, keys) -> list[str]:
        """Return the values of some keys in words for each scenario; "" for one without values."""
        texts = ([said(key, known[key]) for key in keys if key in known] for known in self._known)
        return [SEPARATOR.join(filter(None, of_scenario)) for of_scenario in texts]

    def unusual_words(self, key) -> list[str]:
        """Return the same as `words` for a key, but "" for the majority's value, if all other scenarios have words."""
        values, words = self.values[key], self.words([key])
        usual = next((value for value in set(values) if 2 * values.count(value) > len(values)), None)
        unusual = ["" if value == usual else text for value, text in zip(values, words, strict=True)]
        return unusual if all(unusual[place] or value == usual for place, value in enumerate(values)) else words

    def apart(self, keys, texts) -> list[str]:
        """Return the keys that differ between scenarios with the same text."""
        return [key for key in keys if not self.are_distinguished_by(texts, [key])]


def _text(value):
    return json.dumps(value, sort_keys=True)


def _stem(key):
    """Return a key's label: "segmentation offload" for "transport.segmentation_offload", "minimum RTO" without its unit."""
    *path, name = key.split(".")
    way = ""
    if name in ("forward", "reverse"):
        way, name = f" {name}", path[-1]
    for end in UNITS:
        if name.endswith(end):
            name = name.removesuffix(end)
            break
    of_list = next((begin for begin in ITEMS if _is_in(key, begin)), None)
    item = f"{ITEMS[of_list]} {key.removeprefix(of_list + '.').split('.')[0]}: " if of_list and of_list != key else ""
    return item + " ".join(WORDS.get(word, word) for word in name.split("_")) + way


def said(key, value) -> str:
    """Return a key's label with its value: "minimum RTO 200 ms", "delayed ACKs off"; "" for a key that is not set."""
    name = key.split(".")[-2 if key.endswith((".forward", ".reverse")) else -1]
    unit = next((unit for end, unit in UNITS.items() if name.endswith(end)), "")
    if value is None:
        return ""
    if isinstance(value, bool):
        return f"{_stem(key)} {'on' if value else 'off'}"
    shown = f"{value!r}" if isinstance(value, float) else _text(value).strip('"')
    if len(shown) > LONGEST:
        shown = f"#{hashlib.sha256(shown.encode()).hexdigest()[:8]}"
    return f"{_stem(key)} {shown} {unit}".strip()


def conditions_of(scenarios, without=()) -> list[str]:
    """Return the conditions of resolved scenarios, each as one text with parts separated by ", ".

    Parameters
    ----------
    scenarios : list of dict
    without : sequence of str
        Prefixes of keys to ignore, such as "queue": scenarios that differ only in these have the same text; all others differ.
    """
    differences, columns, shown = Differences(scenarios, without), [], set()
    keys = [_text(keys_of(scenario, without)) for scenario in scenarios]
    for part in PARTS:
        differing = [key for key in differences.among(part.keys) if key not in shown]
        if differing or part.always:
            texts = [part.words(scenario) for scenario in scenarios]
            # A part about ignored keys is left out.
            if len(set(zip(keys, texts, strict=True))) == len(set(keys)):
                columns.append(texts)
                shown |= {key for key in differing if differences.are_distinguished_by(texts, [key])}
    structure = differences.among(STRUCTURE)
    others = [key for key in differences.values if key not in shown and key not in structure]
    columns += [differences.unusual_words(key) for key in others]
    columns += [differences.words([key]) for key in differences.apart(structure, _joined(columns))]
    texts = _joined(columns)
    # Scenarios that differ only in their names, or whose different values have the same text.
    first = dict(zip(reversed(texts), reversed(keys), strict=True))
    unclear = {
        text
        for text, key in zip(texts, keys, strict=True)
        if first[text] != key or (not without and keys.count(key) > 1)
    }
    return [f"{text}, {one['id']}" if text in unclear else text for text, one in zip(texts, scenarios, strict=True)]


def _joined(columns):
    """Return the parts of each scenario in one text."""
    rows = zip(*columns, strict=True)
    return [", ".join(part.replace(", ", " + ") for part in parts if part) for parts in rows]


def settings_of(scenarios, without) -> dict[str, dict]:
    """Return scenario -> ``setting``, a number shared by scenarios that differ only in the keys ``without``, and ``conditions``, its words.

    The keys are given by their prefixes, as for `conditions_of`. Scenarios that differ only in their names have different numbers.
    """
    keys = [_text(keys_of(scenario, without)) for scenario in scenarios]
    return _settings(scenarios, keys, conditions_of(scenarios, without))


def settings_by(scenarios, common) -> dict[str, dict]:
    """Return the same as `settings_of`, for groups of scenarios with equal results of ``common``; the words are the parts that all have."""
    keys, texts = [_text(common(scenario)) for scenario in scenarios], conditions_of(scenarios)
    parts = {key: [text.split(", ") for text, own in zip(texts, keys, strict=True) if own == key] for key in keys}
    words = {
        key: ", ".join(part for part in of_key[0] if all(part in other for other in of_key))
        for key, of_key in parts.items()
    }
    return _settings(scenarios, keys, [words[key] for key in keys])


def _settings(scenarios, keys, texts):
    numbers, seen, settings = {}, {}, {}
    for scenario, key, words in zip(scenarios, keys, texts, strict=True):
        whole = _text(keys_of(scenario))
        seen[whole] = seen.get(whole, 0) + 1
        number = numbers.setdefault((key, seen[whole]), len(numbers) + 1)
        settings[scenario["id"]] = {"setting": number, "conditions": words}
    said = {}
    for one in settings.values():
        said.setdefault(one["conditions"], set()).add(one["setting"])
    return {
        name: one | {"conditions": f"{one['conditions']} (setting {one['setting']})"}
        if len(said[one["conditions"]]) > 1
        else one
        for name, one in settings.items()
    }


def hidden_conditions(scenarios, rows) -> list[str]:
    """Return for each scenario, in words, the differing keys that its row of `tidy_tables.SCENARIOS` doesn't show; "" if there are none."""
    differences = Differences(scenarios)
    hidden = []
    for key in differences.values:
        shown = [_text([row.get(name) for name in _columns_of(key)]) for row in rows]
        if not differences.are_distinguished_by(shown, [key]):
            hidden.append(key)
    return differences.words(hidden)


def _columns_of(key):
    """Return the columns that may show a key."""
    *path, name = key.split(".")
    if name in ("forward", "reverse"):
        stem, _, unit = path[-1].rpartition("_")
        return [f"{stem}_{name}_{unit}"]
    return [name, *(column for begin, columns in COLUMNS.items() if _is_in(key, begin) for column in columns)]
