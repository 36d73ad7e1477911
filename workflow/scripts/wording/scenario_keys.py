"""Find the keys in which resolved scenarios differ, and express keys and their values in words."""

import hashlib
import json

from experiment.conditions import POLICERS

#: Keys that are names.
NAMES = ("id", "label")
#: Suffix of a key -> unit.
UNITS = {
    "_ms": "ms", "_s": "s", "_mbps": "Mbit/s", "_percent": "%", "_bytes": "bytes", "_packets": "packets", "_per_s": "per s",
}  # fmt: skip
#: Word in a key -> wording, if the two differ.
WORDS = {"min": "minimum", "max": "maximum", "rto": "RTO", "rtt": "RTT", "ecn": "ECN", "cca": "CCA", "acks": "ACKs"}
#: List whose items are mappings -> word for an item.
ITEMS = {"groups": "group", "chain.bottlenecks": "bottleneck"}
#: Keys of a link's policers.
POLICERS_OF_LINK = tuple(f"link.{key}" for key in POLICERS.values())
#: Mappings that are treated as one value.
WHOLE = (
    "queue",
    "reverse_queue",
    *POLICERS_OF_LINK,
    "link.trace",
    "link.reverse_trace",
    "link.reordering",
    "link.correlation",
    "multipath.outage",
    "kernel",
)
#: Separator within a part of a label.
SEPARATOR = "; "
#: Maximum length of a value that is shown in full, in characters; a longer value is replaced by a digest.
LONGEST = 40


def keys_of(scenario, without=()) -> dict[str, object]:
    """Return the values of a resolved scenario by key, such as 10 for "link.delay_ms.forward".

    Keys in `NAMES` and keys with a prefix in ``without`` are left out. A list is treated as one value, except for the lists in `ITEMS`.
    """
    found = {}

    def add(path, value):
        if path in NAMES or any(is_in(path, begin) for begin in without):
            return
        # The program of a group is treated as one value too.
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


def is_in(path, begin) -> bool:
    """Return whether a key is, or is below, another key: "queue.packets" is below "queue", but "queues" isn't."""
    return path == begin or path.startswith(f"{begin}.")


class Differences:
    """The keys in which scenarios differ; keys with a prefix in ``without`` are ignored."""

    def __init__(self, scenarios, without=()):
        known = [keys_of(scenario, without) for scenario in scenarios]
        # The order of keys must not depend on the order of scenarios, whose groups may have different names.
        every = dict.fromkeys(key for keys in sorted(known, key=text_of) for key in keys)
        values = {key: [text_of(keys[key]) if key in keys else "" for keys in known] for key in every}
        #: Key -> the value in each scenario, as text for comparison.
        self.values = {key: texts for key, texts in values.items() if len(set(texts)) > 1}
        self._known = known

    def among(self, begins) -> list[str]:
        """Return the differing keys with one of the given prefixes."""
        return [key for key in self.values if any(is_in(key, begin) for begin in begins)]

    def are_distinguished_by(self, texts, keys) -> bool:
        """Return whether scenarios that differ in any of the keys always have different texts; ``texts`` lists one text per scenario."""
        seen = {}
        for place, text in enumerate(texts):
            values = tuple(self.values[key][place] for key in keys)
            if seen.setdefault(text, values) != values:
                return False
        return True

    def words(self, keys) -> list[str]:
        """Return, for each scenario, the values of the given keys in words; "" for a scenario in which none of the keys is set."""
        texts = ([said(key, known[key]) for key in keys if key in known] for known in self._known)
        return [SEPARATOR.join(filter(None, of_scenario)) for of_scenario in texts]

    def unusual_words(self, key) -> list[str]:
        """Return `words` for one key, but "" for a value that most scenarios have, provided that no other text is empty."""
        values, words = self.values[key], self.words([key])
        usual = next((value for value in set(values) if 2 * values.count(value) > len(values)), None)
        unusual = ["" if value == usual else text for value, text in zip(values, words, strict=True)]
        return unusual if all(unusual[place] or value == usual for place, value in enumerate(values)) else words

    def apart(self, keys, texts) -> list[str]:
        """Return the keys in which scenarios with identical texts differ."""
        return [key for key in keys if not self.are_distinguished_by(texts, [key])]


def text_of(value) -> str:
    """Return a value as text for comparison."""
    return json.dumps(value, sort_keys=True)


def _stem(key):
    """Return a key's label without the unit, such as "segmentation offload" for "transport.segmentation_offload"."""
    *path, name = key.split(".")
    way = ""
    if name in ("forward", "reverse"):
        way, name = f" {name}", path[-1]
    for end in UNITS:
        if name.endswith(end):
            name = name.removesuffix(end)
            break
    of_list = next((begin for begin in ITEMS if is_in(key, begin)), None)
    item = f"{ITEMS[of_list]} {key.removeprefix(of_list + '.').split('.')[0]}: " if of_list and of_list != key else ""
    return item + " ".join(WORDS.get(word, word) for word in name.split("_")) + way


def said(key, value) -> str:
    """Return a key's label with its value: "minimum RTO 200 ms", "delayed ACKs off"; "" if the value is None."""
    name = key.split(".")[-2 if key.endswith((".forward", ".reverse")) else -1]
    unit = next((unit for end, unit in UNITS.items() if name.endswith(end)), "")
    if value is None:
        return ""
    if isinstance(value, bool):
        return f"{_stem(key)} {'on' if value else 'off'}"
    shown = f"{value!r}" if isinstance(value, float) else text_of(value).strip('"')
    if len(shown) > LONGEST:
        shown = f"#{hashlib.sha256(shown.encode()).hexdigest()[:8]}"
    return f"{_stem(key)} {shown} {unit}".strip()
